/* wakes.h: when components of one kind next have something to do, so that a step costs what is awake, not what is there.
 *
 * at[i] repeats the wake that component i keeps for itself; who changes that outside of the component's own turn says so (wakes_lower). A
 * component that waits for others alone (TICK_NEVER) is not in `live`, or leaves it when that is next gone through, and costs nothing.
 *
 * Most that are awake run at the next edge of their clock, again and again: those are kept as a mask, `soon`, and their times are not
 * compared. The others are gone through only when `later` has come.
 *
 * A turn: wakes_due takes those out whose time has come; each has its turn, on any thread, and wakes_note writes down when it wants the
 * next one; wakes_take puts them back. */
#ifndef HEDDLE_WAKES_H
#define HEDDLE_WAKES_H

#include "base/tick.h"

struct wakes {
    uint32_t count, words;
    tick horizon;   /* an edge: nobody's turn comes between the newest one and it */
    tick later;     /* the earliest of those that are not in `soon`, or an earlier time */
    uint64_t *soon; /* mask of those whose wake is not after the horizon; the next one lies behind it */
    uint64_t *live; /* mask of those that will do something by themselves */
    tick *at;       /* [count] */
};

/* What comes of the turns of one word of components; empty before the first: soon 0, later TICK_NEVER. */
struct wakes_news {
    uint64_t soon; /* mask */
    tick later;
};

void wakes_init(struct wakes *w, uint32_t count); /* all TICK_NEVER */
void wakes_free(struct wakes *w);

/* When the earliest wants to run: not after the horizon, or its time, or (seldom) a time before it at which nobody does. */
static inline tick wakes_least(const struct wakes *w)
{
    for (uint32_t k = 0; k < w->words; k++)
        if (w->soon[k]) return w->horizon;
    return w->later;
}

static inline void wakes_lower(struct wakes *w, uint32_t i, tick t)
{
    if (t >= w->at[i]) return;
    uint64_t bit = (uint64_t)1 << (i % 64);
    w->at[i] = t;
    w->live[i / 64] |= bit;
    if (t <= w->horizon)
        w->soon[i / 64] |= bit;
    else
        w->later = MIN(w->later, t);
}

/* Those of word k that are not in `soon` and whose wake is not after now; later: the earliest of the others. */
static inline uint64_t wakes_search(struct wakes *w, uint32_t k, tick now, tick *later)
{
    uint64_t found = 0, gone = 0;
    for (uint64_t m = w->live[k] & ~w->soon[k]; m; m &= m - 1) {
        tick t = w->at[k * 64 + (uint32_t)__builtin_ctzll(m)];
        if (t <= now)
            found |= m & -m;
        else if (t == TICK_NEVER)
            gone |= m & -m;
        else
            *later = MIN(*later, t);
    }
    w->live[k] &= ~gone;
    return found;
}

/* Adds those whose wake is not after now, an edge, to a mask. They are to have their turn. */
static inline void wakes_due(struct wakes *w, tick now, uint64_t *due)
{
    if (w->later <= now) {
        tick later = TICK_NEVER;
        for (uint32_t k = 0; k < w->words; k++) due[k] |= wakes_search(w, k, now, &later);
        w->later = later;
    }
    for (uint32_t k = 0; k < w->words; k++) {
        assert(!w->soon[k] || w->horizon <= now);
        due[k] |= w->soon[k];
        w->soon[k] = 0;
    }
}

/* All are to have their turn, whatever their wake. */
static inline void wakes_due_all(struct wakes *w, uint64_t *due)
{
    for (uint32_t i = 0; i < w->count; i++) due[i / 64] |= (uint64_t)1 << (i % 64);
    for (uint32_t k = 0; k < w->words; k++) w->live[k] |= due[k];
}

/* Component i has had its turn, and wants the next one at t. The horizon is that of now. */
static inline void wakes_note(const struct wakes *w, struct wakes_news *n, uint32_t i, tick t)
{
    const bool is_soon = t <= w->horizon;
    w->at[i] = t;
    n->soon |= (uint64_t)is_soon << (i % 64);
    n->later = MIN(n->later, is_soon ? TICK_NEVER : t);
}

/* The news of word k, of one thread. */
static inline void wakes_take(struct wakes *w, uint32_t k, const struct wakes_news *n)
{
    w->later = MIN(w->later, n->later);
    w->soon[k] |= n->soon;
}

#endif
