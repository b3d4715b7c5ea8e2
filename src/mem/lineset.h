/* lineset.h: the set of cache lines that have been seen since the set was last emptied: exact, for telling
 * first touches (cold misses) from lines that were there and were replaced. */
#ifndef HEDDLE_LINESET_H
#define HEDDLE_LINESET_H

#include "base/base.h"
#include "base/hash.h"

enum { LINESET_WORDS = 7, LINESET_EPOCHS = 256 };

__extension__ typedef unsigned __int128 lineset_wide;

/* word / 7 by a multiplication: the factor times 7 is 2^66 + 6, so it is exact below 2^63. A compiler,
 * which has to be exact for all words, needs more instructions. */
static inline uint64_t lineset_region_of(uint64_t word)
{
    static_assert(LINESET_WORDS == 7, "the factor is for 7");
    return (uint64_t)((lineset_wide)word * (UINT64_MAX / 7 * 4 + 2) >> 66);
}

/* 448 neighbouring lines, in one line of the host's cache. */
struct lineset_region {
    /* its number and, in the lowest byte, an epoch: the region is empty unless that is the set's epoch */
    uint64_t key;
    uint64_t seen[LINESET_WORDS];
};
_Static_assert(sizeof(struct lineset_region) == HOST_LINE,
               "to look a line up is to touch one line of the host");

/* Small, so that it fits beside the statistics that use it. */
struct lineset {
    /* open addressing */
    struct lineset_region *regions;
    uint32_t used;
    /* 64 - log2 of the slots */
    uint8_t shift;
    /* 1 to 255 */
    uint8_t epoch;
};

/* A power of two, 2 at least. */
void lineset_init(struct lineset *s, uint32_t regions);
void lineset_free(struct lineset *s);
/* At once, whatever its size. */
void lineset_clear(struct lineset *s);

static inline uint32_t lineset_mask(const struct lineset *s) { return (uint32_t)(UINT64_MAX >> s->shift); }

/* The region of key, or the empty slot for it. */
struct lineset_region *lineset_find(const struct lineset *s, uint64_t key);
/* The region of key, which is made if there is none. */
struct lineset_region *lineset_need(struct lineset *s, uint64_t key);

/* True: it was new. */
static inline bool lineset_add(struct lineset *s, uint64_t line_number)
{
    uint64_t word = line_number / 64, bit = 1ull << line_number % 64;
    uint64_t region = lineset_region_of(word), key = region * LINESET_EPOCHS + s->epoch;
    struct lineset_region *r = &s->regions[hash_index(key, s->shift)];
    if (UNLIKELY(r->key != key)) r = lineset_need(s, key);
    uint64_t *seen = &r->seen[word - region * LINESET_WORDS];
    bool is_new = !(*seen & bit);
    *seen |= bit;
    return is_new;
}

/* True: it was there. */
static inline bool lineset_remove(struct lineset *s, uint64_t line_number)
{
    uint64_t word = line_number / 64, bit = 1ull << line_number % 64;
    uint64_t region = lineset_region_of(word), key = region * LINESET_EPOCHS + s->epoch;
    struct lineset_region *r = lineset_find(s, key);
    if (r->key != key) return false;
    uint64_t *seen = &r->seen[word - region * LINESET_WORDS];
    bool was_there = *seen & bit;
    *seen &= ~bit;
    return was_there;
}

#endif
