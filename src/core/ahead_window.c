/* ahead_window.c: see ahead_window.h. */
#include "core/ahead_window.h"

enum {
    /* cycles that an SM runs ahead, at most */
    AHEAD_CYCLES = 8,
    /* running ahead pays if at most one run in this many has to stop */
    STOPS_FEW = 16,
    /* after this many runs the counts are halved: old ones fade */
    RUNS_KEPT = 4096
};

void ahead_count(struct ahead_record *r, bool has_stopped)
{
    r->stops += has_stopped;
    if (++r->runs < RUNS_KEPT) return;
    r->runs /= 2;
    r->stops /= 2;
}

bool ahead_pays(const struct ahead_record *r) { return r->stops * STOPS_FEW <= r->runs; }

void ahead_set_window(struct sm_window *w, tick now, tick core_period, tick end, tick edge, bool meets)
{
    const tick span = AHEAD_CYCLES * core_period;
    w->end = MIN(end, now + span - (meets ? now % span : 0));
    w->edge = edge;
}
