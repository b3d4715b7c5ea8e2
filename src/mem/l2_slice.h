/* l2_slice.h: the state of an L2 slice, shared by the files that implement its stages. Inside mem/ only. */
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

RING_TYPE(l2_ring, struct l2_timed) /* requests in the order of their times */
RING_TYPE(l2_drain, uint32_t)       /* MSHR entries */

/* What the tag stage and the port count; l2_stats derives the statistics from it. The first host cache line
 * holds the counts that nearly every request changes. */
struct l2_counts {
    uint64_t replies, hit_latency, hits_timed, read_sectors;
    /* cycles */
    uint64_t port_read;
    /* ICNT, DRAM and PORT are in the first host line */
    tick stall_ticks[L2_STALL_COUNT];
    /* cycles */
    uint64_t port_write, port_fill, port_evict;
    /* bytes of data that writes and atomics brought */
    uint64_t taken_bytes;
    /* requests, by enum req_kind, class and outcome of the tags */
    uint64_t passed[L2_KINDS][REQ_CLASS_COUNT][L2_OUTCOMES];
    uint64_t fails[L2_KINDS][REQ_CLASS_COUNT];
};

/* Variants that few slices are. */
enum l2_variant {
    L2_INFINITE = 1,
    /* `claims` is not NULL: a mechanism may take requests */
    L2_CLAIMED = 2
};

/* Fields are ordered by host cache lines: a tick that finds nothing to do reads the first line, one that goes
 * on needs the second and the third, a request at the tags the fourth; the parts with their own lines follow.
 * A time that is not set is TICK_NEVER. */
struct l2_slice {
    tick wake;
    /* l2_sleep.c: before this time no stage acts except the entry of requests */
    tick act_at;
    /* when the pipeline's head is at the tags */
    tick head_ready;
    /* from this time on no request enters: l2_pipe_closes */
    tick closed_from;
    tick port_free;
    /* the latch: a reply of the tag stage, and when its data has passed the port */
    tick latch_ready;
    uint32_t latch;
    /* period of the L2 clock */
    uint32_t period;
    /* enum l2_variant, a mask */
    uint8_t variant;
    /* from_dram holds something: set by the link, cleared by the slice */
    uint8_t has_fills;
    /* in the newest cycle, the response queue refused a reply; the miss queue refused a request */
    bool awaits_reply, awaits_dram;
    /* a reply left in this cycle */
    bool replied;
    bool is_stalled, head_failed;
    /* head_outcome and head_line hold the answer of the tags for the head */
    bool is_probed;

    /* second line */
    /* start of the stall that has not been charged; may lie ahead (l2_sleep.c) */
    tick stall_since;
    /* the fill on its port, and when it is complete */
    tick fill_ready;
    uint32_t fill;
    /* the write-back that waits for to_dram, or REQ_NONE */
    uint32_t victim;
    /* accepted requests on their way to the tags */
    struct l2_ring pipe;
    /* free slots that to_dram is known to have; only the slice fills it. It is kept here because asking the
     * link would end a wait, and would touch a host cache line */
    uint32_t dram_room;
    /* enum l2_stall, enum cache_outcome */
    uint8_t stall_cause, head_outcome;
    /* copies of parameters */
    bool wait_for_all, fill_port;
    /* `drain` is not empty */
    bool drains;

    /* third line */
    /* the head's address within the slice */
    uint64_t head_local;
    /* when the read hit in the latch was accepted; TICK_NEVER: the latch holds another reply */
    tick latch_since;
    /* ticks from the access queue to the tags */
    tick tags_after;
    tick atomic_free;
    struct link *in, *out;
    struct req_pool *pool;
    /* l2.late_queue: requests at the tags that close the pipeline; else UINT32_MAX */
    uint32_t late_slots;
    /* the line that holds the head's address, or the one that a miss replaces */
    uint32_t head_line;

    /* fourth line */
    uint64_t (*to_local)(const void *ctx, uint64_t addr);
    const void *local_ctx;
    struct clock_domain core;
    /* mask */
    uint32_t line_sectors;
    /* copies of parameters */
    bool is_perfect, is_sectored;
    /* [sectors]: cycles on the port; the entries for lines of up to 16 sectors are in this host line */
    uint16_t sector_cycles[33];

    /* parts */
    _Alignas(HOST_LINE) struct l2_counts counts;
    /* indexed by addresses within the slice: with device addresses, a slice of 2^n would use only some of its
     * sets */
    _Alignas(HOST_LINE) struct cache cache;
    struct mshr mshr;
    /* chains whose data has come */
    struct l2_drain drain;
    struct link *to_dram, *from_dram;
    /* [line]: device address of the line */
    uint64_t *line_addr;
    void (*apply)(void *ctx, const struct req *r);
    void *apply_ctx;
    void (*wrote)(void *ctx, const struct req *r);
    void *wrote_ctx;
    struct clock_domain clock;
    struct l2_params params;

    /* the infinite slice */
    /* requests sorted by the time of their reply */
    struct l2_ring delayed;
    /* [line]: when its fill comes */
    tick *line_ready;

    /* fields that are seldom used */
    uint32_t index;
    /* requests that a mechanism has taken (l2_claim.h); NULL: no mechanism does */
    struct l2_claims *claims;
    /* counts of rare events */
    struct l2_stats stats;
};
static_assert(offsetof(struct l2_slice, stall_since) == HOST_LINE &&
                  offsetof(struct l2_slice, head_local) == 2 * HOST_LINE &&
                  offsetof(struct l2_slice, to_local) == 3 * HOST_LINE,
              "the fields lie in the host's cache lines as the comments say");

static inline bool l2_is_infinite(const struct l2_slice *s) { return s->variant & L2_INFINITE; }
static inline bool l2_has_claims(const struct l2_slice *s) { return s->variant & L2_CLAIMED; }

static inline struct l2_timed *l2_ring_at(const struct l2_ring *r, uint32_t i)
{
    return &r->items[ring_index(&r->ring, i)];
}
static inline tick l2_next_cycle(const struct l2_slice *s, tick now) { return now + s->period; }
/* When a request that leaves the access queue now is at the tags. Like now, this is an edge. */
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
/* The sectors that are moved when these are wanted: the whole line in a cache without sectors. */
static inline uint32_t l2_moved(const struct l2_slice *s, uint32_t sectors)
{
    return s->is_sectored ? sectors & s->line_sectors : s->line_sectors;
}

static inline uint64_t l2_local(const struct l2_slice *s, uint64_t addr)
{
    return s->to_local ? s->to_local(s->local_ctx, addr) : addr;
}

/* The request's address within the slice. With an address map, the pool already holds it. */
static inline uint64_t l2_local_of(const struct l2_slice *s, const struct req *r)
{
    return s->pool->map ? r->local : l2_local(s, r->addr);
}

/* A write takes effect: calls wrote. */
static inline void l2_tell_write(const struct l2_slice *s, const struct req *r)
{
    if (UNLIKELY(s->wrote != NULL)) s->wrote(s->wrote_ctx, r);
}

/* Does the response queue have room for one more reply? The reply in the latch already has its slot while its
 * data passes the port. */
static inline bool l2_out_has_room(const struct l2_slice *s, tick now)
{
    return !link_is_full(s->out, now, 1 + (s->latch_ready != TICK_NEVER));
}

/* The response queue refuses a reply; it wakes the slice when it has room. */
static inline void l2_await_reply(struct l2_slice *s, tick now)
{
    s->awaits_reply = true;
    link_refuse(s->out, now);
}

/* Does the miss queue have room? Only the slice fills it, so room that was seen stays until it is used. */
static inline bool l2_dram_has_room(const struct l2_slice *s, tick now)
{
    return s->dram_room || !link_is_full(s->to_dram, now, 1);
}

/* The slice has found room in the miss queue, and stops waiting for it. */
static inline void l2_see_room(struct l2_slice *s, tick now)
{
    if (s->dram_room || !link_can_push(s->to_dram, now)) return;
    s->dram_room = s->to_dram->capacity - link_occupied(s->to_dram, now);
}

/* The miss queue refuses a request; it wakes the slice when it has room. */
static inline void l2_await_dram(struct l2_slice *s, tick now)
{
    s->awaits_dram = true;
    link_refuse(s->to_dram, now);
}

/* Charges the head's wait from `since` on, which may lie ahead (l2_sleep.c). */
static inline void l2_charge(struct l2_slice *s, enum l2_stall cause, tick since)
{
    s->is_stalled = true;
    s->stall_cause = (uint8_t)cause;
    s->stall_since = since;
}

static inline void l2_send(struct l2_slice *s, uint32_t id, tick now)
{
    assert(s->dram_room);
    s->dram_room--;
    link_push(s->to_dram, now, id);
}

/* Counts the data of a request: sectors that a read asks for, bytes that a write or an atomic brought. */
static inline void l2_count_data(struct l2_slice *s, const struct req *r)
{
    if (r->kind == REQ_READ)
        s->counts.read_sectors += req_sector_count(r->sectors);
    else
        s->counts.taken_bytes += r->write_bytes;
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
/* The pipeline has a new head. */
void l2_new_head(struct l2_slice *s);
/* Looks up the tags for the head: head_outcome, head_line. They are looked up again only after a fill has
 * changed them. */
void l2_probe_tags(struct l2_slice *s, struct req *r);
static inline void l2_probe_head(struct l2_slice *s, struct req *r)
{
    if (!s->is_probed) l2_probe_tags(s, r);
}
void l2_count(struct l2_slice *s, const struct req *r, enum cache_outcome outcome);
/* l2_infinite.c */
void l2_infinite_tick(struct l2_slice *s, tick now);

#endif
