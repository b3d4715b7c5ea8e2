/* cache_policy.c: the policies beside LRU: first in first out, and random draws. */
#include "mem/cache_policy.h"

#include "base/hugepage.h"
#include "base/rng.h"

/* ---- first in, first out ---- */

struct fifo {
    uint32_t ways;
    /* lines, since the cache was emptied */
    uint64_t inserted;
    /* [set * ways + way]: `inserted` when its line came */
    uint64_t order[];
};

static void fifo_insert(void *ctx, uint32_t set, uint32_t way, uint64_t addr)
{
    struct fifo *f = ctx;
    f->order[(size_t)set * f->ways + way] = ++f->inserted;
}

static uint32_t fifo_victim(void *ctx, const struct cache_set_view *v)
{
    const struct fifo *f = ctx;
    const uint64_t *order = &f->order[(size_t)v->set * f->ways];
    uint32_t first = UINT32_MAX;
    for (uint32_t way = 0; way < v->ways; way++)
        if (cache_view_has(v, way) && (first == UINT32_MAX || order[way] < order[first])) first = way;
    return first;
}

/* ---- random ---- */

enum { RNG_SEED = 0x5eed };

/* A draw depends on what happened to lines, not on how often it is asked for. */
struct draws {
    uint64_t events;
};

static void draws_touch(void *ctx, uint32_t set, uint32_t way) { ((struct draws *)ctx)->events++; }

/* A line that is inserted counts as two events. */
static void draws_insert(void *ctx, uint32_t set, uint32_t way, uint64_t addr)
{
    ((struct draws *)ctx)->events += 2;
}

static uint32_t draws_victim(void *ctx, const struct cache_set_view *v)
{
    struct rng draw = {.state = RNG_SEED + ((struct draws *)ctx)->events};
    uint32_t candidates = 0, way = 0;
    for (uint32_t i = 0; i < v->ways; i++) candidates += cache_view_has(v, i);
    for (uint64_t skip = rng_below(&draw, candidates);; way++)
        if (cache_view_has(v, way) && !skip--) return way;
}

static void draws_clear(void *ctx) { ((struct draws *)ctx)->events = 0; }

/* ---- life ---- */

struct cache_policy cache_policy_make(enum cache_replace replace, uint32_t sets, uint32_t ways)
{
    assert(replace != CACHE_LRU);
    if (replace == CACHE_RANDOM)
        return (struct cache_policy){.ctx = mem_zalloc_huge(sizeof(struct draws)),
                                     .on_touch = draws_touch,
                                     .on_insert = draws_insert,
                                     .victim = draws_victim,
                                     .on_clear = draws_clear};
    struct fifo *f = mem_zalloc_huge(sizeof *f + sizeof f->order[0] * sets * ways);
    f->ways = ways;
    return (struct cache_policy){.ctx = f, .on_insert = fifo_insert, .victim = fifo_victim};
}

void cache_policy_free(struct cache_policy *p)
{
    mem_free_huge(p->ctx);
    *p = (struct cache_policy){0};
}
