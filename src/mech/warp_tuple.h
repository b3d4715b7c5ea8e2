/* warp_tuple.h: warp tuples {N, p}, which `tuple`, `pcal` and `poise` set in their own ways (Li et al.,
 * HPCA'15; thesis 5.6.3).
 *
 * Of each scheduler the N oldest warps may issue: their monitor bit is set. The p oldest of these also
 * allocate lines in the L1: their pollute bit is set. The other N - p hit and merge, but their misses take no
 * line. A load carries the pollute bit that its warp had when it issued.
 *
 * A warp that waits at a barrier counts neither among the N nor among the p: the warps that it waits for may
 * be younger, and would never get there. */
#ifndef HEDDLE_MECH_WARP_TUPLE_H
#define HEDDLE_MECH_WARP_TUPLE_H

#include "mech/warps.h"

enum {
    TUPLE_ALL = MECH_BANK_WARPS,
    /* loads whose pollute bit is remembered: more than can be between their issue and the L1 */
    TUPLE_LOADS = 1024
};

struct warp_tuple {
    const struct mech_ports *ports;
    uint32_t n, p;
    /* resident warps of each bank, by scheduler; a scheduler's warps all lie in one bank */
    uint64_t mine[MECH_BANKS_MAX][MECH_SCHEDULERS_MAX];
    uint64_t at_barrier[MECH_BANKS_MAX];
    /* the bits of the warps */
    uint64_t monitor[MECH_BANKS_MAX], pollute[MECH_BANKS_MAX];
    /* launch order, by slot */
    uint64_t order[MECH_WARPS_MAX];
    uint64_t launches;
    /* [id % TUPLE_LOADS]: the load's id, and its pollute bit below */
    uint64_t loads[TUPLE_LOADS];
    /* for statistics: changes of the warps that may issue; misses that took no line */
    uint64_t changes, bypasses;
};

/* In init; all warps issue and allocate. */
void warp_tuple_init(struct warp_tuple *t, const struct mech_ports *ports);
/* From now on; p is cut to n. */
void warp_tuple_set(struct warp_tuple *t, uint32_t n, uint32_t p);
/* Warps of the scheduler that has most: N beyond it changes nothing. */
uint32_t warp_tuple_resident(const struct warp_tuple *t);

/* Appends the monitor and pollute bits of the warps to what a mechanism stores. */
void warp_tuple_cost(const struct mech_machine *m, struct mech_cost *c);

/* Does the access carry the pollute bit? */
bool warp_tuple_pollutes(const struct warp_tuple *t, const struct mech_l1_access *a);

/* Hooks for a mechanism whose state begins with a struct warp_tuple. */
void warp_tuple_on_warp(void *state, const struct mech_warp_event *e);
void warp_tuple_on_barrier(void *state, const struct mech_barrier *e);
void warp_tuple_on_issue(void *state, const struct mech_issue *e);
bool warp_tuple_may_allocate(void *state, const struct mech_l1_access *a);

/* ---- tables: which tuple for which launch ---- */

/* A file with a line `KERNEL LAUNCH N p` for each; `*` stands for any kernel or launch, launches are counted
 * from 1 over the whole program, and # begins a comment. The first line that fits counts. */
struct tuple_row {
    char kernel[128];
    /* 0: any */
    uint64_t launch;
    uint32_t n, p;
};

/* Reads up to `max` rows and returns how many there are, or -1: reason, of MECH_REASON_BYTES, says what is
 * wrong and in which line. With max 0 the rows are counted and checked. */
int tuple_rows_read(struct tuple_row *rows, uint32_t max, const char *path, char *reason);
/* In init: the rows of a file that was checked before, in memory of the state. */
struct tuple_row *tuple_rows_keep(const struct mech_ports *ports, const char *path, uint32_t *count);
/* NULL: no row fits. */
const struct tuple_row *tuple_rows_find(const struct tuple_row *rows, uint32_t count, const char *kernel,
                                        uint64_t launch);

#endif
