/* dram_kit.h: one DRAM channel between mock L2 slices, for its unit tests.
 *
 * A mock slice pushes what it is told at a clock; its link shows it one clock later. Where not said otherwise
 * the fixed latencies are 0, so a request that is pushed at clock 0 has its first command at clock 1. A read
 * is back at the clock at which its data is complete. */
#ifndef HEDDLE_DRAM_KIT_H
#define HEDDLE_DRAM_KIT_H

#include "mem/dram_sleep.h"

#include "base/rng.h"
#include "mem/dram_bank.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 10, EVENTS_MAX = 20000, SLICES_MAX = 4 };

struct event {
    uint32_t slice, clock;
    struct req req;
};

struct bench {
    struct dram_params params;
    struct addrmap_params map_params;
    struct clock_domain clock, core;
    /* the mock takes an answer every drain_every clocks */
    uint32_t slices, link_depth, drain_every;
    bool no_skip;
    /* the channel has its clocks as late as dram_seen_at allows */
    bool is_lazy;
    struct dram_observer observer;
    /* what happens, in order of clock */
    struct event *events;
    uint32_t event_count;
    /* What came out of it. By token: clock at which it was back, 0 = not. */
    uint64_t *back;
    uint32_t *order;
    uint32_t back_count;
    struct dram_stats stats;
    /* clock at which all was done */
    uint64_t end;
    uint32_t live;
};

static inline void bench_init(struct bench *b)
{
    memset(b, 0, sizeof *b);
    param_set_defaults(dram_rows, &b->params);
    param_set_defaults(addrmap_rows, &b->map_params);
    b->params.latency = b->params.latency_min = 0;
    b->map_params.channels = 1;
    b->map_params.base = 0;
    b->clock = clock_domain_of(PERIOD);
    b->core = b->clock;
    b->slices = 2;
    b->link_depth = 64;
    b->drain_every = 1;
    b->events = mem_zalloc(sizeof *b->events * EVENTS_MAX);
    b->back = mem_zalloc(sizeof *b->back * EVENTS_MAX);
    b->order = mem_zalloc(sizeof *b->order * EVENTS_MAX);
}

static inline void bench_free(struct bench *b)
{
    free(b->events);
    free(b->back);
    free(b->order);
}

/* Address of (row, bank, column in lines of 128 bytes) under 0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS. */
static inline uint64_t address(uint32_t row, uint32_t bank, uint32_t line)
{
    return (uint64_t)row << 16 | (uint64_t)(bank >> 1) << 13 | (uint64_t)(line >> 1) << 9 |
           (uint64_t)(bank & 1) << 8 | (uint64_t)(line & 1) << 7;
}

static inline void add(struct bench *b, uint32_t clock, enum req_kind kind, uint64_t addr, uint32_t sectors)
{
    uint32_t slices = b->slices;
    struct event e = {.slice = (uint32_t)(addr >> 8 & 1) % slices, .clock = clock};
    e.req = (struct req){.addr = addr, .sectors = sectors, .kind = (uint8_t)kind, .token = b->event_count};
    assert_true(b->event_count < EVENTS_MAX);
    b->events[b->event_count++] = e;
}

static inline void bench_receive(struct bench *b, struct req_pool *pool, struct link *out, tick now)
{
    uint32_t id;
    if (now / PERIOD % b->drain_every) return;
    while (link_peek(out, now, &id)) {
        uint32_t token = req_at(pool, id)->token;
        link_pop(out, now);
        assert_int_equal(b->back[token], 0);        /* once only */
        b->back[token] = now / b->clock.period - 1; /* the link takes one clock */
        b->order[b->back_count++] = token;
        req_del(pool, id);
    }
}

/* The channel's clocks before `end` that have not come. */
static inline void bench_catch_up(struct dram_channel *d, tick end)
{
    for (tick edge; (edge = dram_next_edge(d, *dram_wake(d))) < end;) dram_tick(d, edge);
}

/* Have the mock slices something to do: an event that is new, something to take, room for what was refused,
 * or something that the channel did? */
static inline bool bench_is_due(const struct bench *b, struct dram_channel *d, struct link **out, tick now,
                                uint32_t first, tick slices_wake)
{
    bool is_due = slices_wake <= now || dram_seen_at(d, *dram_wake(d)) <= now;
    for (uint32_t s = 0; s < b->slices; s++) is_due |= link_next(out[s]) <= now;
    for (uint32_t i = first; i < b->event_count && b->events[i].clock * (tick)b->clock.period <= now; i++)
        is_due |= b->events[i].clock * (tick)b->clock.period == now;
    return is_due;
}

/* Runs all events to the end, at most `limit` clocks. */
static inline void bench_run_for(struct bench *b, uint64_t limit)
{
    struct diag_list diags = {0};
    struct req_pool pool;
    struct link in[SLICES_MAX], out[SLICES_MAX], *ins[SLICES_MAX], *outs[SLICES_MAX];
    tick slices_wake = TICK_NEVER;
    req_pool_init(&pool, EVENTS_MAX);
    struct addrmap *map = addrmap_create(&b->map_params, &diags);
    assert_non_null(map);
    assert_true(dram_check(&b->params, map, &diags));
    for (uint32_t s = 0; s < b->slices; s++) {
        ins[s] = &in[s], outs[s] = &out[s];
        link_init(&in[s], "in", b->link_depth, b->clock.period, &slices_wake, NULL);
        link_init(&out[s], "out", b->link_depth, b->clock.period, NULL, &slices_wake);
    }
    struct dram_channel *d =
        dram_create(&b->params, 0, map, &b->clock, &b->core, &pool, ins, outs, b->slices);
    for (uint32_t s = 0; s < b->slices; s++) in[s].consumer_wake = out[s].producer_wake = dram_wake(d);
    dram_observe(d, &b->observer);
    bool *sent = mem_zalloc(b->event_count + 1);
    uint32_t first = 0;
    tick now = 0;
    for (; now < limit * b->clock.period; now += b->clock.period) {
        if (b->is_lazy) {
            if (!bench_is_due(b, d, outs, now, first, slices_wake)) continue;
            bench_catch_up(d, now);
            if (slices_wake <= now) slices_wake = TICK_NEVER;
        }
        bool blocked[SLICES_MAX] = {false};
        for (uint32_t i = first; i < b->event_count && b->events[i].clock * (tick)b->clock.period <= now;
             i++) {
            struct event *e = &b->events[i];
            if (sent[i] || blocked[e->slice]) continue;
            if (!link_can_push(&in[e->slice], now)) {
                blocked[e->slice] = true;
                if (b->slices == 1 || (blocked[0] && blocked[1])) break;
                continue;
            }
            link_push(&in[e->slice], now, req_new(&pool, &e->req));
            sent[i] = true;
        }
        while (first < b->event_count && sent[first]) first++;
        if (!b->is_lazy && (b->no_skip || *dram_wake(d) <= now)) dram_tick(d, now);
        for (uint32_t s = 0; s < b->slices; s++) bench_receive(b, &pool, &out[s], now);
        if (first == b->event_count && pool.live == 0 && dram_idle(d)) break;
    }
    bench_catch_up(d, now);
    b->end = now / b->clock.period;
    b->live = pool.live;
    dram_settle(d, now);
    b->stats = *(struct dram_stats *)dram_stats(d);
    if (first == b->event_count && pool.live == 0) assert_true(dram_idle(d));
    for (uint32_t s = 0; s < b->slices; s++) {
        link_free(&in[s]);
        link_free(&out[s]);
    }
    free(sent);
    dram_destroy(d);
    addrmap_destroy(map);
    req_pool_free(&pool);
    diag_free(&diags);
}

static inline void bench_run(struct bench *b)
{
    bench_run_for(b, 4000000);
    assert_int_equal(b->live, 0);
}

/* ---- random traffic on random machines ---- */

static inline void fill_random(struct bench *b, uint64_t seed, uint32_t count, uint32_t spread)
{
    struct rng rng = {seed};
    uint32_t clock = 0;
    for (uint32_t i = 0; i < count; i++) {
        clock +=
            (uint32_t)rng_below(&rng, 8) ? (uint32_t)rng_below(&rng, 4) : (uint32_t)rng_below(&rng, spread);
        enum req_kind kind = rng_below(&rng, 3) ? REQ_READ : REQ_WRITE;
        uint64_t addr = address((uint32_t)rng_below(&rng, 4), (uint32_t)rng_below(&rng, 16),
                                (uint32_t)rng_below(&rng, 32));
        add(b, clock, kind, addr, 1 + (uint32_t)rng_below(&rng, 15));
    }
}

static inline void random_params(struct bench *b, uint64_t seed)
{
    struct rng rng = {seed * 77 + 5};
    b->params.queue = 1 + (uint32_t)rng_below(&rng, 16);
    b->params.return_queue = 1 + (uint32_t)rng_below(&rng, 8);
    b->params.sched = (uint32_t)rng_below(&rng, 2);
    b->params.dual_bus = rng_below(&rng, 2);
    b->params.group_by = (uint32_t)rng_below(&rng, 2);
    b->params.ranks = 1u << rng_below(&rng, 3);
    b->params.tfaw = rng_below(&rng, 2) ? 40 : 0;
    b->params.trtrs = (uint32_t)rng_below(&rng, 3);
    b->params.write_drain = b->params.sched == DRAM_FRFCFS && rng_below(&rng, 2);
    b->params.write_queue = 4;
    b->params.write_high = 1 + (uint32_t)rng_below(&rng, 4);
    b->params.write_low = (uint32_t)rng_below(&rng, b->params.write_high);
    b->params.latency = (uint32_t)rng_below(&rng, 40);
    b->params.latency_min = (uint32_t)rng_below(&rng, 120);
    b->params.infinite = rng_below(&rng, 8) == 0;
    if (rng_below(&rng, 2)) b->params.trefi = 700 + (uint32_t)rng_below(&rng, 300), b->params.trfc = 90;
    b->core.period = 3 + (uint32_t)rng_below(&rng, 12);
    b->link_depth = 1 + (uint32_t)rng_below(&rng, 8);
    b->drain_every = 1 + (uint32_t)rng_below(&rng, 12);
}

#endif
