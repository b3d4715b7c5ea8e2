/* bitset.h: sets of small integers as words; the caller owns the words. */
#ifndef HEDDLE_BITSET_H
#define HEDDLE_BITSET_H

#include "base/base.h"

static inline uint32_t bitset_words(uint32_t bits) { return (bits + 63) / 64; }
static inline bool bitset_has(const uint64_t *s, uint32_t i) { return s[i / 64] >> (i % 64) & 1; }
static inline void bitset_add(uint64_t *s, uint32_t i) { s[i / 64] |= 1ull << (i % 64); }
static inline void bitset_del(uint64_t *s, uint32_t i) { s[i / 64] &= ~(1ull << (i % 64)); }
/* The first member at or above `from`; `bits`, where the set ends: there is none. */
static inline uint32_t bitset_next(const uint64_t *s, uint32_t bits, uint32_t from)
{
    uint64_t mask = UINT64_MAX << from % 64;
    for (uint32_t i = from / 64; i < bitset_words(bits); i++, mask = UINT64_MAX)
        if (s[i] & mask) return 64 * i + (uint32_t)__builtin_ctzll(s[i] & mask);
    return bits;
}
/* Counts bits in ever wider fields: plain x86-64 has no instruction for it, and the compiler's own function
 * is a call. */
static inline uint32_t bits_count(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (uint32_t)(x * 0x0101010101010101ull >> 56);
}
static inline uint32_t bitset_count(const uint64_t *s, uint32_t words)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < words; i++) n += bits_count(s[i]);
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
