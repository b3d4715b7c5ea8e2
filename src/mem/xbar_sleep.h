/* xbar_sleep.h: which ports need not be looked at in a cycle, and when the network next has one. It only
 * makes the simulator fast. Looking at a port too often changes nothing (invariant 6 of xbar_net.c). Inside
 * mem/ only.
 *
 * Events at a known time (a packet is complete, a port or a channel is free, a link shows its head) are
 * planned on a wheel: 64 slots, one a cycle, with a mask of ports for each kind of event. All other events
 * come as a note of a link (xbar_notes.h) or with a grant. */
#ifndef HEDDLE_XBAR_SLEEP_H
#define HEDDLE_XBAR_SLEEP_H

#include "mem/xbar_admit.h"
#include "mem/xbar_notes.h"

/* ---- plans ---- */

/* A port of these (bit) has an event `ahead` cycles from now. An event beyond the wheel comes early: the
 * step that sees it plans it again. */
static inline void xbar_plan(struct xbar_net *n, struct xbar_ports *ports, enum xbar_event e, uint64_t bit,
                             uint64_t ahead)
{
    debug_assert(ahead);
    if (UNLIKELY(ahead >= WHEEL_SLOTS)) {
        ahead = WHEEL_SLOTS - 1;
        n->has_far = true;
    }
    uint32_t slot = (uint32_t)(n->cycle + ahead) % WHEEL_SLOTS;
    ports->wheel[slot].ports[e] |= bit;
    ports->occupied |= 1ull << slot;
}

/* The input's port into the switch is busy beyond the next cycle. */
static inline void xbar_keep_input(struct xbar_net *n, struct xbar_ports *ports, uint64_t bit,
                                   uint64_t port_free)
{
    ports->in_busy |= bit;
    xbar_plan(n, ports, EVENT_IN_FREE, bit, port_free - n->cycle);
}

/* Cycles until something that comes at t can be seen. */
static inline uint64_t xbar_cycles_to(const struct xbar_net *n, tick t)
{
    return t <= n->now + n->period ? 1 : (t - n->now + n->period - 1) / n->period;
}

/* Plans when the input's link is looked at next. If its head is there already and would be refused in the
 * next cycle, it is marked as waiting at once; this is tested only while the channel stays busy, when it is
 * likely. A waiting head is looked at when the channel is free or a grant has made room. next: memory for the
 * head. */
static inline void xbar_plan_look(struct xbar_net *n, struct xbar_ports *ports, const struct xbar_input *in,
                                  uint64_t bit, struct xbar_packet *next)
{
    const tick seen = link_next(in->from);
    if (seen == TICK_NEVER) return; /* a push leaves a note */
    if (seen <= n->now && in->channel_free > n->cycle + 1) {
        xbar_make_packet(n, in->from->head_value, next);
        if (!xbar_can_inject(n, in, next->flits, n->cycle + 1)) {
            ports->waiting |= bit;
            return;
        }
    }
    xbar_plan(n, ports, EVENT_LOOK, bit, xbar_cycles_to(n, seen));
}

/* ---- what has come ---- */

/* xbar_sleep.c: goes to a cycle that is not the next; returns the slots whose cycles have come. */
uint64_t xbar_leap(struct xbar_net *n, tick now);
/* xbar_sleep.c: events that lie beyond the wheel come early. Returns the named ports that are free now, and
 * plans the others again. */
uint64_t xbar_free_now(struct xbar_net *n, enum xbar_event e, uint32_t word, uint64_t ports);
/* xbar_sleep.c: without notes each port is looked at in each cycle. */
void xbar_note_all(struct xbar_net *n);

/* Sets the time to this cycle; returns the slots whose cycles have come since the last one. */
static inline uint64_t xbar_advance(struct xbar_net *n, tick now)
{
    debug_assert(now % n->period == 0);
    const bool is_next = now == n->now + n->period;
    n->now = now;
    if (UNLIKELY(!is_next)) return xbar_leap(n, now);
    return 1ull << (++n->cycle % WHEEL_SLOTS);
}

/* The events of a slot happen to the ports of word w; returns the outputs that may have a packet for their
 * link. */
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

/* The events of several slots. */
XBAR_INLINE uint64_t xbar_take_slots(struct xbar_net *n, uint32_t w, uint64_t slots)
{
    struct xbar_ports *p = &n->ports[w];
    uint64_t deliver = 0;
    slots &= p->occupied;
    p->occupied &= ~slots;
    for (; slots; slots &= slots - 1) deliver |= xbar_take_slot(n, w, (uint32_t)__builtin_ctzll(slots));
    return deliver;
}

/* The network's next cycle. open: outputs that can be granted, which takes place in the next cycle;
 * occupied: slots of the wheel with events. */
XBAR_INLINE void xbar_set_wake(const struct xbar_net *n, uint64_t open, uint64_t occupied, tick *wake)
{
    if (open) {
        wake_at(wake, n->now + n->period);
        return;
    }
    if (!occupied) return;
    uint32_t first = (uint32_t)((n->cycle + 1) % WHEEL_SLOTS);
    uint64_t turned = first ? occupied >> first | occupied << (WHEEL_SLOTS - first) : occupied;
    wake_at(wake, n->now + (tick)(__builtin_ctzll(turned) + 1) * n->period);
}

#endif
