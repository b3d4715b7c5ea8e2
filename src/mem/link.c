/* link.c: bounded queues with a latency: the wires between components.
 *
 * A blocked producer is noted by its first refusal and forgotten when a push goes through: however often it
 * asks in between, the counts are the same (invariant 4), and so are they whether it ran before or after the
 * consumer in one tick. */
#include "mem/link.h"

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
                       .name = name};
}

void link_free(struct link *l)
{
    free(l->slots);
    l->slots = NULL;
}

/* What the producer counts as occupied: places emptied in this very tick are not free yet (invariant 2). */
static uint32_t link_occupied(const struct link *l, tick now)
{
    return l->count + (l->pop_time == now ? l->pop_count : 0);
}

bool link_can_push(struct link *l, tick now)
{
    if (LIKELY(link_occupied(l, now) < l->capacity)) {
        if (l->producer_waits) {
            l->producer_waits = false;
            l->blocked_ticks += now - l->waits_since;
        }
        return true;
    }
    if (!l->producer_waits) {
        l->producer_waits = true;
        l->waits_since = now;
        l->refusals++;
    }
    /* The pop of this tick came before the question and told nobody. */
    if (l->count < l->capacity && l->producer_wake) wake_at(l->producer_wake, now + 1);
    return false;
}

static uint32_t link_level(const struct link *l)
{
    if (l->count == l->capacity) return LINK_LEVELS - 1;
    return (l->count * (LINK_LEVELS - 1) + l->capacity - 1) / l->capacity - 1;
}

void link_close_stats(struct link *l, tick now)
{
    assert(now >= l->changed);
    if (l->count) l->level_ticks[link_level(l)] += now - l->changed;
    l->changed = now;
}

void link_push(struct link *l, tick now, uint32_t value)
{
    assert(link_occupied(l, now) < l->capacity); /* invariant 3 */
    link_close_stats(l, now);
    uint32_t at = l->head + l->count;
    if (at >= l->capacity) at -= l->capacity;
    l->slots[at] = (struct link_slot){.ready = now + l->latency, .value = value};
    l->count++;
    l->pushes++;
    if (l->consumer_wake) wake_at(l->consumer_wake, now + l->latency);
}

uint32_t link_pop(struct link *l, tick now)
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
    if (l->producer_waits && l->producer_wake) wake_at(l->producer_wake, now + 1);
    return value;
}
