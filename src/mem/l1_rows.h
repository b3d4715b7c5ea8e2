/* l1_rows.h: parameters and statistics of an L1. */
#ifndef HEDDLE_L1_ROWS_H
#define HEDDLE_L1_ROWS_H

#include "config/param.h"
#include "stats/stat.h"

enum l1_write_global {
    /* write through; a hit drops the line */
    L1_WRITE_EVICT,
    /* write through; a hit keeps the line */
    L1_WRITE_UPDATE
};
enum l1_write_local {
    L1_WRITE_BACK,
    /* local stores are treated like global ones */
    L1_WRITE_THROUGH
};
enum l1_allocate { L1_ALLOCATE_ON_MISS, L1_ALLOCATE_ON_FILL };
enum l1_prefetch_priority { L1_PREFETCH_LOW, L1_PREFETCH_ALTERNATE };

struct l1_params {
    /* any value: sets = size / (line * ways), at least one; fewer ways when they do not fit */
    uint64_t size;
    uint32_t ways, line;
    bool sectored;
    /* enum cache_index, cache_replace */
    uint32_t index, replacement;
    uint32_t mshrs, merges, miss_queue, latency, tag_latency, ports, read_places;
    /* enums above */
    uint32_t write_global, write_local, allocate;
    /* flush: at the end of a kernel; the SM reads this field */
    bool mshr_until_taken, local_write_allocate, cache_global, flush;
    bool perfect;
    uint32_t fixed_miss_latency;
    /* cycles: a reply is taken a whole number of these after its request; 0 = at once */
    uint32_t reply_step;
    /* enum l1_prefetch_priority; read by the SM */
    uint32_t prefetch_priority;
};
extern const struct param_row l1_rows[];
extern const struct stat_row l1_stat_rows[];
/* Most loads that can wait: those merged into MSHRs, and bypassing loads, as many as the miss queue has
 * entries. */
uint32_t l1_loads_max(const struct l1_params *p);

enum l1_type {
    L1_GLOBAL_LOAD,
    L1_GLOBAL_STORE,
    L1_LOCAL_LOAD,
    L1_LOCAL_STORE,
    L1_ATOMIC,
    /* texture, constant */
    L1_OTHER,
    L1_TYPES
};
enum { L1_LATENCY_BUCKETS = 64, L1_LATENCY_BUCKET_CYCLES = 32 };

/* An access is counted once, when it is taken: accesses = hits + pending + misses, for each type. Bypassing
 * loads and prefetches are counted separately. l1_stats_derive adds up the sums. Counts that change together
 * lie together. */
struct l1_stats {
    /* intra_warp_hits, inter_warp_hits: hits of loads */
    uint64_t hits[L1_TYPES], intra_warp_hits, inter_warp_hits;
    uint64_t misses[L1_TYPES], replaced_misses, evictions;
    /* fails: cycles in which an access was refused; their sum is stall_cycles */
    uint64_t fails[L1_TYPES], stall_mshr, stall_cycles;
    uint64_t pending[L1_TYPES], stall_line, stall_queue;
    /* l2_hit: reads that hit in the L2 */
    uint64_t requests_read, fills, replies, miss_latency_sum, l2_hit_latency_sum, l2_hit_latency_count;
    /* demand_wait_sum: time from a miss or merge of a load to its data; demand_waits: loads that got their
     * data */
    uint64_t demand_wait_sum, demand_waits;
    uint64_t miss_latency[L1_LATENCY_BUCKETS];
    /* with replaced_misses: causes of the misses that allocate or read; their sum is reads_missed */
    uint64_t cold_misses, sector_misses;
    /* loads that hit when the load before them missed or merged */
    uint64_t hit_after_miss;
    uint64_t stall_port, stall_held, stall_stolen, bypassed, other_requests, requests_write, requests_atomic;
    /* l1_prefetch.c has the rules */
    uint64_t prefetch_offered, prefetch_issued, prefetch_redundant, prefetch_dropped, prefetch_useful,
        prefetch_late, prefetch_unused, prefetch_early, prefetch_useless;
    uint64_t write_backs, write_evictions, fills_not_kept, flushes, resizes, taken_hits;
    uint64_t mshr_max;
    /* sums of the counts above */
    uint64_t accesses[L1_TYPES], total_accesses, total_hits, total_pending, total_misses;
    uint64_t load_accesses, load_misses, load_hits, load_pending, hit_after_hit, reads_missed,
        miss_latency_count;
    uint64_t prefetch_correct, prefetch_covered, prefetch_coverable;
};
/* brings the sums up to date */
void l1_stats_derive(struct l1_stats *s);

/* Checks what the rows' bounds cannot say (a line that is a power of two ...). False with diagnostics. */
bool l1_params_check(const struct l1_params *p, struct diag_list *diags);
/* Warns of combinations whose effect may surprise. */
void l1_params_warn(const struct l1_params *p, struct diag_list *diags);

#endif
