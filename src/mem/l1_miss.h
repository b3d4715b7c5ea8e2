/* l1_miss.h: the steps of a miss that was admitted: its line, its MSHR, its request. They are inline because
 * most accesses of the L1 miss. */
#ifndef HEDDLE_L1_MISS_H
#define HEDDLE_L1_MISS_H

#include "mem/l1_admit.h"

/* The access takes the line; the previous content leaves. */
static inline void l1_take_line(struct l1 *c, tick now, uint32_t line, const struct l1_txn *t,
                                uint32_t sectors)
{
    l1_evict(c, now, line, L1_EVICT_REPLACED);
    cache_reserve(&c->cache, line, t->addr, sectors);
    if (UNLIKELY(c->asks_of_misses)) ++*l1_arrivals_of(c, t->addr);
    struct cache_line *l = &c->cache.lines[line];
    l->owner_warp = t->warp;
    l->owner_pc = t->pc;
    l->owner_launch = t->launch;
    l->is_prefetch = t->is_prefetch;
}

/* Returns the line that an access of this way replaces; CACHE_NO_LINE: that line is dirty and has to leave
 * first. */
static inline uint32_t l1_make_room(struct l1 *c, tick now, uint64_t addr, enum l1_way way)
{
    uint32_t victim = cache_victim(&c->cache, addr);
    debug_assert(victim != CACHE_NO_LINE); /* l1_admit */
    if (LIKELY(!c->cache.lines[victim].dirty)) return victim;
    return l1_clean(c, now, victim, way) ? victim : CACHE_NO_LINE;
}

/* Tells which line the miss evicts: `victim`, or CACHE_NO_LINE for none. */
static inline void l1_name_evicted(const struct l1 *c, uint32_t victim, struct l1_result *r)
{
    if (victim == CACHE_NO_LINE) return;
    r->has_evicted = c->cache.lines[victim].used;
    r->evicted_pc = c->cache.lines[victim].owner_pc;
}

/* Takes an MSHR for the access, with its line or without. */
static inline uint32_t l1_take_mshr(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line,
                                    bool may_keep)
{
    uint32_t entry = mshr_take_unlisted(&c->mshr, t->addr, 0);
    struct mshr_entry *e = &c->mshr.entries[entry];
    e->line = line;
    e->warp = t->warp;
    e->pc = t->pc;
    e->launch = t->launch;
    e->born = now;
    e->may_keep = may_keep;
    e->is_prefetch = t->is_prefetch;
    if (UNLIKELY(line == CACHE_NO_LINE)) {
        c->mshrs_lineless++;
        mshr_list(&c->mshr, entry);
        if (c->asks_of_misses) ++*l1_arrivals_of(c, t->addr);
    }
    l1_tell_level(c, now);
    return entry;
}

/* Returns the line that the miss fills: `victim`, which it replaces, the line that holds other sectors, or
 * none. */
static inline uint32_t l1_reserve_line(struct l1 *c, tick now, const struct l1_txn *t,
                                       const struct l1_plan *p, uint32_t victim)
{
    if (p->takes_line) {
        l1_take_line(c, now, victim, t, p->missing);
        return victim;
    }
    if (!c->allocates_on_miss || p->line == CACHE_NO_LINE) return CACHE_NO_LINE;
    cache_reserve(&c->cache, p->line, t->addr, p->missing);
    if (UNLIKELY(t->is_prefetch)) l1_mark_prefetch(c, p->line);
    return p->line;
}

/* Sends the request of a miss that began at `born`. */
static inline void l1_fetch(struct l1 *c, tick now, tick born, const struct l1_txn *t,
                            const struct l1_plan *p)
{
    const uint32_t id = req_take(c->pool);
    struct req *r = req_at(c->pool, id);
    l1_fill_request(c, r, born, t, p->entry, L1_MISS);
    r->kind = REQ_READ;
    r->write_bytes = 0;
    r->is_fill_partial = false;
    r->sectors = c->is_sectored ? p->missing : c->line_sectors;
    l1_request(c, now, id);
}

#endif
