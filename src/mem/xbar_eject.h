/* xbar_eject.h: a packet that was granted enters the ejection buffer of its output. Inside mem/ only. */
#ifndef HEDDLE_XBAR_EJECT_H
#define HEDDLE_XBAR_EJECT_H

#include "mem/xbar_sleep.h"

/* bit: the output's; ready: the cycle in which its last flit is there. */
XBAR_INLINE void xbar_eject(struct xbar_net *n, struct xbar_ports *ports, struct xbar_output *o, uint64_t bit,
                            const struct xbar_packet *p, xbar_stamp ready)
{
    debug_assert(xbar_can_eject(n, o) && xbar_until(n, ready) > 0);
    const bool is_first = !o->ring.count;
    struct xbar_arrival *a = xbar_arrival_push(n, o);
    a->origin = p->origin;
    a->ready = ready;
    a->flits = p->flits;
    if (is_first) xbar_plan(n, ports, EVENT_DELIVER, bit, (uint32_t)xbar_until(n, ready));
    if (!xbar_can_eject(n, o)) ports->full |= bit;
}

#endif
