/* xbar_net.h: one of the crossbar's two networks: inputs with buffers, an arbiter, outputs with buffers.
 * Inside mem/ only.
 *
 * Data that is used together lies together: an input, an output, and the masks of 64 ports take one cache
 * line of the host each, a packet a quarter of one, and the fields that every cycle reads come first in
 * the network. */
#ifndef HEDDLE_XBAR_NET_H
#define HEDDLE_XBAR_NET_H

#include "mem/ring.h"
#include "mem/xbar.h"

/* Functions with a constant argument `plain`: see below. */
#define XBAR_INLINE static inline __attribute__((always_inline))

/* Times in here are numbers of crossbar cycles, not ticks. Those of a packet are the low 32 bits of one:
 * no packet stays for 2^31 cycles. */
typedef uint32_t xbar_stamp;

struct xbar_origin {
    uint32_t id;
    /* when it left the link at the input */
    xbar_stamp taken;
};

/* A packet on its way to the switch. */
struct xbar_packet {
    struct xbar_origin origin;
    uint16_t dst;
    uint16_t flits;
    /* flits that one grant lets through: fewer than `flits` for a reply of several packets */
    uint16_t step;
    uint16_t unused;
};

/* A packet behind the switch. */
struct xbar_arrival {
    struct xbar_origin origin;
    /* its last flit is there */
    xbar_stamp ready;
    uint32_t flits;
};

/* The size of a packet, in flits. */
struct xbar_size {
    uint16_t flits, step;
};

/* Memory of an injection buffer. */
struct xbar_entries {
    /* the head of the link, while it waits for room in the ring */
    struct xbar_packet from_link;
    /* [n->injection_wrap + 1]: a packet has a flit at least, so that there is a slot for each packet that
     * fits */
    struct xbar_packet items[];
};

struct xbar_injection {
    struct xbar_entries *entries;
    struct short_ring ring;
    /* flits in the buffer, including those on the channel */
    uint16_t flits;
    /* flits on the channel, or just past it */
    uint16_t on_channel;
};

/* A virtual channel. */
struct xbar_vc {
    /* [n->vc_wrap + 1] */
    struct xbar_packet *items;
    struct short_ring ring;
    /* flits in the buffer */
    uint16_t flits;
    /* flits of the head that have passed the switch */
    uint16_t passed;
    /* the time from which the head could compete */
    xbar_stamp head_since;
};

struct xbar_input {
    struct link *from;
    /* the channel from the injection buffer to the virtual channels is free from this cycle on */
    uint64_t channel_free;
    /* the port into the switch */
    uint64_t port_free;
    struct xbar_injection injection;
    /* the virtual channel of an input with only one */
    struct xbar_vc vc;
};

struct xbar_output {
    struct link *to;
    /* from this cycle on it can take from the switch */
    uint64_t free;
    /* when the last flit that it has is on the wires */
    uint64_t sent;
    /* mask of the inputs that have a head for this output: own_asks where that is large enough */
    uint64_t *asks;
    /* the ejection buffer, [n->arrival_wrap + 1]: a granted packet has its slot at once */
    struct xbar_arrival *items;
    struct short_ring ring;
    /* the number of bits set in asks; not kept in a plain network */
    uint16_t askers;
    /* iSLIP: first input to grant */
    uint16_t grant_at;
    uint64_t own_asks[2];
};

/* Events of a port whose time is known beforehand (xbar_sleep.h). */
enum xbar_event {
    /* output: the oldest packet is complete, or it is its turn */
    EVENT_DELIVER,
    /* output: the switch has given it all of a packet */
    EVENT_OUT_FREE,
    /* input: its port into the switch is free */
    EVENT_IN_FREE,
    /* input: its channel is free, or its link shows something */
    EVENT_LOOK,
    EVENT_COUNT
};
enum { WHEEL_SLOTS = 64, SECTORS_MAX = 32 };

/* The events of one cycle for 64 ports. */
struct xbar_slot {
    uint64_t ports[EVENT_COUNT];
};

/* 64 inputs and 64 outputs: masks of them, and their events of the next cycles. */
struct xbar_ports {
    /* bit s: slot s of the wheel has an event */
    uint64_t occupied;
    /* outputs for which a head competes */
    uint64_t asked;
    /* outputs with free > cycle */
    uint64_t busy;
    /* outputs without room in the ejection buffer */
    uint64_t full;
    /* inputs to look at in this cycle */
    uint64_t look;
    /* inputs whose link has a head that does not fit: it is in entries->from_link */
    uint64_t waiting;
    /* inputs with port_free > cycle and a packet in a virtual channel */
    uint64_t in_busy;
    /* inputs that were granted in this cycle */
    uint64_t granted;
    /* [cycle % WHEEL_SLOTS] */
    struct xbar_slot wheel[WHEEL_SLOTS];
};
static_assert(sizeof(struct xbar_input) == HOST_LINE && sizeof(struct xbar_output) == HOST_LINE &&
                  offsetof(struct xbar_ports, wheel) == HOST_LINE,
              "ports and their masks take whole lines");

struct xbar_net {
    /* each cycle */
    _Alignas(HOST_LINE) tick now;
    /* the number of the present cycle */
    uint64_t cycle;
    /* [port / 64] */
    struct xbar_ports *ports;
    /* notes of links, a byte each (xbar_notes.h): a push at an input, room at an output */
    uint8_t *pushed, *room;
    /* ticks */
    uint32_t period;
    /* words of masks; words with inputs, with outputs */
    uint16_t words, in_words, out_words;
    /* links note which ports to look at */
    bool has_notes;
    bool is_plain;
    /* a head competes for some output; not kept in a plain network */
    bool is_asked;

    /* each packet */
    struct xbar_input *in;
    struct xbar_output *out;
    struct xbar_net_stats *stats;
    /* 2^31 / the speedup, rounded up: a multiplication replaces a division */
    uint32_t per_input_speedup, per_output_speedup;
    /* inside the network */
    uint32_t packets;
    uint16_t inputs, outputs;
    /* flits */
    uint16_t injection, vc_buffer;
    /* packets */
    uint16_t ejection;
    /* slots of a ring, a power of two, less 1 */
    uint16_t injection_wrap, vc_wrap, arrival_wrap;
    uint16_t latency;
    uint8_t input_speedup, output_speedup;
    /* an input asks for one output at a time */
    bool has_one_vc;
    bool is_reply, is_infinite;
    /* an event was planned beyond the wheel: it comes early */
    bool has_far;
    struct req_pool *pool;
    /* [sectors]: packets that carry a read this way */
    struct xbar_size read_sizes[SECTORS_MAX + 1];

    /* [output]: from this time on the inputs before `gated` send nothing there; NULL: there are no gates */
    tick *gates;
    uint32_t gated;

    /* seldom */
    const struct xbar_params *params;
    uint32_t flit_bytes;
    /* [output * words]: where the outputs' asks are, or NULL */
    uint64_t *requests_of;

    /* several virtual channels */
    /* [input * vcs + v] */
    struct xbar_vc *vcs;
    /* [input]: iSLIP: first output to accept */
    uint32_t *accept_at;
    /* [input]: output whose grant is best for it, in one round of iSLIP */
    uint32_t *offer;
    /* list of inputs with an offer */
    uint32_t *offered;
};

/* ---- xbar_make.c ---- */
void xbar_net_init(struct xbar_net *n, const struct xbar_params *p, bool is_reply, uint32_t inputs,
                   uint32_t outputs, const struct clock_domain *clock, struct req_pool *pool,
                   struct link **from, struct link **to, struct xbar_net_stats *stats);
void xbar_net_take_notes(struct xbar_net *n);
void xbar_net_free(struct xbar_net *n);
void xbar_net_explain(const struct xbar_net *n, tick now, struct strbuf *out);

/* ---- xbar_net.c ---- */
/* A cycle of each of the networks. */
void xbar_nets_tick(struct xbar_net *nets, uint32_t count, tick now, tick *wake);
/* The size of a packet with this many bytes of data, or of the several packets that carry `unit` bytes
 * each (0: any number). */
struct xbar_size xbar_size_of(const struct xbar_net *n, uint32_t data, uint32_t unit);

/* ---- xbar_islip.c ---- */
/* One cycle of arbitration: grants start packets through the switch. */
void xbar_arbitrate_plain(struct xbar_net *n);
void xbar_arbitrate(struct xbar_net *n);

/* ---- buffers ---- */

static inline struct xbar_packet *xbar_injection_head(const struct xbar_injection *q)
{
    return &q->entries->items[q->ring.head];
}
static inline void xbar_injection_push(const struct xbar_net *n, struct xbar_injection *q,
                                       const struct xbar_packet *p)
{
    debug_assert(q->ring.count < n->injection);
    q->entries->items[short_ring_push(&q->ring, n->injection_wrap)] = *p;
}
static inline void xbar_injection_pop(const struct xbar_net *n, struct xbar_injection *q)
{
    short_ring_pop(&q->ring, n->injection_wrap);
}

static inline struct xbar_packet *xbar_vc_head(const struct xbar_vc *vc) { return &vc->items[vc->ring.head]; }
static inline void xbar_vc_push(const struct xbar_net *n, struct xbar_vc *vc, const struct xbar_packet *p)
{
    debug_assert(vc->ring.count < n->vc_buffer);
    vc->items[short_ring_push(&vc->ring, n->vc_wrap)] = *p;
}
/* The packet stays as it is until the next push. */
static inline const struct xbar_packet *xbar_vc_pop(const struct xbar_net *n, struct xbar_vc *vc)
{
    const struct xbar_packet *p = xbar_vc_head(vc);
    short_ring_pop(&vc->ring, n->vc_wrap);
    return p;
}

static inline struct xbar_arrival *xbar_arrival_at(const struct xbar_net *n, const struct xbar_output *o,
                                                   uint32_t i)
{
    return &o->items[short_ring_index(&o->ring, i, n->arrival_wrap)];
}
static inline struct xbar_arrival *xbar_arrival_head(const struct xbar_output *o)
{
    return &o->items[o->ring.head];
}
/* The slot behind the newest, xbar_arrival_at(n, o, o->ring.count), has been filled. */
static inline void xbar_arrival_push(const struct xbar_net *n, struct xbar_output *o)
{
    short_ring_push(&o->ring, n->arrival_wrap);
}
static inline void xbar_arrival_pop(const struct xbar_net *n, struct xbar_output *o)
{
    short_ring_pop(&o->ring, n->arrival_wrap);
}

/* Cycles from now to the time of a packet; negative: it is past. */
static inline int32_t xbar_until(const struct xbar_net *n, xbar_stamp time)
{
    return (int32_t)(time - (xbar_stamp)n->cycle);
}
/* Cycles of a packet between the two links of an idle network: one on the input's channel, one a flit through
 * the switch, and the pipeline. */
static inline uint32_t xbar_idle_cycles(const struct xbar_net *n, uint32_t flits)
{
    return 1 + flits + n->latency;
}
static inline uint64_t xbar_bit(uint32_t port) { return 1ull << (port % 64); }
/* Outputs for which a head competes and that can take a packet. */
static inline uint64_t xbar_open(const struct xbar_ports *p) { return p->asked & ~(p->busy | p->full); }

/* ---- plain networks ---- Most networks are plain: at most 64 inputs and 64 outputs, one virtual channel
 * an input, bounded. The steps of a cycle are compiled twice, for these and for all others: each step
 * passes on a constant `plain`, and only the functions of this section look at it. In a plain network they
 * need no loads and no branches. */

XBAR_INLINE bool xbar_has_one_vc(const struct xbar_net *n, bool plain) { return plain || n->has_one_vc; }
XBAR_INLINE bool xbar_has_no_limits(const struct xbar_net *n, bool plain)
{
    return !plain && UNLIKELY(n->is_infinite);
}
XBAR_INLINE struct xbar_vc *xbar_vc_for(const struct xbar_net *n, uint32_t input, uint32_t dst, bool plain)
{
    if (LIKELY(xbar_has_one_vc(n, plain))) return &n->in[input].vc;
    return &n->vcs[input * n->params->vcs + dst % n->params->vcs];
}
XBAR_INLINE struct xbar_ports *xbar_ports_of(const struct xbar_net *n, uint32_t port, bool plain)
{
    return plain || port < 64 ? n->ports : &n->ports[port / 64];
}
/* A packet is now at the head of a virtual channel of the input (bit): it asks for its output. */
XBAR_INLINE void xbar_ask(struct xbar_net *n, uint32_t input, uint64_t bit, const struct xbar_packet *head,
                          bool plain)
{
    struct xbar_output *o = &n->out[head->dst];
    if (plain) {
        o->own_asks[0] |= bit;
    } else {
        debug_assert(!(o->asks[input / 64] & bit));
        o->asks[input / 64] |= bit;
        o->askers++;
    }
    xbar_ports_of(n, head->dst, plain)->asked |= xbar_bit(head->dst);
}
/* The input (bit) no longer asks for the output; true: no input does. */
XBAR_INLINE bool xbar_ask_no_more(struct xbar_output *o, uint32_t input, uint64_t bit, bool plain)
{
    if (plain) return !(o->own_asks[0] &= ~bit);
    o->asks[input / 64] &= ~bit;
    return !--o->askers;
}

#endif
