/* l1_resize.c: lines that leave all at once: the flush at the end of a kernel, and ways that are removed from
 * the cache or added to it.
 *
 * The array is made for l1.size. Sets stay; ways are added and removed (as in Accel-Sim's adaptive cache, the
 * simulator that rtx3080 is based on; how the hardware does it is not published). Lines that retire: a clean
 * line is forgotten at once; a dirty line is written back like any other store, one a cycle as the miss queue
 * has room; a line that is under way does not stay.
 *
 * Rules of l1_resize. (1) It may be called at any time, by any user: a split of unified memory, a mechanism
 * that lends registers. (2) Growing is done at once; the new ways are empty. (3) Shrinking retires the lines
 * of the removed ways; loads that wait for such a line are answered when it comes. (4) While dirty lines are
 * leaving, accesses are refused for want of a line, so no access sees memory without the stored data. (5) At
 * least one way stays. */
#include "mem/l1_resize.h"

#include "mem/l1_admit.h"

/* Ways from `from` on are emptied: 0 is a flush. */
static enum l1_evict_cause l1_retire_cause(uint32_t from) { return from ? L1_EVICT_RESIZE : L1_EVICT_FLUSH; }

/* Writes back one dirty line a cycle. Waits for lines that wait for a fill. */
COLD void l1_flush_step(struct l1 *c, tick now)
{
    uint32_t lines = cache_lines(&c->cache);
    while (c->flush_cursor < lines &&
           (!c->cache.lines[c->flush_cursor].dirty || c->flush_cursor % c->cache.ways_max < c->flush_from))
        c->flush_cursor++;
    if (c->flush_cursor == lines) {
        c->is_flushing = c->is_shrinking = false;
        return;
    }
    if (c->cache.lines[c->flush_cursor].reserved) return;
    if (!l1_queue_has(c, 1)) return;
    l1_write_back(c, now, c->flush_cursor);
    l1_drop_line(c, now, c->flush_cursor, l1_retire_cause(c->flush_from));
}

/* A miss is under way for a line that retires: its data must not stay. Where the way is removed, the line
 * goes at once; only a line that has been stored to must be complete before it can be written back. */
static void l1_retire_miss(struct l1 *c, tick now, struct mshr_entry *m, uint32_t from)
{
    if (m->line == CACHE_NO_LINE) {
        m->doomed |= !from;
        return;
    }
    if (m->line % c->cache.ways_max < from) return;
    m->doomed = true;
    struct cache_line *l = &c->cache.lines[m->line];
    if (!from || l->dirty) return;
    l->reserved = 0;
    if (m->is_prefetch) l->is_prefetch = false; /* the miss ends when its data comes */
    l->last_pc = m->last_pc;
    l->last_warp = m->last_warp;
    l1_drop_awaited(c, now, m->line, L1_EVICT_RESIZE, l->valid);
    m->line = CACHE_NO_LINE;
    c->mshrs_lineless++;
    mshr_list(&c->mshr, (uint32_t)(m - c->mshr.entries));
}

/* Retires the lines of ways from `from` on. */
static void l1_retire(struct l1 *c, tick now, uint32_t from)
{
    c->last = now;
    l1_note(c, L1_CHANGE_OTHER);
    c->flush_from = c->is_flushing ? MIN(c->flush_from, from) : from;
    c->flush_cursor = 0;
    for (uint32_t i = 0; c->mshr.used && i < c->mshr.count; i++)
        if (c->mshr.entries[i].used) l1_retire_miss(c, now, &c->mshr.entries[i], from);
    for (uint32_t i = 0; i < cache_lines(&c->cache); i++) {
        const struct cache_line *l = &c->cache.lines[i];
        if (i % c->cache.ways_max < from) continue;
        if (l->dirty)
            c->is_flushing = true;
        else if (l->used && !l->reserved)
            l1_drop_line(c, now, i, l1_retire_cause(from));
    }
}

void l1_flush(struct l1 *c, tick now)
{
    c->stats.flushes++;
    lineset_clear(&c->seen);
    l1_kernel_end(c);
    l1_retire(c, now, 0);
}

/* Dirty lines are local memory of threads that have ended. */
void l1_change_role(struct l1 *c, tick now, const struct l1_params *p)
{
    assert(l1_idle(c));
    for (uint32_t i = 0; i < cache_lines(&c->cache); i++) c->cache.lines[i].dirty = 0;
    l1_retire(c, now, 0);
    assert(!c->is_flushing);
    c->p.write_local = p->write_local;
    c->p.local_write_allocate = p->local_write_allocate;
}

uint64_t l1_capacity(const struct l1 *c) { return (uint64_t)c->cache.g.sets * c->cache.g.ways * c->p.line; }

uint64_t l1_resize(struct l1 *c, tick now, uint64_t bytes)
{
    uint64_t ways = bytes / ((uint64_t)c->cache.g.sets * c->p.line);
    uint32_t before = c->cache.g.ways, after = (uint32_t)MAX(MIN(ways, c->cache.ways_max), 1u);
    if (after == before) return l1_capacity(c);
    c->stats.resizes++;
    cache_set_ways(&c->cache, after);
    l1_note(c, L1_CHANGE_OTHER);
    if (after < before) {
        l1_retire(c, now, after);
        c->is_shrinking = c->is_flushing;
    }
    return l1_capacity(c);
}
