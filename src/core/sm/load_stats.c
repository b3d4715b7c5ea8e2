/* load_stats.c: see load_stats.h. */
#include "core/sm/load_stats.h"

/* Regions of a set of lines, to begin with: sets are made for each launch, and many loads touch little. */
enum { SEEN_REGIONS = 2 };

/* APRES Table I: the difference of addresses of successive executions by different warps, divided by the
 * difference of the warps. */
static void note_stride(struct pc_load_stats *s, int64_t stride)
{
    top_note(&s->stride, stride);
    s->strides++;
}

void load_executed(struct sm_load *l, uint64_t warp, uint64_t address, uint32_t lines)
{
    if (!l->stats.executions++) lineset_init(&l->seen, SEEN_REGIONS);
    l->stats.lines += lines;
    if (l->last.valid && l->last.warp != warp) {
        int64_t warps = (int64_t)(warp - l->last.warp), stride = (int64_t)(address - l->last.address);
        note_stride(&l->stats, warps == 1 ? stride : stride / warps);
    }
    l->last.address = address;
    l->last.warp = warp;
    l->last.valid = true;
}

void load_accessed(struct sm_load *l, uint64_t line, enum l1_answer answer)
{
    l->stats.accesses++;
    l->stats.misses += answer == L1_MISS;
    l->stats.merges += answer == L1_PENDING;
    l->stats.unique_lines += lineset_add(&l->seen, line);
}

void load_used_prefetch(struct sm_load *l, bool is_late)
{
    l->stats.prefetch_useful += !is_late;
    l->stats.prefetch_late += is_late;
}

void load_evicted(struct sm_load *l, uint32_t by_pc)
{
    l->stats.evicted++;
    top_note(&l->stats.evictor, by_pc);
}
