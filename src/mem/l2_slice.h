/* l2_slice.h: the state of an L2 slice, shared by the files that are its parts. Inside mem/ only. */
#ifndef HEDDLE_L2_SLICE_H
#define HEDDLE_L2_SLICE_H

#include "mem/l2.h"

struct l2_timed {
    uint32_t id;
    tick ready;
    uint64_t local; /* before the tags: its address within the slice */
};

struct l2_ring {
    struct l2_timed *at;
    uint32_t capacity, head, count;
};

struct l2_slice {
    tick wake;
    tick act_at; /* before this nothing happens by itself but requests that enter */
    /* touched every cycle */
    struct l2_ring pipe;   /* accepted, on their way to the tags */
    tick port_free;        /* the data port */
    tick atomic_free;      /* the atomic unit */
    struct l2_timed latch; /* a reply of the tag stage: REQ_NONE, or complete at ready */
    struct l2_timed fill;  /* a fill on the data port */
    uint32_t victim;       /* a write-back on its way to to_dram */
    uint32_t *drain;       /* ring of MSHR entries whose data is there */
    uint32_t drain_head, drain_count;
    bool replied; /* in this cycle */
    bool is_stalled, head_failed;
    bool is_probed; /* what the tags said of the head stands in the next two: they have not changed since */
    enum cache_outcome head_outcome;
    uint32_t head_line;
    enum l2_stall stall_cause;
    tick stall_since;
    /* parts */
    struct cache
        cache; /* by addresses within the slice: else a slice of 2^n would see only some of its sets */
    uint64_t *line_addr; /* [line]: its device address */
    struct mshr mshr;
    struct link *in, *out, *to_dram, *from_dram;
    struct req_pool *pool;
    uint64_t (*to_local)(const void *ctx, uint64_t addr);
    const void *local_ctx;
    void (*apply)(void *ctx, const struct req *r);
    void *apply_ctx;
    /* the infinite slice */
    struct l2_ring delayed; /* sorted by time */
    tick *line_ready;       /* [line]: when the fill of the line is there */
    /* cold */
    struct l2_params params;
    struct clock_domain clock, core;
    tick tags_after;              /* ticks from the access queue to the tags */
    uint32_t index, line_sectors; /* mask */
    uint16_t sector_cycles[33];   /* [sectors]: time on the port */
    struct l2_stats stats;
};

static inline struct l2_timed *l2_ring_at(const struct l2_ring *r, uint32_t i)
{
    uint32_t at = r->head + i;
    return &r->at[at >= r->capacity ? at - r->capacity : at];
}
static inline const struct l2_timed *l2_ring_head(const struct l2_ring *r) { return &r->at[r->head]; }
static inline void l2_ring_push(struct l2_ring *r, struct l2_timed t)
{
    assert(r->count < r->capacity);
    *l2_ring_at(r, r->count++) = t;
}
static inline struct l2_timed l2_ring_pop(struct l2_ring *r)
{
    assert(r->count);
    struct l2_timed t = r->at[r->head];
    if (++r->head == r->capacity) r->head = 0;
    r->count--;
    return t;
}
static inline tick l2_next_cycle(const struct l2_slice *s, tick now) { return now + s->clock.period; }
/* When what leaves the access queue now is at the tags: on an edge, as now is. */
static inline tick l2_at_tags(const struct l2_slice *s, tick now) { return now + s->tags_after; }
static inline uint32_t l2_port_cycles(const struct l2_slice *s, uint32_t bytes)
{
    return MAX(1u, (bytes + s->params.port_bytes - 1) / s->params.port_bytes);
}
static inline uint32_t l2_sector_bytes(uint32_t sectors)
{
    return CACHE_SECTOR_BYTES * req_sector_count(sectors);
}
static inline uint32_t l2_sector_cycles(const struct l2_slice *s, uint32_t sectors)
{
    return s->sector_cycles[req_sector_count(sectors)];
}
/* Whole periods in a span, which is short nearly always: 32 bits are faster. */
static inline uint64_t l2_cycles_in(tick span, uint32_t period)
{
    return span >> 32 ? span / period : (uint32_t)span / period;
}
/* What of a line is moved for these sectors: the line, where there are no sectors. */
static inline uint32_t l2_moved(const struct l2_slice *s, uint32_t sectors)
{
    return s->params.sectored ? sectors & s->line_sectors : s->line_sectors;
}

static inline uint64_t l2_local(const struct l2_slice *s, uint64_t addr)
{
    return s->to_local ? s->to_local(s->local_ctx, addr) : addr;
}

/* A reply of the tag stage has its place in the response queue while its data passes the port. */
static inline bool l2_can_reply(struct l2_slice *s, tick now)
{
    if (link_occupied(s->out, now) + (s->latch.id != REQ_NONE) < s->out->capacity) return true;
    link_refuse(s->out, now); /* it wakes us */
    return false;
}

/* l2_port.c: data port, replies, fills, write-backs */
void l2_use_port(struct l2_slice *s, tick now, uint32_t cycles, uint64_t *counter);
void l2_finish_fill(struct l2_slice *s, tick now);
void l2_start_fill(struct l2_slice *s, tick now);
void l2_send_reply(struct l2_slice *s, tick now);
void l2_send_victim(struct l2_slice *s, tick now);
void l2_reply_left(struct l2_slice *s, uint32_t id, tick now);
void l2_apply_atomic(struct l2_slice *s, const struct req *r);
/* l2_access.c: the tag stage */
void l2_access(struct l2_slice *s, tick now);
void l2_count(struct l2_slice *s, const struct req *r, enum cache_outcome outcome);
/* l2_infinite.c */
void l2_infinite_tick(struct l2_slice *s, tick now);

#endif
