/* test_mem_l1_hooks.c: what a mechanism may do beside an L1, cycle by cycle: hold misses back, take them,
 * steal a port, lend ways, choose what is replaced, and what it is told. The mechanism is played by the
 * test. */
#include "l1_kit.h"

struct mock {
    struct bench *b;
    /* what it answers */
    bool holds, refuses;
    struct l1_take_answer take;
    /* what it was asked and told */
    uint32_t asked_miss, asked_take, asked_victim, entry;
    struct l1_result result;
    struct l1_eviction evicted;
    uint32_t evictions;
    struct l1_fill_event fill;
    uint32_t fills;
    enum l1_prefetch_outcome prefetch;
    uint32_t prefetches, levels, mshrs, queue;
    uint64_t id;
};

static bool may_miss(void *ctx, const struct l1_txn *t)
{
    struct mock *m = ctx;
    m->asked_miss++;
    return !m->holds;
}
static bool may_allocate(void *ctx, const struct l1_txn *t) { return !((struct mock *)ctx)->refuses; }
static void take_miss(void *ctx, tick now, const struct l1_txn *t, uint32_t entry, struct l1_take_answer *a)
{
    struct mock *m = ctx;
    m->asked_take++;
    m->entry = entry;
    *a = m->take;
}
static void on_access(void *ctx, tick now, const struct l1_txn *t, const struct l1_result *r)
{
    ((struct mock *)ctx)->result = *r;
    ((struct mock *)ctx)->id = t->id;
}
static void on_evict(void *ctx, tick now, const struct l1_eviction *e)
{
    ((struct mock *)ctx)->evicted = *e;
    ((struct mock *)ctx)->evictions++;
}
static void on_fill(void *ctx, tick now, const struct l1_fill_event *e)
{
    ((struct mock *)ctx)->fill = *e;
    ((struct mock *)ctx)->fills++;
}
static void on_prefetch(void *ctx, tick now, const struct l1_txn *t, enum l1_prefetch_outcome o)
{
    ((struct mock *)ctx)->prefetch = o;
    ((struct mock *)ctx)->prefetches++;
}
static void on_level(void *ctx, tick now, uint32_t used, uint32_t mshrs, uint32_t queue_used, uint32_t queue)
{
    struct mock *m = ctx;
    m->levels++;
    m->mshrs = used;
    m->queue = queue_used;
}

static void watch(struct bench *b, struct mock *m, struct l1_hooks hooks)
{
    memset(m, 0, sizeof *m);
    m->b = b;
    hooks.ctx = m;
    hooks.on_access = on_access;
    hooks.on_evict = on_evict;
    hooks.on_fill = on_fill;
    hooks.on_prefetch = on_prefetch;
    hooks.on_level = on_level;
    start(b);
    l1_hook(b->l1, &hooks);
}

static struct l1_txn load_of(uint64_t line, uint32_t token, uint32_t pc, uint16_t warp)
{
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, line, token);
    t.pc = pc;
    t.warp = warp;
    t.id = token + 100;
    return t;
}

static struct l1_txn prefetch_of(uint64_t line)
{
    struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, line, UINT32_MAX);
    t.is_prefetch = true;
    return t;
}

/* ---- may_miss ---- */

static void a_miss_that_is_held_back_is_offered_in_every_cycle_and_charged_apart(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){.may_miss = may_miss});
    bring(&b, 0, 1);
    m.asked_miss = 0;
    m.holds = true;
    assert_int_equal(load_at(&b, 10, 1, 1), L1_HIT); /* it is not a miss */
    assert_int_equal(m.asked_miss, 0);
    for (uint64_t t = 11; t < 14; t++) {
        assert_int_equal(load_at(&b, t, 2, 2), L1_STALL_HELD);
        assert_int_equal(l1_wake(b.l1), (t + 1) * PERIOD); /* nobody sleeps past it */
        assert_false(l1_still_refuses(b.l1, (t + 1) * PERIOD));
        assert_int_equal(m.asked_miss, t - 10); /* still_refuses does not ask */
        done_at(&b, t);
    }
    m.holds = false;
    assert_int_equal(load_at(&b, 14, 2, 2), L1_MISS);
    assert_int_equal(stats_of(&b)->stall_held, 3);
    assert_int_equal(stats_of(&b)->stall_cycles, 3);
    m.holds = true;
    assert_int_equal(load_at(&b, 15, 2, 3), L1_PENDING); /* nor is a merge */
    finish(&b);
}

/* ---- take_miss ---- */

static void a_miss_that_passes_at_once_takes_its_ordinary_way(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    assert_int_equal(access_at(&b, 0, load_of(1, 7, 3, 0)), L1_MISS);
    assert_int_equal(m.asked_take, 1);
    assert_false(m.result.taken);
    assert_int_equal(m.id, 107);
    assert_non_null(sent_at(&b, 2, &id));
    reply_at(&b, 2, id);
    assert_int_equal(done_at(&b, 3), 7);
    assert_true(m.fill.kept);
    finish(&b);
}

static void a_miss_that_passes_is_asked_for_once_however_long_it_is_refused(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE; /* the one line is awaited: the second miss has an MSHR and no line */
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    for (uint64_t t = 1; t < 5; t++) assert_int_equal(load_at(&b, t, 2, 2), L1_STALL_LINE);
    assert_int_equal(m.asked_take, 2);
    sent_at(&b, 5, &id);
    reply_at(&b, 5, id);
    assert_int_equal(load_at(&b, 6, 2, 2), L1_MISS);
    assert_int_equal(m.asked_take, 2);
    finish(&b);
}

static void a_miss_is_not_asked_for_without_a_free_mshr(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.mshrs = 1;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    assert_int_equal(load_at(&b, 1, 2, 2), L1_STALL_MSHR);
    assert_int_equal(m.asked_take, 1);
    finish(&b);
}

static void a_hit_elsewhere_answers_all_merged_loads_and_takes_no_line(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.size = LINE;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    bring(&b, 0, 1);
    m.take = (struct l1_take_answer){.take = L1_TAKE_HIT, .cycles = 5};
    assert_int_equal(load_at(&b, 10, 2, 2), L1_MISS);
    assert_true(m.result.taken);
    assert_int_equal(load_at(&b, 12, 2, 3), L1_PENDING);
    assert_int_equal(l1_wake(b.l1), 15 * PERIOD);
    assert_false(l1_idle(b.l1));
    assert_int_equal(done_at(&b, 14), NOBODY);
    assert_int_equal(done_at(&b, 15), 2);
    assert_int_equal(done_at(&b, 15), 3);
    assert_true(l1_idle(b.l1));
    assert_int_equal(m.evictions, 0);
    assert_int_equal(stats_of(&b)->taken_hits, 1);
    assert_int_equal(stats_of(&b)->requests_read, 1);
    assert_int_equal(stats_of(&b)->miss_latency_sum, 3 + 5);
    assert_int_equal(load_at(&b, 16, 1, 4), L1_HIT); /* the old line is there */
    assert_int_equal(load_at(&b, 17, 2, 5), L1_MISS);
    finish(&b);
}

/* The one MSHR is found free, and is free again for the next. */
static void a_hit_elsewhere_holds_no_mshr(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.mshrs = 1;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    m.take = (struct l1_take_answer){.take = L1_TAKE_HIT, .cycles = 20};
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    assert_int_equal(m.mshrs, 0);
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS);
    m.take = (struct l1_take_answer){.take = L1_TAKE_PASS};
    assert_int_equal(load_at(&b, 2, 3, 3), L1_MISS); /* takes it */
    assert_int_equal(m.mshrs, 1);
    m.take = (struct l1_take_answer){.take = L1_TAKE_HIT, .cycles = 20};
    assert_int_equal(load_at(&b, 3, 1, 4), L1_PENDING); /* the hit is found by its line */
    assert_int_equal(load_at(&b, 3, 4, 5), L1_STALL_PORT);
    assert_int_equal(load_at(&b, 4, 4, 5), L1_STALL_MSHR);
    assert_int_equal(done_at(&b, 20), 1);
    assert_int_equal(done_at(&b, 20), 4);
    assert_int_equal(done_at(&b, 21), 2);
    assert_int_equal(m.mshrs, 1); /* the miss */
    finish(&b);
}

static void a_late_pass_takes_its_line_when_it_goes_on(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    bring(&b, 0, 1);
    m.take = (struct l1_take_answer){.take = L1_TAKE_PASS, .cycles = 4};
    assert_int_equal(load_at(&b, 10, 2, 2), L1_MISS);
    assert_int_equal(load_at(&b, 13, 1, 3), L1_HIT);
    assert_int_equal(m.evictions, 0);
    tick_to(&b, 14);
    assert_int_equal(m.evictions, 1);
    assert_int_equal(m.evicted.line, LINE);
    assert_null(sent_at(&b, 15, NULL));
    assert_non_null(sent_at(&b, 16, &id)); /* queued in cycle 14, sent in 15, a cycle on its way */
    reply_at(&b, 16, id);
    assert_int_equal(done_at(&b, 17), 3);
    assert_int_equal(done_at(&b, 17), 2);
    assert_int_equal(m.fill.latency, 7 * PERIOD);
    assert_int_equal(load_at(&b, 18, 2, 4), L1_HIT);
    finish(&b);
}

static void a_late_pass_waits_for_a_line_and_for_the_miss_queue(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    b.p.miss_queue = 1;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    m.take = (struct l1_take_answer){.take = L1_TAKE_PASS, .cycles = 2};
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    m.take.cycles = 0;
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS); /* takes the one line */
    assert_non_null(sent_at(&b, 3, &id));
    tick_to(&b, 6);
    assert_null(sent_at(&b, 7, NULL)); /* due at 2, but there is no line */
    reply_at(&b, 7, id);
    assert_int_equal(done_at(&b, 8), 2);
    assert_non_null(sent_at(&b, 10, &id)); /* went on in the cycle of the fill */
    reply_at(&b, 10, id);
    assert_int_equal(done_at(&b, 11), 1);
    finish(&b);
}

static void a_claimed_miss_is_answered_and_kept_or_forwarded(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    m.take = (struct l1_take_answer){.take = L1_TAKE_CLAIM};
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    uint32_t first = m.entry;
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS);
    uint32_t second = m.entry;
    assert_int_not_equal(first, second);
    assert_int_equal(load_at(&b, 2, 1, 3), L1_PENDING);
    tick_to(&b, 20);
    l1_miss_answer(b.l1, 20 * PERIOD, first);
    assert_int_equal(done_at(&b, 20), 1);
    assert_int_equal(done_at(&b, 20), 3);
    assert_true(m.fill.kept);
    assert_int_equal(m.fill.latency, 20 * PERIOD);
    assert_int_equal(load_at(&b, 21, 1, 4), L1_HIT);
    assert_true(l1_miss_forward(b.l1, 21 * PERIOD, second));
    assert_non_null(sent_at(&b, 23, &id));
    reply_at(&b, 23, id);
    assert_int_equal(done_at(&b, 24), 4);
    assert_int_equal(done_at(&b, 24), 2);
    assert_true(l1_idle(b.l1));
    finish(&b);
}

static void forwarding_needs_a_place_in_the_miss_queue(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.miss_queue = 1;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    m.take = (struct l1_take_answer){.take = L1_TAKE_CLAIM};
    load_at(&b, 0, 1, 1);
    store_at(&b, 1, REQ_GLOBAL, 5);
    assert_false(l1_miss_forward(b.l1, 1 * PERIOD, m.entry));
    tick_to(&b, 2); /* the store leaves */
    assert_true(l1_miss_forward(b.l1, 2 * PERIOD, m.entry));
    finish(&b);
}

/* Two cycles of the one entry: the new accesses of both find it kept, and the claim has the second. */
static void a_claim_that_was_refused_has_the_next_entry_of_the_miss_queue(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.miss_queue = 1;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    m.take = (struct l1_take_answer){.take = L1_TAKE_CLAIM};
    load_at(&b, 0, 1, 1);
    const uint32_t first = m.entry;
    load_at(&b, 1, 2, 2);
    const uint32_t second = m.entry;
    store_at(&b, 2, REQ_GLOBAL, 5);
    assert_false(l1_miss_forward(b.l1, 2 * PERIOD, first));
    assert_int_equal(store_at(&b, 3, REQ_GLOBAL, 6), L1_STALL_QUEUE); /* it is empty, and kept */
    m.take = (struct l1_take_answer){.take = L1_TAKE_PASS};
    assert_int_equal(load_at(&b, 3, 7, 7), L1_STALL_QUEUE);
    assert_true(l1_miss_forward(b.l1, 4 * PERIOD, first));
    assert_int_equal(load_at(&b, 5, 7, 7), L1_MISS);
    /* a claim that is answered instead wants no entry */
    assert_false(l1_miss_forward(b.l1, 5 * PERIOD, second));
    l1_miss_answer(b.l1, 6 * PERIOD, second);
    assert_int_equal(store_at(&b, 6, REQ_GLOBAL, 6), L1_SENT);
    finish(&b);
}

static void a_claim_may_hold_its_line_from_the_beginning(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss, .claims_lines = true});
    bring(&b, 0, 9);
    m.take = (struct l1_take_answer){.take = L1_TAKE_CLAIM};
    assert_int_equal(load_at(&b, 10, 1, 1), L1_MISS);
    assert_int_equal(m.evicted.line, 9 * LINE); /* leaves at once */
    assert_true(m.result.has_evicted);
    assert_int_equal(load_at(&b, 11, 1, 2), L1_PENDING);
    const uint32_t asked = m.asked_take;
    assert_int_equal(load_at(&b, 12, 3, 3), L1_STALL_LINE); /* and is not asked */
    assert_int_equal(m.asked_take, asked);
    l1_miss_answer(b.l1, 13 * PERIOD, m.entry);
    assert_true(m.fill.kept);
    assert_int_equal(done_at(&b, 13), 1);
    assert_int_equal(done_at(&b, 13), 2);
    assert_int_equal(load_at(&b, 14, 3, 3), L1_MISS);
    assert_true(l1_miss_forward(b.l1, 15 * PERIOD, m.entry));
    assert_non_null(sent_at(&b, 17, &id));
    reply_at(&b, 17, id);
    assert_int_equal(done_at(&b, 18), 3);
    assert_int_equal(load_at(&b, 19, 3, 4), L1_HIT);
    tick_to(&b, 20 + b.p.latency);
    finish(&b);
}

/* A delayed miss waits for the one line; no access and no reply says that the claim has ended. */
static void the_end_of_a_claim_wakes_what_waits_for_its_line(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.size = LINE;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss, .claims_lines = true});
    m.take = (struct l1_take_answer){.take = L1_TAKE_PASS, .cycles = 2};
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    m.take = (struct l1_take_answer){.take = L1_TAKE_CLAIM};
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS);
    tick_to(&b, 10);
    assert_int_equal(l1_wake(b.l1), TICK_NEVER);
    l1_miss_answer(b.l1, 10 * PERIOD, m.entry);
    assert_int_equal(done_at(&b, 10), 2);
    assert_int_equal(l1_wake(b.l1), 11 * PERIOD);
    assert_non_null(sent_at(&b, 13, NULL));
    finish(&b);
}

/* A store meanwhile: the data does not stay, and the line is free again. */
static void a_claimed_line_that_is_written_does_not_stay(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.size = LINE;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss, .claims_lines = true});
    m.take = (struct l1_take_answer){.take = L1_TAKE_CLAIM};
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    assert_int_equal(store_at(&b, 1, REQ_GLOBAL, 1), L1_SENT);
    l1_miss_answer(b.l1, 5 * PERIOD, m.entry);
    assert_false(m.fill.kept);
    assert_int_equal(done_at(&b, 5), 1);
    assert_int_equal(load_at(&b, 6, 2, 2), L1_MISS);
    finish(&b);
}

/* The one line is held by a claim that ends later. */
static void a_claim_without_a_line_goes_on_without_one(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    watch(&b, &m,
          (struct l1_hooks){.take_miss = take_miss, .may_allocate = may_allocate, .claims_lines = true});
    m.take = (struct l1_take_answer){.take = L1_TAKE_CLAIM};
    m.refuses = true;
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    const uint32_t lineless = m.entry;
    m.refuses = false;
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS);
    assert_int_equal(load_at(&b, 2, 1, 3), L1_PENDING); /* it may allocate */
    assert_true(l1_miss_forward(b.l1, 5 * PERIOD, lineless));
    assert_non_null(sent_at(&b, 7, &id));
    reply_at(&b, 7, id);
    assert_int_equal(done_at(&b, 8), 1);
    assert_int_equal(done_at(&b, 8), 3);
    assert_false(m.fill.kept);
    l1_miss_answer(b.l1, 9 * PERIOD, m.entry);
    assert_true(m.fill.kept);
    assert_int_equal(done_at(&b, 9), 2);
    finish(&b);
}

/* ---- votes and merges ---- */

static void a_merge_that_may_allocate_keeps_the_line_of_a_miss_that_may_not(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){.may_allocate = may_allocate});
    m.refuses = true;
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS);
    m.refuses = false;
    assert_int_equal(load_at(&b, 2, 1, 3), L1_PENDING);
    for (uint64_t t = 3; t < 5; t++) {
        assert_non_null(sent_at(&b, t, &id));
        reply_at(&b, t, id);
        tick_to(&b, t + 1);
        assert_int_equal(m.fill.kept, t == 3);
    }
    assert_int_equal(load_at(&b, 8, 1, 4), L1_HIT);
    assert_int_equal(load_at(&b, 9, 2, 5), L1_MISS);
    assert_int_equal(stats_of(&b)->fills_not_kept, 1);
    finish(&b);
}

static struct l1_txn load_sector(uint32_t sector, uint32_t token)
{
    struct l1_txn t = load_of(1, token, 2, 5);
    t.sectors = (uint8_t)(1u << sector);
    return t;
}

/* A miss that may not allocate fetches two sectors; a merge lets the first of them stay. A third and a fourth
 * sector are fetched by the same MSHR, which has no line, and join the line of the first. */
static void sectors_of_a_miss_without_a_line_join_the_line_that_one_of_them_made(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id[4];
    prepare(&b);
    b.p.sectored = true;
    watch(&b, &m, (struct l1_hooks){.may_allocate = may_allocate});
    m.refuses = true;
    assert_int_equal(access_at(&b, 0, load_sector(0, 1)), L1_MISS);
    assert_int_equal(access_at(&b, 1, load_sector(1, 2)), L1_MISS);
    m.refuses = false;
    assert_int_equal(access_at(&b, 2, load_sector(0, 3)), L1_PENDING);
    for (uint32_t i = 0; i < 2; i++) assert_non_null(sent_at(&b, 3 + i, &id[i]));
    reply_at(&b, 5, id[0]);
    tick_to(&b, 6);
    assert_true(m.fill.kept);
    assert_int_equal(access_at(&b, 7, load_sector(2, 4)), L1_MISS);
    assert_non_null(sent_at(&b, 10, &id[2]));
    reply_at(&b, 11, id[1]);
    tick_to(&b, 12);
    assert_int_equal(access_at(&b, 13, load_sector(3, 5)), L1_MISS);
    assert_non_null(sent_at(&b, 16, &id[3]));
    reply_at(&b, 17, id[2]);
    reply_at(&b, 18, id[3]);
    tick_to(&b, 19);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(access_at(&b, 20 + i, load_sector(i, UINT32_MAX)), L1_HIT);
    assert_int_equal(stats_of(&b)->fills_not_kept, 0);
    finish(&b);
}

/* The one MSHR is taken: the next load is refused from the next cycle on. may_miss alone would have to be
 * asked. */
static void prediction_works_with_a_vote(void **state)
{
    static const struct {
        struct l1_hooks hooks;
        bool is_known;
    } rows[] = {{{.may_allocate = may_allocate}, true},
                {{.take_miss = take_miss}, true},
                {{.take_miss = take_miss, .claims_lines = true}, true},
                {{.may_miss = may_miss}, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bench b;
        struct mock m;
        prepare(&b);
        b.p.mshrs = 1;
        watch(&b, &m, rows[i].hooks);
        assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
        const uint32_t asked = m.asked_take + m.asked_miss;
        struct l1_txn t = load_of(2, 2, 0, 0);
        assert_int_equal(l1_refuses_ahead(b.l1, 0, &t), rows[i].is_known);
        assert_int_equal(m.asked_take + m.asked_miss, asked);
        tick_to(&b, 1);
        assert_int_equal(l1_still_refuses(b.l1, 1 * PERIOD), rows[i].is_known);
        l1_settle(b.l1, 2 * PERIOD);
        assert_int_equal(stats_of(&b)->stall_mshr, rows[i].is_known);
        finish(&b);
    }
}

/* As without the prediction: the port is asked for before the MSHR, and after the first refusal no more. */
static void a_port_that_is_taken_from_a_predicted_refusal_is_its_cause(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.mshrs = 1;
    watch(&b, &m, (struct l1_hooks){.take_miss = take_miss});
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    struct l1_txn t = load_of(2, 2, 0, 0);
    assert_true(l1_refuses_ahead(b.l1, 0, &t));
    tick_to(&b, 1);
    assert_true(l1_read(b.l1, 1 * PERIOD));
    assert_false(l1_still_refuses(b.l1, 1 * PERIOD));
    assert_int_equal(access_at(&b, 1, t), L1_STALL_STOLEN);
    assert_int_equal(access_at(&b, 2, t), L1_STALL_MSHR);
    tick_to(&b, 3);
    assert_true(l1_read(b.l1, 3 * PERIOD));
    assert_true(l1_still_refuses(b.l1, 3 * PERIOD));
    l1_settle(b.l1, 4 * PERIOD);
    assert_int_equal(stats_of(&b)->stall_stolen, 1);
    assert_int_equal(stats_of(&b)->stall_mshr, 2);
    finish(&b);
}

/* ---- evictions, fills ---- */

static void evictions_name_their_cause_their_owner_and_who_touched_the_line_last(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    watch(&b, &m, (struct l1_hooks){0});
    access_at(&b, 0, load_of(1, 1, 11, 4));
    access_at(&b, 1, load_of(1, 2, 12, 5)); /* merges */
    sent_at(&b, 2, &id);
    reply_at(&b, 2, id);
    while (done_at(&b, 3) != NOBODY) continue;
    access_at(&b, 4, load_of(2, 3, 13, 6));
    assert_int_equal(m.evicted.cause, L1_EVICT_REPLACED);
    assert_int_equal(m.evicted.line, LINE);
    assert_int_equal(m.evicted.owner_pc, 11);
    assert_int_equal(m.evicted.owner_warp, 4);
    assert_int_equal(m.evicted.last_pc, 12);
    assert_int_equal(m.evicted.last_warp, 5);
    sent_at(&b, 6, &id);
    reply_at(&b, 6, id);
    done_at(&b, 7);
    access_at(&b, 8, load_of(2, 4, 14, 7));
    store_at(&b, 9, REQ_GLOBAL, 2);
    assert_int_equal(m.evicted.cause, L1_EVICT_STORE);
    assert_int_equal(m.evicted.last_pc, 14);
    assert_int_equal(m.evicted.last_warp, 7);
    assert_int_equal(m.evictions, 2);
    sent_at(&b, 11, &id);
    reply_at(&b, 11, id);
    done_at(&b, 12);
    bring(&b, 20, 3);
    l1_flush(b.l1, 30 * PERIOD);
    assert_int_equal(m.evicted.cause, L1_EVICT_FLUSH);
    assert_int_equal(m.evicted.line, 3 * LINE);
    assert_int_equal(m.evictions, 3);
    finish(&b);
}

static void a_fill_says_whether_it_stays_and_whether_it_is_local(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){0});
    access_at(&b, 0, txn(REQ_READ, REQ_LOCAL, 1, 1));
    sent_at(&b, 2, &id);
    reply_at(&b, 2, id);
    tick_to(&b, 3);
    assert_true(m.fill.is_local);
    assert_true(m.fill.kept);
    load_at(&b, 4, 2, 2);
    store_at(&b, 5, REQ_GLOBAL, 2); /* the line must not stay */
    sent_at(&b, 6, &id);
    reply_at(&b, 6, id);
    tick_to(&b, 7);
    assert_false(m.fill.is_local);
    assert_false(m.fill.kept);
    assert_int_equal(m.fills, 2);
    assert_int_equal(m.evictions, 0);
    finish(&b);
}

/* ---- prefetches ---- */

static void a_prefetch_ends_in_exactly_one_way(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    b.p.ways = 1;
    watch(&b, &m, (struct l1_hooks){0});
    access_at(&b, 0, prefetch_of(1));
    assert_int_equal(m.prefetch, L1_PREFETCH_SENT);
    access_at(&b, 1, prefetch_of(1));
    assert_int_equal(m.prefetch, L1_PREFETCH_REDUNDANT);
    access_at(&b, 2, prefetch_of(2));
    assert_int_equal(m.prefetch, L1_PREFETCH_DROPPED);
    assert_int_equal(m.prefetches, 3);
    sent_at(&b, 2, &id);
    reply_at(&b, 2, id);
    bring(&b, 10, 2); /* replaces line 1, which nobody used */
    assert_true(m.evicted.is_unused_prefetch);
    assert_int_equal(stats_of(&b)->prefetch_unused, 1);
    assert_int_equal(stats_of(&b)->prefetch_useless, 0);
    assert_int_equal(l1_prefetches_open(b.l1), 1);
    bring(&b, 20, 1); /* but wants now */
    assert_int_equal(stats_of(&b)->prefetch_early, 1);
    assert_int_equal(l1_prefetches_open(b.l1), 0);
    bring(&b, 30, 3);
    bring(&b, 40, 1); /* once */
    assert_int_equal(stats_of(&b)->prefetch_early, 1);
    access_at(&b, 50, prefetch_of(4));
    assert_int_equal(l1_prefetches_open(b.l1), 1);
    sent_at(&b, 52, &id);
    reply_at(&b, 52, id);
    tick_to(&b, 53);
    assert_int_equal(l1_prefetches_open(b.l1), 1);
    l1_flush(b.l1, 54 * PERIOD);
    assert_int_equal(stats_of(&b)->prefetch_useless, 1);
    bring(&b, 60, 4); /* another kernel */
    const struct l1_stats *s = stats_of(&b);
    assert_int_equal(s->prefetch_early, 1);
    assert_int_equal(s->prefetch_useless, 1);
    assert_int_equal(s->prefetch_issued, s->prefetch_useful + s->prefetch_late + s->prefetch_unused);
    finish(&b);
}

/* Line 1 comes twice and leaves twice before a load wants it: the second one was early, the first in vain. */
static void a_line_that_is_prefetched_again_was_prefetched_in_vain(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = LINE;
    b.p.ways = 1;
    watch(&b, &m, (struct l1_hooks){0});
    for (uint64_t t = 0; t < 40; t += 20) {
        access_at(&b, t, prefetch_of(1));
        sent_at(&b, t + 2, &id);
        reply_at(&b, t + 2, id);
        bring(&b, t + 10, 2);
    }
    assert_int_equal(stats_of(&b)->prefetch_useless, 1);
    bring(&b, 40, 1);
    assert_int_equal(stats_of(&b)->prefetch_early, 1);
    access_at(&b, 50, prefetch_of(3));
    sent_at(&b, 52, &id);
    reply_at(&b, 52, id);
    bring(&b, 60, 2);
    assert_int_equal(l1_prefetches_open(b.l1), 1);
    l1_kernel_end(b.l1); /* nobody will want line 3 */
    assert_int_equal(l1_prefetches_open(b.l1), 0);
    const struct l1_stats *s = stats_of(&b);
    assert_int_equal(s->prefetch_useless, 2);
    assert_int_equal(s->prefetch_issued, s->prefetch_early + s->prefetch_useless);
    finish(&b);
}

/* Two MSHRs and a set of one line each: what a prefetch would find, without an offer. */
static void room_for_a_prefetch_is_known_before_its_offer(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    b.p.size = 4 * LINE;
    b.p.ways = 1;
    b.p.mshrs = 2;
    watch(&b, &m, (struct l1_hooks){0});
    tick_to(&b, 1);
    assert_true(l1_prefetch_fits(b.l1, PERIOD, LINE));
    load_at(&b, 1, 1, 1);
    assert_false(l1_prefetch_fits(b.l1, PERIOD, 2 * LINE) || l1_has_port(b.l1, PERIOD));
    tick_to(&b, 2);
    assert_true(!l1_prefetch_fits(b.l1, 2 * PERIOD, 5 * LINE) &&
                l1_has_port(b.l1, 2 * PERIOD));            /* the line of 1 */
    assert_true(l1_prefetch_fits(b.l1, 2 * PERIOD, LINE)); /* redundant */
    assert_true(l1_prefetch_fits(b.l1, 2 * PERIOD, 2 * LINE));
    load_at(&b, 2, 2, 2);
    tick_to(&b, 3);
    assert_true(!l1_prefetch_fits(b.l1, 3 * PERIOD, 3 * LINE) && l1_has_port(b.l1, 3 * PERIOD)); /* no MSHR */
    sent_at(&b, 4, &id);
    reply_at(&b, 4, id);
    tick_to(&b, 5);
    assert_true(l1_prefetch_fits(b.l1, 5 * PERIOD, 3 * LINE));
    assert_int_equal(m.prefetches, 0);
    assert_int_equal(stats_of(&b)->prefetch_offered, 0);
    finish(&b);
}

static void the_first_use_of_a_prefetched_line_is_told(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){0});
    access_at(&b, 0, prefetch_of(1));
    sent_at(&b, 2, &id);
    reply_at(&b, 2, id);
    assert_int_equal(load_at(&b, 4, 1, 1), L1_HIT);
    assert_true(m.result.is_first_use);
    assert_int_equal(load_at(&b, 5, 1, 1), L1_HIT);
    assert_false(m.result.is_first_use);
    finish(&b);
}

/* ---- levels, ports, ways, replacement ---- */

static void levels_are_told_when_they_change(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t id;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){0});
    load_at(&b, 0, 1, 1);
    assert_int_equal(m.levels, 2);
    assert_int_equal(m.mshrs, 1);
    assert_int_equal(m.queue, 1);
    tick_to(&b, 1);
    assert_int_equal(m.levels, 3);
    assert_int_equal(m.queue, 0);
    sent_at(&b, 2, &id);
    reply_at(&b, 2, id);
    tick_to(&b, 3);
    assert_int_equal(m.levels, 4);
    assert_int_equal(m.mshrs, 0);
    finish(&b);
}

static void a_stolen_port_is_charged_to_the_thief(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    watch(&b, &m, (struct l1_hooks){0});
    bring(&b, 0, 1);
    tick_to(&b, 10);
    assert_true(l1_probe(b.l1, LINE, 0xf));
    assert_false(l1_probe(b.l1, 2 * LINE, 0xf));
    assert_true(l1_read(b.l1, 10 * PERIOD));
    assert_false(l1_read(b.l1, 10 * PERIOD)); /* there is one */
    assert_int_equal(load_at(&b, 10, 1, 1), L1_STALL_STOLEN);
    assert_int_equal(l1_wake(b.l1), 11 * PERIOD);
    assert_false(l1_still_refuses(b.l1, 11 * PERIOD));
    assert_int_equal(load_at(&b, 11, 1, 1), L1_HIT);
    assert_int_equal(load_at(&b, 11, 1, 2), L1_STALL_PORT); /* a busy cycle */
    assert_int_equal(stats_of(&b)->stall_stolen, 1);
    assert_int_equal(stats_of(&b)->stall_cycles, 1);
    finish(&b);
}

static void extra_ways_are_there_when_the_capacity_grows(void **state)
{
    struct bench b;
    struct mock m;
    prepare(&b);
    b.p.size = 2 * LINE;
    b.p.ways = 1;
    b.extra_lines = 5; /* two sets: two whole ways */
    watch(&b, &m, (struct l1_hooks){0});
    assert_int_equal(l1_capacity(b.l1), 2 * LINE);
    bring(&b, 0, 2);
    bring(&b, 10, 4); /* the same set */
    assert_int_equal(m.evictions, 1);
    assert_int_equal(l1_resize(b.l1, 20 * PERIOD, 1 << 20), 6 * LINE);
    bring(&b, 20, 6);
    bring(&b, 30, 8);
    assert_int_equal(m.evictions, 1);
    assert_false(l1_line_is_extra(b.l1, 4 * LINE));
    assert_true(l1_line_is_extra(b.l1, 6 * LINE));
    assert_false(l1_line_is_extra(b.l1, 10 * LINE)); /* it is not there */
    l1_resize(b.l1, 40 * PERIOD, 2 * LINE);
    assert_int_equal(m.evictions, 3);
    assert_int_equal(m.evicted.cause, L1_EVICT_RESIZE);
    assert_true(m.evicted.is_extra);
    assert_int_equal(load_at(&b, 41, 4, 1), L1_HIT);
    finish(&b);
}

/* Its answer would be the line that LRU keeps longest. */
static uint32_t choose_last(void *ctx, const struct cache_set_view *v)
{
    uint32_t way = v->ways - 1;
    ++*(uint32_t *)ctx;
    while (!cache_view_has(v, way)) way--;
    return way;
}

static void a_supplied_policy_is_asked_once_for_each_miss(void **state)
{
    struct bench b;
    struct mock m;
    uint32_t asked = 0;
    prepare(&b);
    b.p.size = 2 * LINE;
    b.p.ways = 2;
    b.p.mshrs = 1;
    const struct cache_policy policy = {.ctx = &asked, .victim = choose_last};
    watch(&b, &m, (struct l1_hooks){.policy = &policy});
    bring(&b, 0, 1);
    bring(&b, 10, 2);
    assert_int_equal(asked, 0); /* empty ways come first */
    assert_int_equal(load_at(&b, 20, 3, 3), L1_MISS);
    assert_int_equal(asked, 1);
    assert_int_equal(m.evicted.line, 2 * LINE);
    for (uint64_t t = 21; t < 25; t++) assert_int_equal(load_at(&b, t, 4, 4), L1_STALL_MSHR);
    assert_int_equal(asked, 1);
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_that_is_held_back_is_offered_in_every_cycle_and_charged_apart),
        cmocka_unit_test(a_miss_that_passes_at_once_takes_its_ordinary_way),
        cmocka_unit_test(a_miss_that_passes_is_asked_for_once_however_long_it_is_refused),
        cmocka_unit_test(a_miss_is_not_asked_for_without_a_free_mshr),
        cmocka_unit_test(a_hit_elsewhere_answers_all_merged_loads_and_takes_no_line),
        cmocka_unit_test(a_hit_elsewhere_holds_no_mshr),
        cmocka_unit_test(a_late_pass_takes_its_line_when_it_goes_on),
        cmocka_unit_test(a_late_pass_waits_for_a_line_and_for_the_miss_queue),
        cmocka_unit_test(a_claimed_miss_is_answered_and_kept_or_forwarded),
        cmocka_unit_test(forwarding_needs_a_place_in_the_miss_queue),
        cmocka_unit_test(a_claim_that_was_refused_has_the_next_entry_of_the_miss_queue),
        cmocka_unit_test(a_claim_may_hold_its_line_from_the_beginning),
        cmocka_unit_test(the_end_of_a_claim_wakes_what_waits_for_its_line),
        cmocka_unit_test(a_claimed_line_that_is_written_does_not_stay),
        cmocka_unit_test(a_claim_without_a_line_goes_on_without_one),
        cmocka_unit_test(a_merge_that_may_allocate_keeps_the_line_of_a_miss_that_may_not),
        cmocka_unit_test(sectors_of_a_miss_without_a_line_join_the_line_that_one_of_them_made),
        cmocka_unit_test(prediction_works_with_a_vote),
        cmocka_unit_test(a_port_that_is_taken_from_a_predicted_refusal_is_its_cause),
        cmocka_unit_test(evictions_name_their_cause_their_owner_and_who_touched_the_line_last),
        cmocka_unit_test(a_fill_says_whether_it_stays_and_whether_it_is_local),
        cmocka_unit_test(a_prefetch_ends_in_exactly_one_way),
        cmocka_unit_test(a_line_that_is_prefetched_again_was_prefetched_in_vain),
        cmocka_unit_test(room_for_a_prefetch_is_known_before_its_offer),
        cmocka_unit_test(the_first_use_of_a_prefetched_line_is_told),
        cmocka_unit_test(levels_are_told_when_they_change),
        cmocka_unit_test(a_stolen_port_is_charged_to_the_thief),
        cmocka_unit_test(extra_ways_are_there_when_the_capacity_grows),
        cmocka_unit_test(a_supplied_policy_is_asked_once_for_each_miss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
