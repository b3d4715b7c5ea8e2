/* print.h: the statistics of a run as text. All of it is read from the rows (stat.h) and from a few
 * statistics that the table and the GPGPU-Sim output know by name (names.def). */
#ifndef HEDDLE_STATS_PRINT_H
#define HEDDLE_STATS_PRINT_H

#include "stats/view.h"

typedef void stats_printer(const struct stats_view *v, struct strbuf *out);

/* For a terminal of 80 columns. */
stats_printer view_print_table;
/* Every row of every group; schema in docs/statistics.md. */
stats_printer view_print_json;
/* The lines that scripts for GPGPU-Sim look for. */
stats_printer view_print_gpgpusim;
/* Every load, over all launches of its kernel. */
stats_printer view_print_loads;
/* The time series: a line for each sample. */
stats_printer view_print_series_csv;
/* An array of objects. */
stats_printer view_print_series_json;

/* The printer for a file name: .json everything, .csv the time series, any other (or NULL) the table. */
stats_printer *stats_printer_for(const char *path);

#endif
