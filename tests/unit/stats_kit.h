/* stats_kit.h: a made-up run of two kernels on a made-up machine, for the tests of the printers. */
#ifndef HEDDLE_STATS_KIT_H
#define HEDDLE_STATS_KIT_H

#include "stats/run.h"
#include "stats/view.h"

#include <string.h>

struct kit_sm {
    uint64_t slots, issued, data_mem, data_alu, str_mem, str_alu, fetch, barrier, idle;
    uint64_t warp_insts, thread_insts, warp_cycles, warp_slot_cycles, loads, most, hist[3];
};
struct kit_mem {
    uint64_t l1, l1_hits, l1_pending, l1_misses, line, mshr, queue, port, latency, latencies;
    uint64_t loads, load_hits, load_pending, load_misses, load_fails;
    uint64_t l2, l2_hits, l2_misses, icnt, dram, reads, writes, busy, pending, cycles, sectors;
    uint64_t global, global_hits, writes2, write_hits, bursts, write_bursts;
    uint64_t queue_used, queue_full, dram_level[3];
};
#define KIT_SM(field, name)  STAT_COUNT(kit_sm, field, name, "things", "what it is", NULL)
#define KIT_MEM(field, name) STAT_COUNT(kit_mem, field, name, "things", "what it is", NULL)

static const struct stat_row kit_sm_rows[] = {
    KIT_SM(slots, "sm.slots"),
    KIT_SM(issued, "sm.slots_issued"),
    KIT_SM(data_mem, "sm.slots_data_mem"),
    KIT_SM(data_alu, "sm.slots_data_alu"),
    KIT_SM(str_mem, "sm.slots_str_mem"),
    KIT_SM(str_alu, "sm.slots_str_alu"),
    KIT_SM(fetch, "sm.slots_fetch"),
    KIT_SM(barrier, "sm.slots_barrier"),
    KIT_SM(idle, "sm.slots_idle"),
    KIT_SM(warp_insts, "sm.warp_insts"),
    KIT_SM(thread_insts, "sm.thread_insts"),
    KIT_SM(warp_cycles, "sm.warp_cycles"),
    KIT_SM(warp_slot_cycles, "sm.warp_slot_cycles"),
    KIT_SM(loads, "sm.loads"),
    {"sm.most", STAT_LARGEST, offsetof(struct kit_sm, most), 0, 1, "things", "the most at once", NULL},
    STAT_HISTOGRAM(kit_sm, hist, "sm.hist", 3, "things", "three buckets"),
    STAT_RATIO(kit_sm, issued, slots, "sm.share_issued", "%", "share of the slots", "smsp__issue_active.avg"),
    STAT_RATIO(kit_sm, thread_insts, warp_insts, "sm.lanes", "lanes", "active lanes", NULL),
    {0},
};
static const struct stat_row kit_mem_rows[] = {
    KIT_MEM(l1, "l1.accesses"),
    KIT_MEM(l1_hits, "l1.hits"),
    KIT_MEM(l1_pending, "l1.pending_hits"),
    KIT_MEM(l1_misses, "l1.misses"),
    KIT_MEM(line, "l1.stall_line"),
    KIT_MEM(mshr, "l1.stall_mshr"),
    KIT_MEM(queue, "l1.stall_queue"),
    KIT_MEM(port, "l1.stall_port"),
    KIT_MEM(latency, "l1.miss_latency_sum"),
    KIT_MEM(latencies, "l1.miss_latency_count"),
    KIT_MEM(loads, "l1.global_load_accesses"),
    KIT_MEM(load_hits, "l1.global_load_hits"),
    KIT_MEM(load_pending, "l1.global_load_pending"),
    KIT_MEM(load_misses, "l1.global_load_misses"),
    KIT_MEM(load_fails, "l1.global_load_fails"),
    KIT_MEM(l2, "l2.accesses"),
    KIT_MEM(l2_hits, "l2.hits"),
    KIT_MEM(l2_misses, "l2.misses"),
    KIT_MEM(icnt, "l2.stall_icnt"),
    KIT_MEM(dram, "l2.stall_dram"),
    KIT_MEM(sectors, "l2.read_sectors"),
    KIT_MEM(global, "l2.global_accesses"),
    KIT_MEM(global_hits, "l2.global_hits"),
    KIT_MEM(writes2, "l2.global_write_accesses"),
    KIT_MEM(write_hits, "l2.global_write_hits"),
    KIT_MEM(reads, "dram.reads"),
    KIT_MEM(writes, "dram.writes"),
    KIT_MEM(bursts, "dram.read_bursts"),
    KIT_MEM(write_bursts, "dram.write_bursts"),
    KIT_MEM(busy, "dram.busy"),
    KIT_MEM(pending, "dram.pending"),
    KIT_MEM(cycles, "dram.cycles"),
    KIT_MEM(queue_used, "queue.l2_access_used"),
    KIT_MEM(queue_full, "queue.l2_access_full_ticks"),
    STAT_HISTOGRAM(kit_mem, dram_level, "dram.queue_level", 3, "things", "the last = full"),
    {0},
};

static const struct timed_group kit_groups[] = {{"sm", kit_sm_rows, sizeof(struct kit_sm)},
                                                {"l1", kit_mem_rows, sizeof(struct kit_mem)}};

/* 1000 issue slots in 500 cycles: a tenth for each cause, three tenths issued. */
#define KIT_SM_VALUES                                                                                        \
    {                                                                                                        \
        .slots = 1000, .issued = 300, .data_mem = 100, .data_alu = 100, .str_mem = 100, .str_alu = 100,      \
        .fetch = 100, .barrier = 100, .idle = 100, .warp_insts = 300, .thread_insts = 6000,                  \
        .warp_cycles = 900, .warp_slot_cycles = 1000, .loads = 7, .most = 5, .hist = {                       \
            1,                                                                                               \
            2,                                                                                               \
            3                                                                                                \
        }                                                                                                    \
    }
#define KIT_MEM_VALUES                                                                                       \
    {                                                                                                        \
        .l1 = 200, .l1_hits = 50, .l1_pending = 50, .l1_misses = 100, .line = 10, .mshr = 20, .queue = 60,   \
        .port = 10, .latency = 34500, .latencies = 100, .loads = 150, .load_hits = 50, .load_pending = 50,   \
        .load_misses = 50, .load_fails = 4, .l2 = 100, .l2_hits = 40, .l2_misses = 60, .icnt = 30,           \
        .dram = 70, .reads = 60, .writes = 20, .busy = 200, .pending = 400, .cycles = 800, .sectors = 400,   \
        .global = 90, .global_hits = 35, .writes2 = 30, .write_hits = 5, .bursts = 120, .write_bursts = 40,  \
        .queue_used = 80, .queue_full = 20, .dram_level = {                                                  \
            1,                                                                                               \
            2,                                                                                               \
            2                                                                                                \
        }                                                                                                    \
    }

struct kit {
    struct kit_sm sm[3];
    struct kit_mem mem[3];
    void *stats[3][2];
    struct timed_kernel kernels[2];
    const struct timed_kernel *kernel_list[2];
    struct timed_sample samples[2];
    const struct timed_sample *sample_list[2];
    struct timed_cta ctas[3];
    const struct timed_cta *cta_list[3];
    struct pc_load_stats loads[8];
    void *banks[2];
    struct stats_view view;
};

static inline void kit_init(struct kit *k)
{
    *k = (struct kit){.sm = {KIT_SM_VALUES, KIT_SM_VALUES, KIT_SM_VALUES},
                      .mem = {KIT_MEM_VALUES, KIT_MEM_VALUES, KIT_MEM_VALUES}};
    for (int i = 0; i < 3; i++) {
        k->stats[i][0] = &k->sm[i];
        k->stats[i][1] = &k->mem[i];
    }
    stat_add(kit_sm_rows, &k->sm[2], &k->sm[0]); /* the total of the two */
    stat_add(kit_mem_rows, &k->mem[2], &k->mem[0]);
    for (int i = 0; i < 2; i++) {
        k->kernels[i] = (struct timed_kernel){.name = i ? "second" : "first",
                                              .id = 1 + (uint64_t)i,
                                              .stream = 4 * (uint64_t)i,
                                              .start_cycle = 500 * (uint64_t)i,
                                              .end_cycle = 500 + 500 * (uint64_t)i,
                                              .stats = k->stats[i],
                                              .grid = {10, 1, 1},
                                              .block = {64, 1, 1},
                                              .registers = 20,
                                              .ctas = 10};
        k->samples[i] = (struct timed_sample){
            .start_cycle = 500 * (uint64_t)i, .end_cycle = 500 + 500 * (uint64_t)i, .stats = k->stats[i]};
        k->kernel_list[i] = &k->kernels[i];
        k->sample_list[i] = &k->samples[i];
    }
    for (int i = 0; i < 3; i++) k->cta_list[i] = &k->ctas[i];
    k->view = (struct stats_view){.machine = {.name = "made-up",
                                              .sms = 2,
                                              .warps_per_sm = 48,
                                              .core_khz = 1000000}, /* a cycle is a nanosecond */
                                  .groups = kit_groups,
                                  .group_count = 2,
                                  .kernels = k->kernel_list,
                                  .kernel_count = 2,
                                  .total = {.name = "total", .end_cycle = 1000, .stats = k->stats[2]},
                                  .hash = 0x1234abcd,
                                  .host_seconds = 2.5};
    k->banks[0] = &k->mem[0];
    k->banks[1] = &k->mem[1];
    k->view.l1s = k->view.l2s = k->banks;
    k->view.l1_count = k->view.l2_count = 2;
    view_resolve(&k->view);
}

#endif
