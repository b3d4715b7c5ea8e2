/* xbar_admit.h: may a packet enter the next buffer? The step that moves it and the prediction that saves
 * looking at its input (xbar_sleep.h) both ask here. Inside mem/ only. */
#ifndef HEDDLE_XBAR_ADMIT_H
#define HEDDLE_XBAR_ADMIT_H

#include "mem/xbar_net.h"

/* The packet that carries a request. */
static inline void xbar_make_packet(const struct xbar_net *n, uint32_t id, struct xbar_packet *p)
{
    const struct req *r = req_at(n->pool, id);
    struct xbar_size size;
    if (LIKELY(r->kind == REQ_READ))
        size = n->read_sizes[n->is_reply ? req_sector_count(r->sectors) : 0];
    else
        size = xbar_size_of(n, r->kind == REQ_WRITE && n->is_reply ? 0 : r->write_bytes, 0);
    p->origin.id = id;
    p->dst = n->is_reply ? r->sm : r->slice;
    p->flits = size.flits;
    p->step = size.step;
    debug_assert(p->dst < n->outputs);
}

/* Mask of 64 inputs: those whose packets for this output wait because its gate is closed. */
static inline uint64_t xbar_held_back(const struct xbar_net *n, uint32_t output, uint32_t word)
{
    if (LIKELY(!n->gates) || n->gates[output] > n->now || word * 64 >= n->gated) return 0;
    const uint32_t count = n->gated - word * 64;
    return count >= 64 ? ~0ull : (1ull << count) - 1;
}

/* A packet that is longer than the buffer fits when that is empty; otherwise flits never exceed the
 * buffer. */
static inline bool xbar_fits(uint32_t held, uint32_t flits, uint32_t size)
{
    return (held + flits <= size) | !held; /* no branch: hard to predict */
}

/* Into the ejection buffer: a granted packet has its slot at once. Outputs without room: xbar_ports.full. */
static inline bool xbar_can_eject(const struct xbar_net *n, const struct xbar_output *o)
{
    return o->ring.count < n->ejection;
}

/* Into the injection buffer, in a cycle up to which nothing else enters or leaves it: flits on the channel
 * leave the buffer when the channel is free. */
static inline bool xbar_can_inject(const struct xbar_net *n, const struct xbar_input *in, uint32_t flits,
                                   uint64_t cycle)
{
    const struct xbar_injection *q = &in->injection;
    uint32_t held = q->flits - (in->channel_free <= cycle ? q->on_channel : 0u);
    return xbar_fits(held, flits, n->injection);
}

/* On the channel and into the virtual channel behind it, in this cycle. */
static inline bool xbar_can_send(const struct xbar_net *n, const struct xbar_input *in,
                                 const struct xbar_vc *vc, uint32_t flits)
{
    return in->channel_free <= n->cycle && xbar_fits(vc->flits, flits, n->vc_buffer);
}

#endif
