/* xbar_net.h: one of the crossbar's two networks: inputs with buffers, an arbiter, outputs with buffers. Inside mem/ only. */
#ifndef HEDDLE_XBAR_NET_H
#define HEDDLE_XBAR_NET_H

#include "mem/xbar.h"

/* Times in here are numbers of crossbar cycles, not ticks. */
struct xbar_packet {
    uint32_t id;
    uint16_t dst;
    uint16_t flits;
    uint16_t step; /* flits that one grant lets through: fewer than `flits` for a reply of several packets */
    uint16_t sent;
    uint64_t taken; /* out of the link at the input */
    uint64_t ready; /* in a virtual channel: can compete; in an output: complete */
};

/* Of a packet, in flits. */
struct xbar_size {
    uint16_t flits, step;
};

struct xbar_ring {
    struct xbar_packet *at;
    uint32_t capacity, head, count;
};

struct xbar_vc {
    struct xbar_ring packets;
    uint32_t flits;
    uint64_t head_since; /* the head could compete from here on */
};

struct xbar_input {
    struct xbar_ring injection;
    uint32_t flits;         /* in the injection buffer, with what is on the channel */
    uint32_t channel_flits; /* on the channel to the virtual channels, or just past it */
    uint32_t accept_at;     /* iSLIP: first output to accept; with several virtual channels */
    bool is_waiting;        /* the link's head did not fit */
    uint64_t channel_free;
    uint64_t port_free; /* the port into the switch */
    struct link *from;
    struct xbar_packet head; /* of the link, when it is waiting */
};

struct xbar_output {
    struct xbar_ring ejection; /* space is taken when a packet is granted */
    uint64_t free;             /* of the switch */
    uint64_t sent;             /* when the last flit that it has is on the wires */
    uint32_t grant_at;         /* iSLIP: first input to grant */
    struct link *to;
};

/* What happens to a port by itself, at a time that is known before. */
enum xbar_event {
    EVENT_DELIVER,  /* output: the oldest packet is complete, or it is its turn */
    EVENT_OUT_FREE, /* output: the switch has given it all of a packet */
    EVENT_IN_FREE,  /* input: its port into the switch is free */
    EVENT_LOOK,     /* input: its channel is free, or its link shows something */
    EVENT_COUNT
};
enum { WHEEL_SLOTS = 64, NOTE_WORD = 8 /* notes that are looked at together */ };

struct xbar_net {
    const struct xbar_params *params;
    struct req_pool *pool;
    bool is_reply;
    bool has_notes;  /* links say which ports to look at */
    bool has_one_vc; /* an input asks for one output at a time */
    uint32_t flit_bytes, inputs, outputs, period;
    uint32_t words, out_words; /* of a mask of inputs, of outputs */
    tick now;
    uint64_t cycle; /* of now */
    struct xbar_input *in;
    struct xbar_vc *vcs; /* [input * vcs + v] */
    struct xbar_output *out;
    struct xbar_net_stats *stats;
    struct xbar_size *read_sizes; /* [sectors]: packets that carry a read this way */
    uint32_t packets;             /* inside the network */
    uint32_t requests;            /* heads that compete */
    /* masks of outputs */
    uint64_t *deliver; /* to look at in this cycle: may have a packet for their link */
    uint64_t *asked;   /* a head competes for it */
    uint64_t *busy;    /* free > cycle */
    uint64_t *full;    /* no room in the ejection buffer */
    /* masks of inputs */
    uint64_t *look;        /* to look at in this cycle */
    uint64_t *in_busy;     /* port_free > cycle: of those with a packet in a virtual channel */
    uint64_t *in_soon;     /* in_busy in this cycle alone */
    uint64_t *requests_of; /* [output * words]: inputs of which a head is for the output */
    /* the wheel: for each of the next cycles, a mask of ports for each kind of event */
    uint64_t occupied; /* bit s: slot s has an event */
    uint64_t *wheel;   /* [slot * wheel_words + event_word[event] + port / 64] */
    uint32_t wheel_words, event_word[EVENT_COUNT];
    /* notes of links, a byte each, in whole words of NOTE_WORD: a push at an input, room at an output */
    uint8_t *pushed, *room;
    /* iSLIP with several virtual channels */
    uint32_t *offer;   /* [input]: output whose grant is best for it, in one round of iSLIP */
    uint32_t *offered; /* list of inputs with an offer */
};

void xbar_net_init(struct xbar_net *n, const struct xbar_params *p, bool is_reply, uint32_t inputs,
                   uint32_t outputs, const struct clock_domain *clock, struct req_pool *pool,
                   struct link **from, struct link **to, struct xbar_net_stats *stats);
void xbar_net_take_notes(struct xbar_net *n);
void xbar_net_free(struct xbar_net *n);
void xbar_net_tick(struct xbar_net *n, tick now, tick *wake);
/* Of a packet of this way with its header, or of the several packets that carry `unit` bytes of data each (0: any number). */
struct xbar_size xbar_size_of(const struct xbar_net *n, uint32_t data, uint32_t unit);
void xbar_net_explain(const struct xbar_net *n, tick now, struct strbuf *out);

/* xbar_islip.c: one cycle of arbitration. Calls start for each pair. */
void xbar_arbitrate(struct xbar_net *n);

static inline struct xbar_packet *xbar_ring_at(const struct xbar_ring *r, uint32_t i)
{
    uint32_t at = r->head + i;
    return &r->at[at >= r->capacity ? at - r->capacity : at];
}
static inline struct xbar_packet *xbar_ring_head(const struct xbar_ring *r) { return &r->at[r->head]; }
static inline struct xbar_packet *xbar_ring_push(struct xbar_ring *r, const struct xbar_packet *p)
{
    assert(r->count < r->capacity);
    struct xbar_packet *slot = xbar_ring_at(r, r->count++);
    *slot = *p;
    return slot;
}
/* The place stays as it is until the next push. */
static inline struct xbar_packet *xbar_ring_pop(struct xbar_ring *r)
{
    assert(r->count);
    struct xbar_packet *p = &r->at[r->head];
    if (++r->head == r->capacity) r->head = 0;
    r->count--;
    return p;
}
static inline struct xbar_vc *xbar_vc_for(const struct xbar_net *n, uint32_t input, uint32_t dst)
{
    uint32_t vcs = n->params->vcs;
    return n->has_one_vc ? &n->vcs[input] : &n->vcs[input * vcs + dst % vcs];
}
static inline void xbar_mask_set(uint64_t *mask, uint32_t port) { mask[port / 64] |= 1ull << (port % 64); }
static inline void xbar_mask_clear(uint64_t *mask, uint32_t port)
{
    mask[port / 64] &= ~(1ull << (port % 64));
}
/* The port has an event in a cycle to come. One that is too far away comes early: whoever sees it plans it again. */
static inline void xbar_plan(struct xbar_net *n, enum xbar_event e, uint32_t port, uint64_t cycle)
{
    assert(cycle > n->cycle);
    uint32_t slot = (uint32_t)(MIN(cycle, n->cycle + WHEEL_SLOTS - 1) % WHEEL_SLOTS);
    xbar_mask_set(n->wheel + slot * n->wheel_words + n->event_word[e], port);
    n->occupied |= 1ull << slot;
}
/* The input's port is busy beyond the next cycle. */
static inline void xbar_keep_input(struct xbar_net *n, uint32_t input)
{
    xbar_mask_set(n->in_busy, input);
    xbar_plan(n, EVENT_IN_FREE, input, n->in[input].port_free);
}
/* A packet is granted the place in the ejection buffer of its output. */
static inline void xbar_eject(struct xbar_net *n, const struct xbar_packet *p)
{
    struct xbar_ring *r = &n->out[p->dst].ejection;
    xbar_ring_push(r, p);
    if (r->count == 1) xbar_plan(n, EVENT_DELIVER, p->dst, p->ready);
    if (r->count == r->capacity) xbar_mask_set(n->full, p->dst);
}
/* A packet is now at the head of a virtual channel. */
static inline void xbar_request(struct xbar_net *n, uint32_t input, const struct xbar_vc *vc)
{
    uint32_t dst = xbar_ring_head(&vc->packets)->dst;
    uint64_t *mask = n->requests_of + (size_t)dst * n->words;
    assert(!(mask[input / 64] >> (input % 64) & 1));
    xbar_mask_set(mask, input);
    xbar_mask_set(n->asked, dst);
}

#endif
