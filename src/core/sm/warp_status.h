/* warp_status.h: what a warp does next: its next instruction, whether it waits at a barrier, sleeps, or has
 * ended. See warp_status.c. */
#ifndef HEDDLE_SM_WARP_STATUS_H
#define HEDDLE_SM_WARP_STATUS_H

#include "core/sm/context.h"

struct sm;
/* A context has a slot from now on: it is resident, and its first instruction is asked for. */
void warps_start(struct sm *m, struct context *x);
/* Asks the emulator for the next instruction. */
void warps_next(struct sm *m, struct context *x);
/* The warp leaves the SM, if it has ended and nothing of it is under way. */
void warps_leave(struct sm *m, struct context *x);
/* The warp loses its slot, without having ended; it has a slot again, or for the first time. */
void warps_out(struct sm *m, struct context *x);
void warps_in(struct sm *m, struct context *x);
/* A warp has executed nanosleep; the warps whose time has come go on. */
void warps_sleep(struct sm *m, struct context *x, uint32_t ns);
void warps_awake(struct sm *m);
/* The first cycle at which a sleeping warp goes on; UINT64_MAX: none sleeps. */
uint64_t warps_awake_at(const struct sm *m);
/* Warps of a CTA that wait at a barrier may go on. */
void warps_recheck(struct sm *m, uint32_t cta);

#endif
