/* lineset.h: the set of cache lines that have been seen since the set was last emptied: exact, for telling
 * first touches (cold misses) from lines that were there and were replaced. */
#ifndef HEDDLE_LINESET_H
#define HEDDLE_LINESET_H

#include "base/base.h"

enum { LINESET_REGION_LINES = 512 };

struct lineset_region { /* of neighbouring lines; 512 lines of 128 bytes are 64 KB */
    uint64_t key;
    uint32_t epoch; /* holds anything only when it is the set's */
    uint64_t seen[LINESET_REGION_LINES / 64];
};
struct lineset {
    struct lineset_region *regions;    /* open addressing */
    uint32_t mask, shift, used, epoch; /* shift: 64 - log2 of the places */
};

void lineset_init(struct lineset *s, uint32_t regions);
void lineset_free(struct lineset *s);
void lineset_clear(struct lineset *s);                     /* at once, whatever its size */
bool lineset_add(struct lineset *s, uint64_t line_number); /* true: it was new */

#endif
