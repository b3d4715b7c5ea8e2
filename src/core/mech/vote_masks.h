/* vote_masks.h: which warps of a bank the votes of mechanisms let issue. */
#ifndef HEDDLE_VOTE_MASKS_H
#define HEDDLE_VOTE_MASKS_H

#include <stdint.h>

/* The AND of all votes: on any instruction, on memory instructions, on loads. */
struct vote_masks {
    uint64_t issue, memory, load;
};

/* The warps that may issue, where those of memory_next have a memory instruction next, and those of load_next
 * a load. */
static inline uint64_t votes_allow(const struct vote_masks *v, uint64_t memory_next, uint64_t load_next)
{
    return v->issue & (v->memory | ~memory_next) & (v->load | ~load_next);
}

#endif
