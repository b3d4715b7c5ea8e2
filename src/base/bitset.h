/* bitset.h: sets of small integers as words; the caller owns the words. */
#ifndef HEDDLE_BITSET_H
#define HEDDLE_BITSET_H

#include "base/base.h"

static inline uint32_t bitset_words(uint32_t bits) { return (bits + 63) / 64; }
static inline bool bitset_has(const uint64_t *s, uint32_t i) { return s[i / 64] >> (i % 64) & 1; }
static inline void bitset_add(uint64_t *s, uint32_t i) { s[i / 64] |= 1ull << (i % 64); }
static inline void bitset_del(uint64_t *s, uint32_t i) { s[i / 64] &= ~(1ull << (i % 64)); }
static inline uint32_t bitset_count(const uint64_t *s, uint32_t words)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < words; i++) n += (uint32_t)__builtin_popcountll(s[i]);
    return n;
}
/* dst |= src; says whether dst grew. */
static inline bool bitset_union(uint64_t *dst, const uint64_t *src, uint32_t words)
{
    uint64_t grew = 0;
    for (uint32_t i = 0; i < words; i++) {
        grew |= src[i] & ~dst[i];
        dst[i] |= src[i];
    }
    return grew != 0;
}

#endif
