/* wakes.h: when components of one kind next have something to do, so that a step costs what is awake, not what is there.
 *
 * All have their turns at edges of one clock, so what is kept of a wake is the first edge that is not before it: a wheel of masks, one for each
 * of the next 64 edges. A component that waits for others alone (TICK_NEVER) is in none of them, and costs nothing; one whose edge
 * lies beyond the wheel waits among the `far` ones, which are gone through when the first of them comes near.
 *
 * (1) A component is in one slot of the wheel, or among the far ones, or nowhere. (2) Whoever changes a component's wake outside of its own turn says so
 * (wakes_lower). (3) The horizon is the edge at which the next turns can be: nobody's turn comes between the newest one and it; it may lie in
 * the past when nobody had a turn for a while.
 *
 * A turn: wakes_due takes those out whose time has come; each has its turn, on any thread, and wakes_tell writes down when it wants the next
 * one, in what that thread has for itself; wakes_take puts them back. */
#ifndef HEDDLE_WAKES_H
#define HEDDLE_WAKES_H

#include "base/tick.h"

enum { WAKES_SLOTS = 64 };

/* How times become edges. */
struct wakes_ruler {
    tick horizon;
    uint64_t
        per_period; /* 2^63 / period, rounded up: a product for a division; exact as far as the wheel goes */
    uint32_t period;
    uint32_t reach; /* ticks from the horizon to the last edge of the wheel */
};

struct wakes {
    struct wakes_ruler ruler;
    uint32_t slot;     /* the horizon's; those of the edges after it follow, and begin again at 0 */
    uint64_t occupied; /* bit s: there may be somebody in slot s */
    tick far_next;     /* the earliest of the far ones, or an earlier time */
    uint32_t words;    /* of masks */
    uint32_t reach;    /* edges from the horizon to the last of the wheel */
    uint64_t *wheel;   /* [word * WAKES_SLOTS + slot]: masks */
    uint64_t *planned; /* mask of those that came into the wheel with their slot in slot_of */
    uint64_t *far;     /* mask */
    uint8_t *slot_of;  /* [component] */
    tick *far_at;      /* [component] */
    uint32_t count;
};

/* What comes of the turns of one word of components, in any order; nothing yet: masks 0. */
enum { WAKES_SOON, WAKES_LATER, WAKES_NEVER, WAKES_KINDS }; /* the horizon; another edge; none */
struct wakes_next {
    uint64_t want[WAKES_KINDS]; /* masks */
    tick *at;                   /* [component]: when */
};

void wakes_init(struct wakes *w, uint32_t count, uint32_t period); /* all TICK_NEVER; horizon 0 */
void wakes_free(struct wakes *w);
void wakes_pass(struct wakes *w,
                tick now);              /* edges have passed at which nobody was due: the horizon is now */
void wakes_bring_near(struct wakes *w); /* far ones that the wheel reaches go there */
void wakes_put_far(struct wakes *w, uint32_t i, tick t);
/* All are to have their turn, whatever their wake; horizon: the next edge after that. */
void wakes_due_all(struct wakes *w, tick horizon, uint64_t *due);

/* Edges from the horizon to the one at which this wake has its turn; beyond the wheel: one more than its reach. No branch: the host could not
 * guess it. */
static inline uint32_t wakes_ahead(const struct wakes_ruler *r, tick t)
{
    __extension__ typedef unsigned __int128 wide;
    tick left = t > r->horizon ? t - r->horizon : 0;
    left = MIN(left, (tick)r->reach + 1);
    return (uint32_t)((wide)(2 * (left + r->period - 1)) * r->per_period >> 64);
}

/* Word k of a slot. */
static inline uint64_t *wakes_slot(const struct wakes *w, uint32_t k, uint32_t slot)
{
    return &w->wheel[k * WAKES_SLOTS + slot];
}

/* When the earliest wants to run: any time up to the edge of its turn, or (seldom) an edge before it at which nobody does. */
static inline tick wakes_least(const struct wakes *w)
{
    if (!w->occupied) return w->far_next;
    const uint64_t from = w->occupied >> w->slot | w->occupied << (-w->slot % WAKES_SLOTS);
    return w->ruler.horizon + (uint32_t)__builtin_ctzll(from) * (tick)w->ruler.period;
}

/* Into the wheel, so many edges from the horizon on. It is nowhere else. */
static inline void wakes_put(struct wakes *w, uint32_t i, uint32_t ahead)
{
    const uint64_t bit = (uint64_t)1 << (i % 64);
    const uint32_t slot = (w->slot + ahead) % WAKES_SLOTS;
    *wakes_slot(w, i / 64, slot) |= bit;
    w->planned[i / 64] |= bit;
    w->slot_of[i] = (uint8_t)slot;
    w->occupied |= (uint64_t)1 << slot;
}

/* It is nowhere yet. */
static inline void wakes_plan(struct wakes *w, uint32_t i, tick t)
{
    const uint32_t ahead = wakes_ahead(&w->ruler, t);
    if (LIKELY(ahead <= w->reach))
        wakes_put(w, i, ahead);
    else if (t != TICK_NEVER)
        wakes_put_far(w, i, t);
}

/* Mask of those of word k whose turn is at the horizon: none can be earlier. */
static inline uint64_t wakes_soon(const struct wakes *w, uint32_t k) { return *wakes_slot(w, k, w->slot); }

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

/* Those whose wake is not after now, an edge: they are to have their turn. The next edge is the horizon. False: there
 * are none, and the mask is as it was. */
static inline bool wakes_due(struct wakes *w, tick now, uint64_t *due)
{
    assert(now >= w->ruler.horizon);
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

/* Component i has had its turn and wants another at t. Which it is the host could not guess, so there is no branch. */
static inline void wakes_tell(tick horizon, struct wakes_next *n, uint32_t i, tick t)
{
    n->at[i] = t;
    n->want[(t > horizon) + (t == TICK_NEVER)] |= (uint64_t)1 << (i % 64);
}

/* The news of word k, of one thread. */
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
