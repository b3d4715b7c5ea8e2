/* catalog.h: every statistic there is, for `heddle explain`, `heddle list stats` and docs/statistics.md. */
#ifndef HEDDLE_STATS_CATALOG_H
#define HEDDLE_STATS_CATALOG_H

#include "stats/stat.h"

struct stats_table {
    const char *group;
    const char *what, *where;
    const struct stat_row *rows;
};
/* Returns the i-th table. False: there are no more. Those of the machine are in core/stat_tables.h. */
typedef bool stats_tables(uint32_t i, struct stats_table *out);

/* Writes what a statistic means, its unit, how it is counted and the nearest Nsight Compute metric. False
 * when there is none of that name: out is then unchanged. */
bool stats_explain(stats_tables *tables, const char *name, struct strbuf *out);
/* The nearest name, or NULL: for a hint. */
const char *stats_nearest(stats_tables *tables, const char *name);
/* One line each. */
void stats_list(stats_tables *tables, struct strbuf *out);
/* docs/statistics.md. */
void stats_docs(stats_tables *tables, struct strbuf *out);

#endif
