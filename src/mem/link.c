/* link.c: bounded queues with a latency: the wires between components.
 *
 * A blocked producer is noted by its first refusal and forgotten when a push goes through: however often it
 * asks in between, the counts are the same (invariant 4), and so are they whether it ran before or after the
 * consumer in one tick. */
#include "mem/link.h"

/* Made once: a push and a pop look it up instead of dividing. */
uint8_t *link_levels(uint32_t capacity)
{
    uint8_t *level = mem_zalloc(capacity + 1);
    for (uint32_t n = 1; n < capacity; n++)
        level[n] = (uint8_t)(((uint64_t)n * (LINK_LEVELS - 1) + capacity - 1) / capacity - 1);
    level[capacity] = LINK_LEVELS - 1;
    return level;
}

void link_init(struct link *l, const char *name, uint32_t capacity, tick latency, tick *producer_wake,
               tick *consumer_wake)
{
    assert(capacity >= 1 && latency >= 1);
    *l = (struct link){.slots = mem_zalloc(sizeof(struct link_slot) * capacity),
                       .capacity = capacity,
                       .latency = latency,
                       .pop_time = TICK_NEVER,
                       .producer_wake = producer_wake,
                       .consumer_wake = consumer_wake,
                       .level_of = link_levels(capacity),
                       .name = name};
}

void link_free(struct link *l)
{
    free(l->slots);
    free(l->level_of);
    l->slots = NULL;
    l->level_of = NULL;
}

void link_refuse(struct link *l, tick now)
{
    if (!l->producer_waits) {
        l->producer_waits = true;
        l->waits_since = now;
        l->refusals++;
    }
    /* The pop of this tick came before the question and told nobody. */
    if (link_occupied(l, now) > l->count) link_tell_producer(l, now);
}
