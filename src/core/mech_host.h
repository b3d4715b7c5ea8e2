/* mech_host.h: the host side of mechanisms: which are attached to an SM, and the one place where each hook is
 * called. The core knows no mechanism by name; mech/registry.c lists the built-in ones, shared objects add
 * theirs.
 *
 * Two parts: mech_set.c chooses the mechanisms of a run and reads their parameters; mech_host.c carries hooks
 * and votes on one SM. */
#ifndef HEDDLE_MECH_HOST_H
#define HEDDLE_MECH_HOST_H

#include "base/base.h"
#include "base/diag.h"
#include "heddle/mechanism.h"
#include "mech/registry.h" /* mech_builtin, mech_default_policy */

const struct mechanism *mech_builtin_find(const char *name); /* or NULL */
const char *mech_builtin_nearest(const char *name);          /* for hints; or NULL */

struct mech_set; /* the mechanisms chosen for a run: names (or ./file.so), with parameter settings
                    "swl.warps=4" */
/* NULL with diagnostics when a name, file or setting is wrong. The policy is the one that is named; with
 * none, mech_default_policy. */
struct mech_set *mech_set_create(const char *const *names, uint32_t count, const char *const *settings,
                                 uint32_t setting_count, struct diag_list *diags);
/* The same with the machine's own scheduler (a name, file or NULL) in place of mech_default_policy. */
struct mech_set *mech_set_create_for(const char *default_policy, const char *const *names, uint32_t count,
                                     const char *const *settings, uint32_t setting_count,
                                     struct diag_list *diags);
void mech_set_destroy(struct mech_set *s);
uint32_t mech_set_count(const struct mech_set *s);
const struct mechanism *mech_set_at(const struct mech_set *s, uint32_t i);
const void *mech_set_params(const struct mech_set *s,
                            uint32_t i); /* the values of its parameter rows; NULL where it has none */

/* The states that all SMs share, one for each mechanism (NULL where it wants none). */
void **mech_gpu_create(const struct mech_set *s);
void mech_gpu_destroy(const struct mech_set *s, void **gpu_states);

struct mech_seat; /* one mechanism on one SM: what its ports speak to */

struct mech_sm { /* the attached mechanisms of one SM; hooks are NULL-checked once, in these masks */
    struct mech_set *set;
    uint32_t count;                       /* of mechanisms */
    void **states;                        /* one for each mechanism */
    struct mech_ports ports;              /* the SM's own */
    int policy;                           /* index of the mechanism that picks; there is always one */
    uint64_t issue_mask, memory_mask;     /* AND of all votes */
    uint64_t *issue_votes, *memory_votes; /* by mechanism */
    bool has_access, has_evict, has_fill, has_issue, has_warp, has_allocate, has_barrier, has_next;
    uint64_t next_timer; /* core cycle of the next timer, UINT64_MAX = none */
    bool *
        news; /* the host's: set when a mask or the next timer changes, maybe by a mechanism of another SM; may be NULL */
    struct mech_seat *seats;
};
/* ports: the SM's side. prefetch and counters are what mechanisms get (NULL: no prefetch is ever taken; no
 * counters). allow_issue and allow_memory may be NULL; otherwise they are told the combined mask whenever it
 * changes. set_timer is the host's business: when next_timer changes, the SM finds it there after the hook.
 */
struct mech_sm *mech_sm_create(struct mech_set *set, const struct mech_ports *ports, void *const *gpu_states);
void mech_sm_destroy(struct mech_sm *m);

/* Which of the warps may issue now, where those of memory_next have a memory instruction next. */
static inline uint64_t mech_allowed(const struct mech_sm *m, uint64_t memory_next)
{
    return m->issue_mask & (m->memory_mask | ~memory_next);
}
/* Asks the policy. Takes the warps that the votes forbid out of v->ready and fills v->allowed. MECH_NO_WARP
 * without asking when none is left. */
int mech_pick(struct mech_sm *m, struct mech_sched_view *v);
bool mech_may_allocate(struct mech_sm *m, const struct mech_l1_access *a);
void mech_on_issue(struct mech_sm *m, const struct mech_issue *e);
void mech_on_l1_access(struct mech_sm *m, const struct mech_l1_access *e);
void mech_on_l1_evict(struct mech_sm *m, const struct mech_l1_evict *e);
void mech_on_l1_fill(struct mech_sm *m, const struct mech_l1_fill *e);
void mech_on_warp(struct mech_sm *m, const struct mech_warp_event *e);
void mech_on_barrier(struct mech_sm *m, const struct mech_barrier *e);
void mech_on_kernel(struct mech_sm *m, bool is_start);
/* Calls the timers that are due at or before cycle, earliest first, each as often as it is due. Call it when
 * next_timer <= cycle. */
void mech_on_timer(struct mech_sm *m, uint64_t cycle);

#endif
