/* cta_table.h: the CTAs of an SM as a mechanism that swaps them sees them: which are active, stalled, ready,
 * and since when. See cta_table.c. */
#ifndef HEDDLE_MECH_CTA_TABLE_H
#define HEDDLE_MECH_CTA_TABLE_H

#include "heddle/mechanism.h"

/* Storage of Virtual Thread's switching logic, 2.4 KB (FineReg, V-F). */
enum { CTA_SWITCHING_BITS = 19661 };

struct cta_entry {
    bool is_used, is_active;
    /* active: it has stalled, and may have gone on since; inactive: it could go on */
    bool is_stalled, is_ready;
    uint32_t warps, rows, first_row;
    /* order of start */
    uint64_t age;
    /* when it started, entered, left, stalled or became ready last */
    uint64_t since;
};

/* Counts, summed over CTAs and cycles. */
struct cta_counts {
    uint64_t cycles, active_cycles, inactive_cycles, swaps, stalls, resident_max;
};

struct cta_table {
    struct cta_entry *ctas;
    uint32_t slots, active, inactive;
    uint64_t started;
    /* up to which cycle the counts go */
    uint64_t counted_to;
    struct cta_counts counts;
};

/* In init. */
void cta_table_init(struct cta_table *t, const struct mech_ports *ports);
/* In on_cta, first. */
void cta_table_hear(struct cta_table *t, const struct mech_cta *e);
/* The oldest inactive CTA that is ready; the active one that stalled longest ago; MECH_NO_CTA: there is none.
 * */
uint32_t cta_table_ready(const struct cta_table *t);
uint32_t cta_table_stalled(const struct cta_table *t);

/* Rows of statistics for a state with a field `table`. */
#define CTA_TABLE_STATS(type, name)                                                                          \
    STAT_COUNT(type, table.counts.swaps, name ".swaps", "CTAs",                                              \
               "CTAs that gave their slots to another or left", NULL),                                       \
        STAT_COUNT(type, table.counts.stalls, name ".stalls", "CTAs",                                        \
                   "times that all warps of an active CTA waited for memory", NULL),                         \
        STAT_COUNT(type, table.counts.cycles, name ".cycles", "cycles",                                      \
                   "cycles with a CTA, summed over SMs", NULL),                                              \
        STAT_COUNT(type, table.counts.active_cycles, name ".active_cta_cycles", "CTA-cycles",                \
                   "CTAs with slots, summed over cycles", NULL),                                             \
        STAT_COUNT(type, table.counts.inactive_cycles, name ".inactive_cta_cycles", "CTA-cycles",            \
                   "resident CTAs without slots, summed over cycles", NULL),                                 \
        STAT_LARGEST(type, table.counts.resident_max, name ".resident_max", "CTAs",                          \
                     "most CTAs that one SM held at a time")

#endif
