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
    uint32_t below_head, below_tail,
        below_room; /* requests in the memory below: in order, each with its time */
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

static uint64_t run_random(const struct l1_params *p, uint64_t seed, bool skip, struct l1_stats *stats)
{
    struct load_state *s = mem_zalloc(sizeof *s);
    uint64_t cycle = 0, next_sm = 0;
    int token;
    prepare(&s->b);
    s->b.p = *p;
    start_with_links(&s->b, 1);
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
        l1_tick(s->b.l1, cycle * PERIOD);
        uint32_t before = s->sent;
        offer(s, cycle, TOKENS);
        while ((token = done_at(&s->b, cycle)) != NOBODY) {
            assert_int_equal(s->pending[token], 1); /* once, and only what was asked for */
            s->pending[token] = 0;
        }
        if (s->sent == TOKENS && !s->has_txn && l1_idle(s->b.l1)) break;
        wake_at(&s->b.wake, l1_wake(s->b.l1));
        if (s->sent != before) next_sm = cycle + 1; /* more to offer */
    }
    for (uint32_t i = 0; i < TOKENS; i++) assert_int_equal(s->pending[i], 0);
    assert_int_equal(s->b.pool.live, 0);
    const struct l1_stats *st = stats_of(&s->b);
    *stats = *st;
    assert_int_equal(st->requests_read + st->requests_write + st->requests_atomic, st->replies);
    assert_int_equal(st->total_accesses, st->total_hits + st->total_pending + st->total_misses);
    assert_int_equal(st->stall_cycles, st->stall_line + st->stall_mshr + st->stall_queue + st->stall_port);
    assert_int_equal(st->reads_missed, st->cold_misses + st->replaced_misses + st->sector_misses);
    for (uint64_t i = 0, sum = 0; i < L1_TYPES; i++)
        if (sum += st->fails[i], i == L1_TYPES - 1) assert_int_equal(sum, st->stall_cycles);
    finish(&s->b);
    free(s);
    return cycle;
}

static void random_traffic_at_depth_one_loses_nothing_and_sleeping_changes_nothing(void **state)
{
    for (uint64_t seed = 0; seed < 64; seed++) {
        struct bench b;
        struct l1_stats awake, asleep;
        prepare(&b);
        b.p.size = seed & 1 ? LINE : 8 * LINE;
        b.p.mshrs = b.p.merges = b.p.miss_queue = seed & 2 ? 1 : 3;
        b.p.sectored = seed & 4;
        b.p.allocate = seed & 8 ? L1_ALLOCATE_ON_FILL : L1_ALLOCATE_ON_MISS;
        b.p.local_write_allocate = seed & 16;
        b.p.write_global = seed & 32 ? L1_WRITE_UPDATE : L1_WRITE_EVICT;
        b.p.replacement = (uint32_t)seed % 3;
        b.p.latency = 1 + (uint32_t)seed % 7;
        b.p.reply_step = (uint32_t)seed % 5;
        uint64_t cycles = run_random(&b.p, seed, false, &awake);
        assert_int_equal(run_random(&b.p, seed, true, &asleep), cycles);
        assert_memory_equal(&awake, &asleep, sizeof awake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traffic_at_depth_one_loses_nothing_and_sleeping_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
