/* loop.h: the loop: it moves the time of a GPU from step to step. See loop.c. */
#ifndef HEDDLE_LOOP_H
#define HEDDLE_LOOP_H

#include "base/tick.h"

struct loop {
    /* when mechanisms next have a timer for the whole GPU */
    tick next_gpu_timer;
    /* steps so far */
    uint64_t steps;
};

struct timed_gpu;
enum loop_goal { GOAL_ALL, GOAL_STREAM, GOAL_MARK, GOAL_HELPER_GONE };
void loop_init(struct timed_gpu *g);
/* Runs until the goal is reached (all work, the work of a stream, or a mark) or the run has ended. */
void loop_run(struct timed_gpu *g, enum loop_goal goal, uint64_t stream_or_mark);

#endif
