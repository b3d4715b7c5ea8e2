/* xbar_net.h: one of the crossbar's two networks: inputs with buffers, an arbiter, outputs with buffers. Inside mem/ only. */
#ifndef HEDDLE_XBAR_NET_H
#define HEDDLE_XBAR_NET_H

#include "mem/xbar.h"

struct xbar_packet {
    uint32_t id;
    uint16_t dst;
    uint16_t flits;
    uint16_t step; /* flits that one grant lets through: fewer than `flits` for a reply of several packets */
    uint16_t sent;
    tick taken; /* out of the link at the input */
    tick ready; /* in a virtual channel: can compete; in an output: complete */
};

struct xbar_ring {
    struct xbar_packet *at;
    uint32_t capacity, head, count;
};

struct xbar_vc {
    struct xbar_ring packets;
    uint32_t flits;
    tick head_since; /* the head could compete from here on */
};

struct xbar_input {
    struct xbar_ring injection;
    uint32_t flits;         /* in the injection buffer, with what is on the channel */
    uint32_t channel_flits; /* on the channel to the virtual channels */
    uint32_t waiting;       /* flits of the link's head, when it did not fit; else 0 */
    tick channel_free;
    tick port_free;     /* the port into the switch */
    uint32_t accept_at; /* iSLIP: first output to accept */
    struct xbar_vc *vcs;
};

struct xbar_output {
    struct xbar_ring ejection; /* space is taken when a packet is granted */
    tick free;                 /* of the switch */
    tick sent;                 /* when the last flit that it has is on the wires */
    uint32_t grant_at;         /* iSLIP: first input to grant */
    uint64_t *requests;        /* mask of inputs of which a head is for here */
    uint32_t request_count;
};

/* An input that waits for its channel, for the head of its link or for a grant need not be looked at. */
enum xbar_note {
    NOTE_NOTHING, /* it holds nothing, and nothing is in its link: a push notes NOTE_LOOK */
    NOTE_LOOK,
    NOTE_SLEEPS /* nothing to do before `until`, unless a push or a grant notes NOTE_LOOK */
};
enum { NOTE_WORD = 8 }; /* notes that are looked at together */

struct xbar_net {
    const struct xbar_params *params;
    const struct clock_domain *clock;
    struct req_pool *pool;
    bool is_reply;
    uint32_t flit_bytes, inputs, outputs, words; /* words of a mask of inputs */
    uint32_t out_words;                          /* of a mask of outputs */
    struct xbar_input *in;
    struct xbar_output *out;
    struct link **from, **to;
    struct xbar_net_stats *stats;
    uint32_t *offer;          /* [input]: output whose grant is best for it, in one round of iSLIP */
    uint32_t *offered, *open; /* lists of inputs with an offer; of outputs that may grant */
    uint32_t packets;         /* inside the network */
    uint32_t requests;        /* heads that compete */
    uint64_t *ejecting;       /* mask of outputs with something in their ejection buffer */
    uint64_t *asked;          /* mask of outputs for which a head competes */
    uint8_t *noted;           /* [input]: enum xbar_note, padded to whole words of NOTE_WORD */
    tick *until;              /* [input]: of NOTE_SLEEPS */
};

void xbar_net_init(struct xbar_net *n, const struct xbar_params *p, bool is_reply, uint32_t inputs,
                   uint32_t outputs, const struct clock_domain *clock, struct req_pool *pool,
                   struct link **from, struct link **to, struct xbar_net_stats *stats);
void xbar_net_take_notes(struct xbar_net *n);
void xbar_net_free(struct xbar_net *n);
void xbar_net_tick(struct xbar_net *n, tick now, tick *wake);
void xbar_net_explain(const struct xbar_net *n, tick now, struct strbuf *out);

/* xbar_islip.c: one cycle of arbitration. Calls start for each pair. */
void xbar_arbitrate(struct xbar_net *n, tick now);

static inline struct xbar_packet *xbar_ring_at(const struct xbar_ring *r, uint32_t i)
{
    uint32_t at = r->head + i;
    return &r->at[at >= r->capacity ? at - r->capacity : at];
}
static inline struct xbar_packet *xbar_ring_push(struct xbar_ring *r, struct xbar_packet p)
{
    assert(r->count < r->capacity);
    struct xbar_packet *slot = xbar_ring_at(r, r->count++);
    *slot = p;
    return slot;
}
static inline struct xbar_packet xbar_ring_pop(struct xbar_ring *r)
{
    assert(r->count);
    struct xbar_packet p = r->at[r->head];
    if (++r->head == r->capacity) r->head = 0;
    r->count--;
    return p;
}
static inline struct xbar_vc *xbar_vc_for(const struct xbar_net *n, uint32_t input, uint32_t dst)
{
    uint32_t vcs = n->params->vcs;
    return &n->in[input].vcs[vcs == 1 ? 0 : dst % vcs];
}
static inline void xbar_mask_set(uint64_t *mask, uint32_t port) { mask[port / 64] |= 1ull << (port % 64); }
static inline void xbar_mask_clear(uint64_t *mask, uint32_t port)
{
    mask[port / 64] &= ~(1ull << (port % 64));
}
/* A packet is granted the place in the ejection buffer of its output. */
static inline void xbar_eject(struct xbar_net *n, struct xbar_packet p)
{
    xbar_ring_push(&n->out[p.dst].ejection, p);
    xbar_mask_set(n->ejecting, p.dst);
}
/* A packet is now at the head of a virtual channel. */
void xbar_request(struct xbar_net *n, uint32_t input, struct xbar_vc *vc);

#endif
