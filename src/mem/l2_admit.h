/* l2_admit.h: may the request at the tags of a slice go on in this cycle, and if not, what does it wait for?
 * The access (l2_access.c) and the prediction that lets the slice sleep (l2_sleep.c) both call these
 * functions. This file also says when a request can enter the pipeline, a fill can take its port and a reply
 * of a chain can leave: the stages (l2.c, l2_port.c) act from that time on, and the slice sleeps until then.
 * Inside mem/ only. */
#ifndef HEDDLE_L2_ADMIT_H
#define HEDDLE_L2_ADMIT_H

#include "mem/l2_slice.h"

/* What the request does when it goes on. */
struct l2_plan {
    /* mask of sectors to read from DRAM */
    uint32_t fetch;
    /* mask of sectors of the replaced line to write back */
    uint32_t evict;
    /* MSHR entry of the line, or MSHR_NONE; looked up only where the request needs one */
    uint32_t entry;
    /* the request takes a line that held another address or was empty */
    bool allocates;
    /* the decision relied on room in the miss queue */
    bool used_room;
};

/* When a pipeline stops taking requests, until one leaves its tags: at once (0) with `stages` requests in it;
 * with l2.late_queue, from the time at which its late_slots-th request is at the tags. There are as many
 * late_slots as the access queue has entries; without l2.late_queue late_slots is UINT32_MAX. */
static inline tick l2_pipe_closes(const struct l2_ring *pipe, uint32_t stages, uint32_t late_slots)
{
    const uint32_t count = pipe->ring.count;
    if (UNLIKELY(count >= stages)) return 0;
    return count >= late_slots ? l2_ring_at(pipe, late_slots - 1)->ready : TICK_NEVER;
}

/* Can the head of the access queue enter the pipeline at this time? */
static inline bool l2_enters_at(const struct l2_slice *s, tick at)
{
    const tick seen = link_next(s->in);
    return (s->closed_from > at) & (seen <= at);
}

/* When the oldest fill (s->has_fills) can take its port; TICK_NEVER: another fill has it. */
static inline tick l2_fill_at(const struct l2_slice *s)
{
    if (s->fill_ready != TICK_NEVER) return TICK_NEVER;
    return s->fill_port ? link_next(s->from_dram) : MAX(link_next(s->from_dram), s->port_free);
}

/* The first time, not before `from`, at which the oldest reply of the chains (s->drains) can leave, if the
 * response queue has room: an atomic waits for the atomic unit. */
static inline tick l2_drain_at(const struct l2_slice *s, tick from)
{
    if (LIKELY(s->atomic_free <= from)) return from;
    const uint32_t id = s->mshr.entries[*l2_drain_front(&s->drain)].head;
    return req_at(s->pool, id)->kind == REQ_ATOMIC ? s->atomic_free : from;
}

/* Returns L2_GOES_ON, or the one cause to which the head is charged. Changes nothing: a second call gives the
 * same answer. The head must have been looked up (l2_probe_head). */
enum l2_stall l2_admit(const struct l2_slice *s, const struct req *r, tick now, struct l2_plan *plan);

/* Does the request reply as soon as it goes on? True for read hits, atomic hits and all writes. */
static inline bool l2_replies_now(const struct l2_slice *s, const struct req *r)
{
    return s->head_outcome == CACHE_HIT || r->kind == REQ_WRITE;
}

/* Does a write leave its sectors complete? In a cache without sectors it has to write the whole line. */
static inline bool l2_covers(const struct l2_slice *s, const struct req *r)
{
    return !r->is_fill_partial && (s->is_sectored || r->sectors == s->line_sectors);
}

#endif
