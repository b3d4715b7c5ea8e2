/* mech_gpu.h: state of mechanisms beyond one SM: the states that all SMs share, their timers, and the notes
 * of all SMs. */
#ifndef HEDDLE_MECH_GPU_H
#define HEDDLE_MECH_GPU_H

#include "core/mech/mech_guard.h"
#include "core/mech/mech_notes.h"
#include "core/mech/mech_set.h"

struct mech_gpu;
/* Makes the GPU-wide states, zeroed, and calls gpu_init; mech_gpu_failure reports a failure. The set must
 * live longer. */
struct mech_gpu *mech_gpu_create(const struct mech_set *set, uint32_t sm_count);
void mech_gpu_destroy(struct mech_gpu *g);
/* Returns the GPU-wide state of a mechanism; NULL where it has none. */
void *mech_gpu_state(const struct mech_gpu *g, uint32_t mechanism);

/* Asks each mechanism whether its parameters fit the machine, and checks that no two mechanisms use what only
 * one can use. False: an error was added. If all fit, mechanisms choose how many SMs are in cache mode at
 * first. */
bool mech_gpu_check(struct mech_gpu *g, const struct mech_machine *machine, struct diag_list *diags);

/* What one mechanism uses; what all of them use together: masks of enum mech_uses. */
uint32_t mech_gpu_uses(const struct mech_gpu *g, uint32_t mechanism);
uint32_t mech_gpu_uses_all(const struct mech_gpu *g);

/* The number of SMs that may be in cache mode, which are the last ones; the number that is to be in cache
 * mode. */
uint32_t mech_gpu_cache_sms(const struct mech_gpu *g);
uint32_t mech_gpu_chosen_sms(const struct mech_gpu *g);
/* Returns the PTX of a mechanism's helper kernel, to be freed by the caller, and fills what the helper needs
 * besides. NULL: the mechanism failed (mech_gpu_failure). */
char *mech_gpu_helper(struct mech_gpu *g, uint32_t mechanism, struct mech_helper *wants);
/* A grid that was alone on the machine has ended: mechanisms choose again. */
void mech_gpu_grid_ran(struct mech_gpu *g, uint64_t cycle, const struct mech_grid_run *ran);

/* Calls hooks outside of a run's hooks, guarded (mech_guard.h): hooks that prepare mechanisms, also within a
 * run, and hooks for what the host does between runs. After a failure no hook is called. */
void mech_gpu_try(struct mech_gpu *g, void (*hooks)(void *ctx), void *ctx);
/* Returns why a mechanism failed there; NULL: none failed. After a failure the machine cannot run. */
const struct mech_failure *mech_gpu_failure(const struct mech_gpu *g);

/* Returns the core cycle of the next GPU timer; UINT64_MAX = none. */
uint64_t mech_gpu_next_timer(const struct mech_gpu *g);
/* Calls the GPU timers that are due at or before cycle, the earliest first, each as often as it is due. To be
 * called before the SMs of the cycle run, while all of them are at rest. */
void mech_gpu_timer(struct mech_gpu *g, uint64_t cycle);

/* May SMs touch all of this mechanism's GPU-wide state at any time? Then they have to run on one thread, in
 * order. With a GPU timer each SM touches only its own entry. */
bool mech_gpu_is_shared_freely(const struct mechanism *m);
/* Returns the name of an attached mechanism with such a state; NULL: there is none. */
const char *mech_gpu_shares(const struct mech_gpu *g);

/* Returns the notes of an SM, for writing. */
struct mech_notes *mech_gpu_notes(struct mech_gpu *g, uint32_t sm);
/* Returns the notes of all SMs in order, to be freed by the caller (NULL: none), and how many more were
 * written than are kept. */
struct timed_note *mech_gpu_merge_notes(const struct mech_gpu *g, uint32_t *count, uint64_t *dropped);

#endif
