/* newest_store.c: see newest_store.h. Open addressing with linear probing. */
#include "core/newest_store.h"

#include "base/hash.h"

enum { START_SLOTS = 1024 };
/* Lines are multiples of their size. */
#define NO_LINE UINT64_MAX

static void make_slots(struct newest_store *n, uint64_t count)
{
    n->count = count;
    n->slots = mem_alloc(sizeof *n->slots * count);
    for (uint64_t i = 0; i < count; i++)
        n->slots[i] = (struct newest_store_slot){NO_LINE, NEWEST_STORE_NEVER};
}

/* The slot of the line, or the empty one where it would be. */
static struct newest_store_slot *find(const struct newest_store *n, uint64_t line)
{
    uint64_t at = hash_mix(line) & (n->count - 1);
    while (n->slots[at].line != line && n->slots[at].line != NO_LINE) at = (at + 1) & (n->count - 1);
    return &n->slots[at];
}

static void grow(struct newest_store *n)
{
    const struct newest_store old = *n;
    make_slots(n, 2 * old.count);
    for (uint64_t i = 0; i < old.count; i++)
        if (old.slots[i].line != NO_LINE) *find(n, old.slots[i].line) = old.slots[i];
    free(old.slots);
}

void newest_store_init(struct newest_store *n)
{
    *n = (struct newest_store){0};
    make_slots(n, START_SLOTS);
}

void newest_store_free(struct newest_store *n) { free(n->slots); }

void newest_store_note(struct newest_store *n, uint64_t line, tick date)
{
    if (4 * (n->used + 1) > 3 * n->count) grow(n);
    struct newest_store_slot *slot = find(n, line);
    n->used += slot->line == NO_LINE;
    slot->line = line;
    slot->date = MAX(slot->date, date);
}

tick newest_store_of(const struct newest_store *n, uint64_t line) { return find(n, line)->date; }
