/* stat.h: a statistic is declared once, as a row of a table in the file that counts it. The printers (table,
 * JSON, time series), `heddle explain` and the docs page are read from those rows. Counters are plain u64
 * fields of a component's stats struct, incremented in place. */
#ifndef HEDDLE_STAT_H
#define HEDDLE_STAT_H

#include "base/strbuf.h"
#include "heddle/rows.h" /* struct stat_row */

/* dst += src, row by row (MAX: maximum). Structs of statistics have only fields that the rows name. */
void stat_add(const struct stat_row *rows, void *dst, const void *src);
/* dst -= src for counts and histograms: what happened between two snapshots. */
void stat_sub(const struct stat_row *rows, void *dst, const void *src);
/* Ratio in its unit ("%" = times 100). */
double stat_value(const struct stat_row *row, const void *stats);

#endif
