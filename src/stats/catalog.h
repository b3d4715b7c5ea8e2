/* catalog.h: every statistic there is, for `heddle explain`, `heddle list stats` and docs/statistics.md. */
#ifndef HEDDLE_STATS_CATALOG_H
#define HEDDLE_STATS_CATALOG_H

#include "stats/stat.h"

struct stats_table {
    const char *group;
    const char *what, *where;
    const struct stat_row *rows;
};
/* The i-th table: those of the components, then those of the built-in mechanisms. False: there are no more.
 */
bool stats_table_at(uint32_t i, struct stats_table *out);

/* What a statistic means, its unit, how it is counted, the nearest Nsight Compute metric. False when there is
 * none of that name: out then holds nothing. */
bool stats_explain(const char *name, struct strbuf *out);
/* The nearest name, or NULL: for a hint. */
const char *stats_nearest(const char *name);
void stats_list(struct strbuf *out); /* one line each */
void stats_docs(struct strbuf *out); /* docs/statistics.md */

#endif
