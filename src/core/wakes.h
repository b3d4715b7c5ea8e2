/* wakes.h: when components of one kind next have something to do, so that a step costs what is awake, not what is there.
 *
 * at[i] repeats the wake that component i keeps for itself; who changes that outside of the component's own turn says so (wakes_lower). A
 * component that waits for others alone (TICK_NEVER) is not in `live`, and costs nothing.
 *
 * Most that are awake run at the next edge of their clock, again and again: those are kept as a mask, `soon`, and their times are not
 * compared. The others are gone through only when `later` has come. */
#ifndef HEDDLE_WAKES_H
#define HEDDLE_WAKES_H

#include "base/tick.h"

struct wakes {
    uint32_t count, words;
    tick horizon;   /* an edge: nobody's turn comes between the newest one and it */
    tick later;     /* the earliest of those that are not in `soon`, or an earlier time */
    tick *at;       /* [count] */
    uint64_t *live; /* mask of those that will do something by themselves */
    uint64_t *soon; /* mask of those of them whose wake is not after the horizon */
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

/* Of those of a mask, word k of it, that have had their turn: news[] by component. The horizon is that of now. */
static inline void wakes_set(struct wakes *w, uint32_t k, uint64_t mask, const tick *news)
{
    const tick horizon = w->horizon;
    tick later = w->later, *at = w->at + k * 64;
    uint64_t soon = 0, gone = 0;
    news += k * 64;
    for (uint64_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(m);
        tick t = at[i] = news[i];
        if (t <= horizon)
            soon |= m & -m;
        else if (t == TICK_NEVER)
            gone |= m & -m;
        else
            later = MIN(later, t);
    }
    w->later = later;
    w->soon[k] = (w->soon[k] & ~mask) | soon;
    w->live[k] = (w->live[k] | mask) & ~gone;
}

/* Adds those whose wake is not after now, an edge, to a mask. They are to have their turn. */
static inline void wakes_due(struct wakes *w, tick now, uint64_t *due)
{
    const bool is_later = w->later <= now;
    tick later = TICK_NEVER;
    for (uint32_t k = 0; k < w->words; k++) {
        uint64_t found = w->soon[k];
        assert(!found || w->horizon <= now);
        for (uint64_t m = is_later ? w->live[k] & ~found : 0; m; m &= m - 1) {
            tick t = w->at[k * 64 + (uint32_t)__builtin_ctzll(m)];
            if (t <= now)
                found |= m & -m;
            else
                later = MIN(later, t);
        }
        due[k] |= found;
    }
    if (is_later) w->later = later;
}

#endif
