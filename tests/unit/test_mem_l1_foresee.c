/* test_mem_l1_foresee.c: what the L1 predicts of loads is what it answers: refusals, of loads that a
 * mechanism holds back as well, and room for prefetches. A load-store unit that offers nothing that it knows
 * to be refused counts the same as one that offers everything. */
#include "l1_kit.h"

enum { CYCLES = 6000, WAITING = 4, WARPS = 8, IN_FLIGHT = 64 };

struct state {
    struct bench b;
    struct rng rng, delay;
    /* warps, a mask */
    uint32_t held;
    struct waiting {
        struct l1_txn t;
        struct l1_absence absence;
    } loads[WAITING];
    uint32_t next, tokens;
    struct {
        uint64_t cycle;
        uint32_t id;
    } below[IN_FLIGHT];
    uint32_t below_head, below_tail;
    uint64_t foreseen[L1_STALL_STOLEN + 1];
};

static bool may_miss(void *ctx, const struct l1_txn *t)
{
    return !(((const struct state *)ctx)->held >> t->warp & 1);
}

static void open_bench(struct state *s, uint64_t seed, bool holds)
{
    *s = (struct state){.rng.state = seed, .delay.state = seed + 1};
    prepare(&s->b);
    s->b.p.size = seed & 1 ? LINE : 8 * LINE;
    s->b.p.ways = 2;
    s->b.p.mshrs = seed & 2 ? 2 : 6;
    s->b.p.merges = s->b.p.miss_queue = seed & 4 ? 1 : 3;
    s->b.p.sectored = seed & 8;
    s->b.p.allocate = seed & 16 ? L1_ALLOCATE_ON_FILL : L1_ALLOCATE_ON_MISS;
    start_with_links(&s->b, 1);
    s->b.next_cycle = UINT64_MAX; /* ticks by itself */
    if (holds) l1_hook(s->b.l1, &(struct l1_hooks){.ctx = s, .may_miss = may_miss});
}

static void memory_below(struct state *s, uint64_t cycle)
{
    uint32_t id;
    if (s->below_tail - s->below_head < 2 + s->delay.state % 3 && sent_at(&s->b, cycle, &id)) {
        s->below[s->below_tail % IN_FLIGHT].id = id;
        s->below[s->below_tail++ % IN_FLIGHT].cycle = cycle + 5 + rng_below(&s->delay, 30);
    }
    if (s->below_head == s->below_tail || s->below[s->below_head % IN_FLIGHT].cycle > cycle) return;
    reply_at(&s->b, cycle, s->below[s->below_head++ % IN_FLIGHT].id);
}

static void new_load(struct state *s, struct waiting *w)
{
    *w = (struct waiting){.t = txn(REQ_READ, REQ_GLOBAL, rng_below(&s->rng, 24), s->tokens++)};
    w->t.sectors = 1 + (uint32_t)rng_below(&s->rng, 15);
    w->t.warp = (uint16_t)rng_below(&s->rng, WARPS);
}

/* Now and then other warps are held. What was said of the loads that wait is forgotten. */
static void change_votes(struct state *s)
{
    if (rng_below(&s->rng, 20)) return;
    s->held = (uint32_t)rng_below(&s->rng, 1u << WARPS);
    l1_keep_vote(s->b.l1, &s->loads[0].t, false);
}

/* Why the load would be refused: what an SM with a re-execution queue asks (lsu_sleep.c). */
static enum l1_answer foresee(struct state *s, struct waiting *w)
{
    const bool is_held = s->held >> w->t.warp & 1;
    if (is_held) {
        const enum l1_answer cause = l1_foresee_held(s->b.l1, w->t.addr, &w->absence);
        if (cause != L1_HIT) return cause;
    }
    return l1_foresee(s->b.l1, &w->t, is_held, &w->absence);
}

/* Loads take turns, one a cycle. */
static void take_turn(struct state *s, uint64_t cycle, bool predicts)
{
    struct waiting *w = &s->loads[s->next++ % WAITING];
    const tick now = cycle * PERIOD;
    const enum l1_answer cause = predicts ? foresee(s, w) : L1_HIT;
    s->foreseen[cause]++;
    if (cause == L1_STALL_HELD) {
        assert_true(l1_refuse_held(s->b.l1, now, &w->t));
        return;
    }
    const enum l1_answer answer = l1_access(s->b.l1, now, &w->t);
    if (cause != L1_HIT) assert_int_equal(answer, cause);
    if (answer < L1_STALL_LINE) new_load(s, w);
}

static void run_turns(struct state *s, uint64_t seed, bool predicts, struct l1_stats *stats)
{
    uint32_t token;
    open_bench(s, seed, true);
    for (uint32_t i = 0; i < WAITING; i++) new_load(s, &s->loads[i]);
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
        memory_below(s, cycle);
        tick_cycle(&s->b, cycle);
        change_votes(s);
        take_turn(s, cycle, predicts);
        while (l1_next_done(s->b.l1, cycle * PERIOD, &token)) {}
    }
    *stats = *stats_of(&s->b);
    finish(&s->b);
}

static void a_load_that_is_foreseen_to_be_refused_is_refused_for_that_cause(void **unused)
{
    struct state *s = mem_zalloc(sizeof *s);
    uint64_t foreseen[L1_STALL_STOLEN + 1] = {0};
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct l1_stats offered, predicted;
        run_turns(s, seed, false, &offered);
        run_turns(s, seed, true, &predicted);
        assert_memory_equal(&offered, &predicted, sizeof offered);
        for (uint32_t i = 0; i <= L1_STALL_STOLEN; i++) foreseen[i] += s->foreseen[i];
    }
    assert_true(foreseen[L1_STALL_HELD] && foreseen[L1_STALL_LINE] && foreseen[L1_STALL_MSHR]);
    free(s);
}

/* The head of a load-store unit without a re-execution queue, as lsu_cycle serves it. */
static uint64_t run_head(struct state *s, uint64_t seed, bool predicts, struct l1_stats *stats)
{
    uint64_t ahead = 0;
    bool is_blocked = false;
    uint32_t token;
    struct waiting *w = &s->loads[0];
    open_bench(s, seed, false);
    new_load(s, w);
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
        const tick now = cycle * PERIOD;
        memory_below(s, cycle);
        tick_cycle(&s->b, cycle);
        while (l1_next_done(s->b.l1, now, &token)) {}
        is_blocked = is_blocked && l1_still_refuses(s->b.l1, now);
        if (is_blocked) continue;
        const enum l1_answer answer = l1_access(s->b.l1, now, &w->t);
        is_blocked = predicts && answer >= L1_STALL_LINE && answer != L1_STALL_PORT;
        if (answer >= L1_STALL_LINE) continue;
        new_load(s, w);
        if (predicts && l1_is_full(s->b.l1)) is_blocked = l1_refuses_ahead(s->b.l1, now, &w->t);
        ahead += is_blocked;
    }
    l1_settle(s->b.l1, CYCLES * PERIOD);
    *stats = *stats_of(&s->b);
    finish(&s->b);
    return ahead;
}

static void a_head_that_is_refused_ahead_counts_as_one_that_is_offered(void **unused)
{
    struct state *s = mem_zalloc(sizeof *s);
    uint64_t ahead = 0;
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct l1_stats offered, predicted;
        run_head(s, seed, false, &offered);
        ahead += run_head(s, seed, true, &predicted);
        assert_memory_equal(&offered, &predicted, sizeof offered);
    }
    assert_true(ahead > 0);
    free(s);
}

/* With ports and a pipeline. */
static void a_prefetch_for_which_there_is_room_is_not_refused(void **unused)
{
    struct state *s = mem_zalloc(sizeof *s);
    uint64_t fits = 0, lacks = 0;
    for (uint64_t seed = 0; seed < 32; seed++) {
        uint32_t token;
        open_bench(s, seed, false);
        finish(&s->b);
        s->b.p.ports = 1 + seed % 2;
        s->b.p.tag_latency = seed & 2 ? 3 : 0;
        start_with_links(&s->b, 1);
        new_load(s, &s->loads[0]);
        for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
            const tick now = cycle * PERIOD;
            struct l1_txn t = txn(REQ_READ, REQ_GLOBAL, rng_below(&s->rng, 24), UINT32_MAX);
            t.is_prefetch = true;
            memory_below(s, cycle);
            tick_cycle(&s->b, cycle);
            while (l1_next_done(s->b.l1, now, &token)) {}
            if (l1_access(s->b.l1, now, &s->loads[0].t) < L1_STALL_LINE) new_load(s, &s->loads[0]);
            const bool has_room = l1_prefetch_fits(s->b.l1, now, t.addr);
            if (has_room) assert_true(l1_has_port(s->b.l1, now));
            has_room ? fits++ : lacks++;
            const bool is_refused = l1_access(s->b.l1, now, &t) >= L1_STALL_LINE;
            if (s->b.p.tag_latency)
                assert_true(!has_room || !is_refused); /* its tags are looked up later */
            else
                assert_int_equal(is_refused, !has_room);
        }
        finish(&s->b);
    }
    assert_true(fits && lacks);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_that_is_foreseen_to_be_refused_is_refused_for_that_cause),
        cmocka_unit_test(a_head_that_is_refused_ahead_counts_as_one_that_is_offered),
        cmocka_unit_test(a_prefetch_for_which_there_is_room_is_not_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
