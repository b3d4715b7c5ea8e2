/* rt_table.c: open addressing with linear probing. A removed slot keeps a mark, so that probes go on past it;
 * growing drops the marks. Invariants: (1) slot_count is a power of two; (2) at least a quarter of the slots
 * is empty. */
#include "cuda/rt_table.h"

#include "base/hash.h"

/* Its address stands for a removed slot; never written. */
static char removed_mark;

static bool is_live(const struct rt_table_slot *s) { return s->value && s->value != &removed_mark; }

static struct rt_table_slot *find_slot(const struct rt_table *t, uint64_t key)
{
    if (!t->slot_count) return NULL;
    uint32_t mask = t->slot_count - 1;
    for (uint32_t i = (uint32_t)hash_mix(key) & mask;; i = (i + 1) & mask) {
        struct rt_table_slot *s = &t->slots[i];
        if (!s->value) return NULL;
        if (is_live(s) && s->key == key) return s;
    }
}

static void insert_new(struct rt_table *t, uint64_t key, void *value)
{
    uint32_t mask = t->slot_count - 1, i = (uint32_t)hash_mix(key) & mask;
    while (t->slots[i].value) i = (i + 1) & mask;
    t->slots[i] = (struct rt_table_slot){key, value};
    t->used++;
}

static void grow(struct rt_table *t)
{
    struct rt_table old = *t;
    uint32_t live = 0;
    for (uint32_t i = 0; i < old.slot_count; i++) live += is_live(&old.slots[i]);
    t->slot_count = 16;
    while (t->slot_count < live * 4) t->slot_count *= 2;
    t->slots = mem_zalloc(sizeof(*t->slots) * t->slot_count);
    t->used = 0;
    for (uint32_t i = 0; i < old.slot_count; i++)
        if (is_live(&old.slots[i])) insert_new(t, old.slots[i].key, old.slots[i].value);
    free(old.slots);
}

void *rt_table_get(const struct rt_table *t, uint64_t key)
{
    struct rt_table_slot *s = find_slot(t, key);
    return s ? s->value : NULL;
}

void rt_table_put(struct rt_table *t, uint64_t key, void *value)
{
    assert(value);
    struct rt_table_slot *s = find_slot(t, key);
    if (s) {
        s->value = value;
        return;
    }
    if ((t->used + 1) * 4 > t->slot_count * 3) grow(t);
    insert_new(t, key, value);
}

void *rt_table_remove(struct rt_table *t, uint64_t key)
{
    struct rt_table_slot *s = find_slot(t, key);
    if (!s) return NULL;
    void *value = s->value;
    s->value = &removed_mark;
    return value;
}

void *rt_table_next(const struct rt_table *t, uint32_t *at)
{
    while (*at < t->slot_count) {
        const struct rt_table_slot *s = &t->slots[(*at)++];
        if (is_live(s)) return s->value;
    }
    return NULL;
}

void rt_table_free(struct rt_table *t)
{
    free(t->slots);
    *t = (struct rt_table){0};
}
