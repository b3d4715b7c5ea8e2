/* test_base.c: asserts, arena, vectors, maps, text, hashes, diagnostics. */
#include "base/arena.h"
#include "base/bitset.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/rng.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs `body` in a child process; returns the signal that ended it, and what it wrote to stderr. */
static int signal_of(void (*body)(void), char *said, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL); /* a parent that ignores it would leave no status */
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL); /* cmocka's handler would fail the test in the child */
        body();
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], said, size - 1);
    said[got > 0 ? got : 0] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void fail_assert(void)
{
    volatile int two = 2;
    assert(two == 3);
}

static void an_assert_ends_every_build(void **state)
{
    char said[256];
    assert_int_equal(signal_of(fail_assert, said, sizeof said), SIGABRT);
    assert_non_null(strstr(said, "test_base.c:"));
    assert_non_null(strstr(said, "assertion failed: two == 3"));
}

static int evaluations;
static bool evaluate(void)
{
    evaluations++;
    return true;
}

static void a_debug_assert_costs_nothing_in_a_release_build(void **state)
{
    debug_assert(evaluate());
#ifdef NDEBUG
    assert_int_equal(evaluations, 0);
#else
    assert_int_equal(evaluations, 1);
#endif
}

static void arena_gives_aligned_zeroed_memory(void **state)
{
    struct arena a = {0};
    for (size_t n = 1; n < 200000; n = n * 3 + 1) {
        unsigned char *p = arena_alloc(&a, n);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xaa, n);
    }
    assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    assert_string_equal(arena_strndup(&a, "hello", 3), "hel");
    arena_free(&a);
    assert_int_equal(a.bytes_used, 0);
    assert_non_null(arena_alloc(&a, 8)); /* usable again */
    arena_free(&a);
}

static void map_finds_what_was_put(void **state)
{
    struct map m = {0};
    char key[16];
    static int values[1000];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%d", i * 7919);
        assert_null(map_get(&m, key));
        map_put(&m, key, &values[i]);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%d", i * 7919);
        assert_ptr_equal(map_get(&m, key), &values[i]);
        assert_string_equal(m.entries.data[i].key, key); /* in the order of putting */
    }
    map_put(&m, "k0", &values[5]);
    assert_ptr_equal(map_get(&m, "k0"), &values[5]);
    assert_ptr_equal(map_get_n(&m, "k0zzz", 2), &values[5]);
    assert_int_equal(m.entries.len, 1000);
    map_free(&m);
}

static void long_hashes_have_two_lanes(void **state)
{
    (void)state;
    char a[HASH128_CHARS + 1], b[HASH128_CHARS + 1];
    struct hash128 h = hash128_bytes("heddle", 6);
    assert_true(h.low == hash_text("heddle") && h.high != h.low);
    hash128_hex(h, a);
    hash128_hex((struct hash128){1, 0xabcull << 52}, b);
    assert_string_equal(b, "0000000000000001abc0000000000000");
    assert_int_equal(strlen(a), HASH128_CHARS);
    hash128_hex(hash128_bytes("heddlf", 6), b);
    assert_int_not_equal(strncmp(a, b, 16), 0);
    assert_int_not_equal(strcmp(a + 16, b + 16), 0);
}

static void hash_has_the_same_value_on_every_host(void **state)
{
    /* recorded: a change of this value changes every fingerprint that users keep */
    assert_int_equal(hash_text("heddle"), hash_bytes(HASH_SEED, "heddle", 6));
    assert_int_not_equal(hash_text("heddle"), hash_text("heddlf"));
    assert_int_not_equal(hash_bytes(HASH_SEED, "a\0", 2), hash_bytes(HASH_SEED, "a", 1));
    struct rng r = {1};
    assert_int_equal(rng_u64(&r), 0x910a2dec89025cc1ull); /* splitmix64, seed 1: first value as published */
}

static void diag_shows_line_and_caret(void **state)
{
    static const char text[] = "one\n  add.f33 %f1;\nthree";
    struct diag_source src = {.file = "t.ptx", .text = text, .len = sizeof text - 1};
    struct diag_list d = {0};
    struct strbuf out = {0};
    diag_add(&d, DIAG_ERROR, &src, 2, 7, 3, "did you mean '.f32'?", "unknown type '%s'", ".f33");
    diag_add(&d, DIAG_WARNING, NULL, 0, 0, 0, "do that", "no place");
    diag_render(&d, &out);
    assert_string_equal(strbuf_text(&out), "t.ptx:2:7: error: unknown type '.f33'\n"
                                           "     2 |   add.f33 %f1;\n"
                                           "       |       ^~~ did you mean '.f32'?\n"
                                           "heddle: warning: no place\n"
                                           "  hint: do that\n");
    assert_int_equal(d.errors, 1);
    strbuf_free(&out);
    diag_free(&d);
}

static void diag_keeps_a_bounded_number_of_errors(void **state)
{
    struct diag_list d = {0};
    struct strbuf out = {0};
    for (int i = 0; i < 50; i++) diag_add(&d, DIAG_ERROR, NULL, 0, 0, 0, NULL, "e%d", i);
    diag_render(&d, &out);
    assert_int_equal(d.errors, 50);
    assert_int_equal(d.items.len, DIAG_ERRORS_MAX);
    assert_non_null(strstr(strbuf_text(&out), "... and 30 more errors"));
    strbuf_free(&out);
    diag_free(&d);
}

static void nearest_name_is_close_or_none(void **state)
{
    static const char *const names[] = {"sm.count", "sm.warps", "clock.core"};
    assert_string_equal(diag_nearest("sm.cuont", names, 3), "sm.count");
    assert_string_equal(diag_nearest("sm.warp", names, 3), "sm.warps");
    assert_null(diag_nearest("banana", names, 3));
}

static void bitset_union_says_whether_it_grew(void **state)
{
    uint64_t a[2] = {0}, b[2] = {0};
    bitset_add(a, 3);
    bitset_add(b, 100);
    assert_true(bitset_union(a, b, 2));
    assert_false(bitset_union(a, b, 2));
    assert_true(bitset_has(a, 100));
    bitset_del(a, 3);
    assert_int_equal(bitset_count(a, 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_assert_ends_every_build),
        cmocka_unit_test(a_debug_assert_costs_nothing_in_a_release_build),
        cmocka_unit_test(arena_gives_aligned_zeroed_memory),
        cmocka_unit_test(map_finds_what_was_put),
        cmocka_unit_test(hash_has_the_same_value_on_every_host),
        cmocka_unit_test(long_hashes_have_two_lanes),
        cmocka_unit_test(diag_shows_line_and_caret),
        cmocka_unit_test(diag_keeps_a_bounded_number_of_errors),
        cmocka_unit_test(nearest_name_is_close_or_none),
        cmocka_unit_test(bitset_union_says_whether_it_grew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
