/* queue_stats.h: how full the queues between the components are (statistics group "queue"): the thesis's
 * measure of congestion between two levels of the memory (3.4, Figures 3.3 and 3.4). The DRAM scheduler's
 * queue is the channel's own: dram.queue_level. */
#ifndef HEDDLE_QUEUE_STATS_H
#define HEDDLE_QUEUE_STATS_H

#include "mem/link.h"
#include "stats/stat.h"

enum queue_kind {
    /* SM -> crossbar */
    QUEUE_L1_MISS,
    /* crossbar -> L2 slice */
    QUEUE_L2_ACCESS,
    /* L2 slice -> DRAM */
    QUEUE_L2_MISS,
    /* DRAM -> L2 slice */
    QUEUE_L2_FILL,
    /* L2 slice -> crossbar */
    QUEUE_L2_RESPONSE,
    /* crossbar -> SM */
    QUEUE_L1_RESPONSE,
    QUEUE_KINDS
};

struct queue_counts {
    /* ticks at each level while in use */
    uint64_t level[LINK_LEVELS];
    /* ticks with at least one entry (the usage lifetime), and with all entries taken */
    uint64_t used_ticks, full_ticks;
    uint64_t entries, refusals, blocked_ticks;
};
struct queue_stats {
    struct queue_counts kinds[QUEUE_KINDS];
};

extern const struct stat_row queue_stat_rows[];

/* Adds the occupancy of links up to now. */
void queue_stats_add(struct queue_stats *s, enum queue_kind kind, struct link *links, uint32_t count,
                     tick now);

#endif
