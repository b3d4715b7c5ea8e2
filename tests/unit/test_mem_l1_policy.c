/* test_mem_l1_policy.c: the L1's policies: local memory, sectors, allocation, votes, prefetches, ideal
 * machines, flush. */
#include "l1_kit.h"

/* ---- local memory ---- */

static void a_local_store_makes_its_line_dirty_and_is_written_back_on_replacement(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    start(&b);
    bring(&b, 0, 1);
    assert_int_equal(store_at(&b, 10, REQ_LOCAL, 1), L1_HIT);
    assert_null(sent_at(&b, 13, NULL));
    assert_int_equal(load_at(&b, 14, 2, 2), L1_MISS);
    struct req *r = sent_at(&b, 16, &id);
    assert_int_equal(r->kind, REQ_WRITE);
    assert_int_equal(r->cls, REQ_LOCAL);
    assert_int_equal(r->addr, LINE);
    assert_int_equal(r->write_bytes, 128);
    assert_int_equal(l1_writes_pending(b.l1, 0), 0); /* no fence waits for it */
    assert_int_equal(sent_at(&b, 17, NULL)->kind, REQ_READ);
    assert_int_equal(stats_of(&b)->write_backs, 1);
    assert_false(l1_idle(b.l1));
    finish(&b);
}

static void a_queue_of_one_still_replaces_a_dirty_line(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.size = LINE;
    b.p.miss_queue = 1;
    start(&b);
    bring(&b, 0, 1);
    store_at(&b, 10, REQ_LOCAL, 1);
    assert_int_equal(load_at(&b, 11, 2, 2), L1_STALL_QUEUE); /* the write-back goes first */
    assert_int_equal(load_at(&b, 12, 2, 2), L1_MISS);
    assert_int_equal(sent_at(&b, 13, NULL)->kind, REQ_WRITE);
    assert_int_equal(sent_at(&b, 14, NULL)->kind, REQ_READ);
    assert_int_equal(stats_of(&b)->stall_queue, 1);
    finish(&b);
}

static void a_local_store_that_misses_goes_on_or_allocates(void **state)
{
    struct bench b;
    prepare(&b);
    start(&b);
    assert_int_equal(store_at(&b, 0, REQ_LOCAL, 1), L1_SENT);
    assert_int_equal(access_at(&b, 1, txn(REQ_READ, REQ_LOCAL, 1, 1)), L1_MISS);
    finish(&b);

    prepare(&b);
    b.p.local_write_allocate = true;
    start(&b);
    assert_int_equal(store_at(&b, 0, REQ_LOCAL, 1), L1_MISS); /* covers the line: nothing is read */
    assert_null(sent_at(&b, 3, NULL));
    assert_int_equal(access_at(&b, 4, txn(REQ_READ, REQ_LOCAL, 1, 1)), L1_HIT);
    struct l1_txn t = txn(REQ_WRITE, REQ_LOCAL, 2, UINT32_MAX);
    t.partial = true;
    uint32_t id;
    assert_int_equal(access_at(&b, 5, t), L1_MISS); /* reads the rest */
    assert_int_equal(access_at(&b, 6, txn(REQ_READ, REQ_LOCAL, 2, 2)), L1_PENDING);
    assert_int_equal(sent_at(&b, 7, &id)->kind, REQ_READ);
    reply_at(&b, 7, id);
    assert_int_equal(done_at(&b, 8), 1); /* the hit of cycle 4 */
    assert_int_equal(done_at(&b, 8), 2);
    l1_flush(b.l1, 9 * PERIOD);
    tick_to(&b, 13);
    assert_int_equal(stats_of(&b)->write_backs, 2); /* both are dirty */
    finish(&b);
}

/* ---- sectors, allocation ---- */

static void sectors_are_fetched_alone_and_a_load_waits_for_all_of_its_own(void **state)
{
    struct bench b;
    uint32_t id[3];
    prepare(&b);
    b.p.sectored = true;
    start(&b);
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, 1, 1);
    t.sectors = 1;
    assert_int_equal(access_at(&b, 0, t), L1_MISS);
    t.sectors = 3;
    t.token = 2;
    assert_int_equal(access_at(&b, 1, t), L1_MISS); /* sector 0 is under way, 1 is not */
    t.sectors = 2;
    t.token = 3;
    assert_int_equal(access_at(&b, 2, t), L1_PENDING);
    assert_int_equal(sent_at(&b, 2, &id[0])->sectors, 1);
    assert_int_equal(sent_at(&b, 3, &id[1])->sectors, 2);
    reply_at(&b, 10, id[1]);
    reply_at(&b, 11, id[0]);
    assert_int_equal(done_at(&b, 11), 3);
    assert_int_equal(done_at(&b, 11), NOBODY);
    assert_int_equal(done_at(&b, 12), 1);
    assert_int_equal(done_at(&b, 12), 2);
    t.sectors = 4;
    t.token = 4;
    assert_int_equal(access_at(&b, 13, t), L1_MISS);
    t.sectors = 1;
    assert_int_equal(access_at(&b, 14, t), L1_HIT); /* the others stay meanwhile */
    assert_int_equal(stats_of(&b)->sector_misses, 2);
    assert_int_equal(stats_of(&b)->cold_misses, 1);
    finish(&b);
}

static void allocation_on_fill_needs_no_line_until_the_data_comes(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    b.p.allocate = L1_ALLOCATE_ON_FILL;
    start(&b);
    bring(&b, 0, 1);
    assert_int_equal(load_at(&b, 10, 2, 2), L1_MISS);
    assert_int_equal(load_at(&b, 11, 3, 3), L1_MISS); /* on miss there would be no line */
    assert_int_equal(load_at(&b, 12, 2, 4), L1_PENDING);
    assert_int_equal(load_at(&b, 13, 1, 5), L1_HIT); /* the old line is there still */
    sent_at(&b, 13, &id);
    reply_at(&b, 13, id);
    assert_int_equal(done_at(&b, 14), 2);
    assert_int_equal(load_at(&b, 14, 2, 6), L1_HIT);
    assert_int_equal(stats_of(&b)->evictions, 1);
    finish(&b);
}

static bool vote_no(void *ctx, const struct l1_txn *t) { return false; }

static void a_vote_against_allocation_leaves_the_cache_alone(void **state)
{
    for (uint32_t allocate = 0; allocate < 2; allocate++) {
        struct bench b;
        prepare(&b);
        b.p.allocate = allocate;
        start(&b);
        l1_hook(b.l1, &(struct l1_hooks){.may_allocate = vote_no});
        bring(&b, 0, 1);
        bring(&b, 10, 1);
        assert_int_equal(stats_of(&b)->fills_not_kept, 2);
        finish(&b);
    }
}

static bool vote_in_turn(void *ctx, const struct l1_txn *t) { return ++*(uint32_t *)ctx % 2; }

/* The one MSHR is taken: the second load is refused in every cycle until the first one's data is there. */
static void a_vote_is_asked_for_once_for_each_access(void **state)
{
    for (uint32_t allocate = 0; allocate < 2; allocate++) {
        struct bench b;
        uint32_t asked = 0, id;
        prepare(&b);
        b.p.allocate = allocate;
        b.p.mshrs = 1;
        start(&b);
        l1_hook(b.l1, &(struct l1_hooks){.may_allocate = vote_in_turn, .ctx = &asked});
        assert_int_equal(load_at(&b, 0, 1, 5), L1_MISS);
        assert_non_null(sent_at(&b, 2, &id));
        for (uint64_t cycle = 3; cycle < 10; cycle++)
            assert_int_equal(load_at(&b, cycle, 2, 6), L1_STALL_MSHR);
        assert_int_equal(asked, 2);
        reply_at(&b, 10, id);
        assert_int_equal(done_at(&b, 11), 5);
        assert_int_equal(load_at(&b, 12, 2, 6), L1_MISS);
        assert_int_equal(asked, 2);
        assert_non_null(sent_at(&b, 14, &id));
        reply_at(&b, 14, id);
        assert_int_equal(done_at(&b, 15), 6);
        assert_int_equal(stats_of(&b)->fills_not_kept, 1); /* the second answer was no, and stayed so */
        assert_int_equal(load_at(&b, 16, 2, 6), L1_MISS);
        assert_int_equal(asked, 3); /* the same words again are another access */
        finish(&b);
    }
}

struct seen_events {
    uint32_t accesses, evicts, fills;
    tick latency;
    uint64_t evicted;
};
static void see_access(void *ctx, tick now, const struct l1_txn *t, const struct l1_result *r)
{
    ((struct seen_events *)ctx)->accesses++;
}
static void see_evict(void *ctx, tick now, const struct l1_eviction *l)
{
    ((struct seen_events *)ctx)->evicts++;
    ((struct seen_events *)ctx)->evicted = l->line;
}
static void see_fill(void *ctx, tick now, const struct l1_fill_event *e)
{
    ((struct seen_events *)ctx)->fills++;
    ((struct seen_events *)ctx)->latency = e->latency;
}

static void observers_are_told_of_what_happened_once(void **state)
{
    struct bench b;
    struct seen_events e = {0};
    prepare(&b);
    b.p.size = LINE;
    b.p.mshrs = 1;
    start(&b);
    l1_hook(b.l1, &(struct l1_hooks){
                      .ctx = &e, .on_access = see_access, .on_evict = see_evict, .on_fill = see_fill});
    bring(&b, 0, 1);
    assert_int_equal(e.accesses, 1);
    assert_int_equal(e.fills, 1);
    assert_int_equal(e.latency, 3 * PERIOD);
    load_at(&b, 10, 2, 2);
    load_at(&b, 11, 3, 3); /* refused */
    load_at(&b, 12, 3, 3);
    assert_int_equal(e.accesses, 2);
    assert_int_equal(e.evicts, 1);
    assert_int_equal(e.evicted, LINE);
    finish(&b);
}

/* ---- prefetches ---- */

static struct l1_txn prefetch(uint64_t line)
{
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, line, UINT32_MAX);
    t.is_prefetch = true;
    return t;
}

static void prefetches_are_useful_late_unused_redundant_or_dropped(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.size = 2 * LINE;
    b.p.ways = 2;
    b.p.mshrs = 2;
    start(&b);
    assert_int_equal(access_at(&b, 0, prefetch(1)), L1_MISS);
    assert_int_equal(access_at(&b, 1, prefetch(2)), L1_MISS);
    assert_int_equal(access_at(&b, 2, prefetch(2)), L1_PENDING);
    assert_int_equal(access_at(&b, 3, prefetch(3)), L1_STALL_LINE);
    assert_int_equal(stats_of(&b)->stall_cycles, 0);    /* a prefetch never stalls */
    assert_int_equal(load_at(&b, 4, 2, 2), L1_PENDING); /* late */
    assert_true(sent_at(&b, 4, &id)->is_prefetch);
    reply_at(&b, 4, id);
    assert_true(sent_at(&b, 4, &id)->is_prefetch);
    reply_at(&b, 4, id);
    assert_int_equal(done_at(&b, 5), NOBODY);
    assert_int_equal(done_at(&b, 6), 2);                   /* one reply a cycle */
    assert_int_equal(stats_of(&b)->miss_latency_count, 0); /* no demand read */
    assert_int_equal(load_at(&b, 6, 1, 1), L1_HIT);        /* useful */
    assert_int_equal(load_at(&b, 7, 1, 1), L1_HIT);        /* only once */
    assert_int_equal(access_at(&b, 8, prefetch(1)), L1_HIT);
    assert_int_equal(access_at(&b, 9, prefetch(4)), L1_MISS);
    sent_at(&b, 11, &id);
    reply_at(&b, 11, id);
    load_at(&b, 13, 1, 1);
    load_at(&b, 14, 5, 5); /* replaces 4, which nobody used */
    assert_int_equal(stats_of(&b)->prefetch_offered, 6);
    assert_int_equal(stats_of(&b)->prefetch_issued, 3);
    assert_int_equal(stats_of(&b)->prefetch_redundant, 2);
    assert_int_equal(stats_of(&b)->prefetch_dropped, 1);
    assert_int_equal(stats_of(&b)->prefetch_late, 1);
    assert_int_equal(stats_of(&b)->prefetch_useful, 1);
    assert_int_equal(stats_of(&b)->prefetch_unused, 1);
    assert_int_equal(stats_of(&b)->load_accesses, 5);
    finish(&b);
}

/* ---- ideal machines ---- */

static void apply(void *ctx, const struct req *r) { *(uint32_t *)ctx = r->token; }

static void a_perfect_l1_answers_everything_in_the_same_cycle(void **state)
{
    struct bench b;
    uint32_t applied = 0;
    prepare(&b);
    b.p.perfect = true;
    start(&b);
    l1_hook(b.l1, &(struct l1_hooks){.ctx = &applied, .on_atomic = apply});
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(load_at(&b, 5, i, i), L1_HIT);
        assert_int_equal(done_at(&b, 5), i);
    }
    assert_int_equal(store_at(&b, 5, REQ_GLOBAL, 1), L1_HIT);
    assert_int_equal(access_at(&b, 5, txn(REQ_ATOMIC, REQ_GLOBAL, 1, 33)), L1_HIT);
    assert_int_equal(applied, 33);
    assert_int_equal(done_at(&b, 5), 33);
    assert_true(l1_idle(b.l1));
    assert_int_equal(b.pool.made, 0);
    finish(&b);
}

static void a_fixed_miss_latency_is_exact_and_uses_no_crossbar(void **state)
{
    struct bench b;
    uint32_t applied = 0;
    prepare(&b);
    b.p.fixed_miss_latency = 100;
    b.p.miss_queue = 1;
    start(&b);
    l1_hook(b.l1, &(struct l1_hooks){.ctx = &applied, .on_atomic = apply});
    assert_int_equal(load_at(&b, 10, 1, 1), L1_MISS);
    assert_int_equal(load_at(&b, 11, 2, 2), L1_MISS);
    assert_int_equal(store_at(&b, 12, REQ_GLOBAL, 7), L1_SENT);
    assert_int_equal(access_at(&b, 13, txn(REQ_ATOMIC, REQ_GLOBAL, 8, 3)), L1_SENT);
    assert_int_equal(l1_wake(b.l1), 110 * PERIOD);
    assert_int_equal(done_at(&b, 109), NOBODY);
    assert_int_equal(done_at(&b, 110), 1);
    assert_int_equal(done_at(&b, 111), 2);
    tick_to(&b, 112);
    assert_int_equal(applied, 0);
    tick_to(&b, 113);
    assert_int_equal(applied, 3);
    assert_int_equal(done_at(&b, 113),
                     NOBODY); /* what reads its result is not issued in the cycle that makes it */
    assert_int_equal(l1_wake(b.l1), 114 * PERIOD);
    assert_int_equal(done_at(&b, 114), 3);
    assert_int_equal(stats_of(&b)->miss_latency_sum, 200);
    assert_int_equal(link_pushes(&b.out), 0);
    assert_true(l1_idle(b.l1));
    assert_int_equal(b.pool.live, 0);
    finish(&b);
}

/* ---- flush ---- */

static void a_flush_forgets_clean_lines_and_writes_dirty_ones_back_one_a_cycle(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    start(&b);
    for (uint64_t i = 0; i < 3; i++) bring(&b, 10 * i, i);
    store_at(&b, 30, REQ_LOCAL, 0);
    store_at(&b, 31, REQ_LOCAL, 2);
    l1_flush(b.l1, 40 * PERIOD);
    assert_false(l1_idle(b.l1));
    assert_int_equal(l1_wake(b.l1), 41 * PERIOD);
    for (uint64_t t = 43; t <= 44; t++) { /* queued at 41 and 42, sent a cycle later */
        struct req *r = sent_at(&b, t, &id);
        assert_int_equal(r->kind, REQ_WRITE);
        assert_false(l1_idle(b.l1));
        reply_at(&b, t, id);
    }
    tick_to(&b, 45);
    assert_true(l1_idle(b.l1));
    assert_int_equal(load_at(&b, 50, 1, 1), L1_MISS);
    assert_int_equal(stats_of(&b)->write_backs, 2);
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vote_is_asked_for_once_for_each_access),
        cmocka_unit_test(a_local_store_makes_its_line_dirty_and_is_written_back_on_replacement),
        cmocka_unit_test(a_queue_of_one_still_replaces_a_dirty_line),
        cmocka_unit_test(a_local_store_that_misses_goes_on_or_allocates),
        cmocka_unit_test(sectors_are_fetched_alone_and_a_load_waits_for_all_of_its_own),
        cmocka_unit_test(allocation_on_fill_needs_no_line_until_the_data_comes),
        cmocka_unit_test(a_vote_against_allocation_leaves_the_cache_alone),
        cmocka_unit_test(observers_are_told_of_what_happened_once),
        cmocka_unit_test(prefetches_are_useful_late_unused_redundant_or_dropped),
        cmocka_unit_test(a_perfect_l1_answers_everything_in_the_same_cycle),
        cmocka_unit_test(a_fixed_miss_latency_is_exact_and_uses_no_crossbar),
        cmocka_unit_test(a_flush_forgets_clean_lines_and_writes_dirty_ones_back_one_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
