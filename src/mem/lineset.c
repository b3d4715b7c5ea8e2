/* lineset.c: a hash table of regions, each a bitmap of 448 lines.
 *
 * It is sized when made and doubles when three quarters full: about ten times in a run that touches a whole
 * device memory, and the only memory that a cache asks for after it was made. Emptying moves the epoch on:
 * regions of an older epoch are empty slots. */
#include "mem/lineset.h"

void lineset_init(struct lineset *s, uint32_t regions)
{
    assert(is_pow2_u64(regions) && regions > 1);
    *s = (struct lineset){.regions = mem_zalloc_lines(sizeof(struct lineset_region) * regions),
                          .shift = (uint8_t)(64 - __builtin_ctz(regions)),
                          .epoch = 1};
}

void lineset_free(struct lineset *s)
{
    free(s->regions);
    *s = (struct lineset){0};
}

void lineset_clear(struct lineset *s)
{
    s->used = 0;
    if (++s->epoch) return;
    /* the epoch wrapped around */
    memset(s->regions, 0, sizeof(struct lineset_region) * (lineset_mask(s) + 1ull));
    s->epoch = 1;
}

struct lineset_region *lineset_find(const struct lineset *s, uint64_t key)
{
    uint32_t i = hash_index(key, s->shift);
    while (s->regions[i].key != key && (uint8_t)s->regions[i].key == s->epoch) i = (i + 1) & lineset_mask(s);
    return &s->regions[i];
}

COLD static void lineset_grow(struct lineset *s)
{
    struct lineset old = *s;
    uint32_t slots = lineset_mask(&old) + 1;
    assert(slots < UINT32_MAX / 4);
    lineset_init(s, slots * 2);
    s->epoch = old.epoch;
    s->used = old.used;
    for (uint32_t i = 0; i < slots; i++)
        if ((uint8_t)old.regions[i].key == old.epoch) *lineset_find(s, old.regions[i].key) = old.regions[i];
    lineset_free(&old);
}

NOINLINE struct lineset_region *lineset_need(struct lineset *s, uint64_t key)
{
    struct lineset_region *r = lineset_find(s, key);
    if (r->key == key) return r;
    *r = (struct lineset_region){.key = key};
    if (++s->used <= (lineset_mask(s) + 1) / 4 * 3) return r;
    lineset_grow(s);
    return lineset_find(s, key);
}
