/* queue_stats.c: occupancy of the links, summed over the links of a kind. Times are in ticks, which are exact
 * in every clock domain; reports use them as shares. */
#include "core/queue_stats.h"

#include "mem/link_ahead.h"

#define QUEUE_ROWS(kind, nm, what)                                                                           \
    STAT_HISTOGRAM(queue_stats, kinds[kind].level, "queue." nm "_level", LINK_LEVELS, "ticks",               \
                   what ": time at each level while not empty: tenths, the last = full"),                    \
        STAT_COUNT(queue_stats, kinds[kind].used_ticks, "queue." nm "_used", "ticks",                        \
                   what ": usage lifetime, the time with at least one entry", NULL),                         \
        STAT_COUNT(queue_stats, kinds[kind].full_ticks, "queue." nm "_full_ticks", "ticks",                  \
                   what ": time in which it was full", NULL),                                                \
        STAT_RATIO(queue_stats, kinds[kind].full_ticks, kinds[kind].used_ticks, "queue." nm "_full", "%",    \
                   what ": full, of its usage lifetime", NULL),                                              \
        STAT_COUNT(queue_stats, kinds[kind].entries, "queue." nm "_entries", "requests",                     \
                   what ": requests that went through it", NULL),                                            \
        STAT_COUNT(queue_stats, kinds[kind].refusals, "queue." nm "_waits", "waits",                         \
                   what ": times that its producer had to wait for room", NULL),                             \
        STAT_COUNT(queue_stats, kinds[kind].blocked_ticks, "queue." nm "_blocked", "ticks",                  \
                   what ": time that its producer waited", NULL)

const struct stat_row queue_stat_rows[] = {
    QUEUE_ROWS(QUEUE_L1_MISS, "l1_miss", "from the SMs to the crossbar"),
    QUEUE_ROWS(QUEUE_L2_ACCESS, "l2_access", "L2 access queue"),
    QUEUE_ROWS(QUEUE_L2_MISS, "l2_miss", "L2 miss queue"),
    QUEUE_ROWS(QUEUE_L2_FILL, "l2_fill", "from DRAM to L2"),
    QUEUE_ROWS(QUEUE_L2_RESPONSE, "l2_response", "L2 response queue"),
    QUEUE_ROWS(QUEUE_L1_RESPONSE, "l1_response", "from the crossbar to the SMs"),
    {0},
};

void queue_stats_add(struct queue_stats *s, enum queue_kind kind, struct link *links, uint32_t count,
                     tick now)
{
    struct queue_counts *c = &s->kinds[kind];
    for (uint32_t i = 0; i < count; i++) {
        struct link *l = &links[i];
        link_close_stats(l, MAX(now, l->changed)); /* SMs may be ahead in a run that ended early */
        uint64_t ticks[LINK_LEVELS] = {0};
        link_add_levels(l, ticks);
        for (uint32_t n = 0; n < LINK_LEVELS; n++) {
            c->level[n] += ticks[n];
            c->used_ticks += ticks[n];
        }
        c->full_ticks += ticks[LINK_LEVELS - 1];
        c->entries += link_pushes(l);
        c->refusals += link_refusals(l, now);
        c->blocked_ticks += l->blocked_ticks;
    }
}
