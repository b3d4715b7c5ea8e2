/* link.c: bounded queues with a latency: the wires between components.
 *
 * A producer counts as blocked from its first refusal until it asks and there is room: however often it asks
 * in between, the counts are the same (invariant 4), and they do not depend on whether it ran before or after
 * the consumer in a tick. */
#include "mem/link_ahead.h"

#include "base/hugepage.h"

/* The level of a queue with something in it. */
static uint32_t level_of(uint32_t count, uint32_t capacity)
{
    return (count * (LINK_LEVELS - 1) - 1) / capacity + (count == capacity);
}

uint8_t *link_levels(uint32_t capacity)
{
    uint8_t *level = mem_zalloc(capacity + 1);
    for (uint32_t n = 1; n <= capacity; n++) level[n] = (uint8_t)level_of(n, capacity);
    return level;
}

void link_add_levels(const struct link *l, uint64_t sum[LINK_LEVELS])
{
    for (uint32_t n = 1; n <= l->capacity; n++) sum[level_of(n, l->capacity)] += l->count_ticks[n - 1];
}

void link_init(struct link *l, const char *name, uint32_t capacity, tick latency, tick *producer_wake,
               tick *consumer_wake)
{
    assert(capacity >= 1 && capacity <= LINK_SLOTS_MAX && latency >= 1 && latency <= UINT32_MAX);
    uint32_t slots = 1;
    while (slots < capacity) slots *= 2;
    *l = (struct link){.head_ready = TICK_NEVER,
                       .slots = mem_zalloc_huge(sizeof(struct link_slot) * slots),
                       .capacity = capacity,
                       .latency = (uint32_t)latency,
                       .slot_mask = (uint16_t)(slots - 1),
                       .producer_wake = producer_wake,
                       .consumer_wake = consumer_wake,
                       .name = name};
    l->count_ticks = capacity <= LINK_FEW ? l->few_ticks : mem_zalloc_huge(sizeof *l->count_ticks * capacity);
}

void link_join(struct link *l, tick *producer_wake, tick *consumer_wake)
{
    l->producer_wake = producer_wake;
    l->consumer_wake = consumer_wake;
}

void link_note_pushes(struct link *l, uint8_t *note) { l->consumer_note = note; }
void link_note_room(struct link *l, uint8_t *note) { l->producer_note = note; }

void link_free(struct link *l)
{
    if (l->count_ticks != l->few_ticks) mem_free_huge(l->count_ticks);
    mem_free_huge(l->slots);
    l->slots = NULL;
}

void link_refuse(struct link *l, tick now)
{
    if (!l->producer_waits) {
        l->producer_waits = true;
        l->waits_since = now;
        l->refusals++;
    }
    /* A pop earlier in this tick did not wake the producer, which did not wait at that time. */
    if (l->changed == now && l->pop_count) link_tell_producer(l, now);
}
