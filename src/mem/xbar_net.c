/* xbar_net.c: one network of the crossbar, flit by flit in time but packet by packet in work.
 *
 *   link -> injection buffer -> channel -> virtual channels -> switch -> wires -> ejection buffer -> link
 *
 * The single-stage "fly" of GPGPU-Sim's Fermi (BookSim): an input's channel carries one flit a cycle, so
 * does an output. The steps of a cycle run from the last to the first, so that room made by one is used by
 * the one before.
 *
 * Invariants. (1) An output sends one flit a cycle, a packet without a gap (wormhole: a packet that has
 * begun ends); with output_speedup 1 it takes nothing else from the switch meanwhile. (2) An input takes
 * at most one flit a cycle out of its injection buffer. (3) Packets of one input to one output keep their
 * order: the virtual channel is chosen by the output. (4) A packet that is longer than a buffer may enter
 * it when it is empty; otherwise flits in a buffer never exceed its size. (5) All times are derived from
 * events; a tick in which nothing can happen changes nothing.
 *
 * Flits are not moved one at a time: behind a granted packet its flits leave the buffer one a cycle and
 * others come in at most as fast, so its room counts as free at the grant.
 *
 * A port is looked at only when something can happen to it (xbar_sleep.h). (6) Looking at a port too often
 * changes nothing.
 *
 * Left out: credit return time, and more than one packet on an input's channel. The infinite network keeps
 * the time of an idle one for each packet, and lets any number through at once. */
#include "mem/xbar_eject.h"

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
    s->eject_wait_cycles += waited;
    link_push(o->to, n->now, a->origin.id);
    s->flits += a->flits; /* kept apart: as a pair the sums would become vector code, which is slower */
    s->latency_cycles += (xbar_stamp)n->cycle - a->origin.taken;
    ports->full &= ~bit;
    xbar_arrival_pop(n, o);
    n->packets--;
    return true;
}

XBAR_INLINE void xbar_deliver(struct xbar_net *n, struct xbar_ports *ports, struct xbar_output *o,
                              uint64_t bit)
{
    if (!o->ring.count || !xbar_deliver_head(n, ports, o, bit) || !o->ring.count) return;
    int32_t ahead = xbar_until(n, xbar_arrival_head(o)->ready);
    xbar_plan(n, ports, EVENT_DELIVER, bit, (uint32_t)MAX(ahead, 1));
}

/* ---- from the links into the injection buffers, and over the channel: at most one flit a cycle ---- */

XBAR_INLINE void xbar_put_on_channel(struct xbar_net *n, struct xbar_ports *ports, uint32_t input,
                                     uint64_t bit, struct xbar_vc *vc, const struct xbar_packet *p,
                                     bool plain)
{
    struct xbar_input *in = &n->in[input];
    vc->flits = (uint16_t)(vc->flits + p->flits);
    in->injection.on_channel = p->flits;
    in->channel_free = n->cycle + p->flits;
    xbar_vc_push(n, vc, p);
    if (vc->ring.count > 1) return;
    uint64_t ready = n->cycle + 1; /* to compete */
    vc->head_since = (xbar_stamp)MAX(ready, in->port_free);
    if (in->port_free > ready && xbar_has_one_vc(n, plain)) xbar_keep_input(n, ports, bit, in->port_free);
    xbar_ask(n, input, bit, p, plain);
}

/* Puts the oldest packet of the injection buffer on the channel, if possible. came: the packet that has just
 * come, or NULL; it goes behind the others, or straight on if the buffer is empty. */
XBAR_INLINE void xbar_move(struct xbar_net *n, struct xbar_ports *ports, uint32_t input, uint64_t bit,
                           const struct xbar_packet *came, bool plain)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_injection *q = &in->injection;
    const struct xbar_packet *first = q->ring.count ? xbar_injection_head(q) : came;
    if (!first) return;
    struct xbar_vc *vc = xbar_vc_for(n, input, first->dst, plain);
    if (xbar_can_send(n, in, vc, first->flits)) {
        xbar_put_on_channel(n, ports, input, bit, vc, first, plain);
        if (!q->ring.count) return;
        xbar_injection_pop(n, q);
    }
    if (came) xbar_injection_push(n, q, came);
}

/* Takes the head of the link, if it can be seen and fits. If it does not fit, it waits in *p until the packet
 * on the channel has passed or a grant makes room; the input is not looked at before. */
XBAR_INLINE bool xbar_take(struct xbar_net *n, struct xbar_ports *ports, struct xbar_input *in, uint64_t bit,
                           struct xbar_packet *p)
{
    if (!(ports->waiting & bit)) {
        uint32_t id;
        if (!link_peek(in->from, n->now, &id)) return false;
        xbar_make_packet(n, id, p);
    }
    if (!xbar_can_inject(n, in, p->flits, n->cycle)) {
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

XBAR_INLINE void xbar_inject(struct xbar_net *n, struct xbar_ports *ports, uint32_t input, uint64_t bit,
                             bool plain)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_injection *q = &in->injection;
    struct xbar_packet *head = &q->entries->from_link;
    if (in->channel_free <= n->cycle) {
        q->flits = (uint16_t)(q->flits - q->on_channel);
        q->on_channel = 0;
    }
    bool has_come = xbar_take(n, ports, in, bit, head);
    xbar_move(n, ports, input, bit, has_come ? head : NULL, plain);
    if (!(ports->waiting & bit)) xbar_plan_look(n, ports, in, bit, head);
    if (q->on_channel && (q->ring.count || ports->waiting & bit))
        xbar_plan(n, ports, EVENT_LOOK, bit, in->channel_free - n->cycle);
}

/* ---- the infinite network: each packet takes the time of an idle network ---- */
COLD static void xbar_deliver_all_complete(struct xbar_net *n, struct xbar_ports *ports, uint32_t output)
{
    struct xbar_output *o = &n->out[output];
    while (o->ring.count && xbar_deliver_head(n, ports, o, xbar_bit(output))) {}
}

/* Inserts a packet into the ejection buffer, in the order of the times at which packets are complete. */
static void xbar_insert_by_time(struct xbar_net *n, const struct xbar_packet *p)
{
    struct xbar_output *o = &n->out[p->dst];
    struct xbar_ports *ports = xbar_ports_of(n, p->dst, false);
    const xbar_stamp ready = p->origin.taken + xbar_idle_cycles(n, p->flits);
    xbar_eject(n, ports, o, xbar_bit(p->dst), p, ready);
    uint32_t i = o->ring.count - 1u;
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
        if (xbar_held_back(n, p.dst, input / 64) & xbar_bit(input)) {
            xbar_plan(n, ports, EVENT_LOOK, xbar_bit(input), 1);
            return;
        }
        if (!xbar_can_eject(n, &n->out[p.dst])) break; /* room comes with a delivery */
        link_pop(from, n->now);
        xbar_insert_by_time(n, &p);
        n->packets++;
    }
    tick next = link_next(from);
    if (next != TICK_NEVER) xbar_plan(n, ports, EVENT_LOOK, xbar_bit(input), xbar_cycles_to(n, next));
}

/* ---- a cycle ---- */

XBAR_INLINE void xbar_deliver_some(struct xbar_net *n, uint32_t w, uint64_t outputs, bool plain)
{
    for (; outputs; outputs &= outputs - 1) {
        uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(outputs);
        if (xbar_has_no_limits(n, plain))
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
    ports->granted = 0;
    for (; m; m &= m - 1) {
        uint32_t input = w * 64 + (uint32_t)__builtin_ctzll(m);
        if (xbar_has_no_limits(n, plain))
            xbar_inject_all(n, ports, input);
        else
            xbar_inject(n, ports, input, m & (0 - m), plain);
    }
}

XBAR_INLINE void xbar_cycle_plain(struct xbar_net *n, uint64_t slots, tick *wake)
{
    struct xbar_ports *p = n->ports;
    uint64_t deliver = xbar_read_word(n->room, n->outputs);
    p->look |= xbar_read_word(n->pushed, n->inputs) & ~p->waiting;
    xbar_deliver_some(n, 0, deliver | xbar_take_slots(n, 0, slots), true);
    xbar_arbitrate_plain(n);
    xbar_inject_looked(n, 0, true);
    xbar_set_wake(n, xbar_open(p), p->occupied, wake);
}

/* A network with more ports, many of which are idle: each step first tests whether a word of ports has
 * anything to do. */
static void xbar_cycle_any(struct xbar_net *n, uint64_t slots, tick *wake)
{
    const uint32_t pushed = xbar_any_note(n->pushed, n->in_words) ? n->in_words : 0,
                   room = xbar_any_note(n->room, n->out_words) ? n->out_words : 0; /* words with notes */
    uint64_t look = 0, open = 0, occupied = 0, asked = 0;
    for (uint32_t w = 0; w < n->words; w++) {
        struct xbar_ports *p = &n->ports[w];
        uint64_t deliver = xbar_take_slots(n, w, slots);
        if (w < room) deliver |= xbar_read_word(n->room + w * 64, 64);
        if (w < pushed) p->look |= xbar_read_word(n->pushed + w * 64, 64) & ~p->waiting;
        look |= p->look;
        xbar_deliver_some(n, w, deliver, false);
    }
    if (look || n->is_asked) {
        xbar_arbitrate(n);
        for (uint32_t w = 0; w < n->in_words; w++) xbar_inject_looked(n, w, false);
    }
    for (uint32_t w = 0; w < n->words; w++) {
        open |= xbar_open(&n->ports[w]);
        occupied |= n->ports[w].occupied;
        asked |= n->ports[w].asked;
    }
    n->is_asked = asked != 0;
    xbar_set_wake(n, open, occupied, wake);
}

HOT void xbar_nets_tick(struct xbar_net *nets, uint32_t count, tick now, tick *wake)
{
    for (struct xbar_net *n = nets; n < nets + count; n++) {
        uint64_t slots = xbar_advance(n, now);
        if (UNLIKELY(!n->has_notes)) xbar_note_all(n);
        if (LIKELY(n->is_plain))
            xbar_cycle_plain(n, slots, wake);
        else
            xbar_cycle_any(n, slots, wake);
    }
}
