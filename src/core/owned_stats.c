/* owned_stats.c: see owned_stats.h. */
#include "core/owned_stats.h"

#include "core/snapshot.h"
#include "stats/loads.h"

#include <inttypes.h>

/* Counters in a struct of statistics. */
struct range {
    size_t offset, count;
};

#define SM(field)                                                                                            \
    {                                                                                                        \
        offsetof(struct sm_stats, field), sizeof(((struct sm_stats *)0)->field) / sizeof(uint64_t)           \
    }
#define L1(field)                                                                                            \
    {                                                                                                        \
        offsetof(struct l1_stats, field), sizeof(((struct l1_stats *)0)->field) / sizeof(uint64_t)           \
    }
static const struct range sm_ranges[] = {SM(warp_insts),
                                         SM(thread_insts),
                                         SM(insts_by_unit),
                                         SM(loads),
                                         SM(stores),
                                         SM(atomics),
                                         SM(shared_insts),
                                         SM(const_insts),
                                         SM(tex_insts),
                                         SM(barriers),
                                         SM(branches),
                                         SM(transactions),
                                         SM(lanes_by_work),
                                         SM(register_reads),
                                         SM(register_read_lanes),
                                         SM(register_writes),
                                         SM(register_write_lanes),
                                         SM(other_operands),
                                         SM(other_operand_lanes),
                                         SM(store_transactions),
                                         SM(load_sectors),
                                         SM(store_sectors),
                                         SM(ctas),
                                         SM(warps),
                                         SM(load_transactions),
                                         SM(load_cycles),
                                         SM(loads_done),
                                         {0}};
static const struct range l1_ranges[] = {L1(accesses),        L1(hits),
                                         L1(pending),         L1(misses),
                                         L1(total_accesses),  L1(total_hits),
                                         L1(total_pending),   L1(total_misses),
                                         L1(load_accesses),   L1(load_misses),
                                         L1(load_hits),       L1(hit_after_hit),
                                         L1(hit_after_miss),  L1(intra_warp_hits),
                                         L1(inter_warp_hits), {0}};

static bool in_ranges(const struct range *r, size_t offset)
{
    for (; r->count; r++)
        if (offset >= r->offset && offset < r->offset + r->count * sizeof(uint64_t)) return true;
    return false;
}

bool timed_is_own(const struct timed_group *group, const struct stat_row *row)
{
    if (row->type != STAT_COUNT) return false;
    if (group->rows == sm_stat_rows) return in_ranges(sm_ranges, row->offset);
    if (group->rows == l1_stat_rows) return in_ranges(l1_ranges, row->offset);
    return group->rows == gpu_stat_rows && (row->offset == offsetof(struct gpu_counts, ctas) ||
                                            row->offset == offsetof(struct gpu_counts, kernels));
}

static void sum_events(const struct wiring *w, const struct emu_grid *grid, struct sm_own *out)
{
    for (uint32_t i = 0; i < w->sm_count; i++) sm_own_add(w->sms[i], grid, out);
    l1_stats_derive(&out->l1);
}

/* Where a load stands in the program's source. */
static void place_load(const struct isa_kernel *k, uint32_t pc, struct pc_load_stats *l)
{
    const uint32_t loc = k->insts[pc].loc;
    if (loc >= k->loc_count) return;
    l->ptx_line = k->locs[loc].ptx_line;
    l->cuda_line = k->locs[loc].cuda_line;
}

static struct pc_load_stats *sum_loads(const struct wiring *w, const struct emu_grid *grid,
                                       const struct isa_kernel *kernel)
{
    const uint32_t count = kernel->inst_count;
    struct pc_load_stats *sum = mem_zalloc(sizeof *sum * (count + 1));
    for (uint32_t i = 0; i < w->sm_count; i++) {
        const struct pc_load_stats *l;
        for (uint32_t pc = 0; pc < count && (l = sm_pc_load(w->sms[i], grid, pc)); pc++)
            loads_add(&sum[pc], l, 1);
    }
    for (uint32_t pc = 0; pc < count; pc++)
        if (sum[pc].executions) place_load(kernel, pc, &sum[pc]);
    return sum;
}

struct kernel_owned owned_sum(const struct wiring *w, const struct gpu_kernel *k)
{
    struct kernel_owned sum = {0};
    sum_events(w, k->grid, &sum.events);
    sum.loads = sum_loads(w, k->grid, k->launch.kernel);
    return sum;
}

static void replace(const struct range *r, void *stats, const void *own)
{
    for (; r->count; r++)
        memcpy((char *)stats + r->offset, (const char *)own + r->offset, r->count * sizeof(uint64_t));
}

void owned_replace(void **stats, const struct sm_own *own)
{
    struct gpu_counts *gpu = stats[GROUP_GPU];
    replace(sm_ranges, stats[GROUP_SM], &own->sm);
    replace(l1_ranges, stats[GROUP_L1], &own->l1);
    gpu->ctas = own->sm.ctas;
    gpu->kernels = 1;
}

static void compare(const struct stat_row *rows, const struct range *ranges, const void *stats,
                    const void *own, struct strbuf *out)
{
    for (const struct stat_row *r = rows; r->name; r++) {
        uint64_t is, should;
        if (r->type != STAT_COUNT || !in_ranges(ranges, r->offset)) continue;
        memcpy(&is, (const char *)own + r->offset, sizeof is);
        memcpy(&should, (const char *)stats + r->offset, sizeof should);
        if (is != should)
            strbuf_printf(out, "  %s of a kernel that ran alone: %" PRIu64 ", of the machine %" PRIu64 "\n",
                          r->name, is, should);
    }
}

void owned_compare(void *const *stats, const struct sm_own *own, struct strbuf *out)
{
    compare(sm_stat_rows, sm_ranges, stats[GROUP_SM], &own->sm, out);
    compare(l1_stat_rows, l1_ranges, stats[GROUP_L1], &own->l1, out);
}
