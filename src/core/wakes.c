/* wakes.c: see wakes.h. */
#include "core/wakes.h"

void wakes_init(struct wakes *w, uint32_t count)
{
    *w = (struct wakes){.count = count, .words = (count + 63) / 64, .later = TICK_NEVER};
    w->at = mem_alloc(sizeof *w->at * count);
    w->live = mem_zalloc(sizeof *w->live * w->words);
    w->soon = mem_zalloc(sizeof *w->soon * w->words);
    for (uint32_t i = 0; i < count; i++) w->at[i] = TICK_NEVER;
}

void wakes_free(struct wakes *w)
{
    free(w->at);
    free(w->live);
    free(w->soon);
    *w = (struct wakes){0};
}
