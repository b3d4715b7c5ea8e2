/* cache_policy.h: which line of a set is replaced.
 *
 * LRU is the cache's own: its order is packed with the tags (cache_narrow.h, cache_wide.c). Every other
 * policy, FIFO and random draws or one that is supplied from outside (cache_use_policy), is this struct of
 * functions with a state of its own.
 *
 * Rules. (1) Ways that hold nothing are filled first, lowest first, without a question. (2) `victim` is asked
 * only when a line must leave; its answer is a way of the view's mask. (3) The answer is kept until the
 * cache changes (a line is touched, reserved, filled or dropped, or the ways change): however often a miss
 * that is refused asks again, and whether the SM sleeps between, the calls are the same. */
#ifndef HEDDLE_CACHE_POLICY_H
#define HEDDLE_CACHE_POLICY_H

#include "base/base.h"

enum cache_replace { CACHE_LRU, CACHE_FIFO, CACHE_RANDOM };

/* A set that is full. */
struct cache_set_view {
    uint32_t set;
    uint32_t ways;
    /* bit way % 64 of word way / 64: its line is here and no fill is awaited for it */
    const uint64_t *replaceable;
    /* the address of the line that will be inserted */
    uint64_t addr;
};

static inline bool cache_view_has(const struct cache_set_view *v, uint32_t way)
{
    return v->replaceable[way / 64] >> way % 64 & 1;
}

/* All functions but `victim` may be NULL. */
struct cache_policy {
    void *ctx;
    void (*on_touch)(void *ctx, uint32_t set, uint32_t way);
    void (*on_insert)(void *ctx, uint32_t set, uint32_t way, uint64_t addr);
    /* The line leaves: another takes its way, or it is dropped. */
    void (*on_evict)(void *ctx, uint32_t set, uint32_t way, uint64_t addr);
    uint32_t (*victim)(void *ctx, const struct cache_set_view *v);
    /* The cache is emptied at once. */
    void (*on_clear)(void *ctx);
};

/* The policy of FIFO or random replacement. The state is the caller's to free (cache_policy_free). */
struct cache_policy cache_policy_make(enum cache_replace replace, uint32_t sets, uint32_t ways);
void cache_policy_free(struct cache_policy *p);

#endif
