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
#include "mem/xbar_net.h"

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

static inline struct xbar_packet xbar_packet_of(const struct xbar_net *n, uint32_t id)
{
    const struct req *r = req_at(n->pool, id);
    struct xbar_size size;
    if (r->kind == REQ_READ)
        size = n->read_sizes[n->is_reply ? req_sector_count(r->sectors) : 0];
    else
        size = xbar_size_of(n, r->kind == REQ_WRITE && n->is_reply ? 0 : r->write_bytes, 0);
    uint16_t dst = n->is_reply ? r->sm : r->slice;
    assert(dst < n->outputs);
    return (struct xbar_packet){.id = id, .dst = dst, .flits = size.flits, .step = size.step};
}

/* ---- from the ejection buffers into the links: one packet a cycle ---- */
static void xbar_deliver(struct xbar_net *n, uint32_t output)
{
    struct xbar_output *o = &n->out[output];
    struct xbar_ring *r = &o->ejection;
    while (r->count) {
        const struct xbar_packet *p = xbar_ring_head(r);
        if (p->ready > n->cycle) {
            xbar_plan(n, EVENT_DELIVER, output, p->ready);
            return;
        }
        if (!link_can_push(o->to, n->now)) return; /* the link says when there is room */
        n->stats->packets++;
        n->stats->flits += p->flits;
        n->stats->eject_wait_cycles += n->cycle - p->ready;
        n->stats->latency_cycles += n->cycle - p->taken;
        link_push(o->to, n->now, p->id);
        if (r->count == r->capacity) xbar_mask_clear(n->full, output);
        xbar_ring_pop(r);
        n->packets--;
        if (n->params->infinite) continue;
        if (r->count) xbar_plan(n, EVENT_DELIVER, output, MAX(n->cycle + 1, xbar_ring_head(r)->ready));
        return;
    }
}

/* ---- from the links into the injection buffers, and over the channel: at most one flit a cycle ---- */
static bool xbar_has_room(uint32_t used, uint32_t size, uint32_t flits)
{
    return used == 0 || used + flits <= size;
}

static bool xbar_vc_fits(const struct xbar_net *n, const struct xbar_vc *vc, uint32_t flits)
{
    return vc->packets.count < vc->packets.capacity && xbar_has_room(vc->flits, n->params->vc_buffer, flits);
}

static void xbar_put_on_channel(struct xbar_net *n, uint32_t input, struct xbar_vc *vc, struct xbar_packet *p)
{
    struct xbar_input *in = &n->in[input];
    p->ready = n->cycle + 1;
    vc->flits += p->flits;
    in->channel_flits = p->flits;
    in->channel_free = n->cycle + p->flits;
    xbar_ring_push(&vc->packets, p);
    if (vc->packets.count > 1) return;
    vc->head_since = MAX(p->ready, in->port_free);
    if (n->has_one_vc && in->port_free > p->ready) xbar_keep_input(n, input);
    xbar_request(n, input, vc);
}

static void xbar_start_channel(struct xbar_net *n, uint32_t input)
{
    struct xbar_input *in = &n->in[input];
    if (!in->injection.count || in->channel_free > n->cycle) return;
    const struct xbar_packet *first = xbar_ring_head(&in->injection);
    struct xbar_vc *vc = xbar_vc_for(n, input, first->dst);
    if (xbar_vc_fits(n, vc, first->flits)) xbar_put_on_channel(n, input, vc, xbar_ring_pop(&in->injection));
}

static bool xbar_fits(const struct xbar_net *n, const struct xbar_input *in, uint32_t flits)
{
    return in->injection.count < in->injection.capacity &&
           xbar_has_room(in->flits, n->params->injection, flits);
}

/* The first cycle in which something that comes at t, after now, can be seen. */
static uint64_t xbar_cycle_of(const struct xbar_net *n, tick t)
{
    tick ahead = t - n->now;
    return n->cycle + (ahead <= n->period ? 1 : (ahead + n->period - 1) / n->period);
}

/* Into the injection buffer, or through it where nothing is in the way. */
static void xbar_accept(struct xbar_net *n, uint32_t input, struct xbar_packet *p)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_vc *vc = xbar_vc_for(n, input, p->dst);
    bool is_clear = !in->flits && xbar_vc_fits(n, vc, p->flits);
    in->flits += p->flits;
    n->packets++;
    if (is_clear)
        xbar_put_on_channel(n, input, vc, p);
    else
        xbar_ring_push(&in->injection, p);
}

/* The head of the link comes in, if it can be seen and fits. */
static void xbar_take(struct xbar_net *n, uint32_t input)
{
    struct xbar_input *in = &n->in[input];
    struct link *from = in->from;
    uint32_t id;
    if (in->is_waiting || link_peek(from, n->now, &id)) {
        if (!in->is_waiting) in->head = xbar_packet_of(n, id);
        in->is_waiting = !xbar_fits(n, in, in->head.flits);
        if (in->is_waiting) return; /* until what is on the channel has passed */
        in->head.taken = n->cycle;
        link_pop(from, n->now);
        xbar_accept(n, input, &in->head);
    }
    if (!from->count) return; /* a push leaves a note */
    tick next = link_next(from);
    xbar_plan(n, EVENT_LOOK, input, next <= n->now ? n->cycle + 1 : xbar_cycle_of(n, next));
}

static void xbar_inject(struct xbar_net *n, uint32_t input)
{
    struct xbar_input *in = &n->in[input];
    if (in->channel_flits && in->channel_free <= n->cycle) {
        in->flits -= in->channel_flits;
        in->channel_flits = 0;
    }
    xbar_take(n, input);
    xbar_start_channel(n, input);
    if (in->channel_flits && (in->injection.count || in->is_waiting))
        xbar_plan(n, EVENT_LOOK, input, in->channel_free);
}

/* ---- the infinite network: each packet takes the time of an idle network ---- */
static void xbar_insert_by_time(struct xbar_net *n, const struct xbar_packet *p)
{
    xbar_eject(n, p);
    struct xbar_ring *r = &n->out[p->dst].ejection;
    uint32_t i = r->count - 1;
    for (; i && xbar_ring_at(r, i - 1)->ready > p->ready; i--) *xbar_ring_at(r, i) = *xbar_ring_at(r, i - 1);
    *xbar_ring_at(r, i) = *p;
    xbar_plan(n, EVENT_DELIVER, p->dst, p->ready);
}

static void xbar_inject_all(struct xbar_net *n, uint32_t input)
{
    struct link *from = n->in[input].from;
    uint32_t id;
    while (link_peek(from, n->now, &id)) {
        struct xbar_packet p = xbar_packet_of(n, id);
        const struct xbar_ring *to = &n->out[p.dst].ejection;
        if (to->count == to->capacity) break; /* room comes with a delivery */
        link_pop(from, n->now);
        p.taken = n->cycle;
        p.ready = n->cycle + 1 + p.flits + n->params->latency;
        xbar_insert_by_time(n, &p);
        n->packets++;
    }
    if (!from->count) return;
    tick next = link_next(from);
    xbar_plan(n, EVENT_LOOK, input, next <= n->now ? n->cycle + 1 : xbar_cycle_of(n, next));
}

/* ---- time ---- */

/* The numbers of this cycle; true of the slots whose cycles have come since the last one. */
static uint64_t xbar_advance(struct xbar_net *n, tick now)
{
    assert(now % n->period == 0);
    uint64_t cycle = now == n->now + n->period ? n->cycle + 1 : now / n->period;
    uint64_t passed = cycle - n->cycle, first = (n->cycle + 1) % WHEEL_SLOTS;
    n->now = now;
    n->cycle = cycle;
    if (passed == 1) return n->occupied & 1ull << first;
    if (passed >= WHEEL_SLOTS) return n->occupied;
    uint64_t run = (1ull << passed) - 1;
    return n->occupied & (run << first | (first ? run >> (WHEEL_SLOTS - first) : 0));
}

static void xbar_free_outputs(struct xbar_net *n, uint32_t word, uint64_t outputs)
{
    for (; outputs; outputs &= outputs - 1) {
        uint32_t o = word * 64 + (uint32_t)__builtin_ctzll(outputs);
        if (n->out[o].free <= n->cycle)
            xbar_mask_clear(n->busy, o);
        else
            xbar_plan(n, EVENT_OUT_FREE, o, n->out[o].free);
    }
}

static void xbar_free_inputs(struct xbar_net *n, uint32_t word, uint64_t inputs)
{
    for (; inputs; inputs &= inputs - 1) {
        uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(inputs);
        if (n->in[i].port_free <= n->cycle)
            xbar_mask_clear(n->in_busy, i);
        else
            xbar_plan(n, EVENT_IN_FREE, i, n->in[i].port_free);
    }
}

static inline uint64_t xbar_event_take(struct xbar_net *n, uint32_t slot, enum xbar_event e, uint32_t word)
{
    uint64_t *at = &n->wheel[slot * n->wheel_words + n->event_word[e] + word], mask = *at;
    *at = 0;
    return mask;
}

static void xbar_take_slot(struct xbar_net *n, uint32_t slot)
{
    n->occupied &= ~(1ull << slot);
    for (uint32_t w = 0; w < n->out_words; w++) {
        n->deliver[w] |= xbar_event_take(n, slot, EVENT_DELIVER, w);
        xbar_free_outputs(n, w, xbar_event_take(n, slot, EVENT_OUT_FREE, w));
    }
    for (uint32_t w = 0; w < n->words; w++) {
        n->look[w] |= xbar_event_take(n, slot, EVENT_LOOK, w);
        xbar_free_inputs(n, w, xbar_event_take(n, slot, EVENT_IN_FREE, w));
    }
}

/* Notes are bytes, because units write them side by side; each is 0 or 1, so that eight become bits by one multiplication. */
static void xbar_read_notes(uint8_t *notes, uint32_t ports, uint64_t *mask)
{
    for (uint32_t first = 0; first < ports; first += NOTE_WORD) {
        uint64_t word;
        memcpy(&word, notes + first, sizeof word);
        if (!word) continue;
        memset(notes + first, 0, sizeof word);
        mask[first / 64] |= (word * 0x0102040810204080ull >> 56) << (first % 64);
    }
}

/* Without notes each port is looked at in each cycle. */
static void xbar_all_ports(uint32_t ports, uint64_t *mask)
{
    for (uint32_t i = 0; i < ports; i++) xbar_mask_set(mask, i);
}

static void xbar_gather(struct xbar_net *n, tick now)
{
    for (uint64_t slots = xbar_advance(n, now); slots; slots &= slots - 1)
        xbar_take_slot(n, (uint32_t)__builtin_ctzll(slots));
    if (n->has_notes) {
        xbar_read_notes(n->pushed, n->inputs, n->look);
        xbar_read_notes(n->room, n->outputs, n->deliver);
    } else {
        xbar_all_ports(n->inputs, n->look);
        xbar_all_ports(n->outputs, n->deliver);
    }
}

static void xbar_deliver_all(struct xbar_net *n)
{
    for (uint32_t w = 0; w < n->out_words; w++) {
        uint64_t m = n->deliver[w];
        n->deliver[w] = 0;
        for (; m; m &= m - 1) xbar_deliver(n, w * 64 + (uint32_t)__builtin_ctzll(m));
    }
}

static void xbar_inject_looked(struct xbar_net *n)
{
    for (uint32_t w = 0; w < n->words; w++) {
        uint64_t m = n->look[w];
        n->look[w] = 0;
        for (; m; m &= m - 1) {
            uint32_t input = w * 64 + (uint32_t)__builtin_ctzll(m);
            if (n->params->infinite)
                xbar_inject_all(n, input);
            else
                xbar_inject(n, input);
        }
    }
}

/* The next event; a head that asks for a free output has one in the next cycle. */
static void xbar_set_wake(const struct xbar_net *n, tick *wake)
{
    uint64_t open = 0;
    for (uint32_t w = 0; w < n->out_words; w++) open |= n->asked[w] & ~n->busy[w] & ~n->full[w];
    if (open) {
        wake_at(wake, n->now + n->period);
        return;
    }
    if (!n->occupied) return;
    uint32_t first = (uint32_t)((n->cycle + 1) % WHEEL_SLOTS);
    uint64_t turned = first ? n->occupied >> first | n->occupied << (WHEEL_SLOTS - first) : n->occupied;
    wake_at(wake, n->now + (tick)(__builtin_ctzll(turned) + 1) * n->period);
}

void xbar_net_tick(struct xbar_net *n, tick now, tick *wake)
{
    xbar_gather(n, now);
    xbar_deliver_all(n);
    xbar_arbitrate(n);
    xbar_inject_looked(n);
    xbar_set_wake(n, wake);
}
