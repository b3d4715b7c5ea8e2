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
/* The cause to which the slot of a scheduler that issues nothing is charged. */
enum issue_slot account_cause(const struct sm *m, uint32_t scheduler, const struct chances *c);
/* Charges the cycles before `until` to the schedulers' causes: call it before one of them changes. */
void account_slots(struct sm *m, uint64_t until);
/* Charges what the SM held in the cycles before `until`. It changes only when CTAs and warps come or leave,
 * so it is charged before each such change and before statistics are read. */
void account_occupancy(struct sm *m, uint64_t until);

#endif
