/* pace.h: finds out which of two ways to do the same work is quicker on this host: alone or together with
 * other threads.
 *
 * How much of the cores other processes use, and how much of a step can be shared, is not known
 * beforehand. So the clock decides: a trial runs a few windows of steps in each way, in turns, then the
 * quicker way is kept for a while. It is kept for a short time after a change, since the trial may have
 * been disturbed, and longer each time that a trial clearly confirms it. A new trial begins early when
 * windows take far longer than the last trial measured. What is simulated does not depend on it. */
#ifndef HEDDLE_PACE_H
#define HEDDLE_PACE_H

#include "base/base.h"

struct pace {
    /* the way of the next step */
    bool is_together;
    /* the quicker way, as far as is known: together (true) or alone */
    bool kept;
    /* number of the present window: those of the trial come first, then those in the way that is kept */
    uint32_t window;
    /* windows in the way that is kept, before the next trial */
    uint32_t keep;
    /* how many of these, up to the last, took far longer than in the trial */
    uint32_t slow;
    /* steps left in the window */
    uint32_t steps_left;
    /* time is being measured, since begun_ns */
    bool is_running;
    uint64_t work, spent_ns, begun_ns;
    /* [is_together]: best window of the trial, in ns for 1024 pieces of work; UINT64_MAX: not known */
    uint64_t cost[2];
    /* cost of the way that is kept, in the last trial */
    uint64_t expected;
};

void pace_init(struct pace *p);
/* Begins a step of this much work; p->is_together says which way to do it. */
void pace_step(struct pace *p, uint32_t work, uint64_t (*clock_ns)(void));
/* The time until the next step is not counted. */
void pace_break(struct pace *p, uint64_t (*clock_ns)(void));

#endif
