/* lineset.c: a hash table of regions, each a bitmap of 512 lines.
 *
 * It is sized when made and doubles when three quarters full: about ten times in a run that touches a whole
 * device memory, and the only memory that a cache asks for after it was made. Emptying moves the epoch on:
 * regions of an older epoch are empty places. */
#include "mem/lineset.h"

void lineset_init(struct lineset *s, uint32_t regions)
{
    assert(is_pow2_u64(regions) && regions > 1);
    *s = (struct lineset){.regions = mem_zalloc(sizeof(struct lineset_region) * regions),
                          .mask = regions - 1,
                          .shift = 64 - (uint32_t)__builtin_ctz(regions),
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
    memset(s->regions, 0, sizeof(struct lineset_region) * (s->mask + 1ull)); /* the epoch went round */
    s->epoch = 1;
}

static void lineset_grow(struct lineset *s)
{
    struct lineset old = *s;
    assert(old.mask < UINT32_MAX / 2);
    lineset_init(s, (old.mask + 1) * 2);
    for (uint32_t i = 0; i <= old.mask; i++) {
        if (old.regions[i].epoch != old.epoch) continue;
        struct lineset_region *r = lineset_find(s, old.regions[i].key);
        *r = old.regions[i];
        r->epoch = s->epoch;
        s->used++;
    }
    lineset_free(&old);
}

struct lineset_region *lineset_begin(struct lineset *s, struct lineset_region *r, uint64_t key)
{
    *r = (struct lineset_region){.key = key, .epoch = s->epoch};
    if (++s->used <= s->mask / 4 * 3) return r;
    lineset_grow(s);
    return lineset_find(s, key);
}
