/* sm_ahead.h: an SM that runs several cycles in one step of the machine. See ahead.c. */
#ifndef HEDDLE_SM_AHEAD_H
#define HEDDLE_SM_AHEAD_H

#include "core/sm/sm.h"

struct xbar;

/* How far an SM may run ahead after its cycle. */
struct sm_window {
    /* it stops before this time; it does not run ahead if the time is not after its cycle */
    tick end;
    /* the crossbar's next edge */
    tick edge;
    const struct xbar *xbar;
    /* it stops where its share of the pool has fewer spare requests */
    uint32_t requests_max;
};
/* The most requests that the SM makes in a cycle. */
uint32_t sm_requests_max(const struct sm *m);
/* False: it never runs ahead (where a warp may issue twice in a cycle, the second instruction is not known in
 * advance). */
bool sm_may_run_ahead(const struct sm *m);
/* pool, pending: those of its set-up, passed because the caller has them at hand. */
void sm_run_ahead(struct sm *m, const struct sm_window *w, const struct req_pool *pool,
                  struct event_flag *pending);
/* It has run ahead to a cycle whose step is to come, and has not ended it. */
bool sm_awaits_step(const struct sm *m);

#endif
