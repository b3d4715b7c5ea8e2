/* l1_access.c: what an access does: the way of each kind, and loads (hit, merge, miss, bypass). Stores, atomics and ideal machines:
 * l1_store.c.
 *
 * Every function either refuses before it has changed anything, or commits. The one exception is a dirty
 * victim: when the miss queue has room for its write-back alone, that goes first and the miss is refused, so
 * that a queue of depth 1 is enough. */
#include "mem/l1_impl.h"

/* ---- statistics ---- */

static inline void l1_count_warps(struct l1_stats *s, bool intra_warp)
{
    s->intra_warp_hits += intra_warp;
    s->inter_warp_hits += !intra_warp;
}

static void l1_count_read_miss(struct l1 *c, const struct l1_txn *t, bool has_line)
{
    bool is_first = lineset_add(&c->seen, t->addr >> c->cache.line_shift);
    if (t->is_prefetch) return;
    if (has_line)
        c->stats.sector_misses++;
    else if (is_first)
        c->stats.cold_misses++;
    else
        c->stats.replaced_misses++;
}

/* ---- requests ---- */

void l1_request(struct l1 *c, tick now, const struct req *r)
{
    uint32_t id = req_new(c->pool, r);
    c->requests_out++;
    switch ((enum req_kind)r->kind) {
    case REQ_READ: c->stats.requests_read++; break;
    case REQ_WRITE: c->stats.requests_write++; break;
    case REQ_ATOMIC: c->stats.requests_atomic++; break;
    }
    if (UNLIKELY(l1_answers_itself(c)) && r->kind == REQ_READ)
        l1_ring_push(&c->answers, clock_after(&c->clock, now, c->p.fixed_miss_latency), id);
    else
        l1_queue_push(c, &c->miss_queue, id);
}

struct req l1_req_of(const struct l1 *c, tick now, const struct l1_txn *t, uint32_t token,
                     enum l1_answer outcome)
{
    return (struct req){.addr = t->addr,
                        .sectors = t->sectors,
                        .write_bytes = t->write_bytes,
                        .kind = t->kind,
                        .cls = t->cls,
                        .is_prefetch = t->is_prefetch,
                        .is_fill_partial = t->partial,
                        .l1_outcome = (uint8_t)outcome,
                        .sm = c->sm,
                        .warp = t->warp,
                        .owner = t->owner,
                        .pc = t->pc,
                        .token = token,
                        .next = REQ_NONE,
                        .born = now};
}

COLD void l1_write_back(struct l1 *c, tick now, uint32_t line)
{
    struct cache_line *l = &c->cache.lines[line];
    uint32_t sectors = c->is_sectored ? l->dirty : c->line_sectors;
    c->stats.write_backs++;
    c->news |= L1_NEWS_OTHER;
    l->dirty = 0;
    if (l1_answers_itself(c)) return;
    struct req r = {.addr = l->addr,
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
    l1_request(c, now, &r);
}

/* ---- lines ---- */

void l1_evict(struct l1 *c, tick now, uint32_t line)
{
    const struct cache_line *l = &c->cache.lines[line];
    if (!l->used) return;
    assert(!l->dirty);
    c->stats.evictions++;
    if (UNLIKELY(l->is_prefetch)) c->stats.prefetch_unused++;
    if (c->hooks.on_evict) c->hooks.on_evict(c->hooks.ctx, now, l);
}

void l1_take_line(struct l1 *c, tick now, uint32_t line, const struct l1_txn *t, uint32_t sectors)
{
    l1_evict(c, now, line);
    cache_reserve(&c->cache, line, t->addr, sectors);
    struct cache_line *l = &c->cache.lines[line];
    l->owner_warp = t->warp;
    l->owner_pc = t->pc;
    l->is_prefetch = t->is_prefetch;
}

bool l1_clean_victim(struct l1 *c, tick now, uint32_t victim, uint32_t places)
{
    if (victim == CACHE_NO_LINE || !c->cache.lines[victim].dirty) return true;
    if (!l1_queue_has(c, 1)) return false;
    bool has_both = l1_queue_has(c, 1 + places);
    l1_write_back(c, now, victim);
    return has_both;
}

/* ---- loads ---- */

static enum l1_answer l1_load_hit(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line,
                                  bool *intra_warp)
{
    if (t->is_prefetch) return L1_HIT;
    struct cache_line *l = &c->cache.lines[line];
    if (t->token != L1_NO_TOKEN) {
        if (!l1_ring_has_room(&c->hits)) return L1_STALL_PORT;
        tick ready = clock_after(&c->clock, now, c->hit_latency);
        if (!c->hits.count) c->hit_ready = ready;
        l1_ring_push(&c->hits, ready, t->token);
    }
    cache_touch(&c->cache, line);
    *intra_warp = l->owner_warp == t->warp;
    l1_count_warps(&c->stats, *intra_warp);
    if (t->own) l1_count_warps(t->own, *intra_warp);
    if (UNLIKELY(l->is_prefetch)) {
        c->stats.prefetch_useful++;
        l->is_prefetch = false;
    }
    l1_count(c, t, CACHE_HIT);
    return L1_HIT;
}

static void l1_append(struct l1 *c, uint32_t entry, const struct l1_txn *t, uint32_t need)
{
    struct mshr_entry *e = &c->mshr.entries[entry];
    if (t->token == L1_NO_TOKEN) return;
    c->nodes_left--;
    uint32_t n = l1_node_new(c, t->token, need);
    if (e->head == MSHR_NONE)
        e->head = n;
    else
        c->nodes[e->tail].next = n;
    e->tail = n;
    e->merged++;
}

static bool l1_can_merge(const struct l1 *c, uint32_t entry, const struct l1_txn *t)
{
    return t->token == L1_NO_TOKEN || (mshr_can_merge(&c->mshr, entry) && l1_can_wait(c, t));
}

/* Somebody asks for a line that a prefetch is bringing: it is no prefetch any more. */
static inline void l1_claim_prefetch(struct l1 *c, uint32_t entry, const struct l1_txn *t)
{
    struct mshr_entry *m = &c->mshr.entries[entry];
    if (LIKELY(!m->is_prefetch) || t->is_prefetch) return;
    m->is_prefetch = false;
    c->stats.prefetch_late++;
    if (m->line != CACHE_NO_LINE) c->cache.lines[m->line].is_prefetch = false;
}

static inline enum l1_answer l1_merge(struct l1 *c, const struct l1_txn *t, uint32_t line, uint32_t entry,
                                      uint32_t need)
{
    if (t->is_prefetch) return L1_PENDING;
    if (c->read_places > 1 && !l1_queue_has(c, c->read_places)) return L1_STALL_QUEUE;
    if (!l1_can_merge(c, entry, t)) return L1_STALL_MSHR;
    l1_append(c, entry, t, need);
    l1_claim_prefetch(c, entry, t);
    if (line != CACHE_NO_LINE) cache_touch(&c->cache, line);
    l1_count(c, t, CACHE_HIT_RESERVED);
    return L1_PENDING;
}

/* An access that is refused comes again until it is taken (l1_taken forgets the answer); a prefetch does not. Not COLD: gcc 12 then takes the
 * whole miss for cold. */
static bool l1_vote(struct l1 *c, const struct l1_txn *t)
{
    if (t->is_prefetch) return c->hooks.may_allocate(c->hooks.ctx, t);
    struct l1_vote *v = &c->vote;
    if (!c->has_vote || v->addr != t->addr || v->token != t->token || v->warp != t->warp)
        *v = (struct l1_vote){.may = c->hooks.may_allocate(c->hooks.ctx, t),
                              .warp = t->warp,
                              .token = t->token,
                              .addr = t->addr};
    c->has_vote = true;
    return v->may;
}

bool l1_may_keep(struct l1 *c, const struct l1_txn *t)
{
    return LIKELY(!c->hooks.may_allocate) || l1_vote(c, t);
}

/* What a miss has found, and what it wants. */
struct l1_miss {
    uint32_t line;    /* where the address is held with other sectors, or CACHE_NO_LINE */
    uint32_t entry;   /* its MSHR, where there is one */
    uint32_t need;    /* sectors that the load waits for, some of which may be under way already */
    uint32_t missing; /* those to fetch */
    uint32_t victim;  /* the line that it replaces, or CACHE_NO_LINE */
    bool may_keep;
};

/* The checks of a miss, in the order that decides the cause of a refusal; L1_MISS: it may go on. */
static inline enum l1_answer l1_check_miss(struct l1 *c, tick now, const struct l1_txn *t, struct l1_miss *m)
{
    bool is_new = m->line == CACHE_NO_LINE && m->entry == MSHR_NONE;
    m->may_keep = !is_new || l1_may_keep(c, t);
    m->victim = CACHE_NO_LINE;
    if (is_new && c->allocates_on_miss && m->may_keep) {
        m->victim = cache_victim(&c->cache, t->addr);
        c->lack = L1_LACKS_LINE;
        if (m->victim == CACHE_NO_LINE) return L1_STALL_LINE;
    }
    c->lack = m->entry == MSHR_NONE ? L1_LACKS_QUEUE : L1_LACKS_MORE;
    if (!l1_queue_has(c, c->read_places)) return L1_STALL_QUEUE;
    bool has_mshr = m->entry != MSHR_NONE || l1_has_mshr(c);
    c->lack = has_mshr ? L1_LACKS_MORE : L1_LACKS_MSHR;
    if (!has_mshr) return L1_STALL_MSHR;
    if (m->entry == MSHR_NONE ? !l1_can_wait(c, t) : !l1_can_merge(c, m->entry, t)) return L1_STALL_MSHR;
    return l1_clean_victim(c, now, m->victim, 1) ? L1_MISS : L1_STALL_QUEUE;
}

static inline uint32_t l1_take_mshr(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line,
                                    bool may_keep)
{
    uint32_t entry = mshr_take_unlisted(&c->mshr, t->addr, 0);
    struct mshr_entry *e = &c->mshr.entries[entry];
    e->line = line;
    e->warp = t->warp;
    e->pc = t->pc;
    e->born = now;
    e->may_keep = may_keep;
    e->is_prefetch = t->is_prefetch;
    if (UNLIKELY(line == CACHE_NO_LINE)) {
        c->mshrs_lineless++;
        mshr_list(&c->mshr, entry);
    }
    return entry;
}

static inline enum l1_answer l1_miss(struct l1 *c, tick now, const struct l1_txn *t, struct l1_miss *m)
{
    enum l1_answer a = l1_check_miss(c, now, t, m);
    if (a != L1_MISS) return a;
    bool had_line = m->line != CACHE_NO_LINE;
    uint32_t line = c->allocates_on_miss ? m->line : CACHE_NO_LINE;
    if (m->victim != CACHE_NO_LINE) {
        line = m->victim;
        l1_take_line(c, now, line, t, m->missing);
    } else if (line != CACHE_NO_LINE) {
        cache_reserve(&c->cache, line, t->addr, m->missing);
    }
    if (m->entry == MSHR_NONE) m->entry = l1_take_mshr(c, now, t, line, m->may_keep);
    if (line != CACHE_NO_LINE) c->cache.lines[line].mshr = m->entry;
    c->mshr.entries[m->entry].sectors |= m->missing;
    l1_append(c, m->entry, t, m->need);
    l1_claim_prefetch(c, m->entry, t);
    struct req r = l1_req_of(c, now, t, m->entry, L1_MISS);
    r.kind = REQ_READ;
    r.write_bytes = 0;
    r.is_fill_partial = false;
    r.sectors = c->is_sectored ? m->missing : c->line_sectors;
    l1_request(c, now, &r);
    l1_count_read_miss(c, t, had_line);
    l1_count(c, t, CACHE_MISS);
    return L1_MISS;
}

static inline __attribute__((always_inline)) enum l1_answer
l1_read_inline(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line)
{
    struct l1_miss m = {.line = line, .entry = l1_find_mshr(c, t->addr, line)};
    m.need = cache_mask(&c->cache, t->sectors);
    if (line != CACHE_NO_LINE) m.need &= ~c->cache.lines[line].valid;
    m.missing = m.entry == MSHR_NONE ? m.need : m.need & ~c->mshr.entries[m.entry].sectors;
    return m.missing ? l1_miss(c, now, t, &m) : l1_merge(c, t, line, m.entry, m.need);
}

COLD enum l1_answer l1_read(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line)
{
    return l1_read_inline(c, now, t, line);
}

static enum l1_answer l1_load(struct l1 *c, tick now, const struct l1_txn *t, bool *intra_warp)
{
    uint32_t line;
    enum cache_outcome outcome = cache_look_up(&c->cache, t->addr, t->sectors, &line);
    return outcome == CACHE_HIT ? l1_load_hit(c, now, t, line, intra_warp) : l1_read_inline(c, now, t, line);
}

static bool l1_goes_past(const struct l1 *c, const struct l1_txn *t)
{
    return t->bypass || (t->cls == REQ_GLOBAL && !c->caches_global);
}

/* A miss of a line that is not here nor under way: the checks of l1_check_miss. What a full queue lacks comes in the next cycle, unless the crossbar
 * is full too: then it is told when there is room. */
enum l1_answer l1_foresee(struct l1 *c, const struct l1_txn *t)
{
    uint32_t line;
    if (c->has_pipe || c->is_perfect || c->hooks.may_allocate || l1_goes_past(c, t)) return L1_MISS;
    if (cache_look_up(&c->cache, t->addr, t->sectors, &line) != CACHE_MISS) return L1_MISS;
    if (l1_find_mshr(c, t->addr, line) != MSHR_NONE) return L1_MISS;
    c->lack = L1_LACKS_LINE;
    if (c->allocates_on_miss && cache_victim(&c->cache, t->addr) == CACHE_NO_LINE) return L1_STALL_LINE;
    c->lack = L1_LACKS_QUEUE;
    if (!l1_queue_has(c, c->read_places)) return c->is_blocked ? L1_STALL_QUEUE : L1_MISS;
    c->lack = L1_LACKS_MSHR;
    return l1_has_mshr(c) ? L1_MISS : L1_STALL_MSHR;
}

/* Loads that do not look into the L1: .cg, .cv, volatile, and all global loads where the machine does not
 * cache them. */
COLD static enum l1_answer l1_bypass(struct l1 *c, tick now, const struct l1_txn *t)
{
    if (t->is_prefetch) return L1_PENDING; /* there is nowhere to put it */
    if (!l1_queue_has(c, 1)) return L1_STALL_QUEUE;
    if (!l1_can_wait(c, t)) return L1_STALL_MSHR;
    c->nodes_left -= t->token != L1_NO_TOKEN;
    struct req r = l1_req_of(c, now, t, t->token, L1_SENT);
    l1_request(c, now, &r);
    c->stats.bypassed++;
    return L1_SENT;
}

/* ---- the way of each kind ---- */

enum l1_answer l1_route(struct l1 *c, tick now, const struct l1_txn *t, bool *intra_warp)
{
    if (UNLIKELY(c->is_perfect) && (t->kind != REQ_ATOMIC || c->hooks.on_atomic))
        return l1_perfect(c, now, t);
    switch ((enum req_kind)t->kind) {
    case REQ_READ:
        if (l1_goes_past(c, t)) return l1_bypass(c, now, t);
        return l1_load(c, now, t, intra_warp);
    case REQ_WRITE:
        if (t->cls == REQ_LOCAL && c->p.write_local == L1_WRITE_BACK) return l1_local_store(c, now, t);
        return l1_write_through(c, now, t, c->p.write_global == L1_WRITE_UPDATE);
    case REQ_ATOMIC:
        if (l1_answers_itself(c) && c->hooks.on_atomic) return l1_fixed_atomic(c, now, t);
        return l1_write_through(c, now, t, false);
    }
    UNREACHABLE("an access of no kind");
}
