/* xbar_eject.h: a packet that was granted enters the ejection buffer of its output. Inside mem/ only. */
#ifndef HEDDLE_XBAR_EJECT_H
#define HEDDLE_XBAR_EJECT_H

#include "mem/xbar_sleep.h"

/* bit: the output's; ready: the cycle in which its last flit is there. */
XBAR_INLINE void xbar_eject(struct xbar_net *n, struct xbar_ports *ports, struct xbar_output *o, uint64_t bit,
                            const struct xbar_packet *p, xbar_stamp ready)
{
    debug_assert(xbar_can_eject(n, o) && xbar_until(n, ready) > 0);
    struct xbar_arrival *a = xbar_arrival_at(n, o, o->ring.count);
    a->origin = p->origin;
    a->ready = ready;
    a->flits = p->flits;
    if (!o->ring.count) xbar_plan(n, ports, EVENT_DELIVER, bit, (uint32_t)xbar_until(n, ready));
    xbar_arrival_push(n, o);
    if (!xbar_can_eject(n, o)) ports->full |= bit;
}

#endif
