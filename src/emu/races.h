/* races.h: inside the emulator: finds accesses that race: two threads of different warps, one word, at least
 * one a write, and no order between them. docs/emulator.md says what orders accesses.
 *
 * The instructions of a grid go through a table that records each access before it is made. The result
 * depends on the synchronisation in the program, and hardly on the order in which warps run. Each pair of
 * instructions is reported once in the life of a device. */
#ifndef HEDDLE_EMU_RACES_H
#define HEDDLE_EMU_RACES_H

#include "emu/grid.h"

struct races;
struct race_cta;

/* Begins and ends the search in a grid; races_open sets the table of the run. */
struct races *races_open(struct run *r);
void races_close(struct races *s);
/* A CTA becomes resident; its memory is free again. */
void races_begin_cta(struct cta *c);
void races_free_cta(struct cta *c);
/* Threads of a warp arrive at a barrier of the CTA; it completes, and the warps of the mask go on. */
void races_arrive(struct warp *w, uint32_t barrier);
void races_complete(struct cta *c, uint32_t barrier, uint64_t warps);

#endif
