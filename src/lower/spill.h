/* spill.h: values moved out of registers. */
#ifndef HEDDLE_SPILL_H
#define HEDDLE_SPILL_H

#include "lower/graph.h"
#include "lower/pass.h"

/* Rewrites the routine so that no vreg of `which` stays in a register between instructions: general ones
 * go to local memory or are computed again where they are used, predicates go to a general register.
 * is_temp (grown as vregs are made) marks the short-lived vregs that this introduces. */
struct spill_temps {
    VEC(bool) flags;
};
void routine_spill(struct routine *u, const bool *which, struct spill_temps *temps);

/* pressure.c: marks in `which` the values to spill so that at most `limit` registers are live at once, as
 * far as that is possible without spilling those of `keep`. True when there are any. */
bool spill_choose(const struct graph *gr, const struct liveness *lv, const bool *keep, uint32_t limit,
                  bool *which);

#endif
