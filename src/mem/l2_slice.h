/* l2_slice.h: the state of an L2 slice, shared by the files that are its parts. Inside mem/ only. */
#ifndef HEDDLE_L2_SLICE_H
#define HEDDLE_L2_SLICE_H

#include "mem/l2.h"
#include "mem/mshr.h"
#include "mem/ring.h"

enum { L2_KINDS = REQ_ATOMIC + 1, L2_OUTCOMES = CACHE_SECTOR_MISS + 1 };

struct l2_timed {
    tick ready;
    uint32_t id;
};

struct l2_ring {
    struct l2_timed *at;
    struct ring ring;
};

/* What the tag stage and the port count; the statistics follow from it (l2_stats). First what nearly every request adds to: one line. */
struct l2_counts {
    uint64_t replies, hit_latency, hits_timed, read_sectors;
    uint64_t port_read;               /* cycles */
    tick stall_ticks[L2_STALL_COUNT]; /* ICNT, DRAM and PORT in the first line */
    uint64_t port_write, port_fill, port_evict;
    uint64_t passed[L2_KINDS][REQ_CLASS_COUNT]
                   [L2_OUTCOMES]; /* requests, by enum req_kind and what the tags said */
    uint64_t fails[L2_KINDS][REQ_CLASS_COUNT];
};

/* By lines of the host's cache: a tick that finds nothing to do ends with the first, one that goes on needs the second and the
 * third, a request at the tags the fourth; then come the parts with their own. Times that are not set are TICK_NEVER. */
struct l2_slice {
    tick wake;
    tick act_at;     /* before this nothing happens by itself but requests that enter */
    tick head_ready; /* of the pipeline's head: at the tags */
    tick
        closed_from; /* from then on nothing enters, unless a request leaves the tags: 0 where the pipeline is full; else l2.late_queue,
                       * and then one is at the tags that closes it */
    tick port_free;  /* the data port */
    tick latch_ready; /* a reply of the tag stage is complete */
    uint32_t latch;   /* that reply */
    uint32_t period;  /* of the L2 clock */
    bool is_infinite;
    uint8_t has_fills; /* something is in from_dram, which says so; we take it back */
    bool awaits_reply; /* a reply or the head was refused by the response queue, */
    bool awaits_dram;  /* and by the miss queue, in the newest cycle */
    bool replied;      /* in this cycle */
    bool is_stalled, head_failed;
    bool is_probed; /* what the tags said of the head stands in the next line: they have not changed since */
    /* second line */
    tick stall_since;                  /* of is_stalled; may lie ahead (l2_foresee) */
    tick fill_ready;                   /* a fill on its port */
    uint32_t fill;                     /* that fill */
    uint32_t victim;                   /* a write-back on its way to to_dram, or REQ_NONE */
    uint32_t drain_head, drain_count;  /* of `drain` */
    struct l2_ring pipe;               /* accepted, on their way to the tags */
    uint32_t dram_room;                /* places of to_dram that are free for sure: nobody else fills it */
    uint8_t stall_cause, head_outcome; /* enum l2_stall, cache_outcome */
    bool wait_for_all, fill_port;      /* as in params */
    /* third line */
    uint64_t head_local; /* of the head: its address within the slice */
    tick latch_since;    /* of a latch that holds a read hit: accepted at */
    tick tags_after;     /* ticks from the access queue to the tags */
    tick atomic_free;    /* the atomic unit */
    struct link *in, *out;
    struct req_pool *pool;
    uint32_t late_places; /* l2.late_queue: as many at the tags close the pipeline; else UINT32_MAX */
    uint32_t head_line;   /* of a probed head */
    /* fourth line: of a request at the tags */
    uint64_t (*to_local)(const void *ctx, uint64_t addr);
    const void *local_ctx;
    uint32_t core_period;
    uint32_t line_sectors;        /* mask */
    bool is_perfect, is_sectored; /* as in params */
    uint16_t sector_cycles[33];   /* [sectors]: time on the port; of lines of up to 16 sectors in this line */
    /* parts */
    _Alignas(HOST_LINE) struct l2_counts counts;
    _Alignas(HOST_LINE) struct cache
        cache; /* by addresses within the slice: else a slice of 2^n would see only some of its sets */
    struct mshr mshr;
    uint32_t *drain; /* ring of MSHR entries whose data is there */
    struct link *to_dram, *from_dram;
    uint64_t *line_addr; /* [line]: its device address */
    void (*apply)(void *ctx, const struct req *r);
    void *apply_ctx;
    struct clock_domain clock, core;
    struct l2_params params;
    /* the infinite slice */
    struct l2_ring delayed; /* sorted by time */
    tick *line_ready;       /* [line]: when the fill of the line is there */
    /* cold */
    uint32_t index;
    struct l2_stats stats; /* what is seldom is counted here */
};
static_assert(offsetof(struct l2_slice, stall_since) == HOST_LINE &&
                  offsetof(struct l2_slice, head_local) == 2 * HOST_LINE &&
                  offsetof(struct l2_slice, to_local) == 3 * HOST_LINE,
              "a slice's lines are what the comment says");

static inline struct l2_timed *l2_ring_at(const struct l2_ring *r, uint32_t i)
{
    return &r->at[ring_place(&r->ring, i)];
}
static inline const struct l2_timed *l2_ring_head(const struct l2_ring *r) { return &r->at[r->ring.head]; }
static inline void l2_ring_push(struct l2_ring *r, struct l2_timed t)
{
    r->at[ring_push(&r->ring, r->at, sizeof t)] = t;
}
static inline struct l2_timed l2_ring_pop(struct l2_ring *r)
{
    struct l2_timed t = r->at[r->ring.head];
    ring_pop(&r->ring);
    return t;
}
static inline tick l2_next_cycle(const struct l2_slice *s, tick now) { return now + s->period; }
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
    return s->is_sectored ? sectors & s->line_sectors : s->line_sectors;
}

static inline uint64_t l2_local(const struct l2_slice *s, uint64_t addr)
{
    return s->to_local ? s->to_local(s->local_ctx, addr) : addr;
}

/* The same for a request: where the pool has a map, which is then that of the slice, it knows. */
static inline uint64_t l2_local_of(const struct l2_slice *s, const struct req *r)
{
    return s->pool->map ? r->local : l2_local(s, r->addr);
}

/* A reply of the tag stage has its place in the response queue while its data passes the port. */
static inline bool l2_has_place(const struct l2_slice *s, tick now)
{
    return !link_is_full(s->out, now, 1 + (s->latch_ready != TICK_NEVER));
}

static inline bool l2_can_reply(struct l2_slice *s, tick now)
{
    if (l2_has_place(s, now)) return true;
    s->awaits_reply = true;
    link_refuse(s->out, now); /* it wakes us */
    return false;
}

/* The miss queue is looked at only when the room that was seen there is used up. */
static inline bool l2_can_send(struct l2_slice *s, tick now)
{
    if (s->dram_room) return true;
    if (link_can_push(s->to_dram, now)) {
        s->dram_room = s->to_dram->capacity - link_occupied(s->to_dram, now);
        return true;
    }
    s->awaits_dram = true; /* the link wakes us */
    return false;
}

static inline void l2_send(struct l2_slice *s, uint32_t id, tick now)
{
    assert(s->dram_room);
    s->dram_room--;
    link_push(s->to_dram, now, id);
}

/* l2_port.c: data port, replies, fills, write-backs */
void l2_use_port(struct l2_slice *s, tick now, uint32_t cycles, uint64_t *counter);
void l2_finish_fill(struct l2_slice *s, tick now);
void l2_start_fill(struct l2_slice *s, tick now);
void l2_drain_one(struct l2_slice *s, tick now);
void l2_send_latch(struct l2_slice *s, tick now);
void l2_send_victim(struct l2_slice *s, tick now);
void l2_reply_left(struct l2_slice *s, uint32_t id, tick now);
void l2_apply_atomic(struct l2_slice *s, const struct req *r);
/* l2_access.c: the tag stage */
void l2_access(struct l2_slice *s, tick now);
void l2_new_head(struct l2_slice *s); /* of the pipeline */
void l2_count(struct l2_slice *s, const struct req *r, enum cache_outcome outcome);
/* The head, which is at the tags at `at` and not before, will have to wait there: true, and it is charged from then on. Not sure: false. */
bool l2_foresee(struct l2_slice *s, tick at);
/* l2_infinite.c */
void l2_infinite_tick(struct l2_slice *s, tick now);

#endif
