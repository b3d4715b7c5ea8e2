/* mech_gpu.h: what mechanisms have for the whole GPU: a state that all SMs see, and a timer that works on
 * it.
 *
 * A mechanism with a GPU-wide state is used in one of two ways. With a timer (gpu_timer_cycles > 0) SMs
 * write only their own entry of the state, and the timer combines the entries: SMs may then run on several
 * threads, and ahead of each other between two calls of the timer. Without a timer SMs may write anything
 * in any cycle: they run on one thread, one after the other. */
#ifndef HEDDLE_MECH_GPU_H
#define HEDDLE_MECH_GPU_H

#include "core/mech_host.h"

struct mech_gpu;
struct mech_gpu *mech_gpu_open(const struct mech_set *set);
void mech_gpu_close(struct mech_gpu *g);
/* [mechanism]: its GPU-wide state; NULL where it has none. */
void *const *mech_gpu_states(const struct mech_gpu *g);

/* The core cycle of the next call of a timer; UINT64_MAX: there is no timer. */
uint64_t mech_gpu_next_timer(const struct mech_gpu *g);
/* Calls the timers that are due at this cycle, before any SM has had the cycle. */
void mech_gpu_timer(struct mech_gpu *g, uint64_t cycle);
/* The name of a mechanism whose GPU-wide state SMs share within a cycle; NULL: there is none. */
const char *mech_gpu_shares(const struct mech_gpu *g);

#endif
