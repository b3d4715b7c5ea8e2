/* wakes.h: when components of one kind next have something to do, so that a step costs what is awake, not what is there.
 *
 * at[i] repeats the wake that component i keeps for itself; who changes that outside of the component's own turn says so (wakes_set,
 * wakes_lower). Groups have the least of their members, so that looking for the next or for those whose time has come passes over a
 * group that sleeps as a whole.
 * (1) least[g] is never above any at[] of group g.  (2) It is exact after wakes_close, but for what was raised without a turn. */
#ifndef HEDDLE_WAKES_H
#define HEDDLE_WAKES_H

#include "base/tick.h"

enum { WAKES_GROUP = 16, WAKES_WORD = 64 };

struct wakes {
    uint32_t count, groups;
    tick *at;    /* [groups * WAKES_GROUP]: TICK_NEVER beyond count */
    tick *least; /* [groups] */
};

void wakes_init(struct wakes *w, uint32_t count); /* all TICK_NEVER */
void wakes_free(struct wakes *w);

static inline uint32_t wakes_words(const struct wakes *w) { return (w->count + WAKES_WORD - 1) / WAKES_WORD; }

/* The earliest of all. */
static inline tick wakes_least(const struct wakes *w)
{
    tick least = w->least[0];
    for (uint32_t g = 1; g < w->groups; g++) least = MIN(least, w->least[g]);
    return least;
}

static inline void wakes_lower(struct wakes *w, uint32_t i, tick t)
{
    wake_at(&w->at[i], t);
    wake_at(&w->least[i / WAKES_GROUP], t);
}

/* Of one that has had its turn: it may be later than before, which its group learns from wakes_close. */
static inline void wakes_set(struct wakes *w, uint32_t i, tick t)
{
    w->at[i] = t;
    wake_at(&w->least[i / WAKES_GROUP], t);
}

/* A mask of those whose wake is not after now; how many they are. */
uint32_t wakes_due(const struct wakes *w, tick now, uint64_t *due);
/* After those of the mask have been set. */
void wakes_close(struct wakes *w, const uint64_t *due);

#endif
