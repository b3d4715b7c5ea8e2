/* l1_rows.c: the L1's parameters and statistics. Defaults are the thesis's Fermi (Tables 3.1 and 3.3); where
 * it gives no value, GPGPU-Sim 3.2.2's. */
#include "mem/l1.h"

static const char *const write_global_names[] = {"evict", "update", NULL};
static const char *const write_local_names[] = {"back", "through", NULL};
static const char *const allocate_names[] = {"miss", "fill", NULL};
static const char *const priority_names[] = {"low", "alternate", NULL};

const struct param_row l1_rows[] = {
    PARAM_SIZE(l1_params, size, "l1.size", "16K", 1, 1ull << 30,
               "capacity of one SM's L1 data cache; sets = size / (line * ways). With sm.shared_sizes it is "
               "the whole array, and the L1 has what shared memory leaves of it, in whole ways"),
    PARAM_NUMBER(l1_params, ways, "l1.ways", "ways", "4", 1, 1024, "associativity"),
    PARAM_NUMBER(l1_params, line, "l1.line", "bytes", "128", 32, 128,
                 "line size: 32, 64 or 128; where it is longer than l2.line, a line is fetched by several "
                 "requests"),
    PARAM_FLAG(l1_params, sectored, "l1.sectored", "false",
               "lines are filled in sectors of 32 bytes (from Volta on)"),
    PARAM_CHOICE(l1_params, index, "l1.index", "linear", cache_index_names,
                 "set index: low bits, Fermi's hash, xor with the next bits, polynomial"),
    PARAM_CHOICE(l1_params, replacement, "l1.replacement", "lru", cache_replace_names,
                 "which line of a set is replaced"),
    PARAM_NUMBER(l1_params, mshrs, "l1.mshrs", "entries", "32", 1, 1 << 16,
                 "miss-status holding registers: lines under way at once"),
    PARAM_NUMBER(l1_params, merges, "l1.merges", "loads", "8", 1, 1024,
                 "loads that wait for one line, the first one included"),
    PARAM_FLAG(
        l1_params, mshr_until_taken, "l1.mshr_until_taken", "false",
        "an MSHR is free when the loads that waited for it have been taken; false: when its line has come"),
    PARAM_NUMBER(l1_params, miss_queue, "l1.miss_queue", "requests", "8", 1, 1 << 16,
                 "requests that wait for the crossbar"),
    PARAM_NUMBER(l1_params, read_places, "l1.read_places", "requests", "1", 1, 2,
                 "free slots of the miss queue that a load which misses must find: its own, or that of a "
                 "write-back as well (then a load that merges must find them too)"),
    PARAM_NUMBER(l1_params, latency, "l1.latency", "cycles", "1", 1, 4096,
                 "from an access that hits to its data"),
    PARAM_NUMBER(l1_params, tag_latency, "l1.tag_latency", "cycles", "0", 0, 4096,
                 "of this latency, the part before the tags are looked up, which misses take as well"),
    PARAM_NUMBER(l1_params, ports, "l1.ports", "accesses", "1", 1, 16, "accesses a cycle"),
    PARAM_CHOICE(l1_params, write_global, "l1.write_global", "evict", write_global_names,
                 "global stores write through and drop (evict) or keep (update) a line that they hit"),
    PARAM_CHOICE(l1_params, write_local, "l1.write_local", "back", write_local_names,
                 "local stores make lines dirty, or are written through"),
    PARAM_FLAG(l1_params, local_write_allocate, "l1.local_write_allocate", "false",
               "a local store that misses takes a line instead of going to the L2"),
    PARAM_CHOICE(l1_params, allocate, "l1.allocate", "miss", allocate_names,
                 "when a load takes its line: at the miss, or when the data comes"),
    PARAM_FLAG(l1_params, cache_global, "l1.cache_global", "true",
               "global loads are cached; false: they go to the L2"),
    PARAM_FLAG(l1_params, flush, "l1.flush", "true", "emptied at the end of a kernel"),
    PARAM_FLAG(l1_params, perfect, "l1.perfect", "false",
               "ideal memory (PerfX): every access is answered in the cycle of its offer"),
    PARAM_NUMBER(l1_params, fixed_miss_latency, "l1.fixed_miss_latency", "cycles", "0", 0, 1 << 20,
                 "ideal memory: a miss is answered after this time, without the crossbar; 0 = off"),
    PARAM_NUMBER(
        l1_params, reply_step, "l1.reply_step", "cycles", "0", 0, 64,
        "a reply is taken a whole number of these after its request was made: with the crossbar at half the "
        "clock, 2 makes latencies the same in whichever half of its cycle a request comes; 0 = at once"),
    PARAM_CHOICE(l1_params, prefetch_priority, "l1.prefetch_priority", "alternate", priority_names,
                 "prefetches of mechanisms: low (take the accesses that loads and stores leave) or alternate "
                 "(where both wait, they take turns)"),
    {0},
};

uint32_t l1_loads_max(const struct l1_params *p) { return p->mshrs * p->merges + p->miss_queue; }

bool l1_params_check(const struct l1_params *p, struct diag_list *diags)
{
    bool good = true;
    if (!is_pow2_u64(p->line)) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "try 64 or 128", "l1.line must be a power of two, got %u",
                 p->line);
        good = false;
    }
    if (p->tag_latency > p->latency) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "it is a part of l1.latency",
                 "l1.tag_latency is %u, more than l1.latency, %u", p->tag_latency, p->latency);
        good = false;
    }
    if (p->read_places > p->miss_queue) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "a load would never find that many free slots",
                 "l1.read_places is %u, more than l1.miss_queue, %u", p->read_places, p->miss_queue);
        good = false;
    }
    return good;
}

void l1_params_warn(const struct l1_params *p, struct diag_list *diags)
{
    const uint32_t lines = (uint32_t)MAX(p->size / p->line, 1), sets = lines / MIN(p->ways, lines);
    if (p->index == CACHE_INDEX_LINEAR || is_pow2_u64(sets)) return;
    diag_add(
        diags, DIAG_WARNING, NULL, 0, 0, 0, "set l1.index=linear, which is the same here",
        "l1.index is '%s', but %u sets are not a power of two: the set is the number of the line modulo %u",
        cache_index_names[p->index], sets, sets);
}

#define BY_TYPE(field, help)                                                                                 \
    STAT_COUNT(l1_stats, field[L1_GLOBAL_LOAD], "l1.global_load_" #field, "transactions",                    \
               "global loads: " help, NULL),                                                                 \
        STAT_COUNT(l1_stats, field[L1_GLOBAL_STORE], "l1.global_store_" #field, "transactions",              \
                   "global stores: " help, NULL),                                                            \
        STAT_COUNT(l1_stats, field[L1_LOCAL_LOAD], "l1.local_load_" #field, "transactions",                  \
                   "local loads: " help, NULL),                                                              \
        STAT_COUNT(l1_stats, field[L1_LOCAL_STORE], "l1.local_store_" #field, "transactions",                \
                   "local stores: " help, NULL),                                                             \
        STAT_COUNT(l1_stats, field[L1_ATOMIC], "l1.atomic_" #field, "transactions", "atomics: " help, NULL), \
        STAT_COUNT(l1_stats, field[L1_OTHER], "l1.other_" #field, "transactions",                            \
                   "texture and constant: " help, NULL)

const struct stat_row l1_stat_rows[] = {
    STAT_COUNT(l1_stats, total_accesses, "l1.accesses", "transactions",
               "coalesced accesses that the cache took, without bypasses and prefetches",
               "l1tex__t_requests.sum"),
    STAT_COUNT(l1_stats, total_hits, "l1.hits", "transactions", "found in the cache",
               "l1tex__t_sectors_lookup_hit.sum"),
    STAT_COUNT(l1_stats, total_pending, "l1.pending_hits", "transactions", "found on their way: merged",
               NULL),
    STAT_COUNT(l1_stats, total_misses, "l1.misses", "transactions", "not found",
               "l1tex__t_sectors_lookup_miss.sum"),
    STAT_RATIO(l1_stats, total_hits, total_accesses, "l1.hit_rate", "%", "hits of all accesses",
               "l1tex__t_sector_hit_rate.pct"),
    STAT_COUNT(l1_stats, load_accesses, "l1.load_accesses", "transactions",
               "loads that looked into the cache", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    STAT_COUNT(l1_stats, load_misses, "l1.load_misses", "transactions",
               "loads that missed, pending hits not counted", NULL),
    STAT_RATIO(l1_stats, load_misses, load_accesses, "l1.load_miss_rate", "%", "misses of all loads", NULL),
    STAT_COUNT(l1_stats, load_hits, "l1.load_hits", "transactions", "loads that hit, pending hits included",
               NULL),
    STAT_COUNT(l1_stats, load_pending, "l1.load_pending", "transactions",
               "of these, found on their way: merged", NULL),
    STAT_COUNT(l1_stats, hit_after_hit, "l1.hit_after_hit", "transactions",
               "of these, without pending hits: the load before it in the same L1 hit too (APRES, Figure 11)",
               NULL),
    STAT_COUNT(l1_stats, hit_after_miss, "l1.hit_after_miss", "transactions",
               "of these, without pending hits: the load before it missed or was pending, or there was none",
               NULL),
    STAT_RATIO(l1_stats, hit_after_hit, load_accesses, "l1.hit_after_hit_rate", "%",
               "hits after a hit, of all loads", NULL),
    STAT_RATIO(l1_stats, hit_after_miss, load_accesses, "l1.hit_after_miss_rate", "%",
               "hits after a miss, of all loads", NULL),
    BY_TYPE(accesses, "accesses"),
    BY_TYPE(hits, "hits"),
    BY_TYPE(pending, "pending hits"),
    BY_TYPE(misses, "misses"),
    BY_TYPE(fails, "cycles in which one was refused (reservation fails)"),
    STAT_COUNT(l1_stats, reads_missed, "l1.reads_missed", "transactions",
               "misses that fetch from below: cold + replaced + sector", NULL),
    STAT_COUNT(l1_stats, cold_misses, "l1.cold_misses", "transactions",
               "first touches of a line since the cache was last emptied", NULL),
    STAT_COUNT(l1_stats, replaced_misses, "l1.replaced_misses", "transactions",
               "capacity and conflict misses: lines that were there before and left", NULL),
    STAT_COUNT(l1_stats, sector_misses, "l1.sector_misses", "transactions",
               "the line is there, the sector is not", NULL),
    STAT_RATIO(l1_stats, cold_misses, load_accesses, "l1.cold_miss_rate", "%",
               "cold misses, of all loads (APRES, Figures 2 and 11)", NULL),
    STAT_RATIO(l1_stats, replaced_misses, load_accesses, "l1.replaced_miss_rate", "%",
               "capacity and conflict misses, of all loads (APRES, Figures 2 and 11)", NULL),
    STAT_COUNT(l1_stats, intra_warp_hits, "l1.intra_warp_hits", "transactions",
               "load hits on a line that the same warp brought", NULL),
    STAT_COUNT(l1_stats, inter_warp_hits, "l1.inter_warp_hits", "transactions",
               "load hits on a line that another warp brought", NULL),
    STAT_COUNT(l1_stats, stall_cycles, "l1.stall_cycles", "cycles",
               "cycles in which the cache refused the next access",
               "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"),
    STAT_COUNT(l1_stats, stall_line, "l1.stall_line", "cycles",
               "refused because all lines of the set wait for a fill", NULL),
    STAT_COUNT(l1_stats, stall_mshr, "l1.stall_mshr", "cycles",
               "refused because no MSHR, or no merge of one, was free", NULL),
    STAT_COUNT(l1_stats, stall_queue, "l1.stall_queue", "cycles",
               "refused because the miss queue was full: back pressure from the L2", NULL),
    STAT_COUNT(l1_stats, stall_port, "l1.stall_port", "cycles",
               "refused because finished loads were not fetched", NULL),
    STAT_COUNT(l1_stats, stall_held, "l1.stall_held", "cycles", "refused because a mechanism held it back",
               NULL),
    STAT_COUNT(l1_stats, stall_stolen, "l1.stall_stolen", "cycles",
               "refused because a mechanism took its port", NULL),
    STAT_COUNT(l1_stats, bypassed, "l1.bypassed", "transactions",
               "loads sent to the L2 without a look (.cg, volatile)", NULL),
    STAT_COUNT(l1_stats, other_requests, "l1.other_requests", "requests",
               "requests of the instruction, constant and texture caches", NULL),
    STAT_COUNT(l1_stats, requests_read, "l1.requests_read", "requests", "read requests made",
               "lts__t_requests_srcunit_tex_op_read.sum"),
    STAT_COUNT(l1_stats, requests_write, "l1.requests_write", "requests",
               "write requests made, write-backs included", "lts__t_requests_srcunit_tex_op_write.sum"),
    STAT_COUNT(l1_stats, requests_atomic, "l1.requests_atomic", "requests", "atomic requests made", NULL),
    STAT_COUNT(l1_stats, replies, "l1.replies", "requests",
               "replies taken; equal to the requests made when idle", NULL),
    STAT_COUNT(l1_stats, miss_latency_sum, "l1.miss_latency_sum", "cycles",
               "sum over demand reads of the time from the miss to its data", NULL),
    STAT_COUNT(l1_stats, miss_latency_count, "l1.miss_latency_count", "requests", "demand reads answered",
               NULL),
    STAT_RATIO(l1_stats, miss_latency_sum, miss_latency_count, "l1.aml", "cycles",
               "average memory latency: from an L1 miss to its fill", NULL),
    STAT_COUNT(l1_stats, demand_wait_sum, "l1.demand_wait_sum", "cycles",
               "sum over loads that missed or merged of the time to their data", NULL),
    STAT_COUNT(l1_stats, demand_waits, "l1.demand_waits", "transactions",
               "loads that missed or merged and have their data", NULL),
    STAT_RATIO(l1_stats, demand_wait_sum, demand_waits, "l1.demand_wait", "cycles",
               "average time that a load which missed or merged waits in the L1; l1.aml leaves out merges "
               "(APRES, Figure 13)",
               NULL),
    STAT_HISTOGRAM(l1_stats, miss_latency, "l1.miss_latency", L1_LATENCY_BUCKETS, "requests",
                   "demand reads by latency, in steps of 32 core cycles"),
    STAT_COUNT(l1_stats, l2_hit_latency_sum, "l1.l2_hit_latency_sum", "cycles",
               "of these, reads that hit in the L2: the time, summed", NULL),
    STAT_COUNT(l1_stats, l2_hit_latency_count, "l1.l2_hit_latency_count", "requests",
               "demand reads that hit in the L2", NULL),
    STAT_RATIO(l1_stats, l2_hit_latency_sum, l2_hit_latency_count, "l1.l2_ahl", "cycles",
               "average hit latency of the L2: from an L1 miss to its fill, of those that hit in the L2 "
               "(thesis, Figure 3.1: L2-AHL)",
               NULL),
    STAT_COUNT(l1_stats, prefetch_offered, "l1.prefetch_offered", "requests",
               "prefetches that the SM offered to the cache: issued + redundant + dropped", NULL),
    STAT_COUNT(l1_stats, prefetch_issued, "l1.prefetch_issued", "requests",
               "prefetches that were sent: useful + late + early + useless, when all have ended", NULL),
    STAT_COUNT(l1_stats, prefetch_redundant, "l1.prefetch_redundant", "requests",
               "prefetches of lines that were there or under way", NULL),
    STAT_COUNT(l1_stats, prefetch_dropped, "l1.prefetch_dropped", "requests",
               "prefetches that were offered and found no line, MSHR, queue entry or port", NULL),
    STAT_COUNT(l1_stats, prefetch_useful, "l1.prefetch_useful", "lines", "prefetched lines that a load hit",
               NULL),
    STAT_COUNT(l1_stats, prefetch_late, "l1.prefetch_late", "lines",
               "prefetched lines that a load wanted before they came", NULL),
    STAT_COUNT(l1_stats, prefetch_unused, "l1.prefetch_unused", "lines",
               "prefetched lines that left without a load: early + useless, when the kernel has ended", NULL),
    STAT_COUNT(l1_stats, prefetch_early, "l1.prefetch_early", "lines",
               "of these, lines that a load missed later in the kernel", NULL),
    STAT_COUNT(l1_stats, prefetch_useless, "l1.prefetch_useless", "lines",
               "of these, lines that were prefetched again before a load wanted them, or that none wanted",
               NULL),
    STAT_COUNT(l1_stats, prefetch_correct, "l1.prefetch_correct", "lines",
               "prefetches that a load wanted: useful + late + early", NULL),
    STAT_RATIO(l1_stats, prefetch_correct, prefetch_issued, "l1.prefetch_accuracy", "%",
               "prefetches that a load wanted, of those sent", NULL),
    STAT_RATIO(l1_stats, prefetch_early, prefetch_correct, "l1.prefetch_early_ratio", "%",
               "correct prefetches whose line left before its load: early / (useful + late + early) "
               "(APRES, Figures 4 and 12)",
               NULL),
    STAT_COUNT(l1_stats, prefetch_covered, "l1.prefetch_covered", "lines",
               "load misses that a prefetch spared or shortened: useful + late", NULL),
    STAT_COUNT(l1_stats, prefetch_coverable, "l1.prefetch_coverable", "transactions",
               "load misses as they would be without these prefetches: covered + load_misses", NULL),
    STAT_RATIO(l1_stats, prefetch_covered, prefetch_coverable, "l1.prefetch_coverage", "%",
               "load misses that a prefetch spared or shortened, of all", NULL),
    STAT_COUNT(l1_stats, taken_hits, "l1.taken_hits", "transactions", "misses whose data a mechanism brought",
               NULL),
    STAT_COUNT(l1_stats, evictions, "l1.evictions", "lines", "lines replaced by others", NULL),
    STAT_COUNT(l1_stats, write_backs, "l1.write_backs", "lines", "dirty lines written to the L2", NULL),
    STAT_COUNT(l1_stats, write_evictions, "l1.write_evictions", "lines",
               "lines dropped because a store or atomic hit them", NULL),
    STAT_COUNT(l1_stats, fills, "l1.fills", "requests", "fills that came", NULL),
    STAT_COUNT(l1_stats, fills_not_kept, "l1.fills_not_kept", "requests",
               "fills that did not stay: not allowed to, or written meanwhile", NULL),
    STAT_COUNT(l1_stats, flushes, "l1.flushes", "flushes", "times that the cache was emptied", NULL),
    STAT_COUNT(l1_stats, resizes, "l1.resizes", "changes", "times that its capacity changed", NULL),
    STAT_LARGEST(
        l1_stats, mshr_max, "l1.mshr_max", "entries",
        "the most MSHRs in use at once; misses that a mechanism answers as hits count, up to l1.mshrs"),
    {0},
};

void l1_stats_derive(struct l1_stats *s)
{
    s->total_hits = s->total_pending = s->total_misses = s->miss_latency_count = 0;
    for (int i = 0; i < L1_TYPES; i++) {
        s->accesses[i] = s->hits[i] + s->pending[i] + s->misses[i];
        s->total_hits += s->hits[i];
        s->total_pending += s->pending[i];
        s->total_misses += s->misses[i];
    }
    s->total_accesses = s->total_hits + s->total_pending + s->total_misses;
    s->load_accesses = s->accesses[L1_GLOBAL_LOAD] + s->accesses[L1_LOCAL_LOAD] + s->accesses[L1_OTHER];
    s->load_misses = s->misses[L1_GLOBAL_LOAD] + s->misses[L1_LOCAL_LOAD] + s->misses[L1_OTHER];
    s->load_hits = s->load_accesses - s->load_misses;
    s->load_pending = s->pending[L1_GLOBAL_LOAD] + s->pending[L1_LOCAL_LOAD] + s->pending[L1_OTHER];
    s->hit_after_hit = s->load_hits - s->load_pending - s->hit_after_miss;
    s->prefetch_covered = s->prefetch_useful + s->prefetch_late;
    s->prefetch_correct = s->prefetch_covered + s->prefetch_early;
    s->prefetch_coverable = s->prefetch_covered + s->load_misses;
    s->reads_missed = s->cold_misses + s->replaced_misses + s->sector_misses;
    for (int i = 0; i < L1_LATENCY_BUCKETS; i++) s->miss_latency_count += s->miss_latency[i];
}
