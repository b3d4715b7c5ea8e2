/* loads.h: the load instructions of a kernel, one by one, as in Table I of APRES (Oh et al., ISCA'16): which
 * share of the references each makes, how many lines a reference touches, its miss rate in the L1, and the
 * stride between successive warps. */
#ifndef HEDDLE_STATS_LOADS_H
#define HEDDLE_STATS_LOADS_H

#include "stats/run.h"

/* dst += src for the loads of one kernel on another SM: tables of `count` entries by pc. */
void loads_add(struct pc_load_stats *dst, const struct pc_load_stats *src, uint32_t count);

/* One row of the table. */
struct load_line {
    uint32_t pc;
    uint64_t executions, lines;
    /* fraction of the kernel's references, 0..1 */
    double share;
    /* references that an execution makes */
    double lines_per_load;
    /* 0..1, without merges */
    double miss_rate;
    /* 0..1 */
    double merge_rate;
    /* Different lines per reference of an SM, 0..1: #L/#R, the miss rate of an infinite L1. */
    double unique;
    /* bytes; the most frequent */
    int64_t stride;
    /* fraction of the pairs, 0..1 */
    double stride_share;
    /* lines that it brought, and that a miss of a load replaced */
    uint64_t evicted;
    /* the load that replaced most of them, */
    uint32_t evictor_pc;
    /* and its fraction of them, 0..1 */
    double evictor_share;
    uint64_t prefetches, prefetch_useful, prefetch_late;
    /* 0 = not known */
    uint32_t ptx_line, cuda_line;
};

/* How a load uses the L1 (APRES, III-B). */
enum load_class {
    /* its lines are read twice or more, and the L1 has half of them or more */
    LOAD_REUSED,
    /* its lines are read twice or more, but half of them leave before, or more */
    LOAD_THRASHED,
    /* new lines, at the same stride between half of the warps, or more */
    LOAD_STRIDED,
    LOAD_IRREGULAR
};
extern const char *const load_class_names[];
enum load_class loads_class(const struct load_line *l);

/* Writes at most max loads that ran, those with the most references first. Returns how many there are. */
uint32_t loads_sorted(const struct pc_load_stats *loads, uint32_t count, struct load_line *out, uint32_t max);
void loads_print(const struct pc_load_stats *loads, uint32_t count, uint32_t max, struct strbuf *out);
void loads_json(const struct pc_load_stats *loads, uint32_t count, struct strbuf *out);

#endif
