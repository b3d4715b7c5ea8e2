/* account.h: where each issue slot goes, and what the SM held. See account.c. */
#ifndef HEDDLE_SM_ACCOUNT_H
#define HEDDLE_SM_ACCOUNT_H

#include "core/sm/scheduler.h"
#include "core/sm/sm_stats.h"

struct account {
    /* cycles whose slots, and whose occupancy, are charged */
    uint64_t slots_to, occupied_to;
};

struct sm;
/* Why a scheduler issues nothing, though its warps have these chances. */
enum issue_slot account_cause(const struct sm *m, uint32_t scheduler, const struct chances *c);
/* Charges the cycles before `until` to the schedulers' causes: call it before one of them changes. */
void account_slots(struct sm *m, uint64_t until);
/* Charges what the SM held in the cycles before `until`. It changes with CTAs and warps alone, far more
 * seldom than cycles pass, so it is charged before each change and before anyone looks. */
void account_occupancy(struct sm *m, uint64_t until);

#endif
