/* run.h: the records of a timed run that the printers read: statistics groups, kernels, samples, CTAs. The
 * machine (core/) fills them in; nothing here depends on it. */
#ifndef HEDDLE_STATS_RUN_H
#define HEDDLE_STATS_RUN_H

#include "stats/stat.h"
#include "stats/top.h"

/* A group of statistics: "sm", "l1", ..., and one for each mechanism; rows as the component declares them. */
struct timed_group {
    const char *name;
    const struct stat_row *rows;
    size_t bytes;
};

/* One load instruction of the program, as in APRES Table I, and what becomes of its lines. */
struct pc_load_stats {
    /* at the L1; a merge waits for a miss that is under way */
    uint64_t accesses, misses, merges;
    /* different lines among the accesses of this SM: #L of Table I */
    uint64_t unique_lines;
    /* warp instructions */
    uint64_t executions;
    /* transactions, when issued */
    uint64_t lines;
    /* pairs of successive executions by different warps */
    uint64_t strides;
    /* address difference / warp difference */
    struct top stride;
    /* lines that it brought, and that a miss of a load replaced */
    uint64_t evicted;
    /* PCs of these loads */
    struct top evictor;
    /* prefetches that mechanisms sent for it; lines that it found first, here or still on their way */
    uint64_t prefetches, prefetch_useful, prefetch_late;
    /* where it stands; 0 = not known */
    uint32_t ptx_line, cuda_line;
};

/* What one kernel did: a snapshot of all statistics groups. */
struct timed_kernel {
    const char *name;
    uint64_t id, stream, start_cycle, end_cycle;
    /* one struct for each group */
    void **stats;
    /* Other kernels ran at the same time: rows that are counted per kernel hold only this kernel's events,
     * all others are the machine's between start_cycle and end_cycle. */
    bool overlapped;
    /* made by its loads, stores and atomics, and answered */
    uint64_t requests;
    uint32_t grid[3], block[3], registers;
    uint64_t shared_bytes, ctas;
    /* CTAs that fit an SM */
    uint32_t ctas_per_sm;
    /* what bounds them: warps, threads, ctas, registers, shared; NULL = not known */
    const char *limit;
    /* the run was stopped before the kernel ended */
    bool partial;
    /* by pc, summed over SMs; NULL = not kept */
    struct pc_load_stats *loads;
    uint32_t load_count;
};

/* What happened in one interval of the time series. */
struct timed_sample {
    uint64_t start_cycle, end_cycle;
    void **stats;
};

/* When one CTA ran. */
struct timed_cta {
    uint32_t sm;
    /* kernel: its id */
    uint64_t kernel, cta, start_cycle, end_cycle;
};

/* What a mechanism wrote down; a and b mean what the kind says. */
struct timed_note {
    uint64_t cycle;
    uint32_t sm;
    /* among the notes of its SM */
    uint32_t order;
    /* its number among those attached, and its name */
    uint32_t mechanism;
    const char *mechanism_name, *kind;
    uint64_t a, b;
};

/* A copy that took time. */
enum timed_copy_kind {
    COPY_TO_DEVICE,
    COPY_TO_HOST,
    /* fills too */
    COPY_ON_DEVICE,
    COPY_ON_HOST
};
struct timed_transfer {
    enum timed_copy_kind kind;
    uint64_t stream, bytes, start_cycle, end_cycle;
};

#endif
