/* link.h: the only way from one component to another: a bounded queue with a latency, an occupancy histogram
 * and a count of refusals. Values are 32-bit (request ids, or any code that both ends use).
 *
 * Invariants. (1) A value that is pushed at t can be seen at t + latency at the earliest, latency >= 1 tick
 * of the producer's period. (2) Room that a pop makes at t can be used from the tick after t on. So neither
 * end sees what the other does in the same tick, and the order in which components run does not matter. (3)
 * No value is lost: a push needs room. (4) No count depends on how often a blocked end asks again, so
 * skipping idle time changes none.
 *
 * The rule. link_is_full says whether a link takes a value at a given time; all functions that ask or refuse
 * use it.
 *
 * Waking. A component's tick begins with wake = TICK_NEVER; each action lowers wake, and the tick ends with
 * wake_at(link_next(in)) for each link that the component reads. A producer calls link_can_push in every tick
 * in which it wants to push: after a refusal, the pop that makes room wakes it. */
#ifndef HEDDLE_LINK_H
#define HEDDLE_LINK_H

#include "base/tick.h"

/* Levels of occupancy: [0] = above 0 and up to 10% ... [9] = above 90% but not full, [10] = full. */
enum { LINK_LEVELS = 11 };

struct link_slot {
    tick ready;
    uint32_t value;
};

/* Asking and peeking touch only the first cache line of the host. The oldest value is in it; `slots` holds
 * the values behind it. A push and a pop also touch the time at their count. A link is never moved in
 * memory. */
enum { LINK_SLOTS_MAX = 1 << 16, LINK_FEW = 10 };
struct link {
    /* when the oldest value can be seen; TICK_NEVER: empty */
    tick head_ready;
    /* when count last changed */
    tick changed;
    struct link_slot *slots;
    /* set to the time from which on the consumer may act; may be NULL */
    tick *consumer_wake;
    /* set to 1 together with it; may be NULL (link_ahead.h) */
    uint8_t *consumer_note;
    uint32_t head_value;
    /* ticks */
    uint32_t latency;
    uint32_t capacity, count;
    /* pops at `changed`: their slots are not free yet in that tick */
    uint16_t pop_count;
    /* the low bits (slot_mask) are the slot of the value behind the oldest */
    uint16_t next;
    uint16_t slot_mask;
    /* a push was refused: wake the producer when there is room */
    bool producer_waits;

    /* second and third line */
    /* [count - 1]: time spent at this count; few_ticks in a short link */
    tick *count_ticks;
    uint64_t pops;
    tick few_ticks[LINK_FEW];
    /* like the consumer's */
    tick *producer_wake;
    uint8_t *producer_note;
    /* the first refusal of this wait */
    tick waits_since;
    char third[8];

    /* fourth line */
    /* how often the producer had to wait, not how often it asked */
    uint64_t refusals;
    /* sum of the times from the first refusal to the next success */
    tick blocked_ticks;
    const char *name;
    char rest[HOST_LINE - 24];
};
static_assert(offsetof(struct link, count_ticks) == HOST_LINE && sizeof(struct link) == 4 * HOST_LINE,
              "a link is four lines");

void link_init(struct link *l, const char *name, uint32_t capacity, tick latency, tick *producer_wake,
               tick *consumer_wake);
/* Sets who is woken: the producer when there is room, the consumer when it can see a value. NULL: not
 * woken. */
void link_join(struct link *l, tick *producer_wake, tick *consumer_wake);
void link_free(struct link *l);
/* [count]: the level of a queue of this capacity; the caller frees it. */
uint8_t *link_levels(uint32_t capacity);
/* The producer waits from now on, until it asks and there is room. */
void link_refuse(struct link *l, tick now);
/* Adds the time spent at each level, while not empty, up to the last change. */
void link_add_levels(const struct link *l, uint64_t sum[LINK_LEVELS]);

/* Wakes the producer: there is room from the next tick on. */
static inline void link_tell_producer(struct link *l, tick now)
{
    if (l->producer_note) *l->producer_note = 1;
    if (l->producer_wake) wake_at(l->producer_wake, now + 1);
}

/* Slots that the producer may not use: slots that were emptied in this tick are not free yet (invariant
 * 2). */
static inline uint32_t link_occupied(const struct link *l, tick now)
{
    return l->count + (l->changed == now ? l->pop_count : 0);
}

/* Does the link lack room for n more values at now? */
static inline bool link_is_full(const struct link *l, tick now, uint32_t n)
{
    return link_occupied(l, now) + n > l->capacity;
}

/* Every slot holds a value: room comes with a pop, which wakes a waiting producer. */
static inline bool link_is_at_capacity(const struct link *l) { return l->count == l->capacity; }

/* True: link_push may be called at now. False: the producer is blocked, and is woken when there is room. */
static inline bool link_can_push(struct link *l, tick now)
{
    if (UNLIKELY(link_is_full(l, now, 1))) {
        link_refuse(l, now);
        return false;
    }
    if (l->producer_waits) {
        l->producer_waits = false;
        l->blocked_ticks += now - l->waits_since;
    }
    return true;
}

/* Accounts for `count` values that were in the link from `since` until now. */
static inline void link_spend(struct link *l, uint32_t count, tick since, tick now)
{
    debug_assert(now >= since && count);
    l->count_ticks[count - 1] += now - since;
}

/* Number of pops in this tick so far; since: the time of the last change. Slots that were emptied earlier are
 * free. */
static inline uint32_t link_pops_at(const struct link *l, tick since, tick now)
{
    return since == now ? l->pop_count : 0;
}

/* Accounts for the time since the last change. */
static inline void link_close_stats(struct link *l, tick now)
{
    if (l->count) link_spend(l, l->count, l->changed, now);
    l->pop_count = (uint16_t)link_pops_at(l, l->changed, now);
    l->changed = now;
}

/* The slot of the i-th behind the oldest. */
static inline struct link_slot *link_slot_at(const struct link *l, uint32_t i)
{
    return &l->slots[(l->next + i) & l->slot_mask];
}

/* Here and in link_pop, values that are needed twice are read once into locals: after a store through a
 * pointer the compiler would read them again. */
static inline void link_push(struct link *l, tick now, uint32_t value)
{
    debug_assert(link_occupied(l, now) < l->capacity); /* invariant 3 */
    const tick ready = now + l->latency, since = l->changed;
    const uint32_t count = l->count;
    tick *wake = l->consumer_wake;
    uint8_t *note = l->consumer_note;
    l->pop_count = (uint16_t)link_pops_at(l, since, now);
    l->changed = now;
    l->count = count + 1;
    if (count) {
        link_spend(l, count, since, now);
        *link_slot_at(l, count - 1) = (struct link_slot){.ready = ready, .value = value};
    } else {
        l->head_ready = ready;
        l->head_value = value;
    }
    if (note) *note = 1;
    if (wake) wake_at(wake, ready);
}

/* Reads the head, if it can be seen at now. */
static inline bool link_peek(const struct link *l, tick now, uint32_t *value)
{
    if (l->head_ready > now) return false;
    *value = l->head_value;
    return true;
}

/* To be called only after link_peek returned true. */
static inline uint32_t link_pop(struct link *l, tick now)
{
    debug_assert(l->count && l->head_ready <= now); /* invariant 1 */
    const uint32_t value = l->head_value, left = l->count - 1;
    const tick since = l->changed;
    debug_assert(link_pops_at(l, since, now) < UINT16_MAX);
    l->pop_count = (uint16_t)(link_pops_at(l, since, now) + 1);
    l->changed = now;
    l->pops++;
    link_spend(l, left + 1, since, now);
    l->count = left;
    if (left) {
        const struct link_slot *first = link_slot_at(l, 0);
        l->head_ready = first->ready;
        l->head_value = first->value;
        l->next++;
    } else {
        l->head_ready = TICK_NEVER;
        l->next = 0; /* a link that is often empty uses few lines of its slots */
    }
    if (UNLIKELY(l->producer_waits)) link_tell_producer(l, now);
    return value;
}

static inline uint64_t link_pushes(const struct link *l) { return l->pops + l->count; }

static inline tick link_next(const struct link *l) { return l->head_ready; }

#endif
