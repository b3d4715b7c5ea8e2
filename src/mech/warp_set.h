/* warp_set.h: a set of the warp slots of a whole SM: a mask for each bank (warps.h has those of one bank). */
#ifndef HEDDLE_MECH_WARP_SET_H
#define HEDDLE_MECH_WARP_SET_H

#include "mech/warps.h"

struct warp_set {
    uint64_t bank[MECH_BANKS_MAX];
};

static inline bool warp_set_has(const struct warp_set *s, int warp)
{
    return s->bank[mech_bank(warp)] & mech_bit(warp);
}
static inline void warp_set_add(struct warp_set *s, int warp) { s->bank[mech_bank(warp)] |= mech_bit(warp); }
static inline void warp_set_remove(struct warp_set *s, int warp)
{
    s->bank[mech_bank(warp)] &= ~mech_bit(warp);
}

static inline uint32_t warp_set_count(const struct warp_set *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < MECH_BANKS_MAX; i++) n += (uint32_t)warps_count(s->bank[i]);
    return n;
}

/* The lowest slot at or above `from`, or MECH_NO_WARP. */
static inline int warp_set_next(const struct warp_set *s, int from)
{
    for (uint32_t i = mech_bank(from); i < MECH_BANKS_MAX; i++) {
        const uint64_t rest = i == mech_bank(from) ? s->bank[i] & ~(mech_bit(from) - 1) : s->bank[i];
        if (rest) return (int)(i * MECH_BANK_WARPS) + warps_first(rest);
    }
    return MECH_NO_WARP;
}
#define FOR_WARPS(warp, set)                                                                                 \
    for (int warp = warp_set_next(set, 0); warp != MECH_NO_WARP; warp = warp_set_next(set, warp + 1))

#endif
