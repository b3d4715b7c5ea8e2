/* trace.c: a plug-in that fills every event and adds a hash of each, with its cycle and all of its fields, to
 * a statistic of the hook (trace.NAME). Two runs with the same statistics have reported the same events at
 * the same cycles of each SM, whatever the host skipped, and with any number of threads. */
#include "heddle/mechanism.h"

struct trace {
    const struct mech_ports *ports;
    uint64_t on_kernel, on_launch, on_issue, on_next, on_l1_access, on_l1_evict, on_l1_fill, on_l1_level,
        on_prefetch, on_warp, on_barrier, on_timer, line_touched, line_inserted, counters;
};

#define COUNT(hook) STAT_COUNT(trace, hook, "trace." #hook, "", "hash of the events", NULL)
static const struct stat_row trace_stats[] = {
    COUNT(on_kernel),    COUNT(on_launch),     COUNT(on_issue),   COUNT(on_next),
    COUNT(on_l1_access), COUNT(on_l1_evict),   COUNT(on_l1_fill), COUNT(on_l1_level),
    COUNT(on_prefetch),  COUNT(on_warp),       COUNT(on_barrier), COUNT(on_timer),
    COUNT(line_touched), COUNT(line_inserted), COUNT(counters),   {0}};

static uint64_t mix(uint64_t hash, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return hash;
}
/* Adds a hash of the words to a statistic. It is a sum because statistics of SMs and kernels are summed. */
#define TELL(stat, ...)                                                                                      \
    do {                                                                                                     \
        const uint64_t words[] = {__VA_ARGS__};                                                              \
        ((struct trace *)state)->stat += mix(1, words, sizeof words / sizeof *words);                        \
    } while (0)

static void trace_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct trace *)state)->ports = ports;
}
static void trace_on_kernel(void *state, bool is_start) { TELL(on_kernel, is_start); }
static void trace_on_launch(void *state, const struct mech_launch *e)
{
    TELL(on_launch, e->cycle, e->launch, e->grid[0], e->block[0], e->registers, e->shared_bytes, e->ctas_fit);
}
static void trace_on_issue(void *state, const struct mech_issue *e)
{
    TELL(on_issue, e->cycle, e->id, (uint64_t)e->warp, e->pc, e->is_load, e->is_store, e->is_global,
         e->is_local, e->scheduler, e->lanes, e->l1_lines, e->launch, e->reads[0], e->writes[0]);
}
static void trace_on_next(void *state, const struct mech_next *e)
{
    TELL(on_next, e->cycle, (uint64_t)e->warp, e->pc, e->live[0]);
}
static void trace_on_l1_access(void *state, const struct mech_l1_access *e)
{
    TELL(on_l1_access, e->cycle, e->id, (uint64_t)e->warp, e->pc, e->line, e->sectors, e->is_store,
         e->is_atomic, e->is_local, e->is_prefetch, e->is_first_line, e->lane_address, e->launch,
         e->intra_warp, e->is_first_use, e->outcome);
}
static void trace_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    TELL(on_l1_evict, e->cycle, e->line, e->sectors, e->cause, (uint64_t)e->owner_warp,
         (uint64_t)e->last_warp, e->owner_pc, e->last_pc, e->owner_launch, e->was_prefetch, e->was_used,
         e->is_local);
}
static void trace_on_l1_fill(void *state, const struct mech_l1_fill *e)
{
    TELL(on_l1_fill, e->cycle, e->line, e->latency_cycles, e->is_prefetch, e->is_local, e->kept);
}
static void trace_on_l1_level(void *state, const struct mech_l1_level *e)
{
    TELL(on_l1_level, e->cycle, e->mshrs_used, e->mshrs, e->queue_used, e->queue);
}
static void trace_on_prefetch(void *state, const struct mech_prefetch *e)
{
    TELL(on_prefetch, e->cycle, e->line, e->pc, (uint64_t)e->warp, e->outcome);
}
static void trace_on_warp(void *state, const struct mech_warp_event *e)
{
    TELL(on_warp, e->cycle, (uint64_t)e->warp, e->cta_slot, e->cta, e->is_start, e->scheduler, e->index,
         e->cta_warps, e->launch);
}
static void trace_on_barrier(void *state, const struct mech_barrier *e)
{
    TELL(on_barrier, e->cycle, e->bank, e->warps, e->is_wait);
}
static void trace_on_timer(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct trace *)state)->ports;
    const struct mech_counters *c = p->counters(p->host);
    TELL(on_timer, cycle);
    ((struct trace *)state)->counters += mix(3, (const uint64_t *)c, sizeof *c / sizeof(uint64_t));
}
static void trace_line_touched(void *state, uint32_t set, uint32_t way) { TELL(line_touched, set, way); }
static void trace_line_inserted(void *state, uint32_t set, uint32_t way) { TELL(line_inserted, set, way); }

extern const struct mechanism heddle_mechanism;
HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = "trace",
    .summary = "hashes every event",
    .paper = "",
    .stats = trace_stats,
    .state_bytes = sizeof(struct trace),
    .timer_cycles = 37,
    .init = trace_init,
    .on_kernel = trace_on_kernel,
    .on_launch = trace_on_launch,
    .line_touched = trace_line_touched,
    .line_inserted = trace_line_inserted,
    .on_issue = trace_on_issue,
    .on_next = trace_on_next,
    .on_l1_access = trace_on_l1_access,
    .on_l1_evict = trace_on_l1_evict,
    .on_l1_fill = trace_on_l1_fill,
    .on_l1_level = trace_on_l1_level,
    .on_prefetch = trace_on_prefetch,
    .on_warp = trace_on_warp,
    .on_barrier = trace_on_barrier,
    .on_timer = trace_on_timer,
};
