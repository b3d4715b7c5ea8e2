/* wakes.c: see wakes.h. */
#include "core/wakes.h"

enum { GROUPS_PER_WORD = WAKES_WORD / WAKES_GROUP };

void wakes_init(struct wakes *w, uint32_t count)
{
    *w = (struct wakes){.count = count, .groups = (count + WAKES_GROUP - 1) / WAKES_GROUP};
    w->at = mem_alloc(sizeof *w->at * w->groups * WAKES_GROUP);
    w->least = mem_alloc(sizeof *w->least * w->groups);
    for (uint32_t i = 0; i < w->groups * WAKES_GROUP; i++) w->at[i] = TICK_NEVER;
    for (uint32_t g = 0; g < w->groups; g++) w->least[g] = TICK_NEVER;
}

void wakes_free(struct wakes *w)
{
    free(w->at);
    free(w->least);
    *w = (struct wakes){0};
}

static uint64_t group_due(const tick *at, tick now)
{
    uint64_t due = 0;
    for (uint32_t k = 0; k < WAKES_GROUP; k++) due |= (uint64_t)(at[k] <= now) << k;
    return due;
}

uint32_t wakes_due(const struct wakes *w, tick now, uint64_t *due)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < w->groups; g++) {
        uint32_t shift = g % GROUPS_PER_WORD * WAKES_GROUP;
        if (!shift) due[g / GROUPS_PER_WORD] = 0;
        if (w->least[g] > now) continue;
        uint64_t some = group_due(w->at + g * WAKES_GROUP, now);
        due[g / GROUPS_PER_WORD] |= some << shift;
        count += (uint32_t)__builtin_popcountll(some);
    }
    return count;
}

static tick group_least(const tick *at)
{
    tick even = at[0], odd = at[1]; /* two chains: neither waits for the other */
    for (uint32_t k = 2; k < WAKES_GROUP; k += 2) {
        even = MIN(even, at[k]);
        odd = MIN(odd, at[k + 1]);
    }
    return MIN(even, odd);
}

void wakes_close(struct wakes *w, const uint64_t *due)
{
    const uint64_t group = ((uint64_t)1 << WAKES_GROUP) - 1;
    for (uint32_t g = 0; g < w->groups; g++)
        if (due[g / GROUPS_PER_WORD] >> (g % GROUPS_PER_WORD * WAKES_GROUP) & group)
            w->least[g] = group_least(w->at + g * WAKES_GROUP);
}
