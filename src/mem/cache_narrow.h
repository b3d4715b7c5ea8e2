/* cache_narrow.h: what a hit, a search and the choice of a victim need of a set with few ways: one cache line
 * of the host for up to 8, two for up to 16. A read that hits a whole line touches nothing else.
 *
 * Invariants. (1) Bit i of used: way i holds an address; of awaited: some of its sectors are reserved; a way
 * that is awaited is used. (2) tags[i] of a way in use is a hash of its line number, so that two lines may
 * have the same; together with the bits above the lowest 16 (narrow_upper) it is exact, unless bit i of large
 * says that the number has more than NARROW_NUMBER_BITS. (3) The order is a list of all ways, 4
 * bits each, oldest lowest; where a way that is not in use stands in it means nothing. (4) A set that is all
 * zero is empty, so that nothing has to be written for sets that are never used; its first way in use gives
 * it an order. (5) Bit i of whole: all sectors of way i are valid; it may be 0 where they are. */
#ifndef HEDDLE_CACHE_NARROW_H
#define HEDDLE_CACHE_NARROW_H

#include "base/base.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CACHE_NARROW_WAYS = 16, NARROW_HALF = 8, NARROW_NO_WAY = CACHE_NARROW_WAYS };
/* More than programs have; a mechanism may prefetch any address. */
enum { NARROW_NUMBER_BITS = 48 };

struct narrow_set {
    uint64_t order;
    uint16_t used, awaited, whole, large;
    /* 8 or 16 */
    uint16_t tags[];
};
_Static_assert(sizeof(struct narrow_set) + NARROW_HALF * sizeof(uint16_t) == HOST_LINE / 2,
               "8 tags end the first half of a line");
#define NARROW_ONES 0x1111111111111111ull

/* Bytes of a set; its second half holds the upper parts of the line numbers. */
static inline uint32_t narrow_bytes(uint32_t ways) { return ways > NARROW_HALF ? 2 * HOST_LINE : HOST_LINE; }

/* The list of a set in which no way has been used. */
static inline uint64_t narrow_first_order(uint32_t ways)
{
    return 0xfedcba9876543210ull & ~0ull >> 4 * (CACHE_NARROW_WAYS - ways);
}

/* The xor gives lines that are a multiple of 2^16 lines apart different tags; equal elements of two large
 * arrays often are. */
static inline uint16_t narrow_tag(uint64_t number) { return (uint16_t)(number ^ number >> 16); }

/* [way]: 32 bits of its line number, above the lowest 16. */
static inline uint32_t *narrow_upper(const struct narrow_set *s, uint32_t set_bytes)
{
    return (uint32_t *)(void *)((char *)s + set_bytes / 2);
}

/* narrow_holds: does a way in use that has the line's tag hold the line? narrow_is_unsure: its record has to
 * be asked instead. */
static inline bool narrow_is_unsure(const struct narrow_set *s, uint32_t way, uint64_t number)
{
    return (number >> NARROW_NUMBER_BITS) | (s->large >> way & 1);
}
static inline bool narrow_holds(const struct narrow_set *s, uint32_t set_bytes, uint32_t way, uint64_t number)
{
    return narrow_upper(s, set_bytes)[way] == (uint32_t)(number >> 16);
}

/* Mask of ways with this tag, in use or not. The upper 8 bits have no meaning for a set of one line. */
static inline uint32_t narrow_match(const struct narrow_set *s, uint32_t set_bytes, uint16_t tag)
{
#ifdef __SSE2__
    const char *tags = (const char *)s->tags;
    const __m128i all = _mm_set1_epi16((short)tag);
    __m128i low = _mm_load_si128((const __m128i *)(const void *)tags); /* a set of one line: compare the same
                                                                        * 8 tags twice */
    __m128i high = _mm_load_si128((const __m128i *)(const void *)(tags + (set_bytes & 2 * HOST_LINE) / 8));
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_cmpeq_epi16(low, all), _mm_cmpeq_epi16(high, all)));
#else
    uint32_t match = 0, ways = set_bytes > HOST_LINE ? CACHE_NARROW_WAYS : NARROW_HALF;
    for (uint32_t i = 0; i < ways; i++) match |= (uint32_t)(s->tags[i] == tag) << i;
    return match;
#endif
}

/* The list where the way has become the newest: its 4 bits leave, those above move down, and it is put on
 * top. The lowest bits of the list that equal the way are found by the borrow of a subtraction (Warren,
 * Hacker's Delight, 6-1: exact for the lowest). */
static inline uint64_t narrow_moved(uint64_t order, uint64_t way, uint32_t top)
{
    uint64_t differ = order ^ way * NARROW_ONES, closed = order >> 4;
    uint64_t equal = (differ - NARROW_ONES) & ~differ & NARROW_ONES << 3;
    uint64_t below = (equal ^ (equal - 1)) >> 4;
    return (closed ^ ((order ^ closed) & below)) | way << top;
}

/* The way becomes the newest. Half of them already are; testing for that would mispredict. */
static inline void narrow_renew(struct narrow_set *s, uint32_t way, uint32_t ways_max)
{
    s->order = narrow_moved(s->order, way, 4 * ways_max - 4);
}

/* A way that was a victim becomes the newest. In most cases it was the oldest. */
static inline void narrow_renew_victim(struct narrow_set *s, uint32_t way, uint32_t ways_max)
{
    uint32_t top = 4 * ways_max - 4;
    if (UNLIKELY(!s->order)) s->order = narrow_first_order(ways_max);
    if (LIKELY((s->order & 15) == way))
        s->order = s->order >> 4 | (uint64_t)way << top;
    else
        s->order = narrow_moved(s->order, way, top);
}

static inline uint16_t narrow_with(uint16_t mask, uint32_t way, bool is_set)
{
    return (uint16_t)((mask & ~(1u << way)) | (uint32_t)is_set << way);
}

/* Gives a way, for which no fill was awaited, another line number. */
static inline void narrow_put(struct narrow_set *s, uint32_t set_bytes, uint32_t way, uint64_t number,
                              bool is_awaited)
{
    s->tags[way] = narrow_tag(number);
    narrow_upper(s, set_bytes)[way] = (uint32_t)(number >> 16);
    s->whole = narrow_with(s->whole, way, false);
    s->large = narrow_with(s->large, way, number >> NARROW_NUMBER_BITS);
    s->used |= (uint16_t)(1u << way);
    s->awaited |= (uint16_t)((uint32_t)is_awaited << way);
}

static inline void narrow_drop(struct narrow_set *s, uint32_t way)
{
    s->used = narrow_with(s->used, way, false);
    s->awaited = narrow_with(s->awaited, way, false);
    s->whole = narrow_with(s->whole, way, false);
}

static inline void narrow_await(struct narrow_set *s, uint32_t way, bool is_awaited)
{
    s->awaited = narrow_with(s->awaited, way, is_awaited);
}
static inline void narrow_fill(struct narrow_set *s, uint32_t way, bool is_awaited, bool is_whole)
{
    narrow_await(s, way, is_awaited);
    s->whole |= (uint16_t)((uint32_t)is_whole << way);
}

/* The lowest way of the mask that is not in use, else the oldest that is not awaited, else NARROW_NO_WAY. */
static inline uint32_t narrow_victim(const struct narrow_set *s, uint32_t ways)
{
    uint32_t candidates = ways & ~(uint32_t)s->awaited, unused = candidates & ~(uint32_t)s->used;
    uint64_t order = s->order;
    if (UNLIKELY(unused)) return (uint32_t)__builtin_ctz(unused);
    if (LIKELY(candidates >> (order & 15) & 1)) return order & 15;
    if (!candidates) return NARROW_NO_WAY;
    while (!(candidates >> (order & 15) & 1)) order >>= 4; /* it ends: (3) */
    return order & 15;
}

#endif
