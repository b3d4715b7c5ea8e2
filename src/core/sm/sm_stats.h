/* sm_stats.h: what one SM counts. */
#ifndef HEDDLE_SM_STATS_H
#define HEDDLE_SM_STATS_H

#include "isa/work.h"
#include "stats/run.h"

/* Where an issue slot went (thesis 3.4): exactly one for each scheduler and cycle. See account.c for the
 * rules. */
enum issue_slot {
    SLOT_ISSUED,
    SLOT_DATA_MEM,
    SLOT_DATA_ALU,
    SLOT_STR_MEM,
    SLOT_STR_ALU,
    SLOT_FETCH,
    SLOT_BARRIER,
    SLOT_HELD,
    SLOT_IDLE,
    SLOT_COUNT
};

struct sm_stats {
    /* counted in every cycle in which schedulers look: the sum is schedulers * cycles */
    uint64_t slots[SLOT_COUNT];
    /* counted for every instruction and load: a line of the host's cache */
    /* lanes that executed instructions */
    uint64_t thread_insts;
    /* accesses accepted by the L1 for loads, stores and atomics */
    uint64_t transactions;
    /* transactions of loads alone, when they issue */
    uint64_t load_transactions;
    /* cycles from issue to writeback of loads from global and local memory; these loads */
    uint64_t load_cycles, loads_done;
    /* from the counts of each instruction (program.c) */
    /* instructions; those that are barriers; branches */
    uint64_t warp_insts, barriers, branches;
    uint64_t insts_by_unit[ISA_UNIT_COUNT];
    uint64_t lanes_by_work[ISA_WORK_COUNT];
    /* operands: rows of 32 lanes, and of these the lanes that executed */
    uint64_t register_reads, register_read_lanes, register_writes, register_write_lanes;
    uint64_t other_operands, other_operand_lanes;
    /* warp instructions to global and local memory */
    uint64_t loads, stores, atomics;
    /* transactions of stores; sectors of both, where the L1 has sectors */
    uint64_t store_transactions, load_sectors, store_sectors;
    uint64_t shared_insts, const_insts, tex_insts, sleeps, extra_issues;
    /* all cycles; those with at least one warp or CTA resident */
    uint64_t cycles, active_cycles;
    /* schedulers * cycles, counted apart: what the sum of `slots` must be */
    uint64_t slots_all;
    uint64_t shared_conflict_cycles, collector_conflict_cycles;
    uint64_t fetches, icache_misses, const_accesses, const_misses, tex_accesses, tex_misses;
    uint64_t ctas, warps;
    /* what CTAs held, added up over the active cycles */
    uint64_t warp_cycles, cta_cycles, register_cycles, shared_cycles;
    /* the CTAs without slots, and those without rows of the register file */
    uint64_t pending_cta_cycles, saved_cta_cycles;
    /* the capacity of the SM for each, added up over the active cycles */
    uint64_t warp_slot_cycles, register_file_cycles, shared_size_cycles, l1_size_cycles;
    uint64_t reexecutions;
    /* prefetches of mechanisms: asked for; those that were not offered to the L1, by their end
     * (prefetch.c) */
    uint64_t prefetches, prefetches_refused, prefetches_merged, prefetches_dropped;
    /* rows of the register file that mechanisms had at once, at most; their accesses to its banks */
    uint64_t lent_max, lent_accesses, lent_conflicts;
    /* rows of registers that left for memory, and that came back; cycles in which one found its bank taken */
    uint64_t rows_out, rows_in, rows_late, row_conflicts;
};

extern const struct stat_row sm_stat_rows[];

#endif
