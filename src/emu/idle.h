/* idle.h: inside the emulator: finds grids that are stuck: nothing in them can change.
 *
 * The resident CTAs are watched for a few turns. The verdict is exact, never a guess by time: a thread whose
 * registers return to what they were at the same instruction, while nobody has changed memory, will do so for
 * ever. A grid whose threads all do that, or wait for others at a barrier or a member mask, is stuck.
 * Influence from outside cannot be judged: a thread that reads a clock, or memory that the host can write, or
 * that calls the device runtime, ends the watch without a verdict. */
#ifndef HEDDLE_EMU_IDLE_H
#define HEDDLE_EMU_IDLE_H

#include "emu/grid.h"

/* The CTAs that are resident, and how many have not started. */
struct idle_grid {
    struct cta **ctas;
    uint32_t count;
    uint64_t waiting;
};

struct idle;

/* Begins a watch of the resident CTAs: their instructions go through its table. */
struct idle *idle_begin(struct run *r, const struct idle_grid *g);
/* Reports a change that the watch does not see by itself: a CTA became resident. */
void idle_note_change(struct idle *w);
/* Looks at a CTA that has had its turn. One that seems to do more than wait ends the watch, so that the watch
 * of a grid that is not stuck is short. */
void idle_look(struct idle *w, const struct cta *c);
/* True: something has changed, the watch can end. */
bool idle_is_over(const struct idle *w);
/* True: the grid is stuck. False: something changes, or may change. Lanes that would wait for ever for others
 * of their warp to reconverge go on without them. */
bool idle_is_stuck(struct idle *w, const struct idle_grid *g);
/* Fills in the fault of a stuck grid. */
void idle_report(struct idle *w, const struct idle_grid *g);
void idle_end(struct idle *w);

#endif
