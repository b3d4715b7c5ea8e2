/* load_stats.c: see load_stats.h. */
#include "core/sm/load_stats.h"

/* Regions of a set of lines, to begin with: sets are made for each launch, and many loads touch little. */
enum { SEEN_REGIONS = 2 };

/* APRES Table I: the difference of addresses of successive executions by different warps, divided by the
 * difference of the warps. The most frequent strides are kept; a new one takes the place of the rarest and
 * its count (space-saving, Metwally et al., ICDT'05). */
static void note_stride(struct pc_load_stats *s, int64_t stride)
{
    uint32_t at = 0, least = 0;
    while (at < PC_STRIDES && !(s->stride_count[at] && s->stride[at] == stride)) {
        if (s->stride_count[at] < s->stride_count[least]) least = at;
        at++;
    }
    if (at == PC_STRIDES) at = least;
    s->stride[at] = stride;
    s->stride_count[at]++;
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
