/* l2_kit.h: an L2 slice between a mock crossbar and a mock DRAM that are played cycle by cycle. */
#ifndef L2_KIT_H
#define L2_KIT_H

#include "mem/l2.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CORE = 10, L2P = 20, NOTES_MAX = 64 };

/* something that came out of a link, or an atomic that took effect */
struct note {
    uint32_t id;
    /* L2 cycle */
    uint64_t cycle;
};

struct rig {
    struct l2_params p;
    struct l2_slice *s;
    struct clock_domain core, clock;
    struct req_pool pool;
    struct link in, out, to_dram, from_dram;
    uint64_t cycle;
    /* the mock DRAM answers a read this long after it took it */
    uint32_t dram_cycles;
    bool dram_stopped, out_stopped;
    /* reads under way */
    struct note dram[NOTES_MAX];
    uint32_t dram_count;
    struct note replies[NOTES_MAX], fetches[NOTES_MAX], writes[NOTES_MAX], atomics[NOTES_MAX];
    uint32_t reply_count, fetch_count, write_count, atomic_count;
    struct req fetch_req[NOTES_MAX], write_req[NOTES_MAX];
};

static inline void rig_defaults(struct rig *r)
{
    memset(r, 0, sizeof *r);
    param_set_defaults(l2_rows, &r->p);
    r->p.tag_latency = 20; /* 10 L2 cycles */
    r->p.fill_port = false;
    r->dram_cycles = 50;
}

static inline void on_atomic(void *ctx, const struct req *q)
{
    struct rig *r = ctx;
    r->atomics[r->atomic_count++] = (struct note){.id = q->token, .cycle = r->cycle};
}

static inline void rig_start(struct rig *r)
{
    r->core = clock_domain_of(CORE);
    r->clock = clock_domain_of(L2P);
    req_pool_init(&r->pool, 8192);
    link_init(&r->in, "access queue", r->p.access_queue, L2P, NULL, NULL);
    link_init(&r->out, "response queue", r->p.response_queue, L2P, NULL, NULL);
    link_init(&r->to_dram, "miss queue", r->p.miss_queue, L2P, NULL, NULL);
    link_init(&r->from_dram, "fill queue", r->p.fill_queue, L2P, NULL, NULL);
    r->s = l2_create(&r->p, 0, &r->clock, &r->core, &r->pool, &r->in, &r->out, &r->to_dram, &r->from_dram);
    r->in.consumer_wake = r->from_dram.consumer_wake = l2_wake(r->s);
    r->out.producer_wake = r->to_dram.producer_wake = l2_wake(r->s);
    l2_on_atomic(r->s, on_atomic, r);
}

static inline void rig_end(struct rig *r)
{
    l2_destroy(r->s);
    link_free(&r->in);
    link_free(&r->out);
    link_free(&r->to_dram);
    link_free(&r->from_dram);
    req_pool_free(&r->pool);
}

/* A slice as it comes. */
static inline void rig_open(struct rig *r)
{
    rig_defaults(r);
    rig_start(r);
}

static inline tick rig_now(const struct rig *r) { return r->cycle * L2P; }
static inline struct l2_stats *stats(struct rig *r) { return l2_stats(r->s); }
static inline uint64_t stalls(struct rig *r)
{
    uint64_t sum = 0;
    for (int i = 0; i < L2_STALL_COUNT; i++) sum += stats(r)->stall[i];
    return sum;
}

/* The mock DRAM: takes one request a cycle, remembers it, answers reads in order after dram_cycles. */
static inline void rig_dram(struct rig *r)
{
    uint32_t id;
    tick now = rig_now(r);
    if (!r->dram_stopped && r->dram_count < NOTES_MAX && link_peek(&r->to_dram, now, &id)) {
        link_pop(&r->to_dram, now);
        struct req *q = req_at(&r->pool, id);
        if (q->kind == REQ_WRITE) {
            r->write_req[r->write_count % NOTES_MAX] = *q;
            r->writes[r->write_count++ % NOTES_MAX] = (struct note){id, r->cycle};
            req_del(&r->pool, id);
        } else {
            r->fetch_req[r->fetch_count % NOTES_MAX] = *q;
            r->fetches[r->fetch_count++ % NOTES_MAX] = (struct note){id, r->cycle};
            r->dram[r->dram_count++] = (struct note){id, r->cycle + r->dram_cycles};
        }
    }
    if (r->dram_count && r->dram[0].cycle <= r->cycle && link_can_push(&r->from_dram, now)) {
        link_push(&r->from_dram, now, r->dram[0].id);
        memmove(r->dram, r->dram + 1, sizeof r->dram[0] * --r->dram_count);
    }
}

static inline void rig_replies(struct rig *r)
{
    uint32_t id;
    tick now = rig_now(r);
    if (r->out_stopped || !link_peek(&r->out, now, &id)) return;
    link_pop(&r->out, now);
    r->replies[r->reply_count++ % NOTES_MAX] = (struct note){req_at(&r->pool, id)->token, r->cycle};
}

static inline void rig_cycle(struct rig *r)
{
    l2_tick(r->s, rig_now(r));
    rig_dram(r);
    rig_replies(r);
    r->cycle++;
}

static inline void rig_run(struct rig *r, uint64_t until)
{
    while (r->cycle < until) rig_cycle(r);
}

static inline uint32_t rig_make(struct rig *r, enum req_kind kind, uint64_t line, uint32_t sectors,
                                uint32_t token)
{
    const struct req q = {.addr = line * r->p.line,
                          .sectors = sectors,
                          .kind = (uint8_t)kind,
                          .write_bytes = kind == REQ_READ ? 0 : 32 * (uint32_t)__builtin_popcount(sectors),
                          .token = token};
    return req_new(&r->pool, &q);
}

/* Into the access queue now: the slice sees it a cycle later. */
static inline uint32_t rig_send(struct rig *r, enum req_kind kind, uint64_t line, uint32_t sectors,
                                uint32_t token)
{
    assert_true(link_can_push(&r->in, rig_now(r)));
    uint32_t id = rig_make(r, kind, line, sectors, token);
    link_push(&r->in, rig_now(r), id);
    return id;
}
static inline uint32_t rig_read(struct rig *r, uint64_t line, uint32_t token)
{
    return rig_send(r, REQ_READ, line, 0xf, token);
}

/* Times when all goes well, from a push at cycle 0: entered at 1, tags at 11, 4 cycles on the port, the wire
 * out. */
enum { ENTER = 1, TAGS = ENTER + 10, PORT = 4, HIT = TAGS + PORT + 1 };

#endif
