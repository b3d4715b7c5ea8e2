/* link.h: the only way from one component to another: a bounded queue with a latency, an occupancy histogram and a count of
 * refusals. Values are 32-bit (request ids, or anything the two ends agree on).
 *
 * Invariants. (1) What is pushed at t can be seen at t + latency at the earliest, latency >= 1 tick of the producer's period.
 * (2) Room that a pop makes at t can be used from the tick after t on. So neither end sees what the other does in the same
 * tick, and the order in which components run cannot matter. (3) Nothing is ever lost: a push needs room. (4) No count here depends on
 * how often a blocked end asks again, so skipping idle time changes none.
 *
 * Waking. A component's tick begins with wake = TICK_NEVER; whatever it does lowers wake, and it ends with wake_at(link_next(in)) for each link
 * that it reads. Where it wants to push, it asks link_can_push in every tick: a refusal leaves a note by which the pop that makes room wakes it. */
#ifndef HEDDLE_LINK_H
#define HEDDLE_LINK_H

#include "base/tick.h"

enum {
    LINK_LEVELS = 11
}; /* occupancy 1..100% in tenths: [0] = up to 10% ... [9] = above 90% but not full, [10] = full */

struct link_slot {
    tick ready;
    uint32_t value;
};

struct link {
    struct link_slot *slots;
    uint32_t capacity, head, count;
    tick latency;                        /* ticks */
    tick pop_time;                       /* of the newest pop */
    uint32_t pop_count;                  /* pops at pop_time: not free yet in that tick */
    tick *consumer_wake, *producer_wake; /* set to the time at which the other end may go on; may be NULL */
    bool producer_waits;                 /* a push was refused: tell the producer when there is room */
    tick waits_since;                    /* the first refusal of this wait */
    /* statistics */
    tick changed;                  /* when count last changed */
    tick level_ticks[LINK_LEVELS]; /* time spent at each level, while not empty */
    uint64_t pushes, refusals; /* refusals: times that the producer had to wait, not times that it asked */
    tick blocked_ticks;        /* from the first refusal to the push that went through, summed */
    const char *name;
};

void link_init(struct link *l, const char *name, uint32_t capacity, tick latency, tick *producer_wake,
               tick *consumer_wake);
void link_free(struct link *l);
/* True: link_push may be called at now. False: the producer is blocked, and is woken when there is room. */
bool link_can_push(struct link *l, tick now);
void link_push(struct link *l, tick now, uint32_t value);
/* The head, if it can be seen at now. */
static inline bool link_peek(const struct link *l, tick now, uint32_t *value)
{
    if (!l->count || l->slots[l->head].ready > now) return false;
    *value = l->slots[l->head].value;
    return true;
}
uint32_t link_pop(struct link *l, tick now); /* only after a link_peek that was true */
static inline tick link_next(const struct link *l) { return l->count ? l->slots[l->head].ready : TICK_NEVER; }
void link_close_stats(struct link *l, tick now); /* account the time since the last change */

#endif
