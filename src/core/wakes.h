/* wakes.h: when components of one kind next have something to do, so that a step costs what is awake, not what is there.
 *
 * at[i] repeats the wake that component i keeps for itself; who changes that outside of the component's own turn says so (wakes_lower). A
 * component that waits for others alone (TICK_NEVER) is not in `live`, and costs nothing. */
#ifndef HEDDLE_WAKES_H
#define HEDDLE_WAKES_H

#include "base/tick.h"

struct wakes {
    uint32_t count, words;
    tick *at;       /* [count] */
    uint64_t *live; /* mask of those that will do something by themselves */
};

void wakes_init(struct wakes *w, uint32_t count); /* all TICK_NEVER */
void wakes_free(struct wakes *w);

/* The earliest of all, or any that is not after `soon`: an earlier one would make no difference. */
static inline tick wakes_least(const struct wakes *w, tick soon)
{
    tick least = TICK_NEVER;
    for (uint32_t k = 0; k < w->words; k++)
        for (uint64_t m = w->live[k]; m; m &= m - 1) {
            least = MIN(least, w->at[k * 64 + (uint32_t)__builtin_ctzll(m)]);
            if (least <= soon) return least;
        }
    return least;
}

static inline void wakes_lower(struct wakes *w, uint32_t i, tick t)
{
    if (t >= w->at[i]) return;
    w->at[i] = t;
    w->live[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Of those of a mask, word k of it, that have had their turn: news[] by component. */
static inline void wakes_set(struct wakes *w, uint32_t k, uint64_t mask, const tick *news)
{
    uint64_t gone = 0;
    for (uint64_t m = mask; m; m &= m - 1) {
        uint32_t i = k * 64 + (uint32_t)__builtin_ctzll(m);
        w->at[i] = news[i];
        gone |= m & -m & -(uint64_t)(news[i] == TICK_NEVER); /* no branch: it would be a guess */
    }
    w->live[k] = (w->live[k] | mask) & ~gone;
}

/* Adds those whose wake is not after now to a mask; how many they are. */
static inline uint32_t wakes_due(const struct wakes *w, tick now, uint64_t *due)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < w->words; k++) {
        uint64_t found = 0;
        for (uint64_t m = w->live[k]; m; m &= m - 1) {
            uint64_t is_due = w->at[k * 64 + (uint32_t)__builtin_ctzll(m)] <= now;
            found |= m & -m & -is_due;
            count += (uint32_t)is_due;
        }
        due[k] |= found;
    }
    return count;
}

#endif
