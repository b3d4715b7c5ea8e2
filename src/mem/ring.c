/* ring.c: a ring that needs more slots than ever before. */
#include "mem/ring.h"

/* Items from the head to the end of the old array move to the new end; those before the head stay and follow
 * them. */
COLD void ring_widen(struct ring *r, void *items, size_t size)
{
    uint32_t turn = MIN(2 * r->turn, r->capacity), older = r->turn - r->head;
    unsigned char *at = items;
    assert(turn > r->turn);
    memmove(at + (size_t)(turn - older) * size, at + (size_t)r->head * size, (size_t)older * size);
    r->head = turn - older;
    r->turn = turn;
}
