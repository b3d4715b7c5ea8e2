/* pace.h: which of two ways to do the same work is quicker on this host, now: alone or with others. What another process takes of the
 * cores, and how much of a step can be shared out, nobody knows beforehand, so the clock decides: windows of steps in the one
 * way and in the other, in turns; then the quicker one is kept for a while. That is short after a change, for a trial may have been disturbed, and longer each
 * time that a trial finds the same, clearly; and it ends when windows take far longer than the trial said. What is simulated does not depend on it. */
#ifndef HEDDLE_PACE_H
#define HEDDLE_PACE_H

#include "base/base.h"

struct pace {
    bool is_together;    /* the way of the next step */
    bool kept;           /* the quicker way, as far as is known: together, or alone */
    uint32_t window;     /* number of the window: trials, then those of the way that is kept, and again */
    uint32_t keep;       /* how many of the way that is kept */
    uint32_t slow;       /* of these, the newest: took far longer than the trial said */
    uint32_t steps_left; /* of the window */
    bool is_running;     /* the clock runs, since begun_ns */
    uint64_t work, spent_ns, begun_ns;
    uint64_t cost[2]; /* [together]: of the trials, ns for 1024 pieces of work; UINT64_MAX: not known */
    uint64_t told;    /* what the way that is kept cost in its trial */
};

void pace_init(struct pace *p);
/* A step with so many pieces of work comes next; p->is_together says how. */
void pace_step(struct pace *p, uint32_t work, uint64_t (*clock_ns)(void));
/* Time passes that is not to be counted, until the next step. */
void pace_break(struct pace *p, uint64_t (*clock_ns)(void));

#endif
