/* load_stats.h: what is counted of each load instruction (APRES, Table I). See load_stats.c. */
#ifndef HEDDLE_SM_LOAD_STATS_H
#define HEDDLE_SM_LOAD_STATS_H

#include "mem/l1.h"
#include "mem/lineset.h"
#include "stats/run.h"

/* What an access at the L1 touches is the first line of the host's cache. */
struct sm_load {
    /* lines that it read, for unique_lines; made when it first executes */
    _Alignas(HOST_LINE) struct lineset seen;
    struct pc_load_stats stats;
    /* the newest execution, for strides */
    struct {
        uint64_t address, warp;
        bool valid;
    } last;
};

/* A warp, by its number in the grid, executed the load at the address of its first lane; it touched `lines`
 * lines. */
void load_executed(struct sm_load *l, uint64_t warp, uint64_t address, uint32_t lines);
/* The L1 took one access of it; line: the number of the line. */
void load_accessed(struct sm_load *l, uint64_t line, enum l1_answer answer);
/* It is the first that wants the line of a prefetch; is_late: that is on its way. */
void load_used_prefetch(struct sm_load *l, bool is_late);
/* A line that it brought has left for one of a load at this PC. */
void load_evicted(struct sm_load *l, uint32_t by_pc);

#endif
