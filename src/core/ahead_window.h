/* ahead_window.h: how far SMs may run ahead of the machine's time.
 *
 * An SM whose next cycles nothing else can influence has several of them in one step, while its state is
 * in the host's cache (the SM's ahead.c says when it must stop). The window ends before anything looks at
 * SMs or hands them something: the dispatcher, the streams, a sample, a timer of a mechanism for the whole
 * GPU. Running ahead changes no result. */
#ifndef HEDDLE_AHEAD_WINDOW_H
#define HEDDLE_AHEAD_WINDOW_H

#include "core/sm/sm_ahead.h"

/* The times at which SMs are next looked at. */
struct ahead_limits {
    tick dispatcher, streams, sample, gpu_timer;
};

/* SMs may have cycles before this time ahead of the others; 0: none, as is_allowed says. */
static inline tick ahead_end(bool is_allowed, const struct ahead_limits *l)
{
    if (!is_allowed) return 0;
    return MIN(MIN(l->dispatcher, l->streams), MIN(l->sample, l->gpu_timer));
}

/* How often SMs that ran ahead had to stop for the step of a cycle. With a crew, an SM that stops makes
 * the workers wait for each other, so SMs run ahead there only where few stops were counted while the
 * caller worked alone. */
struct ahead_record {
    uint64_t runs, stops;
};
void ahead_count(struct ahead_record *r, bool has_stopped);
bool ahead_pays(const struct ahead_record *r);

/* The window of a step at `now`. end: of ahead_end; edge: the crossbar's next one; meets: SMs of several
 * workers end their windows at the same time. */
void ahead_set_window(struct sm_window *w, tick now, tick core_period, tick end, tick edge, bool meets);

#endif
