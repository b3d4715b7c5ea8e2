/* l1_line.c: lines that are taken, replaced and written back, and the requests that the L1 makes.
 *
 * A dirty line is replaced in two steps when the miss queue has room only for its write-back: the write-back
 * goes first and the miss is refused, so that a queue of depth 1 is enough. */
#include "mem/l1_admit.h"

/* ---- requests ---- */

static inline void l1_send(struct l1 *c, tick now, uint32_t id)
{
    sm_port_send_miss(c->port, id);
    l1_tell_level(c, now);
}

HOT void l1_request(struct l1 *c, tick now, uint32_t id)
{
    struct req *r = req_at(c->pool, id);
    req_start(c->pool, r);
    c->requests_out++;
    switch ((enum req_kind)r->kind) {
    case REQ_READ: c->stats.requests_read++; break;
    case REQ_WRITE: c->stats.requests_write++; break;
    case REQ_ATOMIC: c->stats.requests_atomic++; break;
    }
    if (UNLIKELY(l1_answers_itself(c)) && r->kind == REQ_READ)
        l1_ring_push(&c->answers,
                     (struct l1_timed){clock_after(&c->clock, now, c->p.fixed_miss_latency), id});
    else
        l1_send(c, now, id);
}

struct req l1_req_of(const struct l1 *c, tick now, const struct l1_txn *t, uint32_t token,
                     enum l1_answer outcome)
{
    struct req r = {.next = REQ_NONE};
    l1_fill_request(c, &r, now, t, token, outcome);
    return r;
}

void l1_send_as(struct l1 *c, tick now, const struct l1_txn *t, uint32_t token)
{
    const uint32_t id = req_take(c->pool);
    l1_fill_request(c, req_at(c->pool, id), now, t, token, L1_SENT);
    l1_request(c, now, id);
}

COLD void l1_write_back(struct l1 *c, tick now, uint32_t line)
{
    struct cache_line *l = &c->cache.lines[line];
    uint32_t sectors = c->is_sectored ? l->dirty : c->line_sectors;
    c->stats.write_backs++;
    l1_note(c, L1_CHANGE_OTHER);
    l->dirty = 0;
    if (l1_answers_itself(c)) return;
    const uint32_t id = req_take(c->pool);
    *req_at(c->pool, id) =
        (struct req){.addr = l->addr,
                     .sectors = sectors,
                     .write_bytes = CACHE_SECTOR_BYTES * (uint32_t)__builtin_popcount(sectors),
                     .kind = REQ_WRITE,
                     .cls = REQ_LOCAL,
                     .l1_outcome = L1_SENT,
                     .sm = c->sm,
                     .warp = l->owner_warp,
                     .pc = l->owner_pc,
                     .token = L1_WRITE_BACK_STORE,
                     .next = REQ_NONE,
                     .born = now};
    l1_request(c, now, id);
}

/* ---- lines ---- */

COLD static void l1_tell_evict(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause)
{
    const struct cache_line *l = &c->cache.lines[line];
    struct l1_eviction e = {.line = l->addr,
                            .cause = cause,
                            .is_unused_prefetch = l->is_prefetch,
                            .is_extra = line % c->cache.ways_max >= c->own_ways,
                            .owner_warp = l->owner_warp,
                            .last_warp = l->last_warp,
                            .owner_pc = l->owner_pc,
                            .last_pc = l->last_pc,
                            .sectors = c->is_sectored ? l->valid : c->line_sectors,
                            .owner_launch = l->owner_launch};
    c->hooks.on_evict(c->hooks.ctx, now, &e);
}

void l1_evict(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause)
{
    const struct cache_line *l = &c->cache.lines[line];
    if (!l->used) return;
    assert(!l->dirty);
    c->stats.evictions += cause == L1_EVICT_REPLACED || cause == L1_EVICT_RESIZE;
    if (UNLIKELY(l->is_prefetch)) {
        if (cause == L1_EVICT_FLUSH)
            l1_end_prefetch(c);
        else
            l1_waste_prefetch(c, l->addr >> c->cache.line_shift);
    }
    if (UNLIKELY(c->hooks.on_evict != NULL)) l1_tell_evict(c, now, line, cause);
}

void l1_drop_awaited(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause, bool was_valid)
{
    if (UNLIKELY(c->cache.lines[line].is_prefetch)) l1_end_prefetch(c);
    if (was_valid && c->hooks.on_evict) l1_tell_evict(c, now, line, cause);
    cache_invalidate(&c->cache, line);
}

void l1_drop_line(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause)
{
    l1_evict(c, now, line, cause);
    cache_invalidate(&c->cache, line);
}

COLD bool l1_clean(struct l1 *c, tick now, uint32_t victim, enum l1_way way)
{
    bool is_admitted = l1_admit_victim(c, way, victim);
    if (l1_queue_has(c, 1)) l1_write_back(c, now, victim);
    return is_admitted;
}
