/* snapshot.c: see snapshot.h. */
#include "core/snapshot.h"

#include "base/hash.h"
#include "core/helper_counts.h"
#include "core/queue_stats.h"

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

/* The size of a struct of statistics, which holds only the fields that its rows name. */
static size_t rows_bytes(const struct stat_row *rows)
{
    size_t bytes = 0;
    for (; rows && rows->name; rows++) {
        size_t end = rows->offset + sizeof(uint64_t) * (rows->type == STAT_HISTOGRAM ? rows->length : 1);
        bytes = MAX(bytes, end);
        if (rows->type == STAT_RATIO) bytes = MAX(bytes, rows->offset2 + sizeof(uint64_t));
    }
    return MAX(bytes, sizeof(uint64_t));
}

void snapshot_init(struct snapshots *s, const struct wiring *wiring, const struct gpu_time *time,
                   const struct dispatcher *dispatch, const struct stream_set *streams)
{
    static const struct stat_row none[] = {{0}};
    const struct timed_group fixed[] = {
        {.name = "sm", .rows = sm_stat_rows},     {.name = "l1", .rows = l1_stat_rows},
        {.name = "xbar", .rows = xbar_stat_rows}, {.name = "l2", .rows = l2_stat_rows},
        {.name = "dram", .rows = dram_stat_rows}, {.name = "queue", .rows = queue_stat_rows},
        {.name = "gpu", .rows = gpu_stat_rows},
    };
    const uint32_t mechs = mech_set_count(wiring->mechs);
    const bool has_helper = wiring->cache_most != 0;
    *s = (struct snapshots){.group_count = GROUP_MECH + mechs + (wiring->ring != NULL) + has_helper,
                            .mech_end = GROUP_MECH + mechs,
                            .wiring = wiring,
                            .time = time,
                            .dispatch = dispatch,
                            .streams = streams};
    s->groups = mem_zalloc(sizeof *s->groups * s->group_count);
    memcpy(s->groups, fixed, sizeof fixed);
    for (uint32_t i = 0; i < mechs; i++) {
        const struct mechanism *m = mech_set_at(wiring->mechs, i);
        s->groups[GROUP_MECH + i] = (struct timed_group){.name = m->name, .rows = m->stats ? m->stats : none};
    }
    if (has_helper) {
        s->helper_group = s->group_count - 1;
        s->groups[s->helper_group] = (struct timed_group){.name = "helper", .rows = helper_stat_rows};
    }
    if (wiring->ring) s->groups[s->mech_end] = (struct timed_group){.name = "ring", .rows = smring_stat_rows};
    for (uint32_t i = 0; i < s->group_count; i++) s->groups[i].bytes = rows_bytes(s->groups[i].rows);
}

void snapshot_close(struct snapshots *s)
{
    snapshot_free(s->fixed, s->group_count);
    snapshot_free(s->moved, s->group_count);
    free(s->groups);
}

void snapshot_fix(struct snapshots *s, void **stats)
{
    assert(!s->fixed);
    s->fixed = stats;
}

static void add_fixed(const struct snapshots *s, void **stats)
{
    for (uint32_t i = 0; i < s->group_count; i++) memcpy(stats[i], s->fixed[i], s->groups[i].bytes);
}

static void add_queues(const struct wiring *w, tick now, struct queue_stats *q)
{
    const struct gpu_links *l = &w->links;
    queue_stats_add(q, QUEUE_L1_MISS, l->sm_to_xbar, w->sm_count, now);
    queue_stats_add(q, QUEUE_L2_ACCESS, l->xbar_to_slice, w->slice_count, now);
    queue_stats_add(q, QUEUE_L2_MISS, l->slice_to_dram, w->slice_count, now);
    queue_stats_add(q, QUEUE_L2_FILL, l->dram_to_slice, w->slice_count, now);
    queue_stats_add(q, QUEUE_L2_RESPONSE, l->slice_to_xbar, w->slice_count, now);
    queue_stats_add(q, QUEUE_L1_RESPONSE, l->xbar_to_sm, w->sm_count, now);
}

/* Does the mechanism keep its statistics in the slices? */
static bool has_slice_stats(const struct wiring *w, uint32_t mechanism)
{
    return mech_set_at(w->mechs, mechanism)->slice_state_bytes != 0;
}

static void add_sms(const struct snapshots *s, void **stats)
{
    const struct wiring *w = s->wiring;
    for (uint32_t i = 0; i < w->compute_count; i++) {
        stat_add(sm_stat_rows, stats[GROUP_SM], sm_stats(w->sms[i]));
        stat_add(l1_stat_rows, stats[GROUP_L1], sm_l1_stats(w->sms[i]));
        for (uint32_t m = GROUP_MECH; m < s->mech_end; m++)
            if (!has_slice_stats(w, m - GROUP_MECH))
                stat_add(s->groups[m].rows, stats[m], sm_mech_state(w->sms[i], m - GROUP_MECH));
    }
}

static void add_mech_slices(const struct snapshots *s, void **stats)
{
    const struct mech_slices *m = s->wiring->mech_slices;
    if (!m) return;
    const uint32_t group = GROUP_MECH + mech_slices_owner(m);
    for (uint32_t i = 0; i < s->wiring->slice_count; i++)
        stat_add(s->groups[group].rows, stats[group], mech_slices_state(m, i));
}

static void add_memory(const struct wiring *w, void **stats)
{
    stat_add(xbar_stat_rows, stats[GROUP_XBAR], xbar_stats(w->xbar));
    for (uint32_t i = 0; i < w->slice_count; i++)
        stat_add(l2_stat_rows, stats[GROUP_L2], l2_stats(w->slices[i]));
    for (uint32_t i = 0; i < w->channel_count; i++)
        stat_add(dram_stat_rows, stats[GROUP_DRAM], dram_stats(w->channels[i]));
}

static struct gpu_counts gpu_counts_now(const struct snapshots *s)
{
    return (struct gpu_counts){.cycles = gpu_time_cycle(s->time),
                               .busy_cycles = dispatch_busy_cycles(s->dispatch),
                               .kernels = s->dispatch->counts.kernels,
                               .ctas = s->dispatch->counts.ctas,
                               .copies = s->streams->counts.copies,
                               .copied_bytes = s->streams->counts.bytes,
                               .copy_cycles = s->streams->counts.cycles};
}

void **snapshot_take(const struct snapshots *s)
{
    void **stats = mem_zalloc(sizeof *stats * s->group_count);
    for (uint32_t i = 0; i < s->group_count; i++) stats[i] = mem_zalloc(s->groups[i].bytes);
    if (s->fixed) {
        add_fixed(s, stats);
        return stats;
    }
    add_sms(s, stats);
    add_mech_slices(s, stats);
    if (s->helper_group) helper_counts_add(s->wiring, stats[s->helper_group]);
    add_memory(s->wiring, stats);
    if (s->wiring->ring) stat_add(smring_stat_rows, stats[s->mech_end], smring_stats(s->wiring->ring));
    add_queues(s->wiring, s->time->now, stats[GROUP_QUEUE]);
    const struct gpu_counts now = gpu_counts_now(s);
    stat_add(gpu_stat_rows, stats[GROUP_GPU], &now);
    for (uint32_t i = 0; s->moved && i < s->group_count; i++)
        stat_add(s->groups[i].rows, stats[i], s->moved[i]);
    return stats;
}

/* Differences may be negative: sums of unsigned numbers are right all the same. */
void snapshot_move_roles(struct snapshots *s, void **before)
{
    void **after = snapshot_take(s);
    if (!s->moved) {
        s->moved = mem_zalloc(sizeof *s->moved * s->group_count);
        for (uint32_t i = 0; i < s->group_count; i++) s->moved[i] = mem_zalloc(s->groups[i].bytes);
    }
    for (uint32_t i = 0; i < s->group_count; i++) {
        stat_sub(s->groups[i].rows, before[i], after[i]);
        stat_add(s->groups[i].rows, s->moved[i], before[i]);
    }
    snapshot_free(before, s->group_count);
    snapshot_free(after, s->group_count);
}

void **snapshot_since(const struct snapshots *s, void *const *before)
{
    void **stats = snapshot_take(s);
    for (uint32_t i = 0; i < s->group_count; i++) stat_sub(s->groups[i].rows, stats[i], before[i]);
    return stats;
}

void snapshot_free(void **stats, uint32_t group_count)
{
    if (!stats) return;
    for (uint32_t i = 0; i < group_count; i++) free(stats[i]);
    free(stats);
}

static uint64_t hash_group(uint64_t h, const struct timed_group *group, const void *stats)
{
    for (const struct stat_row *r = group->rows; r->name; r++)
        if (r->type != STAT_RATIO)
            h = hash_bytes(h, (const char *)stats + r->offset,
                           sizeof(uint64_t) * (r->type == STAT_HISTOGRAM ? r->length : 1));
    return h;
}

uint64_t snapshot_hash(const struct snapshots *s, uint64_t hash, void *const *stats)
{
    for (uint32_t i = 0; i < s->group_count; i++) hash = hash_group(hash, &s->groups[i], stats[i]);
    return hash;
}
