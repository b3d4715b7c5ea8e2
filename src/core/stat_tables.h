/* stat_tables.h: the statistics of all components and built-in mechanisms, for `heddle explain`, `heddle
 * list stats` and docs/statistics.md. */
#ifndef HEDDLE_CORE_STAT_TABLES_H
#define HEDDLE_CORE_STAT_TABLES_H

#include "stats/catalog.h"

stats_tables machine_stats_at;

#endif
