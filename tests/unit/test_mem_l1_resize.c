/* The capacity of an L1 changes while it is in use: which lines stay, what travels, who waits. */
#include "l1_kit.h"

enum { SETS = 4, WAYS = 4 };

/* Line `way` of set 0, in the order in which ways are taken. */
static uint64_t line_of(uint64_t way) { return way * SETS; }
static uint64_t bytes_of(uint64_t ways) { return ways * SETS * LINE; }

static void open_small(struct bench *b)
{
    prepare(b);
    b->p.size = bytes_of(WAYS);
    b->p.ways = WAYS;
    start(b);
}

static void note_evicted(void *ctx, tick now, const struct l1_eviction *e)
{
    *(uint64_t *)ctx = *(uint64_t *)ctx * 100 + e->line / LINE;
}

static void shrinking_forgets_the_ways_that_go_and_keeps_the_others(void **state)
{
    struct bench b;
    uint64_t evicted = 0;
    open_small(&b);
    l1_hook(b.l1, &(struct l1_hooks){.ctx = &evicted, .on_evict = note_evicted});
    for (uint64_t i = 0; i < WAYS; i++) bring(&b, 10 * i, line_of(i));
    assert_int_equal(l1_capacity(b.l1), bytes_of(WAYS));
    assert_int_equal(l1_resize(b.l1, 50 * PERIOD, bytes_of(2) + LINE), bytes_of(2)); /* whole ways */
    assert_int_equal(evicted, line_of(2) * 100 + line_of(3));
    assert_int_equal(stats_of(&b)->evictions, 2);
    assert_int_equal(load_at(&b, 51, line_of(0), 1), L1_HIT);
    assert_int_equal(load_at(&b, 52, line_of(1), 2), L1_HIT);
    assert_int_equal(load_at(&b, 53, line_of(2), 3), L1_MISS); /* replaces one of the two */
    assert_int_equal(load_at(&b, 54, line_of(0), 4), L1_MISS);
    assert_int_equal(stats_of(&b)->resizes, 1);
    assert_int_equal(stats_of(&b)->write_backs, 0);
    finish(&b);
}

static void growing_keeps_what_is_there_and_brings_empty_ways(void **state)
{
    struct bench b;
    open_small(&b);
    assert_int_equal(l1_resize(b.l1, 0, 0), bytes_of(1)); /* one way at least */
    bring(&b, 10, line_of(0));
    assert_int_equal(l1_resize(b.l1, 20 * PERIOD, 1 << 20),
                     bytes_of(WAYS)); /* what it was made with at most */
    for (uint64_t i = 1; i < WAYS; i++) bring(&b, 20 + 10 * i, line_of(i));
    for (uint64_t i = 0; i < WAYS; i++) {
        assert_int_equal(load_at(&b, 60 + 2 * i, line_of(i), 9), L1_HIT);
        assert_int_equal(done_at(&b, 61 + 2 * i), 9);
    }
    assert_int_equal(stats_of(&b)->evictions, 0);
    l1_resize(b.l1, 70 * PERIOD, bytes_of(WAYS)); /* no change */
    assert_int_equal(stats_of(&b)->resizes, 2);
    finish(&b);
}

static void dirty_lines_of_ways_that_go_are_written_back_before_anything_else_is_done(void **state)
{
    struct bench b;
    uint32_t id;
    open_small(&b);
    for (uint64_t i = 0; i < WAYS; i++) bring(&b, 10 * i, line_of(i));
    store_at(&b, 40, REQ_LOCAL, line_of(0));
    store_at(&b, 41, REQ_LOCAL, line_of(2));
    store_at(&b, 42, REQ_LOCAL, line_of(3));
    tick_to(&b, 50);
    l1_resize(b.l1, 50 * PERIOD, bytes_of(2));
    assert_int_equal(l1_wake(b.l1), 51 * PERIOD);
    assert_int_equal(load_at(&b, 51, line_of(0), 1), L1_STALL_LINE);
    for (uint64_t t = 53; t <= 54; t++) { /* queued at 51 and 52, sent a cycle later */
        struct req *r = sent_at(&b, t, &id);
        assert_int_equal(r->kind, REQ_WRITE);
        assert_int_equal(r->addr, line_of(t - 51) * LINE);
        reply_at(&b, t, id);
    }
    assert_int_equal(load_at(&b, 55, line_of(0), 1), L1_HIT); /* still dirty, still there */
    assert_int_equal(stats_of(&b)->write_backs, 2);
    tick_to(&b, 56);
    assert_int_equal(done_at(&b, 56), 1);
    l1_flush(b.l1, 57 * PERIOD);
    assert_non_null(sent_at(&b, 60, &id));
    reply_at(&b, 60, id);
    tick_to(&b, 62);
    assert_true(l1_idle(b.l1));
    assert_int_equal(b.pool.live, 0);
    finish(&b);
}

static void a_fill_for_a_way_that_went_reaches_its_loads_and_is_not_kept(void **state)
{
    struct bench b;
    uint32_t id;
    open_small(&b);
    for (uint64_t i = 0; i < 2; i++) bring(&b, 10 * i, line_of(i));
    assert_int_equal(load_at(&b, 30, line_of(2), 7), L1_MISS); /* reserves the third way */
    l1_resize(b.l1, 31 * PERIOD, bytes_of(2));
    assert_int_equal(load_at(&b, 32, line_of(2), 8), L1_PENDING); /* merged all the same */
    l1_resize(b.l1, 33 * PERIOD, bytes_of(WAYS));                 /* and back, before the fill has come */
    assert_non_null(sent_at(&b, 34, &id));
    reply_at(&b, 34, id);
    assert_int_equal(done_at(&b, 36), 7);
    assert_int_equal(done_at(&b, 37), 8);
    assert_int_equal(load_at(&b, 40, line_of(2), 9), L1_MISS);
    assert_int_equal(stats_of(&b)->fills_not_kept, 1);
    finish(&b);
}

/* Random loads and local stores with a capacity that changes at random: everything is answered, once. */
static void nothing_is_lost_whatever_is_done_to_the_capacity(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct bench b;
        struct rng rng = {.state = seed};
        uint64_t asked = 0, done = 0, cycle = 0, due[4096];
        uint32_t ids[4096], head = 0, tail = 0;
        prepare(&b);
        b.p.size = bytes_of(WAYS);
        b.p.ways = WAYS;
        b.p.allocate = seed % 2 ? L1_ALLOCATE_ON_MISS : L1_ALLOCATE_ON_FILL;
        b.p.local_write_allocate = seed % 3 == 0;
        b.p.sectored = seed % 5 < 2;
        b.p.miss_queue = 1 + (uint32_t)(seed % 3);
        start(&b);
        for (; cycle < 2000 || !l1_idle(b.l1); cycle++) {
            assert_true(cycle < 20000);
            tick_to(&b, cycle);
            if (rng_below(&rng, 40) == 0)
                l1_resize(b.l1, cycle * PERIOD, bytes_of(1 + rng_below(&rng, WAYS)));
            uint32_t id;
            if (sent_at(&b, cycle, &id)) ids[tail % 4096] = id, due[tail++ % 4096] = cycle + 30;
            if (head != tail && due[head % 4096] <= cycle && link_can_push(&b.in, cycle * PERIOD))
                reply_at(&b, cycle, ids[head++ % 4096]);
            if (done_at(&b, cycle) != NOBODY) done++;
            if (cycle >= 2000) continue;
            bool is_store = rng_below(&rng, 3) == 0;
            struct l1_txn t =
                txn(is_store ? REQ_WRITE : REQ_READ, rng_below(&rng, 2) ? REQ_LOCAL : REQ_GLOBAL,
                    rng_below(&rng, 24), is_store ? UINT32_MAX : 1);
            if (t.cls == REQ_LOCAL) t.addr += 1 << 20; /* local memory is nobody else's */
            t.sectors = 1u << rng_below(&rng, 4);
            t.partial = is_store && rng_below(&rng, 2);
            bool taken = access_at(&b, cycle, t) < L1_STALL_LINE;
            if (taken && !is_store) asked++;
        }
        assert_int_equal(asked, done);
        assert_int_equal(b.pool.live, 0);
        assert_true(stats_of(&b)->resizes > 10);
        finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shrinking_forgets_the_ways_that_go_and_keeps_the_others),
        cmocka_unit_test(growing_keeps_what_is_there_and_brings_empty_ways),
        cmocka_unit_test(dirty_lines_of_ways_that_go_are_written_back_before_anything_else_is_done),
        cmocka_unit_test(a_fill_for_a_way_that_went_reaches_its_loads_and_is_not_kept),
        cmocka_unit_test(nothing_is_lost_whatever_is_done_to_the_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
