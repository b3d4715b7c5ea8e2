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
    uint8_t
        *consumer_note; /* a push sets it to 1: which of its many links the consumer looks at; may be NULL */
    uint8_t *producer_note; /* the same for a pop that the producer waits for */
    bool producer_waits;    /* a push was refused: tell the producer when there is room */
    tick waits_since;       /* the first refusal of this wait */
    /* statistics */
    uint8_t *level_of;             /* [count]: its level; [0] unused */
    tick changed;                  /* when count last changed */
    tick level_ticks[LINK_LEVELS]; /* time spent at each level, while not empty */
    uint64_t pushes, refusals; /* refusals: times that the producer had to wait, not times that it asked */
    tick blocked_ticks;        /* from the first refusal to the push that went through, summed */
    const char *name;
};

void link_init(struct link *l, const char *name, uint32_t capacity, tick latency, tick *producer_wake,
               tick *consumer_wake);
void link_free(struct link *l);
void link_refuse(struct link *l, tick now); /* what link_can_push does when there is no room */

/* What the producer counts as occupied: places emptied in this very tick are not free yet (invariant 2). */
static inline uint32_t link_occupied(const struct link *l, tick now)
{
    return l->count + (l->pop_time == now ? l->pop_count : 0);
}

/* True: link_push may be called at now. False: the producer is blocked, and is woken when there is room. */
static inline bool link_can_push(struct link *l, tick now)
{
    if (UNLIKELY(link_occupied(l, now) >= l->capacity)) {
        link_refuse(l, now);
        return false;
    }
    if (l->producer_waits) {
        l->producer_waits = false;
        l->blocked_ticks += now - l->waits_since;
    }
    return true;
}

/* Accounts the time since the last change. */
static inline void link_close_stats(struct link *l, tick now)
{
    assert(now >= l->changed);
    if (l->count) l->level_ticks[l->level_of[l->count]] += now - l->changed;
    l->changed = now;
}

static inline void link_push(struct link *l, tick now, uint32_t value)
{
    assert(link_occupied(l, now) < l->capacity); /* invariant 3 */
    link_close_stats(l, now);
    uint32_t at = l->head + l->count;
    if (at >= l->capacity) at -= l->capacity;
    l->slots[at] = (struct link_slot){.ready = now + l->latency, .value = value};
    l->count++;
    l->pushes++;
    if (l->consumer_note) *l->consumer_note = 1;
    if (l->consumer_wake) wake_at(l->consumer_wake, now + l->latency);
}

/* The head, if it can be seen at now. */
static inline bool link_peek(const struct link *l, tick now, uint32_t *value)
{
    if (!l->count || l->slots[l->head].ready > now) return false;
    *value = l->slots[l->head].value;
    return true;
}

/* Only after a link_peek that was true. */
static inline uint32_t link_pop(struct link *l, tick now)
{
    assert(l->count && l->slots[l->head].ready <= now); /* invariant 1 */
    link_close_stats(l, now);
    uint32_t value = l->slots[l->head].value;
    if (++l->head == l->capacity) l->head = 0;
    l->count--;
    if (l->pop_time != now) {
        l->pop_time = now;
        l->pop_count = 0;
    }
    l->pop_count++;
    if (UNLIKELY(l->producer_waits) && l->producer_wake) {
        wake_at(l->producer_wake, now + 1);
        if (l->producer_note) *l->producer_note = 1;
    }
    return value;
}

static inline tick link_next(const struct link *l) { return l->count ? l->slots[l->head].ready : TICK_NEVER; }

#endif
