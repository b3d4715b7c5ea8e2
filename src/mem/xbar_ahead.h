/* xbar_ahead.h: functions that only make the simulator fast: which ports the crossbar looks at, and how far
 * an SM may run ahead. */
#ifndef HEDDLE_XBAR_AHEAD_H
#define HEDDLE_XBAR_AHEAD_H

#include "mem/xbar.h"

/* Once the links have been initialised: from now on a push notes which port has something, and only such
 * ports are looked at. Without it each port is looked at in each cycle. */
void xbar_take_notes(struct xbar *x);
/* The earliest time at which an SM can see a reply that is not in its link yet; edge: the crossbar's next
 * one. */
tick xbar_reply_floor(const struct xbar *x, uint32_t sm, tick edge);

#endif
