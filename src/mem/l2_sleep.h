/* l2_sleep.h: when a slice need not run. It affects only the speed of the host: a slice that runs in every
 * cycle has the same counts. Inside mem/ only. */
#ifndef HEDDLE_L2_SLEEP_H
#define HEDDLE_L2_SLEEP_H

#include "mem/l2_slice.h"

/* In this cycle, can no stage except the first do anything? */
bool l2_sleeps(const struct l2_slice *s, tick now);
/* Called after a cycle in which only l2_enter ran. */
void l2_sleep_on(struct l2_slice *s, tick now);
/* Called after a cycle in which all stages ran: sets the time of the next one. */
void l2_set_wake(struct l2_slice *s, tick now);

#endif
