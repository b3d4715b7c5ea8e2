/* stage.h: inside the emulator: the host's memory for resident CTAs.
 *
 * It is taken block by block while a grid runs and given back all at once when the grid ends, and most of it
 * is kept for the next grid: pages that the host has to hand out again for every launch cost more than the
 * turns of warps. */
#ifndef HEDDLE_EMU_STAGE_H
#define HEDDLE_EMU_STAGE_H

#include "base/vec.h"

struct stage_chunk {
    uint8_t *data;
    size_t bytes;
};

struct stage {
    VEC(struct stage_chunk) chunks;
    /* the chunk that blocks are taken from */
    uint32_t current;
    /* bytes of it */
    size_t used;
};

/* A block that starts at a line of the host's cache and is not cleared; NULL: the host has no memory. */
void *stage_take(struct stage *s, size_t bytes);
/* Takes all blocks back. */
void stage_clear(struct stage *s);
void stage_free(struct stage *s);

#endif
