/* xbar_net.h: one of the crossbar's two networks: inputs with buffers, an arbiter, outputs with buffers. Inside mem/ only.
 *
 * What is used together lies together: an input, an output, and the masks of 64 ports are a cache line of the host each, a packet is
 * a quarter of one, and what each cycle reads of the network itself comes first in it.
 *
 * Most networks are plain: at most 64 inputs and 64 outputs, one virtual channel an input, bounded. What runs each cycle is made
 * twice, by the constant argument `plain`: straight code for these, and code for all others. */
#ifndef HEDDLE_XBAR_NET_H
#define HEDDLE_XBAR_NET_H

#include "mem/xbar.h"

#define XBAR_INLINE static inline __attribute__((always_inline)) /* so that `plain` is a constant */

/* Times in here are numbers of crossbar cycles, not ticks. Those that belong to a packet inside are the low 32 bits: none stays for
 * 2^31 cycles. */
typedef uint32_t xbar_stamp;

struct xbar_origin {
    uint32_t id;
    xbar_stamp taken; /* out of the link at the input */
};
/* On its way to the switch. */
struct xbar_packet {
    struct xbar_origin origin;
    uint16_t dst;
    uint16_t flits;
    uint16_t step; /* flits that one grant lets through: fewer than `flits` for a reply of several packets */
    uint16_t unused;
};
/* Behind the switch. */
struct xbar_arrival {
    struct xbar_origin origin;
    xbar_stamp ready; /* complete */
    uint32_t flits;
};

/* Of a packet, in flits. */
struct xbar_size {
    uint16_t flits, step;
};

/* A buffer of an input: a ring of places, at least one for each flit of its size, which the network knows. */
struct xbar_queue {
    struct xbar_packet *at; /* injection: at[-1] is the head of the link, while it waits */
    uint16_t head, count;
    uint16_t flits; /* in the buffer; of the injection buffer with what is on the channel */
    uint16_t
        passing; /* injection: on the channel, or just past it; virtual channel: of the head, through the switch */
};

struct xbar_vc {
    struct xbar_queue packets;
    xbar_stamp head_since; /* the head could compete from here on */
};

struct xbar_input {
    struct link *from;
    uint64_t channel_free; /* the channel to the virtual channels */
    uint64_t port_free;    /* the port into the switch */
    struct xbar_queue injection;
    struct xbar_vc vc; /* where it has one only */
};

struct xbar_output {
    struct link *to;
    uint64_t free;  /* of the switch */
    uint64_t sent;  /* when the last flit that it has is on the wires */
    uint64_t *asks; /* mask of inputs of which a head is for this output: own_asks, if they do */
    /* ejection buffer: space is taken when a packet is granted */
    struct xbar_arrival *at;
    uint16_t head, count;
    uint16_t askers;   /* bits of asks, where it is not plain */
    uint16_t grant_at; /* iSLIP: first input to grant */
    uint64_t own_asks[2];
};

/* What happens to a port by itself, at a time that is known before. */
enum xbar_event {
    EVENT_DELIVER,  /* output: the oldest packet is complete, or it is its turn */
    EVENT_OUT_FREE, /* output: the switch has given it all of a packet */
    EVENT_IN_FREE,  /* input: its port into the switch is free */
    EVENT_LOOK,     /* input: its channel is free, or its link shows something */
    EVENT_COUNT
};
enum { WHEEL_SLOTS = 64, SECTORS_MAX = 32 };

/* The events of one cycle for 64 ports. */
struct xbar_slot {
    uint64_t ports[EVENT_COUNT];
};

/* 64 inputs and 64 outputs: masks of them, and their events of the next cycles. */
struct xbar_ports {
    uint64_t occupied; /* bit s: slot s of the wheel has an event */
    uint64_t asked;    /* outputs that a head competes for */
    uint64_t busy;     /* outputs: free > cycle */
    uint64_t full;     /* outputs: no room in the ejection buffer */
    uint64_t look;     /* inputs to look at in this cycle */
    uint64_t waiting; /* inputs: the link's head did not fit; it is before the ring of the injection buffer */
    uint64_t in_busy; /* inputs: port_free > cycle, of those with a packet in a virtual channel */
    uint64_t granted; /* inputs: in this cycle */
    struct xbar_slot wheel[WHEEL_SLOTS]; /* [cycle % WHEEL_SLOTS] */
};
static_assert(sizeof(struct xbar_input) == HOST_LINE && sizeof(struct xbar_output) == HOST_LINE &&
                  offsetof(struct xbar_ports, wheel) == HOST_LINE,
              "ports and their masks take whole lines");

struct xbar_net {
    /* each cycle */
    _Alignas(HOST_LINE) tick now;
    uint64_t cycle;           /* of now */
    struct xbar_ports *ports; /* [port / 64] */
    /* notes of links, a byte each (xbar_notes.h): a push at an input, room at an output */
    uint8_t *pushed, *room;
    uint32_t period; /* ticks */
    uint16_t words;  /* of masks */
    bool has_notes;  /* links say which ports to look at */
    bool is_plain;
    /* each packet */
    struct xbar_input *in;
    struct xbar_output *out;
    struct xbar_net_stats *stats;
    uint32_t per_input_speedup,
        per_output_speedup; /* 2^31 / the speedup, rounded up: a product for a division */
    uint32_t packets;       /* inside the network */
    uint16_t inputs, outputs;
    uint16_t injection, vc_buffer;  /* flits */
    uint16_t ejection;              /* packets */
    uint16_t vc_wrap, arrival_wrap; /* places of a ring, less 1: they are a power of two */
    uint16_t latency;
    uint8_t input_speedup, output_speedup;
    bool has_one_vc; /* an input asks for one output at a time */
    bool is_reply, is_infinite;
    bool has_far; /* an event was planned beyond the wheel: it comes early */
    struct req_pool *pool;
    struct xbar_size read_sizes[SECTORS_MAX + 1]; /* [sectors]: packets that carry a read this way */
    /* seldom */
    const struct xbar_params *params;
    uint32_t flit_bytes;
    uint64_t *requests_of; /* [output * words]: what the outputs' asks point to, or NULL */
    /* several virtual channels */
    struct xbar_vc *vcs; /* [input * vcs + v] */
    uint32_t *accept_at; /* [input]: iSLIP: first output to accept */
    uint32_t *offer;     /* [input]: output whose grant is best for it, in one round of iSLIP */
    uint32_t *offered;   /* list of inputs with an offer */
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
void xbar_arbitrate_plain(struct xbar_net *n);
void xbar_arbitrate(struct xbar_net *n);

/* Queues of packets. */
static inline struct xbar_packet *xbar_queue_head(const struct xbar_queue *q) { return &q->at[q->head]; }
/* Into a virtual channel. */
static inline void xbar_vc_push(const struct xbar_net *n, struct xbar_queue *q, const struct xbar_packet *p)
{
    assert(q->count < n->vc_buffer);
    q->at[(q->head + q->count++) & n->vc_wrap] = *p;
}
/* The place stays as it is until the next push. */
static inline const struct xbar_packet *xbar_vc_pop(const struct xbar_net *n, struct xbar_queue *q)
{
    assert(q->count);
    const struct xbar_packet *p = &q->at[q->head];
    q->count--;
    q->head = (uint16_t)((q->head + 1) & n->vc_wrap);
    return p;
}
static inline void xbar_injection_push(const struct xbar_net *n, struct xbar_queue *q,
                                       const struct xbar_packet *p)
{
    assert(q->count < n->injection);
    uint32_t at = (uint32_t)q->head + q->count++;
    q->at[at >= n->injection ? at - n->injection : at] = *p;
}
static inline void xbar_injection_pop(const struct xbar_net *n, struct xbar_queue *q)
{
    q->count--;
    q->head = (uint16_t)(q->head + 1 == n->injection ? 0 : q->head + 1);
}

/* Ejection buffers. */
static inline struct xbar_arrival *xbar_arrival_at(const struct xbar_net *n, const struct xbar_output *o,
                                                   uint32_t i)
{
    return &o->at[(o->head + i) & n->arrival_wrap];
}
static inline struct xbar_arrival *xbar_arrival_head(const struct xbar_output *o) { return &o->at[o->head]; }

/* Cycles from now to the time of a packet; negative: it is past. */
static inline int32_t xbar_until(const struct xbar_net *n, xbar_stamp time)
{
    return (int32_t)(time - (xbar_stamp)n->cycle);
}
XBAR_INLINE struct xbar_vc *xbar_vc_for(const struct xbar_net *n, uint32_t input, uint32_t dst, bool plain)
{
    if (plain || LIKELY(n->has_one_vc)) return &n->in[input].vc;
    return &n->vcs[input * n->params->vcs + dst % n->params->vcs];
}
static inline uint64_t xbar_bit(uint32_t port) { return 1ull << (port % 64); }
XBAR_INLINE struct xbar_ports *xbar_ports_of(const struct xbar_net *n, uint32_t port, bool plain)
{
    return plain || port < 64 ? n->ports : &n->ports[port / 64];
}
/* Outputs that somebody asks for and that have room. */
static inline uint64_t xbar_open(const struct xbar_ports *p) { return p->asked & ~(p->busy | p->full); }
/* A port of these has an event `ahead` cycles from now. One that is too far away comes early: whoever sees it plans it again. */
static inline void xbar_plan(struct xbar_net *n, struct xbar_ports *ports, enum xbar_event e, uint64_t bit,
                             uint64_t ahead)
{
    assert(ahead);
    if (UNLIKELY(ahead >= WHEEL_SLOTS)) {
        ahead = WHEEL_SLOTS - 1;
        n->has_far = true;
    }
    uint32_t slot = (uint32_t)(n->cycle + ahead) % WHEEL_SLOTS;
    ports->wheel[slot].ports[e] |= bit;
    ports->occupied |= 1ull << slot;
}
/* The input's port is busy beyond the next cycle. */
static inline void xbar_keep_input(struct xbar_net *n, struct xbar_ports *ports, uint64_t bit,
                                   uint64_t port_free)
{
    ports->in_busy |= bit;
    xbar_plan(n, ports, EVENT_IN_FREE, bit, port_free - n->cycle);
}
/* A packet is granted a place in the ejection buffer of its output (bit). */
static inline void xbar_eject(struct xbar_net *n, struct xbar_ports *ports, struct xbar_output *o,
                              uint64_t bit, const struct xbar_packet *p, xbar_stamp ready)
{
    assert(o->count < n->ejection && xbar_until(n, ready) > 0);
    struct xbar_arrival *a = xbar_arrival_at(n, o, o->count);
    a->origin = p->origin;
    a->ready = ready;
    a->flits = p->flits;
    if (!o->count) xbar_plan(n, ports, EVENT_DELIVER, bit, (uint32_t)xbar_until(n, ready));
    if (++o->count == n->ejection) ports->full |= bit;
}
/* A packet is now at the head of a virtual channel. */
XBAR_INLINE void xbar_request(struct xbar_net *n, uint32_t input, uint64_t bit,
                              const struct xbar_packet *head, bool plain)
{
    struct xbar_output *o = &n->out[head->dst];
    if (plain) {
        o->own_asks[0] |= bit;
    } else {
        assert(!(o->asks[input / 64] & bit));
        o->asks[input / 64] |= bit;
        o->askers++;
    }
    xbar_ports_of(n, head->dst, plain)->asked |= xbar_bit(head->dst);
}

#endif
