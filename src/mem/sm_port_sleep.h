/* sm_port_sleep.h: what lets the SM sleep while its port waits. */
#ifndef HEDDLE_SM_PORT_SLEEP_H
#define HEDDLE_SM_PORT_SLEEP_H

#include "mem/sm_port.h"

/* In the next cycle a request may leave, or a reply that is in its link may be taken. */
static inline bool sm_port_may_move(const struct sm_port *p) { return p->to_send || p->from_xbar->count; }
/* A request waits to leave, and the crossbar has room. */
static inline bool sm_port_has_work(const struct sm_port *p) { return p->to_send && !p->is_blocked; }

#endif
