/* test_mem_l1_traffic.c: the L1 under random traffic with everything at depth one to three: nothing is lost,
 * nothing depends on sleep. */
#include "l1_kit.h"

/* ---- everything at once ---- */

enum { TOKENS = 4096 };

struct load_state {
    struct bench b;
    struct rng rng, delay;
    uint8_t pending[TOKENS];
    struct {
        uint64_t cycle;
        uint32_t id;
    } below[TOKENS];
    /* requests in the memory below: in order, each with its time */
    uint32_t below_head, below_tail, below_room;
    uint32_t sent, done;
    bool has_txn, is_waiting;
    struct l1_txn txn;
};

static struct l1_txn random_txn(struct load_state *s)
{
    struct l1_txn t = {.addr = rng_below(&s->rng, 24) * LINE, .token = UINT32_MAX, .sectors = 0xf};
    uint64_t what = rng_below(&s->rng, 10);
    t.kind = what < 6 ? REQ_READ : what < 9 ? REQ_WRITE : REQ_ATOMIC;
    t.cls = t.kind == REQ_ATOMIC || rng_below(&s->rng, 2) ? REQ_GLOBAL : REQ_LOCAL;
    if (t.cls == REQ_LOCAL) t.addr += 1 << 20;
    t.sectors = 1 + (uint32_t)rng_below(&s->rng, 15);
    t.partial = t.kind == REQ_WRITE && rng_below(&s->rng, 2);
    t.bypass = t.kind == REQ_READ && !rng_below(&s->rng, 8);
    t.warp = (uint16_t)rng_below(&s->rng, 48);
    t.is_prefetch = t.kind == REQ_READ && !t.bypass && !rng_below(&s->rng, 8);
    t.write_bytes = t.kind == REQ_READ ? 0 : 32;
    if (t.kind != REQ_WRITE && !t.is_prefetch) t.token = s->sent;
    return t;
}

/* The load-store unit: one access at a time, in order, until it is taken. */
static void offer(struct load_state *s, uint64_t cycle, uint32_t total)
{
    if (!s->has_txn) {
        if (s->sent == total) return;
        s->txn = random_txn(s);
        s->has_txn = true;
    }
    bool is_stall = access_at(&s->b, cycle, s->txn) >= L1_STALL_LINE;
    if (is_stall && !s->txn.is_prefetch) return;
    if (s->txn.token != UINT32_MAX) s->pending[s->txn.token] = 1;
    s->has_txn = false;
    s->sent++;
}

static void memory_below(struct load_state *s, uint64_t cycle)
{
    uint32_t id, in_flight = s->below_tail - s->below_head;
    if (in_flight < s->below_room && sent_at(&s->b, cycle, &id)) {
        s->below[s->below_tail % TOKENS].id = id;
        s->below[s->below_tail++ % TOKENS].cycle = cycle + 1 + rng_below(&s->delay, 30);
    }
    if (s->below_head != s->below_tail && s->below[s->below_head % TOKENS].cycle <= cycle &&
        link_can_push(&s->b.in, cycle * PERIOD))
        reply_at(&s->b, cycle, s->below[s->below_head++ % TOKENS].id);
}

/* A mechanism that answers by the number of the question: the same questions have the same answers. */
struct oracle {
    uint64_t votes, takes, victims, events;
    uint32_t claims[TOKENS], claim_count;
    bool claims_lines;
};
static uint64_t draw(uint64_t question) { return rng_u64(&(struct rng){.state = question}); }
static bool vote(void *ctx, const struct l1_txn *t) { return draw(((struct oracle *)ctx)->votes++) % 4; }
static void take(void *ctx, tick now, const struct l1_txn *t, uint32_t entry, struct l1_take_answer *a)
{
    struct oracle *o = ctx;
    uint64_t d = draw(o->takes++);
    *a = (struct l1_take_answer){.take = (enum l1_take)(d % 4), .cycles = (uint32_t)(d >> 8) % 9};
    if (a->take == L1_TAKE_CLAIM) o->claims[o->claim_count++] = entry;
}
static uint32_t choose(void *ctx, const struct cache_set_view *v)
{
    uint32_t way = (uint32_t)draw(((struct oracle *)ctx)->victims++) % v->ways;
    while (!cache_view_has(v, way)) way = (way + 1) % v->ways;
    return way;
}
static void note_evict(void *ctx, tick now, const struct l1_eviction *e)
{
    struct oracle *o = ctx;
    o->events = draw(o->events ^ e->line ^ e->cause ^ now);
}

/* Claims are answered or forwarded in the order in which they were made, one a cycle. */
static void settle_claim(struct oracle *o, struct l1 *l1, uint64_t cycle)
{
    if (!o->claim_count) return;
    if (draw(o->takes) % 2)
        l1_miss_answer(l1, cycle * PERIOD, o->claims[0]);
    else if (!l1_miss_forward(l1, cycle * PERIOD, o->claims[0]))
        return;
    memmove(o->claims, o->claims + 1, --o->claim_count * sizeof o->claims[0]);
}

static uint64_t run_random(const struct l1_params *p, uint64_t seed, bool skip, struct l1_stats *stats,
                           struct oracle *o)
{
    struct load_state *s = mem_zalloc(sizeof *s);
    uint64_t cycle = 0, next_sm = 0;
    bool is_flushed = false;
    int token;
    prepare(&s->b);
    s->b.p = *p;
    start_with_links(&s->b, 1);
    const struct cache_policy policy = {.ctx = o, .victim = choose};
    if (o)
        l1_hook(s->b.l1, &(struct l1_hooks){.ctx = o,
                                            .may_allocate = vote,
                                            .take_miss = take,
                                            .claims_lines = o->claims_lines,
                                            .on_evict = note_evict,
                                            .policy = &policy});
    s->b.next_cycle = UINT64_MAX; /* ticks by itself */
    s->rng.state = seed;
    s->delay.state = seed + 1;
    s->below_room = 1 + (uint32_t)(seed % 5);
    for (;; cycle++) {
        assert_true(cycle < 1000000); /* nothing is stuck */
        memory_below(s, cycle);
        /* Asleep unless the wake time has come; a refused access sleeps with it, one that can be offered does
         * not. */
        if (s->b.wake <= cycle * PERIOD) next_sm = cycle;
        if (skip && next_sm != cycle) continue;
        s->b.wake = TICK_NEVER;
        tick_cycle(&s->b, cycle);
        uint32_t before = s->sent;
        offer(s, cycle, TOKENS);
        if (o) settle_claim(o, s->b.l1, cycle);
        while ((token = done_at(&s->b, cycle)) != NOBODY) {
            assert_int_equal(s->pending[token], 1); /* once, and only what was asked for */
            s->pending[token] = 0;
        }
        if (s->sent == TOKENS && !s->has_txn && l1_idle(s->b.l1)) {
            if (is_flushed) break;
            l1_flush(s->b.l1, cycle * PERIOD); /* so that every prefetch has ended */
            is_flushed = true;
        }
        wake_at(&s->b.wake, l1_wake(s->b.l1));
        if (s->sent != before || (o && o->claim_count) || is_flushed) next_sm = cycle + 1; /* more to do */
    }
    for (uint32_t i = 0; i < TOKENS; i++) assert_int_equal(s->pending[i], 0);
    assert_int_equal(s->b.pool.live, 0);
    const struct l1_stats *st = stats_of(&s->b);
    *stats = *st;
    assert_int_equal(st->requests_read + st->requests_write + st->requests_atomic, st->replies);
    assert_int_equal(st->total_accesses, st->total_hits + st->total_pending + st->total_misses);
    assert_int_equal(st->stall_cycles, st->stall_line + st->stall_mshr + st->stall_queue + st->stall_port);
    assert_int_equal(st->prefetch_offered,
                     st->prefetch_issued + st->prefetch_redundant + st->prefetch_dropped);
    assert_int_equal(st->prefetch_issued,
                     st->prefetch_useful + st->prefetch_late + st->prefetch_early + st->prefetch_useless);
    assert_int_equal(st->reads_missed, st->cold_misses + st->replaced_misses + st->sector_misses);
    for (uint64_t i = 0, sum = 0; i < L1_TYPES; i++)
        if (sum += st->fails[i], i == L1_TYPES - 1) assert_int_equal(sum, st->stall_cycles);
    finish(&s->b);
    free(s);
    return cycle;
}

static void choose_params(struct l1_params *p, uint64_t seed)
{
    p->size = seed & 1 ? LINE : 8 * LINE;
    p->mshrs = p->merges = p->miss_queue = seed & 2 ? 1 : 3;
    p->sectored = seed & 4;
    p->allocate = seed & 8 ? L1_ALLOCATE_ON_FILL : L1_ALLOCATE_ON_MISS;
    p->local_write_allocate = seed & 16;
    p->write_global = seed & 32 ? L1_WRITE_UPDATE : L1_WRITE_EVICT;
    p->replacement = (uint32_t)seed % 3;
    p->latency = 1 + (uint32_t)seed % 7;
    p->reply_step = (uint32_t)seed % 5;
}

static void random_traffic_at_depth_one_loses_nothing_and_sleeping_changes_nothing(void **state)
{
    for (uint64_t seed = 0; seed < 64; seed++) {
        struct bench b;
        struct l1_stats awake, asleep;
        prepare(&b);
        choose_params(&b.p, seed);
        uint64_t cycles = run_random(&b.p, seed, false, &awake, NULL);
        assert_int_equal(run_random(&b.p, seed, true, &asleep, NULL), cycles);
        assert_memory_equal(&awake, &asleep, sizeof awake);
    }
}

static void a_mechanism_is_asked_the_same_questions_whether_the_sm_sleeps_or_not(void **state)
{
    for (uint64_t seed = 0; seed < 128; seed++) {
        struct bench b;
        struct l1_stats awake, asleep;
        struct oracle of_awake = {.claims_lines = seed >= 64}, of_asleep = of_awake;
        prepare(&b);
        choose_params(&b.p, seed);
        uint64_t cycles = run_random(&b.p, seed, false, &awake, &of_awake);
        assert_int_equal(run_random(&b.p, seed, true, &asleep, &of_asleep), cycles);
        assert_memory_equal(&awake, &asleep, sizeof awake);
        assert_int_equal(of_awake.votes, of_asleep.votes);
        assert_int_equal(of_awake.takes, of_asleep.takes);
        assert_int_equal(of_awake.victims, of_asleep.victims);
        assert_int_equal(of_awake.events, of_asleep.events);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traffic_at_depth_one_loses_nothing_and_sleeping_changes_nothing),
        cmocka_unit_test(a_mechanism_is_asked_the_same_questions_whether_the_sm_sleeps_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
