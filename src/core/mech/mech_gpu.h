/* mech_gpu.h: what mechanisms have beyond one SM: the states that all SMs share, their timers, and the
 * notes of all SMs. */
#ifndef HEDDLE_MECH_GPU_H
#define HEDDLE_MECH_GPU_H

#include "core/mech/mech_guard.h"
#include "core/mech/mech_notes.h"
#include "core/mech/mech_set.h"

struct mech_gpu;
/* Makes the GPU-wide states, zeroed, and calls gpu_init; where that fails, mech_gpu_failure tells. The set
 * must live longer. */
struct mech_gpu *mech_gpu_create(const struct mech_set *set, uint32_t sm_count);
void mech_gpu_destroy(struct mech_gpu *g);
/* The GPU-wide state of a mechanism; NULL where it has none. */
void *mech_gpu_state(const struct mech_gpu *g, uint32_t mechanism);

/* Asks each mechanism whether its parameters fit the machine; two may not use what one alone can. False: an
 * error was added. Where all fit, mechanisms choose how many SMs are in cache mode at first. */
bool mech_gpu_check(struct mech_gpu *g, const struct mech_machine *machine, struct diag_list *diags);

/* What a mechanism uses; what all of them use together: enum mech_uses, a mask. */
uint32_t mech_gpu_uses(const struct mech_gpu *g, uint32_t mechanism);
uint32_t mech_gpu_uses_all(const struct mech_gpu *g);

/* SMs that may be in cache mode, which are the last ones; those that are to be. */
uint32_t mech_gpu_cache_sms(const struct mech_gpu *g);
uint32_t mech_gpu_chosen_sms(const struct mech_gpu *g);
/* The PTX of a mechanism's helper kernel, free() it, and what it needs besides. NULL: the mechanism failed
 * (mech_gpu_failure). */
char *mech_gpu_helper(struct mech_gpu *g, uint32_t mechanism, struct mech_helper *wants);
/* A grid that was alone on the machine has ended: mechanisms choose again. */
void mech_gpu_grid_ran(struct mech_gpu *g, uint64_t cycle, const struct mech_grid_run *ran);

/* Calls hooks beside those of a run, guarded (mech_guard.h): those that make mechanisms ready, also within a
 * run, and what the host does between runs. After a failure nothing more is called. */
void mech_gpu_try(struct mech_gpu *g, void (*hooks)(void *ctx), void *ctx);
/* Why a mechanism failed there; NULL: none did. The machine cannot run then. */
const struct mech_failure *mech_gpu_failure(const struct mech_gpu *g);

/* Core cycle of the next GPU timer; UINT64_MAX = none. */
uint64_t mech_gpu_next_timer(const struct mech_gpu *g);
/* Calls the GPU timers that are due at or before cycle, the earliest first, each as often as it is due:
 * before the SMs of the cycle run, with all of them at rest. */
void mech_gpu_timer(struct mech_gpu *g, uint64_t cycle);

/* SMs may touch all of this mechanism's GPU-wide state at any time: they have to run on one thread, in order.
 * With a GPU timer each touches its own entry alone. */
bool mech_gpu_is_shared_freely(const struct mechanism *m);
/* The name of an attached mechanism whose state is; NULL: there is none. */
const char *mech_gpu_shares(const struct mech_gpu *g);

/* Where an SM's notes go. */
struct mech_notes *mech_gpu_notes(struct mech_gpu *g, uint32_t sm);
/* The notes of all SMs in order, free() them (NULL: none); how many more were written than are kept. */
struct timed_note *mech_gpu_merge_notes(const struct mech_gpu *g, uint32_t *count, uint64_t *dropped);

#endif
