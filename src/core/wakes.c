/* wakes.c: the rare operations of wakes.h. */
#include "core/wakes.h"

#include "base/hugepage.h"

/* Where a product cannot replace the division exactly, the wheel has one edge, and all later ones are far. */
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
    w->wheel = mem_zalloc_huge(sizeof *w->wheel * (WAKES_SLOTS + 2) * words);
    w->planned = w->wheel + (size_t)WAKES_SLOTS * words;
    w->far = w->planned + words;
    w->slot_of = mem_zalloc_huge(sizeof *w->slot_of * count);
    w->far_at = mem_zalloc_huge(sizeof *w->far_at * count);
}

void wakes_free(struct wakes *w)
{
    mem_free_huge(w->wheel);
    mem_free_huge(w->slot_of);
    mem_free_huge(w->far_at);
    *w = (struct wakes){0};
}

/* Components in slots before the new horizon are overdue: they become due at it. */
COLD void wakes_pass(struct wakes *w, tick now)
{
    const struct clock_domain clock = {.period = w->ruler.period};
    const uint64_t edges = clock_cycles(&clock, now - w->ruler.horizon);
    const uint32_t to = (uint32_t)(w->slot + edges) % WAKES_SLOTS;
    for (uint32_t i = 0; w->occupied && i < MIN(edges, (uint64_t)WAKES_SLOTS); i++) {
        const uint32_t slot = (w->slot + i) % WAKES_SLOTS;
        if (!(w->occupied >> slot & 1) || slot == to) continue;
        for (uint32_t k = 0; k < w->words; k++) {
            uint64_t *from = wakes_slot(w, k, slot);
            *wakes_slot(w, k, to) |= *from;
            w->planned[k] &= ~*from;
            *from = 0;
        }
        w->occupied &= ~((uint64_t)1 << slot);
        w->occupied |= (uint64_t)1 << to;
    }
    w->slot = to;
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
