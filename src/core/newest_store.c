/* newest_store.c: see newest_store.h. Open addressing with linear probing. */
#include "core/newest_store.h"

#include "base/hash.h"

enum { START_BITS = 10 };
/* Lines are multiples of their size. */
#define NO_LINE UINT64_MAX

/* ---- a table ---- */

static void make_slots(struct newest_store_table *t, uint32_t bits)
{
    t->bits = bits;
    t->count = (uint64_t)1 << bits;
    t->slots = mem_alloc(sizeof *t->slots * t->count);
    for (uint64_t i = 0; i < t->count; i++)
        t->slots[i] = (struct newest_store_slot){NO_LINE, NEWEST_STORE_NEVER};
}

/* The slot of the line, or the empty one where it would be. */
static struct newest_store_slot *find(const struct newest_store_table *t, uint64_t line)
{
    uint64_t at = hash_index(line, 64 - t->bits);
    while (t->slots[at].line != line && t->slots[at].line != NO_LINE) at = (at + 1) & (t->count - 1);
    return &t->slots[at];
}

static void grow(struct newest_store_table *t)
{
    const struct newest_store_table old = *t;
    make_slots(t, old.bits + 1);
    for (uint64_t i = 0; i < old.count; i++)
        if (old.slots[i].line != NO_LINE) *find(t, old.slots[i].line) = old.slots[i];
    free(old.slots);
}

static void note(struct newest_store_table *t, uint64_t line, tick date)
{
    if (2 * (t->used + 1) > t->count) grow(t);
    struct newest_store_slot *slot = find(t, line);
    t->used += slot->line == NO_LINE;
    slot->line = line;
    slot->date = MAX(slot->date, date);
}

/* ---- both of them ---- */

void newest_store_init(struct newest_store *n)
{
    *n = (struct newest_store){.host_newest = NEWEST_STORE_NEVER};
    make_slots(&n->by_sms, START_BITS);
    make_slots(&n->by_host, START_BITS);
}

void newest_store_free(struct newest_store *n)
{
    free(n->by_sms.slots);
    free(n->by_host.slots);
}

void newest_store_note(struct newest_store *n, bool by_host, uint64_t line, tick date)
{
    note(by_host ? &n->by_host : &n->by_sms, line, date);
    if (by_host) n->host_newest = MAX(n->host_newest, date);
}

tick newest_store_of(const struct newest_store *n, uint64_t line)
{
    return MAX(find(&n->by_sms, line)->date, n->host_newest);
}

bool newest_store_is_after(const struct newest_store *n, uint64_t line, tick date)
{
    if (find(&n->by_sms, line)->date > date) return true;
    return n->host_newest > date && find(&n->by_host, line)->date > date;
}
