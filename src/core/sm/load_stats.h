/* load_stats.h: statistics of each load instruction (APRES, Table I), and of other accesses of the L1. See
 * load_stats.c. */
#ifndef HEDDLE_SM_LOAD_STATS_H
#define HEDDLE_SM_LOAD_STATS_H

#include "mem/l1_hooks.h"
#include "mem/lineset.h"
#include "stats/run.h"

/* An access at the L1 touches only the first line of the host's cache. */
struct sm_load {
    /* lines that it read, for unique_lines; made when it first executes */
    _Alignas(HOST_LINE) struct lineset seen;
    /* the newest execution, for strides */
    struct {
        uint64_t address, warp;
    } last;
    struct pc_load_stats stats;
};
_Static_assert(offsetof(struct sm_load, stats.executions) == HOST_LINE &&
                   offsetof(struct sm_load, stats.stride.at[2]) <= 2 * HOST_LINE,
               "what an access counts is a line of the host's cache, what an execution counts the next one");

/* A warp, by its number in the grid, executed the load at the address of its first lane; it touched `lines`
 * lines. */
void load_executed(struct sm_load *l, uint64_t warp, uint64_t address, uint32_t lines);
/* A prefetch that a mechanism made for it has left for memory. */
void load_prefetched(struct sm_load *l);

/* Accesses to global and local memory that are not in the statistics of a load; mechanisms read them
 * (sm_ports.c). */
struct access_counts {
    /* stores and atomics, by the L1's answer; loads that bypassed it */
    uint64_t others[L1_TAKEN], loads_sent;
};
/* Is it an access to global or local memory? Mechanisms decide on these alone, not on textures that go
 * through the L1. */
static inline bool load_is_of_program(const struct l1_txn *t)
{
    return t->cls == REQ_GLOBAL || t->cls == REQ_LOCAL;
}
/* The L1 of an SM took an access: a hook of it (mem/l1_hooks.h). */
void load_on_access(void *sm, tick now, const struct l1_txn *t, const struct l1_result *r);

#endif
