/* ring.h: which places of an array a bounded queue uses. Places are taken in turn, but no more of them than there ever was need for: a queue that may
 * hold hundreds and holds three stays in one or two lines of the host's cache. */
#ifndef HEDDLE_RING_H
#define HEDDLE_RING_H

#include "base/base.h"

struct ring {
    uint32_t head, count;
    uint32_t turn; /* places that are in use by turns: from RING_START up to capacity */
    uint32_t capacity;
};

enum { RING_START = 4 };

static inline struct ring ring_of(uint32_t capacity)
{
    return (struct ring){.turn = MIN(capacity, (uint32_t)RING_START), .capacity = capacity};
}

/* Twice as many places; the items, `size` bytes each, move so that they follow each other as before. */
void ring_widen(struct ring *r, void *items, size_t size);

/* The place of item i, 0 = the oldest. */
static inline uint32_t ring_place(const struct ring *r, uint32_t i)
{
    uint32_t at = r->head + i;
    return at >= r->turn ? at - r->turn : at;
}

/* The place behind the newest; it counts from now on. */
static inline uint32_t ring_push(struct ring *r, void *items, size_t size)
{
    assert(r->count < r->capacity);
    if (UNLIKELY(r->count == r->turn)) ring_widen(r, items, size);
    return ring_place(r, r->count++);
}

static inline void ring_pop(struct ring *r)
{
    assert(r->count);
    if (++r->head == r->turn) r->head = 0;
    r->count--;
}

#endif
