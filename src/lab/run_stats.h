/* run_stats.h: the numbers of a run that stand beside the rows of the statistic tables: those of the whole
 * run, of its longest kernel and of the loads with the most references. The store keeps them as
 * statistics, so experiments and `heddle query` use them by name.
 *
 *     longest.cycles, .registers, .warps, .ctas, .ctas_per_sm, .limit     the kernel with the most cycles
 *     resident.warps     warps of an SM, of the kernel with the most: those that fit and that its grid has
 *     load1.share, .lines, .unique, .miss_rate, .merge_rate, .stride, .stride_share, .pc  and load2 to load4
 *
 * A load is an instruction of a kernel, over all launches of that kernel; the one with the most references
 * is load1. */
#ifndef HEDDLE_RUN_STATS_H
#define HEDDLE_RUN_STATS_H

#include "base/json_tree.h"

/* What longest.limit counts through: its value is a position in this list. NULL ends it. */
extern const char *const run_limit_names[];

/* The i-th name; NULL: there are no more. */
const char *run_stat_name(uint32_t i);
/* Calls `put` for each number that the JSON of a run (docs/statistics.md) has. False as soon as `put`
 * gives false. */
typedef bool (*run_stat_put)(void *context, const char *name, double value);
bool run_stats_each(const struct json_node *root, run_stat_put put, void *context);

#endif
