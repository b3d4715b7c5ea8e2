/* wakes.c: see wakes.h: what is seldom. */
#include "core/wakes.h"

/* Where the product for a division is not exact there is no wheel: all but the next edge is far. */
static uint32_t reach_of(uint32_t period)
{
    const uint32_t exact = 1u << 31;
    return period < exact ? MIN((uint32_t)WAKES_SLOTS - 2, exact / period) : 0;
}

void wakes_init(struct wakes *w, uint32_t count, uint32_t period)
{
    const uint32_t words = (count + 63) / 64, reach = reach_of(period);
    *w = (struct wakes){.ruler = {.per_period = (((uint64_t)1 << 63) + period - 1) / period,
                                  .period = period,
                                  .reach = reach * period},
                        .far_next = TICK_NEVER,
                        .words = words,
                        .reach = reach,
                        .count = count};
    w->wheel = mem_zalloc_lines(sizeof *w->wheel * (WAKES_SLOTS + 2) * words);
    w->planned = w->wheel + (size_t)WAKES_SLOTS * words;
    w->far = w->planned + words;
    w->slot_of = mem_zalloc_lines(sizeof *w->slot_of * count);
    w->far_at = mem_zalloc_lines(sizeof *w->far_at * count);
}

void wakes_free(struct wakes *w)
{
    free(w->wheel);
    free(w->slot_of);
    free(w->far_at);
    *w = (struct wakes){0};
}

/* All that was in slots before the new horizon is overdue, and due at it. */
COLD void wakes_pass(struct wakes *w, tick now)
{
    const uint64_t edges =
        clock_cycles(&(struct clock_domain){.period = w->ruler.period}, now - w->ruler.horizon);
    const uint64_t to = w->edge + edges;
    uint64_t *into = wakes_slot(w, to);
    for (uint64_t edge = w->edge; w->occupied && edge < to && edge < w->edge + WAKES_SLOTS; edge++) {
        uint64_t *from = wakes_slot(w, edge);
        if (!(w->occupied >> edge % WAKES_SLOTS & 1) || from == into) continue;
        for (uint32_t k = 0; k < w->words; k++) {
            into[k] |= from[k];
            w->planned[k] &= ~from[k];
            from[k] = 0;
        }
        w->occupied &= ~((uint64_t)1 << edge % WAKES_SLOTS);
        w->occupied |= (uint64_t)1 << to % WAKES_SLOTS;
    }
    w->edge = to;
    w->ruler.horizon = now;
}

COLD void wakes_put_far(struct wakes *w, uint32_t i, tick t)
{
    w->far[i / 64] |= (uint64_t)1 << (i % 64);
    w->far_at[i] = t;
    w->far_next = MIN(w->far_next, t);
}

COLD void wakes_bring_near(struct wakes *w)
{
    w->far_next = TICK_NEVER;
    for (uint32_t k = 0; k < w->words; k++) {
        uint64_t left = w->far[k];
        w->far[k] = 0;
        for (; left; left &= left - 1) {
            const uint32_t i = k * 64 + (uint32_t)__builtin_ctzll(left);
            wakes_plan(w, i, w->far_at[i]);
        }
    }
}

void wakes_due_all(struct wakes *w, tick horizon, uint64_t *due)
{
    for (uint32_t k = 0; k < w->words; k++) due[k] = UINT64_MAX;
    if (w->count % 64) due[w->words - 1] = ((uint64_t)1 << w->count % 64) - 1;
    memset(w->wheel, 0, sizeof *w->wheel * (WAKES_SLOTS + 2) * w->words);
    w->occupied = 0;
    w->far_next = TICK_NEVER;
    w->ruler.horizon = horizon;
}
