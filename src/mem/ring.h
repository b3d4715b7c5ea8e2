/* ring.h: bounded first-in-first-out queues.
 *
 * struct ring says which slots of an array a queue uses. Slots are used in turn, but only as many as the
 * queue has ever needed: a queue with room for hundreds that never holds more than three stays in one or two
 * lines of the host's cache. RING_TYPE makes a queue of elements of one type. struct short_ring takes 4
 * bytes, for structs that have to be small: a port of the crossbar is one line of the host's cache. Its
 * number of slots, a power of two, is kept by the owner.
 *
 * Queues that do without, and why. A link (link.h) keeps its oldest value beside its counts, so that asking
 * touches one line. A latch of the operand collectors (core/sm/collector.h) holds its few entries itself. The
 * queue of the load-store unit (core/sm/lsu.c) has its count in the line that every cycle of the SM reads. */
#ifndef HEDDLE_RING_H
#define HEDDLE_RING_H

#include "base/base.h"
#include "base/hugepage.h"

struct ring {
    uint32_t head, count;
    /* slots that are used in turn: from RING_START up to capacity */
    uint32_t turn;
    uint32_t capacity;
};

enum { RING_START = 4 };

static inline struct ring ring_of(uint32_t capacity)
{
    return (struct ring){.turn = MIN(capacity, (uint32_t)RING_START), .capacity = capacity};
}

/* Twice as many slots; the items, `size` bytes each, move so that they follow each other as before. */
void ring_widen(struct ring *r, void *items, size_t size);

/* The index of item i, 0 = the oldest. */
static inline uint32_t ring_index(const struct ring *r, uint32_t i)
{
    uint32_t at = r->head + i;
    return at >= r->turn ? at - r->turn : at;
}

/* The slot behind the newest item; it is in use from now on. */
static inline uint32_t ring_push(struct ring *r, void *items, size_t size)
{
    debug_assert(r->count < r->capacity);
    if (UNLIKELY(r->count == r->turn)) ring_widen(r, items, size);
    return ring_index(r, r->count++);
}

static inline void ring_pop(struct ring *r)
{
    debug_assert(r->count);
    if (++r->head == r->turn) r->head = 0;
    r->count--;
}

/* ---- short rings: `wrap` is the number of slots, less 1 ---- */

struct short_ring {
    uint16_t head, count;
};

/* The wrap of a ring that holds so many items. */
static inline uint16_t short_ring_wrap(uint32_t capacity)
{
    uint32_t slots = 1;
    while (slots < capacity) slots *= 2;
    return (uint16_t)(slots - 1);
}

/* The index of item i, 0 = the oldest. */
static inline uint32_t short_ring_index(const struct short_ring *r, uint32_t i, uint16_t wrap)
{
    return (r->head + i) & wrap;
}

/* The slot behind the newest item; it is in use from now on. */
static inline uint32_t short_ring_push(struct short_ring *r, uint16_t wrap)
{
    debug_assert(r->count <= wrap);
    const uint32_t at = short_ring_index(r, r->count, wrap);
    r->count++;
    return at;
}

/* The oldest item leaves; its slot stays as it is until the next push. */
static inline void short_ring_pop(struct short_ring *r, uint16_t wrap)
{
    debug_assert(r->count);
    r->head = (uint16_t)((r->head + 1) & wrap);
    r->count--;
}

/* ---- queues of one type ---- */

/* Declares `struct name`, a queue of `type`, and name_init, name_free, name_has_room, name_push, name_front
 * (the oldest; only while there is one), name_pop. */
#define RING_TYPE(name, type)                                                                                \
    struct name {                                                                                            \
        struct ring ring;                                                                                    \
        type *items;                                                                                         \
    };                                                                                                       \
    static inline void name##_init(struct name *q, uint32_t capacity)                                        \
    {                                                                                                        \
        q->ring = ring_of(capacity);                                                                         \
        q->items = capacity ? mem_zalloc_huge(sizeof(type) * capacity) : NULL;                               \
    }                                                                                                        \
    static inline void name##_free(struct name *q) { mem_free_huge(q->items); }                              \
    static inline bool name##_has_room(const struct name *q) { return q->ring.count < q->ring.capacity; }    \
    static inline void name##_push(struct name *q, type value)                                               \
    {                                                                                                        \
        uint32_t at = ring_push(&q->ring, q->items, sizeof(type));                                           \
        q->items[at] = value;                                                                                \
    }                                                                                                        \
    static inline const type *name##_front(const struct name *q)                                             \
    {                                                                                                        \
        debug_assert(q->ring.count);                                                                         \
        return &q->items[q->ring.head];                                                                      \
    }                                                                                                        \
    static inline type name##_pop(struct name *q)                                                            \
    {                                                                                                        \
        type value = *name##_front(q);                                                                       \
        ring_pop(&q->ring);                                                                                  \
        return value;                                                                                        \
    }

#endif
