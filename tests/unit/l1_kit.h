/* l1_kit.h: an L1 between a load-store unit and a crossbar that are both played by the test, cycle by cycle.
 *
 * A core cycle is two ticks; both links take one cycle. So an access of cycle t reaches the crossbar's side
 * at t + 2 (the miss queue moves on in the next cycle), and a reply that is sent at t is taken at t + 1. */
#ifndef L1_KIT_H
#define L1_KIT_H

#include "mem/l1_hooks.h"
#include "mem/l1_prefetch.h"
#include "mem/l1_resize.h"
#include "mem/l1_sleep.h"
#include "mem/link_ahead.h"
#include "mem/sm_port.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 2, LINE = 128, NOBODY = -1 };

struct bench {
    struct l1_params p;
    struct clock_domain clock;
    struct req_pool pool;
    struct link out, in;
    tick wake;
    struct sm_port *port;
    struct l1 *l1;
    /* the first that has not been ticked */
    uint64_t next_cycle;
    uint32_t extra_lines;
};

static inline void prepare(struct bench *b)
{
    memset(b, 0, sizeof *b);
    param_set_defaults(l1_rows, &b->p);
    b->clock = clock_domain_of(PERIOD);
    b->wake = TICK_NEVER;
}

static inline void start_with_links(struct bench *b, uint32_t out_places)
{
    req_pool_init(&b->pool, 4096);
    link_init(&b->out, "out", out_places, PERIOD, &b->wake, NULL);
    link_init(&b->in, "in", 64, PERIOD, NULL, &b->wake);
    b->port = sm_port_create(&(struct sm_port_setup){.to_xbar = &b->out,
                                                     .from_xbar = &b->in,
                                                     .clock = &b->clock,
                                                     .pool = &b->pool,
                                                     .queue = b->p.miss_queue,
                                                     .reply_step = b->p.reply_step,
                                                     .line_bytes = b->p.line});
    b->l1 = l1_create(&(struct l1_setup){.params = &b->p,
                                         .sm = 3,
                                         .clock = &b->clock,
                                         .pool = &b->pool,
                                         .port = b->port,
                                         .extra_lines = b->extra_lines});
}

static inline void start(struct bench *b) { start_with_links(b, 64); }

/* As of now. */
static inline const struct l1_stats *stats_of(const struct bench *b) { return l1_stats(b->l1); }

static inline void finish(struct bench *b)
{
    l1_destroy(b->l1);
    sm_port_destroy(b->port);
    link_free(&b->out);
    link_free(&b->in);
    req_pool_free(&b->pool);
}

/* As an SM's cycle begins. */
static inline void tick_cycle(struct bench *b, uint64_t cycle)
{
    const tick now = cycle * PERIOD;
    l1_begin_tick(b->l1, now);
    sm_port_receive(b->port, now);
    const bool has_work = l1_take_own(b->l1, now);
    sm_port_forward(b->port, now);
    if (has_work) l1_tick(b->l1, now);
}

/* Every cycle up to this one has had its tick; so accesses, requests and replies below are in the order of
 * time. */
static inline void tick_to(struct bench *b, uint64_t cycle)
{
    while (b->next_cycle <= cycle) tick_cycle(b, b->next_cycle++);
}

static inline struct l1_txn txn(enum req_kind kind, enum req_class cls, uint64_t line, uint32_t token)
{
    return (struct l1_txn){.addr = line * LINE,
                           .sectors = 0xf,
                           .write_bytes = kind == REQ_READ ? 0 : 128,
                           .kind = (uint8_t)kind,
                           .cls = (uint8_t)cls,
                           .token = token};
}

static inline enum l1_answer access_at(struct bench *b, uint64_t cycle, struct l1_txn t)
{
    tick_to(b, cycle);
    return l1_access(b->l1, cycle * PERIOD, &t);
}
static inline enum l1_answer load_at(struct bench *b, uint64_t cycle, uint64_t line, uint32_t token)
{
    return access_at(b, cycle, txn(REQ_READ, REQ_GLOBAL, line, token));
}
static inline enum l1_answer store_at(struct bench *b, uint64_t cycle, enum req_class cls, uint64_t line)
{
    return access_at(b, cycle, txn(REQ_WRITE, cls, line, UINT32_MAX));
}

static inline int done_at(struct bench *b, uint64_t cycle)
{
    uint32_t token;
    tick_to(b, cycle);
    return l1_next_done(b->l1, cycle * PERIOD, &token) ? (int)token : NOBODY;
}

/* The request that the crossbar sees in this cycle, taken; or NULL. */
static inline struct req *sent_at(struct bench *b, uint64_t cycle, uint32_t *id)
{
    uint32_t value = REQ_NONE;
    tick_to(b, cycle);
    if (id) *id = REQ_NONE;
    if (!link_peek(&b->out, cycle * PERIOD, &value)) return NULL;
    link_pop(&b->out, cycle * PERIOD);
    if (id) *id = value;
    return req_at(&b->pool, value);
}
static inline void reply_at(struct bench *b, uint64_t cycle, uint32_t id)
{
    tick_to(b, cycle);
    assert_true(link_can_push(&b->in, cycle * PERIOD));
    link_push(&b->in, cycle * PERIOD, id);
}

/* A load from miss to fill within eight cycles. */
static inline void bring(struct bench *b, uint64_t cycle, uint64_t line)
{
    uint32_t id;
    assert_int_equal(load_at(b, cycle, line, 999), L1_MISS);
    assert_non_null(sent_at(b, cycle + 2, &id));
    reply_at(b, cycle + 2, id);
    assert_int_equal(done_at(b, cycle + 3), 999);
}

#endif
