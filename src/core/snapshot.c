/* snapshot.c: statistics out of the components: a snapshot is one struct for each group, summed over the instances of the
 * component. What a kernel or a sample did is the difference of two snapshots; of kernels that ran at the same time, the events
 * that have an owner are counted apart (own.h), the others are the machine's. */
#include "core/queue_stats.h"
#include "core/timed_impl.h"
#include "stats/loads.h"

const struct stat_row gpu_stat_rows[] = {
    STAT_COUNT(gpu_counts, cycles, "gpu.cycles", "cycles", "core cycles", "sm__cycles_elapsed.max"),
    STAT_COUNT(gpu_counts, busy_cycles, "gpu.busy_cycles", "cycles",
               "core cycles with a kernel on the machine", "gpc__cycles_elapsed.max"),
    STAT_COUNT(gpu_counts, kernels, "gpu.kernels", "kernels", "kernels that have ended", NULL),
    STAT_COUNT(gpu_counts, ctas, "gpu.ctas", "CTAs", "CTAs that have ended", "sm__ctas_launched.sum"),
    STAT_COUNT(gpu_counts, copies, "gpu.copies", "copies", "copies and fills that have ended", NULL),
    STAT_COUNT(gpu_counts, copied_bytes, "gpu.copied_bytes", "bytes", "what they moved", NULL),
    STAT_COUNT(gpu_counts, copy_cycles, "gpu.copy_cycles", "cycles",
               "core cycles that copy engines were busy, summed over them (copy.timed)", NULL),
    {0},
};

/* Stats structs hold nothing but what their rows name. */
static size_t rows_bytes(const struct stat_row *rows)
{
    size_t bytes = 0;
    for (; rows && rows->name; rows++) {
        size_t end = rows->offset + sizeof(uint64_t) * (rows->type == STAT_HIST ? rows->length : 1);
        bytes = MAX(bytes, end);
        if (rows->type == STAT_RATIO) bytes = MAX(bytes, rows->offset2 + sizeof(uint64_t));
    }
    return MAX(bytes, sizeof(uint64_t));
}

void snapshot_init(struct timed_gpu *g)
{
    static const struct stat_row none[] = {{0}};
    const struct timed_group fixed[] = {
        {.name = "sm", .rows = sm_stat_rows},     {.name = "l1", .rows = l1_stat_rows},
        {.name = "xbar", .rows = xbar_stat_rows}, {.name = "l2", .rows = l2_stat_rows},
        {.name = "dram", .rows = dram_stat_rows}, {.name = "queue", .rows = queue_stat_rows},
        {.name = "gpu", .rows = gpu_stat_rows},
    };
    g->group_count = GROUP_MECH + mech_set_count(g->mechs);
    g->groups = mem_zalloc(sizeof *g->groups * g->group_count);
    memcpy(g->groups, fixed, sizeof fixed);
    for (uint32_t i = 0; i < mech_set_count(g->mechs); i++) {
        const struct mechanism *m = mech_set_at(g->mechs, i);
        g->groups[GROUP_MECH + i] = (struct timed_group){.name = m->name, .rows = m->stats ? m->stats : none};
    }
    for (uint32_t i = 0; i < g->group_count; i++) g->groups[i].bytes = rows_bytes(g->groups[i].rows);
    if (g->options.sample_cycles) g->sample_before = snapshot_take(g);
}

static uint64_t busy_cycles(const struct timed_gpu *g)
{
    uint64_t n = g->counts.busy_cycles;
    if (g->busy_since != TICK_NEVER) n += (g->now - g->busy_since) / g->clock.domains[DOMAIN_CORE].period;
    return n;
}

static void snapshot_queues(const struct timed_gpu *g, struct queue_stats *s)
{
    const struct gpu_links *l = &g->links;
    queue_stats_add(s, QUEUE_L1_MISS, l->sm_to_xbar, g->sm_count, g->now);
    queue_stats_add(s, QUEUE_L2_ACCESS, l->xbar_to_slice, g->slice_count, g->now);
    queue_stats_add(s, QUEUE_L2_MISS, l->slice_to_dram, g->slice_count, g->now);
    queue_stats_add(s, QUEUE_L2_FILL, l->dram_to_slice, g->slice_count, g->now);
    queue_stats_add(s, QUEUE_L2_RESPONSE, l->slice_to_xbar, g->slice_count, g->now);
    queue_stats_add(s, QUEUE_L1_RESPONSE, l->xbar_to_sm, g->sm_count, g->now);
}

void **snapshot_take(const struct timed_gpu *g)
{
    void **s = mem_zalloc(sizeof *s * g->group_count);
    for (uint32_t i = 0; i < g->group_count; i++) s[i] = mem_zalloc(g->groups[i].bytes);
    for (uint32_t i = 0; i < g->sm_count; i++) {
        stat_add(sm_stat_rows, s[GROUP_SM], sm_stats(g->sms[i]));
        stat_add(l1_stat_rows, s[GROUP_L1], sm_l1_stats(g->sms[i]));
        for (uint32_t m = GROUP_MECH; m < g->group_count; m++)
            stat_add(g->groups[m].rows, s[m], sm_mech_state(g->sms[i], m - GROUP_MECH));
    }
    stat_add(xbar_stat_rows, s[GROUP_XBAR], xbar_stats(g->xbar));
    for (uint32_t i = 0; i < g->slice_count; i++) stat_add(l2_stat_rows, s[GROUP_L2], l2_stats(g->slices[i]));
    for (uint32_t i = 0; i < g->channel_count; i++)
        stat_add(dram_stat_rows, s[GROUP_DRAM], dram_stats(g->channels[i]));
    snapshot_queues(g, s[GROUP_QUEUE]);
    struct gpu_counts now = g->counts;
    now.cycles = gpu_cycle(g);
    now.busy_cycles = busy_cycles(g);
    stat_add(gpu_stat_rows, s[GROUP_GPU], &now);
    return s;
}

void snapshot_free(const struct timed_gpu *g, void **s)
{
    if (!s) return;
    for (uint32_t i = 0; i < g->group_count; i++) free(s[i]);
    free(s);
}

void snapshot_subtract(const struct timed_gpu *g, void **s, void **before)
{
    for (uint32_t i = 0; i < g->group_count; i++) stat_sub(g->groups[i].rows, s[i], before[i]);
}

/* A kernel's own events and its per-PC load table, summed over SMs. Each SM keeps its part until sm_kernel_end. */
void snapshot_own(const struct timed_gpu *g, struct gpu_kernel *k)
{
    uint32_t count = k->launch.kernel->inst_count;
    own_sum(g, k, &k->own);
    k->loads = mem_zalloc(sizeof *k->loads * (count + 1));
    for (uint32_t i = 0; i < g->sm_count; i++) {
        const struct pc_load_stats *l;
        for (uint32_t pc = 0; pc < count && (l = sm_pc_load(g->sms[i], k->grid, pc)); pc++)
            loads_add(&k->loads[pc], l, 1);
    }
}

void snapshot_kernel(struct timed_gpu *g, struct gpu_kernel *k, bool partial)
{
    const struct emu_launch *l = &k->launch;
    struct timed_kernel t = {.name = k->name,
                             .id = k->id,
                             .stream = k->stream,
                             .start_cycle = k->start_cycle,
                             .end_cycle = gpu_cycle(g),
                             .registers = l->kernel->reg_count,
                             .shared_bytes = emu_grid_shared_bytes(k->grid),
                             .ctas = k->ctas_done,
                             .ctas_per_sm = k->fit.ctas,
                             .limit = k->fit.limit,
                             .requests = units_owner(g, k->place).made,
                             .overlapped = k->overlapped,
                             .partial = partial};
    memcpy(t.grid, l->grid, sizeof t.grid);
    memcpy(t.block, l->block, sizeof t.block);
    loop_settle(g);
    t.stats = snapshot_take(g);
    snapshot_subtract(g, t.stats, k->before);
    if (!k->loads) snapshot_own(g, k);
    if (k->overlapped)
        own_replace(t.stats, &k->own);
    else if (!partial)
        laws_check_alone(g, k, t.stats);
    t.loads = k->loads;
    t.load_count = l->kernel->inst_count;
    k->loads = NULL;
    k->name = NULL; /* the record's from here on */
    struct emu_stats emu = {0};
    if (!partial) { /* else its CTAs are still on the SMs */
        emu_grid_close(k->grid, &emu);
        k->grid = NULL;
    }
    vec_push(&g->kernels, t);
    vec_push(&g->kernel_emu, emu);
}

void snapshot_sample(struct timed_gpu *g)
{
    uint64_t begin = g->samples.len ? g->samples.data[g->samples.len - 1].end_cycle : 0;
    if (gpu_cycle(g) == begin) return;
    loop_settle(g);
    struct timed_sample s = {.start_cycle = begin, .end_cycle = gpu_cycle(g), .stats = snapshot_take(g)};
    void **now = snapshot_take(g);
    snapshot_subtract(g, s.stats, g->sample_before);
    snapshot_free(g, g->sample_before);
    g->sample_before = now;
    vec_push(&g->samples, s);
}

void snapshot_close(struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->kernels.len; i++) {
        free((char *)(uintptr_t)g->kernels.data[i].name);
        free(g->kernels.data[i].loads);
        snapshot_free(g, g->kernels.data[i].stats);
    }
    for (uint32_t i = 0; i < g->samples.len; i++) snapshot_free(g, g->samples.data[i].stats);
    snapshot_free(g, g->sample_before);
    vec_free(&g->kernels);
    vec_free(&g->kernel_emu);
    vec_free(&g->samples);
    vec_free(&g->ctas);
    vec_free(&g->transfers);
    free(g->groups);
}
