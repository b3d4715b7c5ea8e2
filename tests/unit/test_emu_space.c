/* The allocation map of device memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "emu/space.h"

static const char *explain(struct space *s, uint64_t address)
{
    static char text[256];
    struct strbuf out = {0};
    space_explain(s, address, &out);
    snprintf(text, sizeof text, "%s", strbuf_text(&out));
    strbuf_free(&out);
    return text;
}

static void test_addresses_are_host_memory(void **state)
{
    struct space *s = space_create(1 << 20);
    assert_non_null(s);
    uint64_t a = space_alloc(s, 1000, 1, SPACE_DEVICE, "cudaMalloc #1");
    assert_int_equal(a, 0x7e9000000000ull);
    memset((void *)(uintptr_t)a, 0xab, 1000);
    assert_true(space_valid(s, a, 1000));
    assert_false(space_valid(s, a, 1001));
    assert_false(space_valid(s, a + 999, 2));
    assert_false(space_valid(s, a - 1, 1));
    assert_false(space_valid(s, a, UINT64_MAX));
    assert_int_equal(space_find(s, a + 999)->base, a);
    assert_null(space_find(s, a + 1000));
    assert_int_equal(space_bytes_used(s), 1000);
    space_destroy(s);
}

static void test_explanations(void **state)
{
    struct space *s = space_create(1 << 20);
    assert_string_equal(explain(s, 0x123456789), "no memory is allocated");
    uint64_t a = space_alloc(s, 4096, 1, SPACE_DEVICE, "cudaMalloc #1");
    uint64_t b = space_alloc(s, 4096, 1, SPACE_DEVICE, "cudaMalloc #2");
    assert_string_equal(explain(s, 8), "a null pointer, or an offset from one");
    assert_string_equal(explain(s, a + 4096),
                        "0 bytes past the end of cudaMalloc #1 (0x7e9000000000, 4096 bytes)");
    assert_string_equal(explain(s, a + 4097),
                        "1 byte past the end of cudaMalloc #1 (0x7e9000000000, 4096 bytes)");
    assert_non_null(strstr(explain(s, b - 16), "16 bytes before the start of cudaMalloc #2"));
    assert_non_null(strstr(explain(s, b + 5), "in cudaMalloc #2"));
    assert_true(space_free(s, a));
    assert_false(space_free(s, a));
    assert_string_equal(explain(s, a + 8), "in freed allocation cudaMalloc #1 (0x7e9000000000, 4096 bytes)");
    assert_null(space_find(s, a + 8));
    assert_false(space_free(s, b + 256));
    space_destroy(s);
}

static void test_out_of_memory(void **state)
{
    struct space *s = space_create(10000);
    uint64_t a = space_alloc(s, 6000, 1, SPACE_DEVICE, "a");
    assert_true(a);
    assert_int_equal(space_alloc(s, 6000, 1, SPACE_DEVICE, "b"), 0);
    assert_int_equal(space_alloc(s, 0, 1, SPACE_DEVICE, "c"), 0);
    assert_int_equal(space_alloc(s, UINT64_MAX, 1, SPACE_DEVICE, "c"), 0);
    assert_true(space_free(s, a));
    assert_int_equal(space_alloc(s, 6000, 1, SPACE_DEVICE, "b"), a); /* the block is used again */
    space_destroy(s);
}

/* Sizes that never fit the same class would use up the range of addresses if nothing were found between. */
static void test_range_is_never_used_up(void **state)
{
    struct space *s = space_create(250ull << 30);
    uint64_t kept = space_alloc(s, 4096, 1, SPACE_DEVICE, "kept");
    memset((void *)(uintptr_t)kept, 1, 4096);
    for (uint32_t n = 0; n < 40; n++) {
        uint64_t a = space_alloc(s, (60ull << 30) + n * (4ull << 30), 1, SPACE_DEVICE, "big");
        if (!a) fail_msg("allocation %u", n);
        *(volatile uint8_t *)(uintptr_t)a = 1;
        assert_true(space_free(s, a));
    }
    assert_int_equal(*(volatile uint8_t *)(uintptr_t)kept, 1);
    space_destroy(s);
}

static void test_freed_memory_is_released(void **state)
{
    struct space *s = space_create(1ull << 30);
    uint64_t a = space_alloc(s, 1 << 20, 1, SPACE_DEVICE, "a");
    memset((void *)(uintptr_t)a, 5, 1 << 20);
    space_free(s, a);
    assert_int_equal(space_alloc(s, 1 << 20, 1, SPACE_DEVICE, "a"), a);
    assert_int_equal(*(volatile uint8_t *)(uintptr_t)(a + 8192), 0);
    space_destroy(s);
}

static void test_registered_memory(void **state)
{
    struct space *s = space_create(1 << 20);
    static char host[4096];
    assert_true(space_register(s, host, sizeof host, "mine"));
    assert_false(space_register(s, host + 100, 10, "overlap"));
    assert_true(space_valid(s, (uint64_t)(uintptr_t)host, sizeof host));
    assert_false(space_free(s, (uint64_t)(uintptr_t)host));
    assert_int_equal(space_find(s, (uint64_t)(uintptr_t)(host + 4095))->kind, SPACE_REGISTERED);
    assert_false(space_unregister(s, host + 1));
    assert_true(space_unregister(s, host));
    assert_false(space_unregister(s, host));
    assert_null(space_find(s, (uint64_t)(uintptr_t)host));
    assert_true(space_register(s, host + 100, 10, "part"));
    assert_int_equal(space_bytes_used(s), 0);
    space_destroy(s);
}

/* Random calls against a plain list; twice, for the addresses have to be the same. */
struct model {
    uint64_t base, bytes;
};

static uint64_t play(uint64_t seed)
{
    enum { LIVE_MAX = 300 };
    struct space *s = space_create(1ull << 32);
    static struct model live[LIVE_MAX];
    uint32_t count = 0;
    struct rng r = {seed};
    uint64_t fingerprint = HASH_SEED;
    for (uint32_t step = 0; step < 20000; step++) {
        if (count < LIVE_MAX && (count < 2 || rng_below(&r, 100) < 52)) {
            uint64_t bytes = 1 + rng_below(&r, rng_below(&r, 4) ? 3000 : 200000),
                     align = 1ull << rng_below(&r, 13);
            uint64_t base = space_alloc(s, bytes, align, SPACE_DEVICE, "a");
            assert_true(base);
            assert_int_equal(base % align, 0);
            assert_int_equal(base % 256, 0);
            for (uint32_t i = 0; i < count; i++) /* apart, with a gap on both sides */
                assert_true(base >= live[i].base + live[i].bytes + 256 || live[i].base >= base + bytes + 256);
            live[count++] = (struct model){base, bytes};
            *(volatile uint8_t *)(uintptr_t)(base + bytes - 1) = 1;
            fingerprint = hash_mix(fingerprint ^ base);
        } else {
            uint32_t i = (uint32_t)rng_below(&r, count);
            assert_true(space_free(s, live[i].base));
            live[i] = live[--count];
        }
        uint32_t i = (uint32_t)rng_below(&r, count ? count : 1);
        if (!count) continue;
        const struct space_alloc *a = space_find(s, live[i].base + rng_below(&r, live[i].bytes));
        assert_non_null(a);
        assert_int_equal(a->base, live[i].base);
        assert_int_equal(a->bytes, live[i].bytes);
        assert_null(space_find(s, live[i].base + live[i].bytes));
        assert_null(space_find(s, live[i].base - 1));
    }
    space_destroy(s);
    return fingerprint;
}

static void test_random_calls(void **state)
{
    assert_int_equal(play(1), play(1));
    assert_true(play(2) != play(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_are_host_memory),
        cmocka_unit_test(test_explanations),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_range_is_never_used_up),
        cmocka_unit_test(test_freed_memory_is_released),
        cmocka_unit_test(test_registered_memory),
        cmocka_unit_test(test_random_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
