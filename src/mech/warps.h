/* warps.h: sets of the warp slots of a bank as 64-bit masks: the few operations that schedulers are made
 * of. A warp is a bit of its bank here, as in a view. A scan touches set bits only. */
#ifndef HEDDLE_MECH_WARPS_H
#define HEDDLE_MECH_WARPS_H

#include "heddle/mechanism.h"

static inline uint64_t warp_bit(int warp) { return 1ull << warp; }
static inline bool warps_have(uint64_t warps, int warp) { return warp >= 0 && (warps >> warp & 1); }

/* The lowest slot; warps is not empty. */
static inline int warps_first(uint64_t warps) { return __builtin_ctzll(warps); }
static inline int warps_count(uint64_t warps) { return __builtin_popcountll(warps); }

/* The first slot after `last` in the order 0, 1, ... 63, 0: round robin. last may be MECH_NO_WARP; warps is
 * not empty. */
static inline int warps_after(uint64_t warps, int last)
{
    const unsigned from = (unsigned)(last + 1) % 64;
    return (int)((from + (unsigned)warps_first(warps >> from | warps << (-from % 64))) % 64);
}

/* The slot with the smallest order number; equal numbers: the lowest slot. warps is not empty. */
static inline int warps_least(uint64_t warps, const uint64_t *order)
{
    int best = warps_first(warps);
    for (uint64_t rest = warps & (warps - 1); rest; rest &= rest - 1) {
        int w = warps_first(rest);
        if (order[w] < order[best]) best = w;
    }
    return best;
}

#endif
