/* xbar_net.c: one network of the crossbar, flit by flit in time but packet by packet in work.
 *
 *   link -> injection buffer -> channel -> virtual channels -> switch -> wires -> ejection buffer -> link
 *
 * The single-stage "fly" of GPGPU-Sim's Fermi (BookSim): an input's channel carries one flit a cycle, so does
 * an output. The steps of a cycle run from the last to the first, so that room made by one is used by the one
 * before.
 *
 * Invariants. (1) An output sends one flit a cycle, a packet without a gap (wormhole: a packet that has begun
 * ends); with output_speedup 1 it takes nothing else from the switch meanwhile. (2) An input takes at most one flit a cycle out of its injection buffer. (3)
 * Packets of one input to one output keep their order: the virtual channel is chosen by the output. (4) A
 * packet that is longer than a buffer may enter it when it is empty; otherwise flits in a buffer never exceed
 * its size. (5) All times are derived from events; a tick in which nothing can happen changes nothing.
 *
 * Flits are not moved one at a time: behind a granted packet its flits leave the buffer one a cycle and
 * others come in at most as fast, so its room counts as free at the grant.
 *
 * A port is looked at only when something can happen to it. What comes by itself (a packet is complete, a port or a channel is
 * free, a link shows its head) is planned on a wheel: 64 slots, one a cycle, with a mask of ports for each kind of event. What
 * others cause comes as a note of a link (a push at an input, room at an output) or with a grant. (6) Looking at a port too
 * often changes nothing.
 *
 * Left out: credit return time, and more than one packet on an input's channel. The infinite network keeps
 * the time of an idle one for each packet, and lets any number through at once. */
#include "mem/xbar_notes.h"

struct xbar_size xbar_size_of(const struct xbar_net *n, uint32_t data, uint32_t unit)
{
    uint32_t parts = 1;
    if (unit && data > unit) {
        parts = (data + unit - 1) / unit;
        data = unit;
    }
    uint32_t bytes = n->params->header + data;
    uint32_t step = bytes <= n->flit_bytes ? 1 : (bytes + n->flit_bytes - 1) / n->flit_bytes;
    assert(step * parts <= UINT16_MAX);
    return (struct xbar_size){.flits = (uint16_t)(step * parts), .step = (uint16_t)step};
}

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
    assert(p->dst < n->outputs);
}

/* ---- from the ejection buffers into the links: one packet a cycle ---- */

/* The head goes, if it is complete and the link has room. False: nothing more goes in this cycle. */
XBAR_INLINE bool xbar_deliver_head(struct xbar_net *n, struct xbar_ports *ports, struct xbar_output *o,
                                   uint64_t bit)
{
    const struct xbar_arrival *a = xbar_arrival_head(o);
    const xbar_stamp waited = (xbar_stamp)n->cycle - a->ready;
    if (UNLIKELY((int32_t)waited < 0)) {
        xbar_plan(n, ports, EVENT_DELIVER, bit, 0 - waited);
        return false;
    }
    if (!link_can_push(o->to, n->now)) return false; /* the link says when there is room */
    struct xbar_net_stats *s = n->stats;
    s->packets++;
    s->flits += a->flits;
    s->eject_wait_cycles += waited;
    s->latency_cycles += (xbar_stamp)n->cycle - a->origin.taken;
    link_push(o->to, n->now, a->origin.id);
    ports->full &= ~bit;
    o->count--;
    o->head = (uint16_t)((o->head + 1) & n->arrival_wrap);
    n->packets--;
    return true;
}

XBAR_INLINE void xbar_deliver(struct xbar_net *n, struct xbar_ports *ports, struct xbar_output *o,
                              uint64_t bit)
{
    if (!o->count || !xbar_deliver_head(n, ports, o, bit) || !o->count) return;
    int32_t ahead = xbar_until(n, xbar_arrival_head(o)->ready);
    xbar_plan(n, ports, EVENT_DELIVER, bit, (uint32_t)MAX(ahead, 1));
}

/* ---- from the links into the injection buffers, and over the channel: at most one flit a cycle ---- */

/* One that is longer than the buffer fits when that is empty. Each packet has a flit at least, so that there is a place for what fits. */
static inline bool xbar_has_room(const struct xbar_queue *q, uint32_t size, uint32_t flits)
{
    return q->flits + MIN(flits, size) <= size;
}

XBAR_INLINE void xbar_put_on_channel(struct xbar_net *n, struct xbar_ports *ports, uint32_t input,
                                     uint64_t bit, struct xbar_vc *vc, const struct xbar_packet *p,
                                     bool plain)
{
    struct xbar_input *in = &n->in[input];
    vc->packets.flits = (uint16_t)(vc->packets.flits + p->flits);
    in->injection.passing = p->flits;
    in->channel_free = n->cycle + p->flits;
    xbar_vc_push(n, &vc->packets, p);
    if (vc->packets.count > 1) return;
    uint64_t ready = n->cycle + 1; /* to compete */
    vc->head_since = (xbar_stamp)MAX(ready, in->port_free);
    if (in->port_free > ready && (plain || n->has_one_vc)) xbar_keep_input(n, ports, bit, in->port_free);
    xbar_request(n, input, bit, p, plain);
}

/* The oldest in the injection buffer goes on the channel, if that is free and there is room behind it; what came (may be NULL) goes
 * behind the others, or past an empty buffer. */
XBAR_INLINE void xbar_move(struct xbar_net *n, struct xbar_ports *ports, uint32_t input, uint64_t bit,
                           const struct xbar_packet *came, bool plain)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_queue *q = &in->injection;
    const struct xbar_packet *first = q->count ? xbar_queue_head(q) : came;
    if (first && in->channel_free <= n->cycle) {
        struct xbar_vc *vc = xbar_vc_for(n, input, first->dst, plain);
        if (xbar_has_room(&vc->packets, n->vc_buffer, first->flits)) {
            xbar_put_on_channel(n, ports, input, bit, vc, first, plain);
            if (!q->count) return;
            xbar_injection_pop(n, q);
        }
    }
    if (came) xbar_injection_push(n, q, came);
}

/* In how many cycles something that comes at t can be seen. */
static inline uint64_t xbar_cycles_to(const struct xbar_net *n, tick t)
{
    return t <= n->now + n->period ? 1 : (t - n->now + n->period - 1) / n->period;
}

/* The head of the link comes in, if it can be seen and fits. If not, it waits until what is on the channel has passed or a grant makes
 * room; nobody looks at the input before. */
XBAR_INLINE bool xbar_take(struct xbar_net *n, struct xbar_ports *ports, struct xbar_input *in, uint64_t bit,
                           struct xbar_packet *p)
{
    if (!(ports->waiting & bit)) {
        uint32_t id;
        if (!link_peek(in->from, n->now, &id)) return false;
        xbar_make_packet(n, id, p);
    }
    if (!xbar_has_room(&in->injection, n->injection, p->flits)) {
        ports->waiting |= bit;
        return false;
    }
    ports->waiting &= ~bit;
    link_pop(in->from, n->now);
    p->origin.taken = (xbar_stamp)n->cycle;
    in->injection.flits = (uint16_t)(in->injection.flits + p->flits);
    n->packets++;
    return true;
}

/* What the link shows next is looked at in the next cycle, or when it can be seen; where that would find it waiting, it waits now. */
XBAR_INLINE void xbar_foresee(struct xbar_net *n, struct xbar_ports *ports, struct xbar_input *in,
                              uint64_t bit, struct xbar_packet *p)
{
    tick next = link_next(in->from);
    if (next == TICK_NEVER) return; /* a push leaves a note */
    if (next <= n->now && in->channel_free > n->cycle + 1) {
        xbar_make_packet(n, in->from->head_value, p);
        if (!xbar_has_room(&in->injection, n->injection, p->flits)) {
            ports->waiting |= bit;
            return;
        }
    }
    xbar_plan(n, ports, EVENT_LOOK, bit, xbar_cycles_to(n, next));
}

XBAR_INLINE void xbar_inject(struct xbar_net *n, struct xbar_ports *ports, uint32_t input, uint64_t bit,
                             bool plain)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_queue *q = &in->injection;
    struct xbar_packet *head = &q->at[-1]; /* of the link */
    if (in->channel_free <= n->cycle) {
        q->flits = (uint16_t)(q->flits - q->passing);
        q->passing = 0;
    }
    bool has_come = xbar_take(n, ports, in, bit, head);
    xbar_move(n, ports, input, bit, has_come ? head : NULL, plain);
    if (!(ports->waiting & bit)) xbar_foresee(n, ports, in, bit, head);
    if (q->passing && (q->count || ports->waiting & bit))
        xbar_plan(n, ports, EVENT_LOOK, bit, in->channel_free - n->cycle);
}

/* ---- the infinite network: each packet takes the time of an idle network ---- */
COLD static void xbar_deliver_all_complete(struct xbar_net *n, struct xbar_ports *ports, uint32_t output)
{
    struct xbar_output *o = &n->out[output];
    while (o->count && xbar_deliver_head(n, ports, o, xbar_bit(output))) {}
}

/* Into the ejection buffer, by the time at which it is complete. */
static void xbar_insert_by_time(struct xbar_net *n, const struct xbar_packet *p)
{
    struct xbar_output *o = &n->out[p->dst];
    struct xbar_ports *ports = xbar_ports_of(n, p->dst, false);
    const xbar_stamp ready = p->origin.taken + 1 + p->flits + n->latency;
    xbar_eject(n, ports, o, xbar_bit(p->dst), p, ready);
    uint32_t i = o->count - 1u;
    const struct xbar_arrival last = *xbar_arrival_at(n, o, i);
    for (; i && (int32_t)(xbar_arrival_at(n, o, i - 1)->ready - ready) > 0; i--)
        *xbar_arrival_at(n, o, i) = *xbar_arrival_at(n, o, i - 1);
    *xbar_arrival_at(n, o, i) = last;
    xbar_plan(n, ports, EVENT_DELIVER, xbar_bit(p->dst), (uint32_t)xbar_until(n, ready));
}

COLD static void xbar_inject_all(struct xbar_net *n, struct xbar_ports *ports, uint32_t input)
{
    struct link *from = n->in[input].from;
    uint32_t id;
    while (link_peek(from, n->now, &id)) {
        struct xbar_packet p = {.origin.taken = (xbar_stamp)n->cycle};
        xbar_make_packet(n, id, &p);
        if (n->out[p.dst].count == n->ejection) break; /* room comes with a delivery */
        link_pop(from, n->now);
        xbar_insert_by_time(n, &p);
        n->packets++;
    }
    tick next = link_next(from);
    if (next != TICK_NEVER) xbar_plan(n, ports, EVENT_LOOK, xbar_bit(input), xbar_cycles_to(n, next));
}

/* ---- time ---- */

/* Goes to a cycle that is not the next; the slots whose cycles have come. */
COLD static uint64_t xbar_leap(struct xbar_net *n, tick now)
{
    uint64_t cycle = now / n->period, passed = cycle - n->cycle, first = (n->cycle + 1) % WHEEL_SLOTS;
    n->cycle = cycle;
    if (passed >= WHEEL_SLOTS) return ~0ull;
    uint64_t run = (1ull << passed) - 1;
    return run << first | (first ? run >> (WHEEL_SLOTS - first) : 0);
}

/* The numbers of this cycle, and the slots whose cycles have come since the last one. */
static inline uint64_t xbar_advance(struct xbar_net *n, tick now)
{
    assert(now % n->period == 0);
    const bool is_next = now == n->now + n->period;
    n->now = now;
    if (UNLIKELY(!is_next)) return xbar_leap(n, now);
    return 1ull << (++n->cycle % WHEEL_SLOTS);
}

/* An event that was planned beyond the wheel came early: of those that it names, the ports that are free now; the others again. */
COLD static uint64_t xbar_free_now(struct xbar_net *n, enum xbar_event e, uint32_t word, uint64_t ports)
{
    uint64_t free = ports;
    for (; ports; ports &= ports - 1) {
        uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(ports);
        uint64_t at = e == EVENT_OUT_FREE ? n->out[port].free : n->in[port].port_free;
        if (at <= n->cycle) continue;
        free &= ~xbar_bit(port);
        xbar_plan(n, &n->ports[word], e, xbar_bit(port), at - n->cycle);
    }
    return free;
}

/* The events of a slot happen to the w-th ports; returns the outputs that may have a packet for their link. */
XBAR_INLINE uint64_t xbar_take_slot(struct xbar_net *n, uint32_t w, uint32_t slot)
{
    struct xbar_ports *p = &n->ports[w];
    struct xbar_slot s = p->wheel[slot];
    memset(&p->wheel[slot], 0, sizeof s);
    if (UNLIKELY(n->has_far)) {
        s.ports[EVENT_OUT_FREE] = xbar_free_now(n, EVENT_OUT_FREE, w, s.ports[EVENT_OUT_FREE]);
        s.ports[EVENT_IN_FREE] = xbar_free_now(n, EVENT_IN_FREE, w, s.ports[EVENT_IN_FREE]);
    }
    p->busy &= ~s.ports[EVENT_OUT_FREE];
    p->look |= s.ports[EVENT_LOOK];
    p->in_busy &= ~s.ports[EVENT_IN_FREE];
    return s.ports[EVENT_DELIVER];
}

/* Without notes each port is looked at in each cycle. */
COLD static void xbar_note_all(struct xbar_net *n)
{
    memset(n->pushed, 1, n->inputs);
    memset(n->room, 1, n->outputs);
}

/* What has come for the w-th ports in these slots and by notes; returns the outputs to look at. */
XBAR_INLINE uint64_t xbar_gather(struct xbar_net *n, uint32_t w, uint64_t slots, bool plain)
{
    struct xbar_ports *p = &n->ports[w];
    uint64_t deliver = xbar_read_notes(n->room, w, n->outputs, plain);
    p->look |= xbar_read_notes(n->pushed, w, n->inputs, plain) & ~p->waiting;
    slots &= p->occupied;
    p->occupied &= ~slots;
    for (; slots; slots &= slots - 1) deliver |= xbar_take_slot(n, w, (uint32_t)__builtin_ctzll(slots));
    return deliver;
}

XBAR_INLINE void xbar_deliver_some(struct xbar_net *n, uint32_t w, uint64_t outputs, bool plain)
{
    for (; outputs; outputs &= outputs - 1) {
        uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(outputs);
        if (!plain && UNLIKELY(n->is_infinite))
            xbar_deliver_all_complete(n, &n->ports[w], output);
        else
            xbar_deliver(n, &n->ports[w], &n->out[output], outputs & (0 - outputs));
    }
}

XBAR_INLINE void xbar_inject_looked(struct xbar_net *n, uint32_t w, bool plain)
{
    struct xbar_ports *ports = &n->ports[w];
    uint64_t m = ports->look;
    ports->look = 0;
    for (; m; m &= m - 1) {
        uint32_t input = w * 64 + (uint32_t)__builtin_ctzll(m);
        if (!plain && UNLIKELY(n->is_infinite))
            xbar_inject_all(n, ports, input);
        else
            xbar_inject(n, ports, input, m & (0 - m), plain);
    }
}

/* The next event; a head that asks for a free output has one in the next cycle. */
XBAR_INLINE void xbar_set_wake(const struct xbar_net *n, uint32_t words, tick *wake)
{
    uint64_t open = 0, occupied = 0;
    for (uint32_t w = 0; w < words; w++) {
        open |= xbar_open(&n->ports[w]);
        occupied |= n->ports[w].occupied;
    }
    if (open) {
        wake_at(wake, n->now + n->period);
        return;
    }
    if (!occupied) return;
    uint32_t first = (uint32_t)((n->cycle + 1) % WHEEL_SLOTS);
    uint64_t turned = first ? occupied >> first | occupied << (WHEEL_SLOTS - first) : occupied;
    wake_at(wake, n->now + (tick)(__builtin_ctzll(turned) + 1) * n->period);
}

XBAR_INLINE void xbar_cycle(struct xbar_net *n, tick now, tick *wake, uint32_t words, bool plain)
{
    uint64_t slots = xbar_advance(n, now);
    if (UNLIKELY(!n->has_notes)) xbar_note_all(n);
    for (uint32_t w = 0; w < words; w++) xbar_deliver_some(n, w, xbar_gather(n, w, slots, plain), plain);
    if (plain)
        xbar_arbitrate_plain(n);
    else
        xbar_arbitrate(n);
    for (uint32_t w = 0; w < words; w++) xbar_inject_looked(n, w, plain);
    xbar_set_wake(n, words, wake);
}

void xbar_net_tick(struct xbar_net *n, tick now, tick *wake)
{
    if (LIKELY(n->is_plain))
        xbar_cycle(n, now, wake, 1, true);
    else
        xbar_cycle(n, now, wake, n->words, false);
}
