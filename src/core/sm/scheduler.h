/* scheduler.h: the schedulers: which warp issues. See scheduler.c. */
#ifndef HEDDLE_SM_SCHEDULER_H
#define HEDDLE_SM_SCHEDULER_H

#include "core/sm/context.h"

struct sched_hot {
    /* a scheduler found no free arithmetic unit */
    bool awaits_unit;
    uint8_t count;
};
struct sched {
    /* [scheduler]: its warps in the bank; bits of the warps that issued last; enum issue_slot of the newest
     * cycle; the bank */
    uint64_t slots[SM_SCHEDULERS_MAX];
    int last[SM_SCHEDULERS_MAX];
    uint8_t cause[SM_SCHEDULERS_MAX], bank[SM_SCHEDULERS_MAX];
    /* the scheduler that issues first */
    uint8_t turn;
    uint8_t issue_width;
    bool turns_by_cycle;
    /* what mechanisms asked for last: the next timer (cycle), most CTAs, lines of the L1 */
    uint64_t timer;
    uint32_t cta_limit, l1_lines;
};

/* What warps of a bank can do; it is the same for all of its schedulers until one issues: warps that hold
 * their next instruction and wait neither at a barrier nor in nanosleep; the warps among these that lack only
 * room in a unit; and those that have room. */
struct chances {
    const struct bank *bank;
    uint64_t has_instruction, free, ready;
};

struct sm;
struct sm_params;
void sched_init(struct sm *m, const struct sm_params *p, uint32_t banks);
/* The stage of a cycle in which the schedulers issue. */
void sched_issue(struct sm *m);
/* Warps of a bank whose next instruction finds room in its unit. */
uint64_t sched_room(const struct sm *m, const struct bank *b);
/* Would a scheduler look at a warp whose next instruction has UOP_SEES? Votes may change within a cycle, so
 * they do not count. */
bool sched_may_see(const struct sm *m);
/* The votes of the mechanisms, or their next timer, have changed. */
void sched_hear_votes(struct sm *m);
/* Sets the alarm after the sleeping warps, or the next timer, have changed. */
void sched_set_alarm(struct sm *m);

#endif
