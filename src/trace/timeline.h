/* timeline.h: a run as a timeline in the Chrome trace-event format (JSON), which Perfetto (ui.perfetto.dev)
 * and chrome://tracing open. */
#ifndef HEDDLE_TIMELINE_H
#define HEDDLE_TIMELINE_H

#include "stats/view.h"

/* Kernels as slices, a track for each stream; CTAs as slices, tracks for each SM (timed_options.timeline);
 * notes of mechanisms as instants, a track for each mechanism and SM; counters from the time series
 * (timed_options.sample_cycles). What was not recorded is left out. */
void timeline_print(const struct stats_view *v, struct strbuf *out);

#endif
