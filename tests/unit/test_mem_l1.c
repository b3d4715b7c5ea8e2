/* test_mem_l1.c: the L1's loads, MSHRs, stores and atomics, and the account of refusals, with exact cycles.
 */
#include "l1_kit.h"

/* ---- loads ---- */

static void a_miss_reaches_the_crossbar_two_cycles_later_and_is_done_when_its_reply_is_taken(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    start(&b);
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, 5, 77);
    t.warp = 6;
    t.pc = 42;
    assert_int_equal(access_at(&b, 10, t), L1_MISS);
    assert_int_equal(l1_wake(b.l1), 11 * PERIOD);
    assert_null(sent_at(&b, 11, NULL));
    struct req *r = sent_at(&b, 12, &id);
    assert_non_null(r);
    assert_int_equal(r->addr, 5 * LINE);
    assert_int_equal(r->sectors, 0xf);
    assert_int_equal(r->kind, REQ_READ);
    assert_int_equal(r->sm, 3);
    assert_int_equal(r->warp, 6);
    assert_int_equal(r->pc, 42);
    assert_int_equal(r->born, 10 * PERIOD);
    assert_true(l1_wake(b.l1) == TICK_NEVER); /* only a reply can bring work */
    reply_at(&b, 50, id);
    assert_int_equal(l1_wake(b.l1), 51 * PERIOD);
    assert_int_equal(done_at(&b, 50), NOBODY);
    assert_int_equal(done_at(&b, 51), 77);
    assert_int_equal(done_at(&b, 51), NOBODY);
    assert_int_equal(stats_of(&b)->miss_latency_sum, 41);
    assert_int_equal(stats_of(&b)->miss_latency_count, 1);
    assert_int_equal(stats_of(&b)->miss_latency[1], 1);
    assert_true(l1_idle(b.l1));
    assert_int_equal(b.pool.live, 0);
    finish(&b);
}

static void the_latency_of_l2_hits_is_kept_apart(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    start(&b);
    for (uint32_t hit = 0; hit < 2; hit++) {
        assert_int_equal(load_at(&b, 10 + 100 * hit, 5 + hit, 77), L1_MISS);
        assert_non_null(sent_at(&b, 13 + 100 * hit, &id));
        req_at(&b.pool, id)->l2_hit = hit;
        reply_at(&b, 50 + 70 * hit, id);
        assert_int_equal(done_at(&b, 51 + 70 * hit), 77);
    }
    assert_int_equal(stats_of(&b)->miss_latency_sum, 41 + 11);
    assert_int_equal(stats_of(&b)->l2_hit_latency_sum, 11);
    assert_int_equal(stats_of(&b)->l2_hit_latency_count, 1);
    finish(&b);
}

/* The reply of a miss in cycle 10 is there at 51: taken at 52 in steps of 2 or 3, at 55 in steps of 5; the
 * one of a miss in 11 is there at 51 too, and taken after as many cycles. */
static void a_reply_is_taken_a_whole_number_of_steps_after_its_request(void **state)
{
    static const struct {
        uint32_t step, born, taken;
    } rows[] = {{0, 10, 51}, {1, 10, 52}, {2, 10, 52}, {2, 11, 53}, {3, 10, 52}, {5, 10, 55}, {41, 10, 92}};
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bench b;
        uint32_t id;
        prepare(&b);
        b.p.reply_step = rows[i].step;
        start(&b);
        assert_int_equal(load_at(&b, rows[i].born, 5, 77), L1_MISS);
        assert_non_null(sent_at(&b, 13, &id));
        reply_at(&b, 50, id);
        assert_int_equal(l1_wake(b.l1), rows[i].taken * PERIOD);
        assert_int_equal(done_at(&b, rows[i].taken - 1), NOBODY);
        assert_int_equal(done_at(&b, rows[i].taken), 77);
        assert_int_equal(stats_of(&b)->miss_latency_sum, rows[i].taken - rows[i].born);
        finish(&b);
    }
}

static void a_hit_is_done_after_the_hit_latency(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.latency = 35;
    start(&b);
    bring(&b, 0, 1);
    assert_int_equal(load_at(&b, 10, 1, 5), L1_HIT);
    assert_int_equal(l1_wake(b.l1), 45 * PERIOD);
    assert_int_equal(done_at(&b, 44), NOBODY);
    assert_int_equal(done_at(&b, 45), 5);
    assert_int_equal(stats_of(&b)->total_hits, 1);
    finish(&b);
}

static void one_access_a_cycle_for_each_port(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.ports = 2;
    start(&b);
    assert_int_equal(load_at(&b, 1, 1, 1), L1_MISS);
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS);
    assert_int_equal(load_at(&b, 1, 3, 3), L1_STALL_PORT);
    assert_int_equal(stats_of(&b)->stall_cycles, 0); /* a busy cycle is not a stalled one */
    assert_int_equal(load_at(&b, 2, 3, 3), L1_MISS);
    finish(&b);
}

static void the_miss_queue_moves_one_request_a_cycle(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.ports = 4;
    start(&b);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(load_at(&b, 0, i, i), L1_MISS);
    for (uint64_t t = 2; t <= 5; t++) {
        assert_int_equal(sent_at(&b, t, NULL)->addr, (t - 2) * LINE);
        assert_null(sent_at(&b, t, NULL));
    }
    finish(&b);
}

/* ---- MSHRs ---- */

static void loads_of_a_line_under_way_merge_up_to_the_limit(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.merges = 3;
    start(&b);
    assert_int_equal(load_at(&b, 0, 1, 10), L1_MISS);
    assert_int_equal(load_at(&b, 1, 1, 11), L1_PENDING);
    assert_int_equal(load_at(&b, 2, 1, 12), L1_PENDING);
    assert_int_equal(load_at(&b, 3, 1, 13), L1_STALL_MSHR);
    assert_non_null(sent_at(&b, 4, &id));
    assert_null(sent_at(&b, 9, NULL)); /* one request for all */
    reply_at(&b, 9, id);
    for (int i = 10; i < 13; i++) assert_int_equal(done_at(&b, 10), i);
    assert_int_equal(done_at(&b, 10), NOBODY);
    assert_int_equal(load_at(&b, 10, 1, 13), L1_HIT);
    assert_int_equal(stats_of(&b)->total_pending, 2);
    assert_int_equal(stats_of(&b)->stall_mshr, 7); /* cycles 3 to 9 */
    finish(&b);
}

static void a_full_mshr_file_stalls_until_a_fill(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.mshrs = 2;
    start(&b);
    load_at(&b, 0, 1, 1);
    load_at(&b, 1, 2, 2);
    assert_int_equal(load_at(&b, 2, 3, 3), L1_STALL_MSHR);
    assert_non_null(sent_at(&b, 3, &id));
    reply_at(&b, 5, id);
    assert_int_equal(load_at(&b, 5, 3, 3), L1_STALL_MSHR);
    assert_int_equal(load_at(&b, 6, 3, 3), L1_MISS);
    assert_int_equal(stats_of(&b)->stall_mshr, 4);
    assert_int_equal(stats_of(&b)->mshr_max, 2);
    finish(&b);
}

static void a_set_whose_lines_all_wait_stalls_for_a_line(void **state)
{
    struct bench b;
    prepare(&b); /* 32 sets of 4 ways */
    start(&b);
    for (uint32_t i = 0; i < 4; i++) { assert_int_equal(load_at(&b, i, i * 32, i), L1_MISS); }
    assert_int_equal(load_at(&b, 4, 4 * 32, 4), L1_STALL_LINE);
    assert_int_equal(load_at(&b, 5, 1, 5), L1_MISS); /* another set */
    assert_int_equal(stats_of(&b)->stall_line, 1);
    finish(&b);
}

static void a_full_miss_queue_is_back_pressure(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.miss_queue = 2;
    start_with_links(&b, 1);
    load_at(&b, 0, 0, 0); /* the link's one slot is taken */
    load_at(&b, 1, 1, 1);
    load_at(&b, 2, 2, 2);
    assert_int_equal(load_at(&b, 3, 3, 3), L1_STALL_QUEUE);
    assert_true(l1_wake(b.l1) == TICK_NEVER);
    assert_int_equal(store_at(&b, 4, REQ_GLOBAL, 9), L1_STALL_QUEUE); /* stores need it too */
    b.wake = TICK_NEVER;
    sent_at(&b, 7, NULL);
    assert_true(b.wake <= 8 * PERIOD); /* the pop tells the blocked side */
    assert_int_equal(load_at(&b, 7, 3, 3), L1_STALL_QUEUE);
    assert_int_equal(load_at(&b, 8, 3, 3), L1_MISS);
    assert_int_equal(stats_of(&b)->stall_queue, 5); /* cycles 3 to 7 */
    finish(&b);
}

static void of_several_causes_line_comes_before_queue_before_mshr(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.size = 2 * LINE;
    b.p.ways = 1; /* two sets */
    b.p.mshrs = 1;
    b.p.miss_queue = 1;
    start_with_links(&b, 1);
    link_push(&b.out, 0, 0); /* the crossbar is full */
    load_at(&b, 0, 0, 0);
    assert_int_equal(load_at(&b, 1, 2, 1), L1_STALL_LINE);  /* all three */
    assert_int_equal(load_at(&b, 2, 1, 1), L1_STALL_QUEUE); /* queue and MSHR */
    link_pop(&b.out, 2 * PERIOD);
    assert_int_equal(load_at(&b, 3, 1, 1), L1_STALL_MSHR);
    assert_int_equal(stats_of(&b)->stall_line, 1);
    assert_int_equal(stats_of(&b)->stall_queue, 1);
    assert_int_equal(stats_of(&b)->stall_mshr, 1);
    finish(&b);
}

static void stalled_cycles_are_charged_once_whether_the_sm_asks_or_sleeps(void **state)
{
    uint64_t stalled[3];
    for (int way = 0; way < 3; way++) { /* asks once a cycle, twice, sleeps */
        struct bench b;
        uint32_t id;
        prepare(&b);
        b.p.mshrs = 1;
        start(&b);
        load_at(&b, 0, 1, 1);
        sent_at(&b, 2, &id);
        assert_int_equal(load_at(&b, 2, 2, 2), L1_STALL_MSHR);
        for (uint64_t t = 3; t <= 15; t++)
            for (int i = 0; i <= way && way < 2; i++) assert_int_equal(load_at(&b, t, 2, 2), L1_STALL_MSHR);
        l1_settle(b.l1, 15 * PERIOD); /* a snapshot in between changes no sum */
        for (uint64_t t = 16; t <= 20; t++)
            for (int i = 0; i <= way && way < 2; i++) assert_int_equal(load_at(&b, t, 2, 2), L1_STALL_MSHR);
        if (way == 2) b.next_cycle = 21; /* no tick either */
        reply_at(&b, 20, id);
        assert_int_equal(load_at(&b, 21, 2, 2), L1_MISS);
        stalled[way] = stats_of(&b)->stall_mshr;
        assert_int_equal(stats_of(&b)->fails[L1_GLOBAL_LOAD], stats_of(&b)->stall_cycles);
        assert_int_equal(stats_of(&b)->total_accesses, 2); /* an access counts once */
        finish(&b);
    }
    for (int way = 0; way < 3; way++) assert_int_equal(stalled[way], 19); /* cycles 2 to 20 */
}

static bool refuses_ahead(struct bench *b, uint64_t cycle, uint64_t line)
{
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, line, 2);
    tick_to(b, cycle);
    return l1_refuses_ahead(b->l1, cycle * PERIOD, &t);
}

static void a_refusal_that_is_foreseen_begins_in_the_next_cycle(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.mshrs = 1;
    start(&b);
    load_at(&b, 0, 1, 1);
    assert_true(l1_is_full(b.l1));
    assert_true(refuses_ahead(&b, 0, 2));
    l1_settle(b.l1, 0);
    assert_int_equal(stats_of(&b)->stall_mshr, 0);
    l1_settle(b.l1, 5 * PERIOD);
    assert_int_equal(stats_of(&b)->stall_mshr, 4); /* cycles 1 to 4 */
    assert_non_null(sent_at(&b, 5, &id));
    assert_true(l1_still_refuses(b.l1, 5 * PERIOD));
    reply_at(&b, 5, id);
    tick_to(&b, 6);
    assert_false(l1_still_refuses(b.l1, 6 * PERIOD));
    assert_int_equal(load_at(&b, 6, 2, 2), L1_MISS);
    assert_int_equal(stats_of(&b)->stall_mshr, 5);
    assert_int_equal(stats_of(&b)->fails[L1_GLOBAL_LOAD], 5);
    finish(&b);
}

static void a_full_queue_refuses_ahead_while_the_crossbar_is_full(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.miss_queue = b.p.ports = 2;
    start_with_links(&b, 1);
    load_at(&b, 0, 1, 1);
    load_at(&b, 0, 2, 1);
    /* one of them leaves in the next cycle, and leaves the crossbar full */
    assert_false(refuses_ahead(&b, 0, 3));
    assert_int_equal(load_at(&b, 1, 3, 1), L1_MISS);
    assert_true(l1_is_full(b.l1));
    assert_true(refuses_ahead(&b, 1, 4));
    assert_true(l1_wake(b.l1) == TICK_NEVER);
    l1_settle(b.l1, 5 * PERIOD);
    assert_int_equal(stats_of(&b)->stall_queue, 3); /* cycles 2 to 4 */
    assert_true(l1_still_refuses(b.l1, 5 * PERIOD));
    assert_non_null(sent_at(&b, 5, &id));
    assert_int_equal(b.wake, 5 * PERIOD + 1);
    reply_at(&b, 5, id);
    tick_to(&b, 6);
    assert_false(l1_still_refuses(b.l1, 6 * PERIOD));
    assert_int_equal(load_at(&b, 6, 4, 2), L1_MISS);
    assert_int_equal(stats_of(&b)->stall_queue, 4);
    assert_int_equal(stats_of(&b)->fails[L1_GLOBAL_LOAD], 4);
    assert_int_equal(link_refusals(&b.out, 6 * PERIOD), 1);
    finish(&b);
}

static void replies_make_no_room_in_the_queue(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    b.p.miss_queue = 1;
    start_with_links(&b, 1);
    load_at(&b, 0, 1, 1);
    assert_non_null(sent_at(&b, 2, &id));
    load_at(&b, 3, 2, 1);
    load_at(&b, 4, 3, 1);
    assert_int_equal(load_at(&b, 5, 4, 1), L1_STALL_QUEUE);
    reply_at(&b, 5, id);
    assert_int_equal(done_at(&b, 6), 1);
    assert_true(l1_still_refuses(b.l1, 6 * PERIOD));
    assert_true(l1_wake(b.l1) == TICK_NEVER);
    finish(&b);
}

static void what_may_be_taken_is_not_refused_ahead(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.mshrs = 2;
    start(&b);
    bring(&b, 0, 7);
    load_at(&b, 10, 1, 1);
    assert_false(refuses_ahead(&b, 10, 2)); /* there is an MSHR */
    load_at(&b, 11, 2, 1);
    assert_false(refuses_ahead(&b, 11, 7)); /* a hit */
    assert_false(refuses_ahead(&b, 11, 1)); /* merges */
    assert_true(refuses_ahead(&b, 11, 3));
    finish(&b);
    prepare(&b);
    b.p.mshrs = b.p.miss_queue = 1;
    start(&b);
    load_at(&b, 0, 1, 1);
    assert_false(refuses_ahead(
        &b, 0, 2)); /* for the queue, which has room in the next cycle: the cause would be another */
    assert_true(refuses_ahead(&b, 1, 2));
    finish(&b);
}

/* ---- what the counts mean ---- */

static void cold_misses_are_first_touches_and_the_others_were_replaced(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.size = LINE; /* one line */
    start(&b);
    bring(&b, 0, 1);
    bring(&b, 10, 2);
    bring(&b, 20, 1);
    assert_int_equal(stats_of(&b)->cold_misses, 2);
    assert_int_equal(stats_of(&b)->replaced_misses, 1);
    assert_int_equal(stats_of(&b)->evictions, 2);
    l1_flush(b.l1, 30 * PERIOD);
    bring(&b, 31, 1);
    assert_int_equal(stats_of(&b)->cold_misses, 3);
    finish(&b);
}

/* A warp is its launch: another one that comes into its slot has not brought the line. */
static void hits_on_a_warps_own_line_are_intra_warp(void **state)
{
    struct bench b;
    prepare(&b);
    start(&b);
    bring(&b, 0, 1); /* launch 0 */
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, 1, UINT32_MAX);
    access_at(&b, 10, t);
    t.launch = 1; /* in the same slot */
    access_at(&b, 11, t);
    assert_int_equal(stats_of(&b)->intra_warp_hits, 1);
    assert_int_equal(stats_of(&b)->inter_warp_hits, 1);
    finish(&b);
}

static void any_size_makes_a_cache(void **state)
{
    static const struct {
        uint64_t size;
        uint32_t lines;
    } cases[] = {{1, 1}, {200, 1}, {3 * LINE, 3}, {48 << 10, 384}, {5000, 36}};
    for (uint32_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;
        prepare(&b);
        b.p.size = cases[i].size;
        start(&b);
        for (uint64_t n = 0; n < 400; n++) bring(&b, n * 10, n);
        assert_int_equal(400 - stats_of(&b)->evictions, cases[i].lines);
        finish(&b);
    }
}

/* ---- stores and atomics ---- */

static void a_global_store_is_sent_and_drops_the_line_that_it_hits(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    start(&b);
    bring(&b, 0, 1);
    assert_int_equal(store_at(&b, 10, REQ_GLOBAL, 1), L1_SENT);
    assert_int_equal(l1_writes_pending(b.l1, 0), 1);
    assert_int_equal(load_at(&b, 11, 1, 1), L1_MISS);
    struct req *r = sent_at(&b, 12, &id);
    assert_int_equal(r->kind, REQ_WRITE);
    assert_int_equal(r->write_bytes, 128);
    reply_at(&b, 20, id);
    assert_int_equal(done_at(&b, 21), NOBODY); /* acknowledged silently */
    assert_int_equal(l1_writes_pending(b.l1, 0), 0);
    assert_int_equal(stats_of(&b)->write_evictions, 1);
    assert_int_equal(stats_of(&b)->hits[L1_GLOBAL_STORE], 1);
    assert_int_equal(store_at(&b, 22, REQ_GLOBAL, 7), L1_SENT);
    assert_int_equal(stats_of(&b)->misses[L1_GLOBAL_STORE], 1);
    assert_int_equal(load_at(&b, 23, 7, 2), L1_MISS); /* no allocation */
    finish(&b);
}

static void with_update_a_global_store_keeps_the_line(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.write_global = L1_WRITE_UPDATE;
    start(&b);
    bring(&b, 0, 1);
    assert_int_equal(store_at(&b, 10, REQ_GLOBAL, 1), L1_SENT);
    assert_int_equal(load_at(&b, 11, 1, 1), L1_HIT);
    finish(&b);
}

static void a_line_that_was_written_on_its_way_does_not_stay(void **state)
{
    for (uint32_t allocate = 0; allocate < 2; allocate++) {
        struct bench b;
        uint32_t id;
        prepare(&b);
        b.p.allocate = allocate;
        start(&b);
        load_at(&b, 0, 1, 1);
        store_at(&b, 1, REQ_GLOBAL, 1);
        sent_at(&b, 2, &id);
        reply_at(&b, 3, id);
        assert_int_equal(done_at(&b, 4), 1);
        assert_int_equal(load_at(&b, 4, 1, 2), L1_MISS);
        assert_int_equal(stats_of(&b)->pending[L1_GLOBAL_STORE], allocate ? 0 : 1);
        assert_int_equal(stats_of(&b)->fills_not_kept, 1);
        finish(&b);
    }
}

static void an_atomic_goes_to_the_l2_and_gives_its_token_back_with_the_reply(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    start(&b);
    bring(&b, 0, 1);
    assert_int_equal(access_at(&b, 10, txn(REQ_ATOMIC, REQ_GLOBAL, 1, 55)), L1_SENT);
    struct req *r = sent_at(&b, 12, &id);
    assert_int_equal(r->kind, REQ_ATOMIC);
    assert_int_equal(r->token, 55); /* what the L2's hook is told */
    assert_int_equal(l1_writes_pending(b.l1, 0), 1);
    reply_at(&b, 30, id);
    assert_int_equal(done_at(&b, 31), 55);
    assert_int_equal(l1_writes_pending(b.l1, 0), 0);
    assert_int_equal(stats_of(&b)->accesses[L1_ATOMIC], 1);
    assert_int_equal(stats_of(&b)->hits[L1_ATOMIC], 1);
    assert_int_equal(load_at(&b, 32, 1, 1), L1_MISS); /* evicted */
    finish(&b);
}

static void bypassing_loads_neither_look_nor_stay(void **state)
{
    struct bench b;
    uint32_t id;
    prepare(&b);
    start(&b);
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, 1, 8);
    t.bypass = true;
    t.sectors = 2;
    bring(&b, 0, 1);
    assert_int_equal(access_at(&b, 10, t), L1_SENT);
    assert_int_equal(sent_at(&b, 12, &id)->sectors, 2);
    reply_at(&b, 12, id);
    assert_int_equal(done_at(&b, 13), 8);
    assert_int_equal(stats_of(&b)->bypassed, 1);
    assert_int_equal(stats_of(&b)->total_accesses, 1);
    finish(&b);

    prepare(&b);
    b.p.cache_global = false;
    start(&b);
    assert_int_equal(load_at(&b, 0, 1, 1), L1_SENT);
    assert_int_equal(access_at(&b, 1, txn(REQ_READ, REQ_LOCAL, 9, 1)), L1_MISS); /* local loads still are */
    finish(&b);
}

static void every_statistic_has_a_row(void **state)
{
    static uint8_t covered[sizeof(struct l1_stats)];
    for (const struct stat_row *r = l1_stat_rows; r->name; r++)
        memset(covered + r->offset, 1, sizeof(uint64_t) * (r->type == STAT_HISTOGRAM ? r->length : 1));
    for (size_t i = 0; i < sizeof covered; i++)
        if (!covered[i]) fail_msg("the counter at byte %zu of l1_stats has no row", i);
}

static void a_line_size_that_is_no_power_of_two_is_refused(void **state)
{
    struct bench b;
    struct diag_list d = {0};
    prepare(&b);
    assert_true(l1_params_check(&b.p, &d));
    b.p.line = 96;
    assert_false(l1_params_check(&b.p, &d));
    assert_int_equal(d.errors, 1);
    diag_free(&d);
}

/* 96 sets of four ways; 32 sets. */
static void a_hash_of_sets_that_are_not_a_power_of_two_is_warned_of(void **state)
{
    static const struct {
        uint32_t size, index, warnings;
    } rows[] = {{48 << 10, CACHE_INDEX_FERMI_HASH, 1},
                {48 << 10, CACHE_INDEX_LINEAR, 0},
                {16 << 10, CACHE_INDEX_FERMI_HASH, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bench b;
        struct diag_list d = {0};
        struct strbuf said = {0};
        prepare(&b);
        b.p.size = rows[i].size;
        b.p.ways = 4;
        b.p.index = rows[i].index;
        l1_params_warn(&b.p, &d);
        assert_int_equal(d.items.len, rows[i].warnings);
        diag_render(&d, &said);
        if (rows[i].warnings) assert_non_null(strstr(strbuf_text(&said), "96 sets are not a power of two"));
        strbuf_free(&said);
        diag_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_reaches_the_crossbar_two_cycles_later_and_is_done_when_its_reply_is_taken),
        cmocka_unit_test(the_latency_of_l2_hits_is_kept_apart),
        cmocka_unit_test(a_reply_is_taken_a_whole_number_of_steps_after_its_request),
        cmocka_unit_test(a_hit_is_done_after_the_hit_latency),
        cmocka_unit_test(one_access_a_cycle_for_each_port),
        cmocka_unit_test(the_miss_queue_moves_one_request_a_cycle),
        cmocka_unit_test(loads_of_a_line_under_way_merge_up_to_the_limit),
        cmocka_unit_test(a_full_mshr_file_stalls_until_a_fill),
        cmocka_unit_test(a_set_whose_lines_all_wait_stalls_for_a_line),
        cmocka_unit_test(a_full_miss_queue_is_back_pressure),
        cmocka_unit_test(of_several_causes_line_comes_before_queue_before_mshr),
        cmocka_unit_test(stalled_cycles_are_charged_once_whether_the_sm_asks_or_sleeps),
        cmocka_unit_test(a_refusal_that_is_foreseen_begins_in_the_next_cycle),
        cmocka_unit_test(a_full_queue_refuses_ahead_while_the_crossbar_is_full),
        cmocka_unit_test(replies_make_no_room_in_the_queue),
        cmocka_unit_test(what_may_be_taken_is_not_refused_ahead),
        cmocka_unit_test(a_hash_of_sets_that_are_not_a_power_of_two_is_warned_of),
        cmocka_unit_test(cold_misses_are_first_touches_and_the_others_were_replaced),
        cmocka_unit_test(hits_on_a_warps_own_line_are_intra_warp),
        cmocka_unit_test(any_size_makes_a_cache),
        cmocka_unit_test(a_global_store_is_sent_and_drops_the_line_that_it_hits),
        cmocka_unit_test(with_update_a_global_store_keeps_the_line),
        cmocka_unit_test(a_line_that_was_written_on_its_way_does_not_stay),
        cmocka_unit_test(an_atomic_goes_to_the_l2_and_gives_its_token_back_with_the_reply),
        cmocka_unit_test(bypassing_loads_neither_look_nor_stay),
        cmocka_unit_test(every_statistic_has_a_row),
        cmocka_unit_test(a_line_size_that_is_no_power_of_two_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
