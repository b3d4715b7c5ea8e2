/* l1_store.c: write-through stores and atomics, local write-back stores, and the accesses of ideal machines.
 *
 * As in l1_access.c, a function refuses before it has changed anything, or commits. */
#include "mem/l1_impl.h"

/* A line that a write makes old. One that is on its way is dropped when it arrives. */
static void l1_evict_written(struct l1 *c, uint64_t addr, uint32_t line)
{
    uint32_t entry = l1_find_mshr(c, addr, line);
    if (entry != MSHR_NONE) c->mshr.entries[entry].doomed = true;
    if (line == CACHE_NO_LINE || c->cache.lines[line].reserved) return;
    assert(!c->cache.lines[line]
                .dirty); /* only local lines are dirty, and their stores come to l1_local_store */
    c->stats.write_evictions++;
    l1_drop_line(c, line);
}

enum l1_answer l1_write_through(struct l1 *c, tick now, const struct l1_txn *t, bool keeps)
{
    bool is_atomic = t->kind == REQ_ATOMIC, travels = is_atomic || !l1_answers_itself(c);
    if (travels && !l1_queue_has_room(&c->miss_queue)) return L1_STALL_QUEUE;
    if (is_atomic && !l1_can_wait(c, t)) return L1_STALL_MSHR;
    uint32_t line;
    enum cache_outcome outcome = cache_look_up(&c->cache, t->addr, t->sectors, &line);
    if (!keeps)
        l1_evict_written(c, t->addr, line);
    else if (line != CACHE_NO_LINE)
        cache_touch(&c->cache, line);
    l1_count(c, t, outcome);
    if (!travels) return L1_SENT;
    c->nodes_left -= is_atomic && t->token != L1_NO_TOKEN;
    c->writes_pending[t->warp]++;
    struct req r = l1_req_of(c, now, t, is_atomic ? t->token : L1_STORE, L1_SENT);
    l1_request(c, now, &r);
    return L1_SENT;
}

/* A store that needs nothing of what is in memory: it writes all of what the tags tell apart. */
static bool l1_covers(const struct l1 *c, const struct l1_txn *t)
{
    return !t->partial && (c->is_sectored || t->sectors == c->line_sectors);
}

static void l1_make_dirty(struct l1 *c, uint32_t line, uint32_t sectors)
{
    cache_touch(&c->cache, line);
    c->cache.lines[line].dirty |= cache_mask(&c->cache, sectors);
}

static enum l1_answer l1_store_new_line(struct l1 *c, tick now, const struct l1_txn *t)
{
    uint32_t victim = cache_victim(&c->cache, t->addr);
    if (victim == CACHE_NO_LINE) return L1_STALL_LINE;
    if (!l1_clean_victim(c, now, victim, 0)) return L1_STALL_QUEUE;
    l1_take_line(c, now, victim, t, t->sectors);
    cache_fill(&c->cache, victim, t->sectors);
    l1_make_dirty(c, victim, t->sectors);
    lineset_add(&c->seen, t->addr >> c->cache.line_shift);
    l1_count(c, t, CACHE_MISS);
    return L1_MISS;
}

/* Reads what a store does not cover, and keeps the store's sectors dirty from now on. */
static enum l1_answer l1_store_reads(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line)
{
    struct l1_txn read = *t;
    read.token = L1_NO_TOKEN; /* nobody waits */
    enum l1_answer a = l1_read(c, now, &read, line);
    if (l1_is_stall(a)) return a;
    if (line == CACHE_NO_LINE) cache_look_up(&c->cache, t->addr, t->sectors, &line); /* it took one */
    l1_make_dirty(c, line, t->sectors);
    return a;
}

/* Write-back: a store that finds its line makes it dirty. */
static enum l1_answer l1_store_held(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line,
                                    enum cache_outcome outcome)
{
    if (outcome == CACHE_SECTOR_MISS) {
        if (!l1_covers(c, t) || c->cache.lines[line].reserved) return l1_store_reads(c, now, t, line);
        cache_fill(&c->cache, line, t->sectors);
    }
    l1_make_dirty(c, line, t->sectors);
    l1_count(c, t, outcome);
    return outcome == CACHE_HIT_RESERVED ? L1_PENDING : L1_HIT;
}

/* Without l1.local_write_allocate a store that finds no line goes on to the L2 (thesis 2.2.2). With it, a
 * store that covers its sectors takes a line without reading, and one that does not reads them first, where
 * lines are allocated on miss; elsewhere it goes on. */
COLD enum l1_answer l1_local_store(struct l1 *c, tick now, const struct l1_txn *t)
{
    uint32_t line;
    enum cache_outcome outcome = cache_look_up(&c->cache, t->addr, t->sectors, &line);
    if (line != CACHE_NO_LINE) return l1_store_held(c, now, t, line, outcome);
    bool allocates = c->p.local_write_allocate && l1_find_mshr(c, t->addr, CACHE_NO_LINE) == MSHR_NONE &&
                     l1_may_keep(c, t);
    if (allocates && l1_covers(c, t)) return l1_store_new_line(c, now, t);
    if (allocates && c->p.allocate == L1_ALLOCATE_ON_MISS) return l1_store_reads(c, now, t, CACHE_NO_LINE);
    return l1_write_through(c, now, t, false);
}

/* ---- ideal machines ---- */

/* Nothing takes time and nothing travels: the access is answered in this very cycle. */
COLD enum l1_answer l1_perfect(struct l1 *c, tick now, const struct l1_txn *t)
{
    if (t->is_prefetch) return L1_HIT;
    bool waits = t->token != L1_NO_TOKEN && t->kind != REQ_WRITE;
    if (waits && !c->nodes_left) return L1_STALL_PORT;
    if (t->kind == REQ_ATOMIC) {
        struct req r = l1_req_of(c, now, t, t->token, L1_HIT);
        c->hooks.on_atomic(c->hooks.ctx, &r);
    }
    if (waits) {
        c->nodes_left--;
        l1_done(c, l1_node_new(c, t->token, 0), now);
    }
    l1_count(c, t, CACHE_HIT);
    return L1_HIT;
}

/* An atomic of a machine whose misses answer themselves: performed when its time has come, or at once when
 * nobody waits. */
COLD enum l1_answer l1_fixed_atomic(struct l1 *c, tick now, const struct l1_txn *t)
{
    if (!l1_can_wait(c, t)) return L1_STALL_MSHR;
    uint32_t line;
    enum cache_outcome outcome = cache_look_up(&c->cache, t->addr, t->sectors, &line);
    l1_evict_written(c, t->addr, line);
    l1_count(c, t, outcome);
    struct req r = l1_req_of(c, now, t, t->token, L1_SENT);
    if (t->token == L1_NO_TOKEN) {
        c->hooks.on_atomic(c->hooks.ctx, &r);
        return L1_SENT;
    }
    c->nodes_left--;
    c->writes_pending[t->warp]++;
    c->requests_out++;
    c->stats.requests_atomic++;
    l1_ring_push(&c->answers, clock_after(&c->clock, now, c->p.fixed_miss_latency), req_new(c->pool, &r));
    return L1_SENT;
}
