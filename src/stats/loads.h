/* loads.h: the load instructions of a kernel, one by one, as in Table I of APRES (Oh et al., ISCA'16): which
 * share of the references each makes, how many lines a reference touches, how it fares in the L1, and by
 * which stride successive warps move. */
#ifndef HEDDLE_STATS_LOADS_H
#define HEDDLE_STATS_LOADS_H

#include "stats/run.h"

/* dst += src for the loads of one kernel on another SM: tables of `count` entries by pc. */
void loads_add(struct pc_load_stats *dst, const struct pc_load_stats *src, uint32_t count);

struct load_line { /* one row of the table */
    uint32_t pc;
    uint64_t executions, lines;
    double share;          /* of the kernel's references, 0..1 */
    double lines_per_load; /* references that an execution makes */
    double miss_rate;      /* 0..1 */
    double
        unique; /* different lines of an SM, of its references, 0..1: #L/#R, what an endless L1 would miss */
    int64_t stride;      /* bytes; the most frequent */
    double stride_share; /* of the pairs, 0..1 */
};
/* The loads that ran, those with the most references first. Returns how many there are; writes at most max.
 */
uint32_t loads_sorted(const struct pc_load_stats *loads, uint32_t count, struct load_line *out, uint32_t max);
void loads_print(const struct pc_load_stats *loads, uint32_t count, uint32_t max, struct strbuf *out);
void loads_json(const struct pc_load_stats *loads, uint32_t count, struct strbuf *out);

#endif
