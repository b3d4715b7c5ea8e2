/* lineset.h: the set of cache lines that have been seen since the set was last emptied: exact, for telling
 * first touches (cold misses) from lines that were there and were replaced. */
#ifndef HEDDLE_LINESET_H
#define HEDDLE_LINESET_H

#include "base/base.h"
#include "base/hash.h"

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
void lineset_clear(struct lineset *s); /* at once, whatever its size */

/* The region of key, or the empty place for it. */
static inline struct lineset_region *lineset_find(const struct lineset *s, uint64_t key)
{
    uint32_t i = hash_index(key, s->shift);
    while (s->regions[i].epoch == s->epoch && s->regions[i].key != key) i = (i + 1) & s->mask;
    return &s->regions[i];
}

/* Makes a region of the empty place that lineset_find gave; it may lie elsewhere afterwards. */
struct lineset_region *lineset_begin(struct lineset *s, struct lineset_region *r, uint64_t key);

/* True: it was new. */
static inline bool lineset_add(struct lineset *s, uint64_t line_number)
{
    uint64_t key = line_number / LINESET_REGION_LINES;
    uint32_t at = (uint32_t)(line_number % LINESET_REGION_LINES);
    struct lineset_region *r = lineset_find(s, key);
    if (UNLIKELY(r->epoch != s->epoch)) r = lineset_begin(s, r, key);
    uint64_t bit = 1ull << at % 64, *word = &r->seen[at / 64];
    bool is_new = !(*word & bit);
    *word |= bit;
    return is_new;
}

#endif
