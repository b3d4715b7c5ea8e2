/* test_mem_cache_policy.c: a replacement policy that is supplied from outside: when it is asked, what it is
 * shown, what it hears. */
#include "mem/cache.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SETS = 2, LINE = 128 };

struct calls {
    uint32_t victims, touches, inserts, evicts, clears;
    /* of the newest view */
    uint32_t set, ways;
    uint64_t mask[5], addr, evicted;
};

static void hear_touch(void *ctx, uint32_t set, uint32_t way) { ((struct calls *)ctx)->touches++; }
static void hear_insert(void *ctx, uint32_t set, uint32_t way, uint64_t addr)
{
    ((struct calls *)ctx)->inserts++;
}
static void hear_evict(void *ctx, uint32_t set, uint32_t way, uint64_t addr)
{
    ((struct calls *)ctx)->evicts++;
    ((struct calls *)ctx)->evicted = addr;
}
static void hear_clear(void *ctx) { ((struct calls *)ctx)->clears++; }

/* The highest way that may leave. */
static uint32_t choose_last(void *ctx, const struct cache_set_view *v)
{
    struct calls *c = ctx;
    uint32_t way = v->ways - 1;
    c->victims++;
    c->set = v->set;
    c->ways = v->ways;
    c->addr = v->addr;
    memcpy(c->mask, v->replaceable, (v->ways + 63) / 64 * sizeof v->replaceable[0]);
    while (!cache_view_has(v, way)) way--;
    return way;
}

static void make(struct cache *c, uint32_t ways, struct calls *calls)
{
    cache_init(c, &(struct cache_geometry){.sets = SETS, .ways = ways, .line_bytes = LINE});
    memset(calls, 0, sizeof *calls);
    cache_use_policy(c, &(struct cache_policy){.ctx = calls,
                                               .on_touch = hear_touch,
                                               .on_insert = hear_insert,
                                               .on_evict = hear_evict,
                                               .on_clear = hear_clear,
                                               .victim = choose_last});
}

/* Line n of set 0. */
static uint64_t line_addr(uint64_t n) { return n * SETS * LINE; }

static void fill_set(struct cache *c, uint32_t ways)
{
    for (uint32_t i = 0; i < ways; i++) {
        uint32_t line = cache_victim(c, line_addr(i));
        assert_int_equal(line, i);
        cache_reserve(c, line, line_addr(i), 1);
        cache_fill(c, line, 1);
    }
}

static const uint32_t widths[] = {4, 16, 256};

static void empty_ways_are_filled_without_a_question(void **state)
{
    for (uint32_t k = 0; k < ARRAY_LEN(widths); k++) {
        struct cache c;
        struct calls calls;
        make(&c, widths[k], &calls);
        fill_set(&c, widths[k]);
        assert_int_equal(calls.victims, 0);
        assert_int_equal(calls.inserts, widths[k]);
        assert_int_equal(calls.evicts, 0);
        cache_free(&c);
    }
}

static void a_full_set_is_shown_with_the_ways_that_may_leave(void **state)
{
    for (uint32_t k = 0; k < ARRAY_LEN(widths); k++) {
        struct cache c;
        struct calls calls;
        uint32_t ways = widths[k];
        make(&c, ways, &calls);
        fill_set(&c, ways);
        assert_int_equal(cache_victim(&c, line_addr(ways)), ways - 1);
        cache_reserve(&c, ways - 1, line_addr(ways), 1); /* awaits its fill: it may not leave */
        assert_int_equal(calls.evicted, line_addr(ways - 1));
        assert_int_equal(cache_victim(&c, line_addr(ways + 1)), ways - 2);
        assert_int_equal(calls.ways, ways);
        assert_int_equal(calls.set, 0);
        assert_int_equal(calls.addr, line_addr(ways + 1));
        uint32_t bits = 0;
        for (uint32_t i = 0; i < (ways + 63) / 64; i++) bits += (uint32_t)__builtin_popcountll(calls.mask[i]);
        assert_int_equal(bits, ways - 1);
        cache_free(&c);
    }
}

static void it_is_asked_once_until_the_cache_changes(void **state)
{
    struct cache c;
    struct calls calls;
    make(&c, 4, &calls);
    fill_set(&c, 4);
    for (uint32_t i = 0; i < 10; i++) cache_victim(&c, line_addr(9));
    assert_int_equal(calls.victims, 1);
    cache_victim(&c, LINE); /* of the other set, which is empty */
    cache_victim(&c, line_addr(9));
    assert_int_equal(calls.victims, 1);
    cache_touch(&c, 0);
    cache_victim(&c, line_addr(9));
    assert_int_equal(calls.victims, 2);
    assert_int_equal(calls.touches, 1);
    cache_set_ways(&c, 2);
    assert_int_equal(cache_victim(&c, line_addr(9)), 1);
    assert_int_equal(calls.victims, 3);
    assert_int_equal(calls.ways, 2);
    cache_free(&c);
}

static void it_hears_of_lines_that_are_dropped_and_of_a_clear(void **state)
{
    struct cache c;
    struct calls calls;
    make(&c, 4, &calls);
    fill_set(&c, 4);
    cache_invalidate(&c, 2);
    assert_int_equal(calls.evicts, 1);
    assert_int_equal(calls.evicted, line_addr(2));
    assert_int_equal(cache_victim(&c, line_addr(9)), 2);
    assert_int_equal(calls.victims, 0);
    cache_clear(&c);
    assert_int_equal(calls.clears, 1);
    cache_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_ways_are_filled_without_a_question),
        cmocka_unit_test(a_full_set_is_shown_with_the_ways_that_may_leave),
        cmocka_unit_test(it_is_asked_once_until_the_cache_changes),
        cmocka_unit_test(it_hears_of_lines_that_are_dropped_and_of_a_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
