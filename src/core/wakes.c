/* wakes.c: see wakes.h. */
#include "core/wakes.h"

/* Times begin at a line of their own: threads write those of their components side by side. */
void wakes_init(struct wakes *w, uint32_t count)
{
    *w = (struct wakes){.count = count, .words = (count + 63) / 64, .later = TICK_NEVER};
    w->soon = mem_zalloc_lines(sizeof *w->soon * 2 * w->words);
    w->live = w->soon + w->words;
    w->at = mem_zalloc_lines(sizeof *w->at * count);
    for (uint32_t i = 0; i < count; i++) w->at[i] = TICK_NEVER;
}

void wakes_free(struct wakes *w)
{
    free(w->soon);
    free(w->at);
    *w = (struct wakes){0};
}
