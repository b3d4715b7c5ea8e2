/* queue_stats.h: how full the queues between the components are (statistics group "queue"): the thesis's
 * measure of congestion between two levels of the memory (3.4, Figures 3.3 and 3.4). The DRAM scheduler's
 * queue is the channel's own: dram.queue_level. */
#ifndef HEDDLE_QUEUE_STATS_H
#define HEDDLE_QUEUE_STATS_H

#include "mem/link.h"
#include "stats/stat.h"

enum queue_kind {
    QUEUE_L1_MISS,     /* SM -> crossbar */
    QUEUE_L2_ACCESS,   /* crossbar -> L2 slice */
    QUEUE_L2_MISS,     /* L2 slice -> DRAM */
    QUEUE_L2_FILL,     /* DRAM -> L2 slice */
    QUEUE_L2_RESPONSE, /* L2 slice -> crossbar */
    QUEUE_L1_RESPONSE, /* crossbar -> SM */
    QUEUE_KINDS
};

struct queue_counts {
    uint64_t level[LINK_LEVELS];     /* ticks at each level while in use */
    uint64_t used_ticks, full_ticks; /* the usage lifetime: at least one entry; and all of them */
    uint64_t entries, refusals, blocked_ticks;
};
struct queue_stats {
    struct queue_counts kinds[QUEUE_KINDS];
};

extern const struct stat_row queue_stat_rows[];

/* Adds what the link has seen up to now. */
void queue_stats_add(struct queue_stats *s, enum queue_kind kind, struct link *links, uint32_t count,
                     tick now);

#endif
