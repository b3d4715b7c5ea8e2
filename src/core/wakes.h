/* wakes.h: when components of one kind next have something to do. A step costs time for the components that
 * are awake, not for all that the machine has.
 *
 * All components have their turns at edges of one clock. So a wake is kept as the first edge that is not
 * before it, in a wheel of masks: one mask for each of the next 64 edges. A component that waits for
 * others (TICK_NEVER) is in no mask and costs nothing. A component whose edge is beyond the wheel is
 * `far`; the far ones are looked through when the first of them comes within reach.
 *
 * (1) A component is in one slot of the wheel, or far, or in neither.
 * (2) Code that lowers a component's wake outside of its turn calls wakes_lower.
 * (3) The *horizon* is the next edge at which a turn is possible: no turn comes between the last one and
 *     the horizon. It may lie in the past when no component had a turn for a while.
 *
 * A turn: wakes_due takes out the components whose time has come. Each has its turn, on any thread, and
 * wakes_tell writes down when it wants the next one, in memory of that thread. wakes_take puts them back. */
#ifndef HEDDLE_WAKES_H
#define HEDDLE_WAKES_H

#include "base/tick.h"

enum { WAKES_SLOTS = 64 };

/* Turns times into edges. */
struct wakes_ruler {
    tick horizon;
    /* 2^63 / period, rounded up: a product replaces a division; exact as far as the wheel reaches */
    uint64_t per_period;
    uint32_t period;
    /* ticks from the horizon to the last edge of the wheel */
    uint32_t reach;
};

struct wakes {
    struct wakes_ruler ruler;
    /* the slot of the horizon; later edges have the slots behind it, and wrap around */
    uint32_t slot;
    /* bit s: slot s may hold a component */
    uint64_t occupied;
    /* not after the earliest of the far ones */
    tick far_next;
    /* words of a mask */
    uint32_t words;
    /* edges from the horizon to the last of the wheel */
    uint32_t reach;
    /* masks: [word * WAKES_SLOTS + slot] */
    uint64_t *wheel;
    /* mask of components whose slot is in slot_of */
    uint64_t *planned;
    /* mask of the far ones */
    uint64_t *far;
    /* [component] */
    uint8_t *slot_of;
    tick *far_at;
    uint32_t count;
};

/* When a component wants its next turn: at the horizon, at a later edge, or never by itself. */
enum { WAKES_SOON, WAKES_LATER, WAKES_NEVER, WAKES_KINDS };

/* The next turns that one word of components wants, in any order. To begin: masks 0. */
struct wakes_next {
    /* masks */
    uint64_t want[WAKES_KINDS];
    /* [component]: when */
    tick *at;
};

/* All components wake at TICK_NEVER; the horizon is 0. */
void wakes_init(struct wakes *w, uint32_t count, uint32_t period);
void wakes_free(struct wakes *w);
/* Moves the horizon to now, over edges at which nothing was due. */
void wakes_pass(struct wakes *w, tick now);
/* Moves the far ones that the wheel reaches into it. */
void wakes_bring_near(struct wakes *w);
void wakes_put_far(struct wakes *w, uint32_t i, tick t);
/* All components are due, whatever their wake. horizon: the next edge after that. */
void wakes_due_all(struct wakes *w, tick horizon, uint64_t *due);

/* Edges from the horizon to the turn of a component that wakes at t; one more than the wheel's reach if it
 * is beyond. There is no branch, since the host would often mispredict it. The product is the number of
 * periods, rounded up: per_period is 2^63 / period, so twice the time multiplied by it has the quotient in
 * the high 64 bits. */
static inline uint32_t wakes_ahead(const struct wakes_ruler *r, tick t)
{
    __extension__ typedef unsigned __int128 wide;
    tick left = t > r->horizon ? t - r->horizon : 0;
    left = MIN(left, (tick)r->reach + 1);
    return (uint32_t)((wide)(2 * (left + r->period - 1)) * r->per_period >> 64);
}

/* Word k of the mask in a slot. */
static inline uint64_t *wakes_slot(const struct wakes *w, uint32_t k, uint32_t slot)
{
    return &w->wheel[k * WAKES_SLOTS + slot];
}

/* When the earliest component wants to run: a time not after its edge; rarely an earlier edge at which
 * nothing is due. */
static inline tick wakes_least(const struct wakes *w)
{
    if (!w->occupied) return w->far_next;
    const uint64_t from = w->occupied >> w->slot | w->occupied << (-w->slot % WAKES_SLOTS);
    return w->ruler.horizon + (uint32_t)__builtin_ctzll(from) * (tick)w->ruler.period;
}

/* Puts a component that is nowhere into the wheel, `ahead` edges after the horizon. */
static inline void wakes_put(struct wakes *w, uint32_t i, uint32_t ahead)
{
    const uint64_t bit = (uint64_t)1 << (i % 64);
    const uint32_t slot = (w->slot + ahead) % WAKES_SLOTS;
    *wakes_slot(w, i / 64, slot) |= bit;
    w->planned[i / 64] |= bit;
    w->slot_of[i] = (uint8_t)slot;
    w->occupied |= (uint64_t)1 << slot;
}

/* Enters the wake of a component that is nowhere. */
static inline void wakes_plan(struct wakes *w, uint32_t i, tick t)
{
    const uint32_t ahead = wakes_ahead(&w->ruler, t);
    if (LIKELY(ahead <= w->reach))
        wakes_put(w, i, ahead);
    else if (t != TICK_NEVER)
        wakes_put_far(w, i, t);
}

/* Mask of the components of word k that are due at the horizon; no component is due before it. */
static inline uint64_t wakes_soon(const struct wakes *w, uint32_t k) { return *wakes_slot(w, k, w->slot); }

/* The component wakes at t at the latest. */
static inline void wakes_lower(struct wakes *w, uint32_t i, tick t)
{
    const uint64_t bit = (uint64_t)1 << (i % 64);
    if (t == TICK_NEVER || wakes_soon(w, i / 64) & bit) return;
    if (w->planned[i / 64] & bit) {
        const uint32_t has = (w->slot_of[i] - w->slot) % WAKES_SLOTS;
        if (has <= wakes_ahead(&w->ruler, t)) return;
        *wakes_slot(w, i / 64, w->slot_of[i]) &= ~bit;
    } else if (UNLIKELY(w->far[i / 64] & bit)) {
        t = MIN(t, w->far_at[i]);
        w->far[i / 64] &= ~bit;
    }
    wakes_plan(w, i, t);
}

/* Takes out the components whose wake is not after now, which is an edge. The next edge becomes the
 * horizon. False: there are none, and `due` is unchanged. */
static inline bool wakes_due(struct wakes *w, tick now, uint64_t *due)
{
    debug_assert(now >= w->ruler.horizon);
    if (UNLIKELY(now != w->ruler.horizon)) wakes_pass(w, now);
    if (UNLIKELY(w->far_next <= now + w->ruler.reach)) wakes_bring_near(w);
    const uint64_t bit = (uint64_t)1 << w->slot;
    const bool has = w->occupied & bit;
    for (uint32_t k = 0; has && k < w->words; k++) {
        uint64_t *slot = wakes_slot(w, k, w->slot);
        due[k] = *slot;
        w->planned[k] &= ~*slot;
        *slot = 0;
    }
    w->occupied &= ~bit;
    w->slot = (w->slot + 1) % WAKES_SLOTS;
    w->ruler.horizon += w->ruler.period;
    return has;
}

/* Takes components of word k out that have a turn now, whatever their wake. */
static inline void wakes_withdraw(struct wakes *w, uint32_t k, uint64_t mask)
{
    for (uint64_t m = mask & w->planned[k]; m; m &= m - 1)
        *wakes_slot(w, k, w->slot_of[64 * k + (uint32_t)__builtin_ctzll(m)]) &= ~(m & -m);
    w->planned[k] &= ~mask;
    w->far[k] &= ~mask;
}

/* Notes that component i has run and next wants to run at t. There is no branch, since the host would often
 * mispredict it. */
static inline void wakes_tell(tick horizon, struct wakes_next *n, uint32_t i, tick t)
{
    n->at[i] = t;
    n->want[(t > horizon) + (t == TICK_NEVER)] |= (uint64_t)1 << (i % 64);
}

/* Enters the turns that one thread has collected for the components of word k. */
static inline void wakes_take(struct wakes *w, uint32_t k, const struct wakes_next *n)
{
    *wakes_slot(w, k, w->slot) |= n->want[WAKES_SOON];
    w->occupied |= (uint64_t)(n->want[WAKES_SOON] != 0) << w->slot;
    for (uint64_t m = n->want[WAKES_LATER]; m; m &= m - 1) {
        const uint32_t i = k * 64 + (uint32_t)__builtin_ctzll(m);
        wakes_plan(w, i, n->at[i]);
    }
}

#endif
