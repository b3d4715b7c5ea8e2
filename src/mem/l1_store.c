/* l1_store.c: what stores and atomics do after they are admitted (l1_admit.h), and the accesses of ideal
 * machines. */
#include "mem/l1_miss.h"

/* A write makes this line old. A line that is under way is dropped when it arrives. */
static void l1_evict_written(struct l1 *c, tick now, uint64_t addr, uint32_t line)
{
    uint32_t entry = l1_find_mshr(c, addr, line);
    if (entry != MSHR_NONE) c->mshr.entries[entry].doomed = true;
    if (line == CACHE_NO_LINE || c->cache.lines[line].reserved) return;
    assert(!c->cache.lines[line]
                .dirty); /* only local lines are dirty, and their stores come to l1_local_store */
    c->stats.write_evictions++;
    l1_drop_line(c, now, line, L1_EVICT_STORE);
}

/* A store or atomic that is sent on. */
static void l1_write_through(struct l1 *c, tick now, const struct l1_txn *t, const struct l1_plan *p)
{
    bool is_atomic = t->kind == REQ_ATOMIC;
    uint32_t line;
    enum cache_outcome outcome = cache_look_up(&c->cache, t->addr, t->sectors, &line);
    if (!p->keeps)
        l1_evict_written(c, now, t->addr, line);
    else if (line != CACHE_NO_LINE)
        cache_touch(&c->cache, line);
    l1_count(c, t, outcome);
    if (!p->travels) return;
    c->nodes_left -= p->waits;
    c->writes_pending[t->warp]++;
    l1_send_as(c, now, t, is_atomic ? t->token : L1_STORE);
}

/* ---- local stores ---- */

static void l1_make_dirty(struct l1 *c, uint32_t line, const struct l1_txn *t)
{
    cache_touch(&c->cache, line);
    l1_touched(c, line, t);
    c->cache.lines[line].dirty |= cache_mask(&c->cache, t->sectors);
}

static enum l1_answer l1_store_line(struct l1 *c, tick now, const struct l1_txn *t, const struct l1_plan *p)
{
    uint32_t line = l1_make_room(c, now, t->addr, (enum l1_way)p->way);
    if (line == CACHE_NO_LINE) return L1_STALL_QUEUE;
    l1_take_line(c, now, line, t, t->sectors);
    cache_fill(&c->cache, line, t->sectors);
    l1_make_dirty(c, line, t);
    lineset_add(&c->seen, t->addr >> c->cache.line_shift);
    l1_count(c, t, CACHE_MISS);
    return L1_MISS;
}

/* Reads the sectors that a store does not cover; the store's sectors are dirty from now on. */
static enum l1_answer l1_store_reads(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p)
{
    enum l1_answer a = l1_commit_read(c, now, t, p);
    if (!l1_is_stall(a)) l1_make_dirty(c, p->line, t);
    return a;
}

static void l1_store_held(struct l1 *c, const struct l1_txn *t, const struct l1_plan *p)
{
    if (p->outcome == CACHE_SECTOR_MISS) cache_fill(&c->cache, p->line, t->sectors);
    l1_make_dirty(c, p->line, t);
    l1_count(c, t, (enum cache_outcome)p->outcome);
}

/* ---- ideal machines ---- */

/* Nothing takes time and nothing travels: the access is answered in the same cycle. */
COLD static void l1_ideal(struct l1 *c, tick now, const struct l1_txn *t, const struct l1_plan *p)
{
    if (t->is_prefetch) return;
    if (t->kind == REQ_ATOMIC) {
        struct req r = l1_req_of(c, now, t, t->token, L1_HIT);
        c->hooks.on_atomic(c->hooks.ctx, &r);
    }
    if (p->waits) {
        c->nodes_left--;
        l1_done(c, l1_node_new(c, t->token, 0), now);
    }
    l1_count(c, t, CACHE_HIT);
}

/* Performed when its time has come, or at once when nothing waits for its result. */
COLD static void l1_fixed_atomic(struct l1 *c, tick now, const struct l1_txn *t)
{
    uint32_t line;
    enum cache_outcome outcome = cache_look_up(&c->cache, t->addr, t->sectors, &line);
    l1_evict_written(c, now, t->addr, line);
    l1_count(c, t, outcome);
    struct req r = l1_req_of(c, now, t, t->token, L1_SENT);
    if (t->token == L1_NO_TOKEN) {
        c->hooks.on_atomic(c->hooks.ctx, &r);
        return;
    }
    c->nodes_left--;
    c->writes_pending[t->warp]++;
    c->requests_out++;
    c->stats.requests_atomic++;
    l1_ring_push(&c->answers, (struct l1_timed){clock_after(&c->clock, now, c->p.fixed_miss_latency),
                                                req_new(c->pool, &r)});
}

enum l1_answer l1_commit_other(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p,
                               enum l1_answer a)
{
    switch ((enum l1_way)p->way) {
    case L1_WAY_THROUGH: l1_write_through(c, now, t, p); return a;
    case L1_WAY_MISS:
    case L1_WAY_MERGE: return l1_store_reads(c, now, t, p);
    case L1_WAY_STORE_LINE: return l1_store_line(c, now, t, p);
    case L1_WAY_STORE_HELD: l1_store_held(c, t, p); return a;
    case L1_WAY_FIXED_ATOMIC: l1_fixed_atomic(c, now, t); return a;
    case L1_WAY_IDEAL: l1_ideal(c, now, t, p); return a;
    default: UNREACHABLE("a way of loads, or none");
    }
}
