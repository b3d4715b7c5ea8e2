/* spill.h: values moved out of registers. */
#ifndef HEDDLE_SPILL_H
#define HEDDLE_SPILL_H

#include "lower/pass.h"

/* Rewrites the unit so that no vreg of `which` stays in a register between instructions: general ones go to local memory
 * or are made again where they are used, predicates go to a general register. is_temp (grown as vregs are made) marks
 * the short-lived vregs that this introduces. */
struct spill_temps { VEC(bool) flags; };
void unit_spill(struct unit *u, const bool *which, struct spill_temps *temps);

#endif
