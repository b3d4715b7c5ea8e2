/* print.h: the statistics of a run as text. All of it is read from the rows (stat.h) and from a few
 * statistics that the table and the GPGPU-Sim output know by name (names.def).
 *
 * stats_* print a timed GPU; view_* do the same for a view. */
#ifndef HEDDLE_STATS_PRINT_H
#define HEDDLE_STATS_PRINT_H

#include "stats/view.h"

void stats_print_table(struct timed_gpu *g, struct strbuf *out); /* for a terminal of 100 columns */
void stats_print_json(struct timed_gpu *g,
                      struct strbuf *out); /* every row of every group; schema in docs/statistics.md */
void stats_print_gpgpusim(struct timed_gpu *g,
                          struct strbuf *out); /* the lines that scripts for GPGPU-Sim look for */
void stats_print_series_csv(struct timed_gpu *g,
                            struct strbuf *out); /* the time series: a line for each sample */
void stats_print_series_json(struct timed_gpu *g, struct strbuf *out); /* an array of objects */

/* What a file of this name holds: .json everything, .csv the time series, any other (or NULL) the table. */
void stats_print_for(struct timed_gpu *g, const char *path, struct strbuf *out);

void view_print_table(const struct stats_view *v, struct strbuf *out);
void view_print_json(const struct stats_view *v, struct strbuf *out);
void view_print_gpgpusim(const struct stats_view *v, struct strbuf *out);
void view_print_series_csv(const struct stats_view *v, struct strbuf *out);
void view_print_series_json(const struct stats_view *v, struct strbuf *out);

#endif
