/* l1_access.c: an access: ports, tags, and what loads do (hit, merge, miss, bypass). Stores, atomics and
 * ideal machines: l1_store.c.
 *
 * An access is planned and admitted (l1_admit.h) before it changes anything; an admitted access commits. The
 * one exception is a dirty line that it replaces: see l1_make_room. */
#include "mem/l1_miss.h"

/* ---- statistics ---- */

static inline void l1_count_warps(struct l1_stats *s, bool intra_warp)
{
    s->intra_warp_hits += intra_warp;
    s->inter_warp_hits += !intra_warp;
}

/* Counts a load that finds its line. */
static inline void l1_count_after_miss(struct l1 *c, const struct l1_txn *t)
{
    if (!c->last_missed) return;
    c->last_missed = false;
    (t->own ? t->own : &c->stats)->hit_after_miss++;
}

static void l1_count_read_miss(struct l1 *c, const struct l1_txn *t, bool has_line)
{
    uint64_t number = t->addr >> c->cache.line_shift;
    bool is_first = lineset_add(&c->seen, number);
    if (UNLIKELY(c->has_wasted)) l1_judge_wasted(c, number, !t->is_prefetch);
    if (t->is_prefetch) return;
    c->last_missed |= t->kind == REQ_READ;
    if (has_line)
        c->stats.sector_misses++;
    else if (is_first)
        c->stats.cold_misses++;
    else
        c->stats.replaced_misses++;
}

/* ---- votes ---- */

/* A refused access comes again until it is taken (l1_taken then forgets the votes); a prefetch does not. */
struct l1_kept *l1_kept_of(struct l1 *c, const struct l1_txn *t)
{
    struct l1_kept *k = &c->kept;
    if (!c->has_kept || k->addr != t->addr || k->token != t->token || k->warp != t->warp)
        *k = (struct l1_kept){.warp = t->warp, .token = t->token, .addr = t->addr};
    c->has_kept = true;
    return k;
}

/* Not COLD: with it, gcc 12 treats the whole miss as cold. */
bool l1_may_keep(struct l1 *c, const struct l1_txn *t)
{
    if (!c->hooks.may_allocate) return true;
    if (t->is_prefetch) return c->hooks.may_allocate(c->hooks.ctx, t);
    struct l1_kept *k = l1_kept_of(c, t);
    if (!k->has_vote) k->may = c->hooks.may_allocate(c->hooks.ctx, t);
    k->has_vote = true;
    return k->may;
}

bool l1_may_go(struct l1 *c, const struct l1_txn *t)
{
    struct l1_kept *k = l1_kept_of(c, t);
    if (!k->may_go) k->may_go = c->hooks.may_miss(c->hooks.ctx, t);
    return k->may_go;
}

/* When the data of a hit is there, where mechanisms have lines in registers. Hits are done in order. */
COLD static tick l1_extra_ready(const struct l1 *c, tick ready, uint32_t line)
{
    const uint32_t set = line / c->cache.ways_max, way = line % c->cache.ways_max;
    ready = clock_after(&c->clock, ready, c->hooks.extra_hit(c->hooks.ctx, set, way));
    if (!c->hits.ring.count) return ready;
    return MAX(ready, c->hits.items[ring_index(&c->hits.ring, c->hits.ring.count - 1)].ready);
}

/* ---- loads ---- */

static inline __attribute__((always_inline)) void l1_hit(struct l1 *c, tick now, const struct l1_txn *t,
                                                         uint32_t line, struct l1_result *r)
{
    if (t->is_prefetch) return;
    struct cache_line *l = &c->cache.lines[line];
    if (t->token != L1_NO_TOKEN) {
        tick ready = clock_after(&c->clock, now, c->hit_latency);
        if (UNLIKELY(c->hooks.extra_hit != NULL)) ready = l1_extra_ready(c, ready, line);
        if (!c->hits.ring.count) c->hit_ready = ready;
        l1_ring_push(&c->hits, (struct l1_timed){ready, t->token});
    }
    cache_touch(&c->cache, line);
    l1_touched(c, line, t);
    r->intra_warp = l->owner_launch == t->launch;
    l1_count_warps(t->own ? t->own : &c->stats, r->intra_warp);
    if (UNLIKELY(l->is_prefetch)) {
        r->is_first_use = true;
        c->stats.prefetch_useful++;
        if (l->reserved) c->mshr.entries[l->mshr].is_prefetch = false; /* brings more sectors */
        l->is_prefetch = false;
    }
    l1_count(c, t, CACHE_HIT);
    l1_count_after_miss(c, t);
}

static void l1_append(struct l1 *c, tick now, uint32_t entry, const struct l1_txn *t, uint32_t need)
{
    struct mshr_entry *e = &c->mshr.entries[entry];
    e->last_pc = t->pc;
    e->last_warp = t->warp;
    if (t->token == L1_NO_TOKEN) return;
    c->nodes_left--;
    uint32_t n = l1_node_new(c, t->token, need);
    c->nodes[n].ready = now; /* start of its wait, which ends when it is done */
    if (e->head == MSHR_NONE)
        e->head = n;
    else
        c->nodes[e->tail].next = n;
    e->tail = n;
    e->merged++;
}

/* A load wants a line that a prefetch is bringing, so the prefetch is late. True: this was the case. */
static inline bool l1_claim_prefetch(struct l1 *c, uint32_t entry, const struct l1_txn *t)
{
    struct mshr_entry *m = &c->mshr.entries[entry];
    if (LIKELY(!m->is_prefetch) || t->is_prefetch) return false;
    m->is_prefetch = false;
    c->stats.prefetch_late++;
    if (m->line != CACHE_NO_LINE) c->cache.lines[m->line].is_prefetch = false;
    return true;
}

static inline void l1_merge(struct l1 *c, tick now, const struct l1_txn *t, const struct l1_plan *p,
                            struct l1_result *r)
{
    struct mshr_entry *e = &c->mshr.entries[p->entry];
    if (t->is_prefetch) return;
    if (UNLIKELY(!e->may_keep)) e->may_keep = l1_may_keep(c, t);
    l1_append(c, now, p->entry, t, p->need);
    r->is_first_use = l1_claim_prefetch(c, p->entry, t);
    if (p->line != CACHE_NO_LINE) cache_touch(&c->cache, p->line);
    l1_count(c, t, CACHE_HIT_RESERVED);
    c->last_missed |= t->kind == REQ_READ; /* its data is not in the cache: APRES, Table I */
}

/* Takes line and MSHR. Sectors that join a miss without a line also get no line, even where the line is in
 * the cache by then: a line that waits names its MSHR, and this one names none (l1_keep_fill). */
static inline void l1_open_miss(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p,
                                uint32_t victim)
{
    if (p->entry != MSHR_NONE && UNLIKELY(c->mshr.entries[p->entry].line == CACHE_NO_LINE)) return;
    uint32_t line = l1_reserve_line(c, now, t, p, victim);
    if (p->entry == MSHR_NONE) p->entry = l1_take_mshr(c, now, t, line, p->may_keep);
    if (line == CACHE_NO_LINE) return;
    c->cache.lines[line].mshr = p->entry;
    p->line = line;
}

static inline __attribute__((always_inline)) enum l1_answer
l1_miss(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p, struct l1_result *r)
{
    uint32_t victim = CACHE_NO_LINE;
    bool had_line = p->line != CACHE_NO_LINE;
    if (UNLIKELY(p->asks_taker)) {
        struct l1_plan asked = *p;
        enum l1_answer a = l1_ask_taker(c, now, t, &asked, r);
        *p = asked;
        if (l1_is_stall(a)) return a;
    }
    if (LIKELY(!r->taken)) {
        if (p->takes_line && (victim = l1_make_room(c, now, t->addr, L1_WAY_MISS)) == CACHE_NO_LINE)
            return L1_STALL_QUEUE;
        l1_name_evicted(c, victim, r);
        l1_open_miss(c, now, t, p, victim);
    }
    c->mshr.entries[p->entry].sectors |= p->missing;
    l1_append(c, now, p->entry, t, p->need);
    r->is_first_use = l1_claim_prefetch(c, p->entry, t);
    if (LIKELY(!r->taken)) l1_fetch(c, now, now, t, p);
    l1_count_read_miss(c, t, had_line);
    l1_count(c, t, CACHE_MISS);
    return L1_MISS;
}

/* Loads that do not look up the L1: .cg, .cv, volatile, and all global loads where the machine does not cache
 * them. */
COLD static void l1_bypass(struct l1 *c, tick now, const struct l1_txn *t)
{
    if (t->is_prefetch) return;
    c->nodes_left -= t->token != L1_NO_TOKEN;
    l1_send_as(c, now, t, t->token);
    c->stats.bypassed++;
}

COLD enum l1_answer l1_commit_read(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p)
{
    struct l1_result r = {0};
    if (p->way == L1_WAY_MISS) return l1_miss(c, now, t, p, &r);
    l1_merge(c, now, t, p, &r);
    return L1_PENDING;
}

/* ---- an access ---- */

/* Performs a load that was admitted as `a`. */
static inline __attribute__((always_inline)) enum l1_answer
l1_commit_load(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p, enum l1_answer a,
               struct l1_result *r)
{
    switch (p->way) {
    case L1_WAY_HIT: l1_hit(c, now, t, p->line, r); return L1_HIT;
    case L1_WAY_MISS: return l1_miss(c, now, t, p, r);
    case L1_WAY_MERGE: l1_merge(c, now, t, p, r); return L1_PENDING;
    default: l1_bypass(c, now, t); return a;
    }
}

/* What follows an answer, for all kinds of accesses. */
static inline __attribute__((always_inline)) enum l1_answer
l1_end_access(struct l1 *c, tick now, const struct l1_txn *t, const struct l1_plan *p, enum l1_answer a,
              struct l1_result *r)
{
    if (UNLIKELY(t->is_prefetch))
        l1_prefetched(c, now, t, a);
    else if (UNLIKELY(l1_is_stall(a))) {
        const struct l1_plan refused = *p;
        l1_refused(c, now, a, t, &refused);
    } else
        l1_taken(c, now);
    if (UNLIKELY(l1_is_stall(a))) return a;
    c->ports_used += !c->has_pipe; /* accesses of a pipeline are reported at its other end */
    r->answer = a;
    if (c->hooks.on_access) c->hooks.on_access(c->hooks.ctx, now, t, r);
    return a;
}

static __attribute__((noinline)) enum l1_answer l1_look_up_other(struct l1 *c, tick now,
                                                                 const struct l1_txn *t)
{
    struct l1_result r = {0};
    struct l1_plan p;
    l1_plan(c, t, &p);
    enum l1_answer a = l1_admit(c, &p);
    if (!l1_is_stall(a)) a = l1_commit_other(c, now, t, &p, a);
    return l1_end_access(c, now, t, &p, a, &r);
}

/* Loads by the plain rules: those that bypass, prefetches, and loads that cannot be taken now. */
COLD static enum l1_answer l1_look_up_load(struct l1 *c, tick now, const struct l1_txn *t)
{
    struct l1_result r = {0};
    struct l1_plan p;
    l1_plan(c, t, &p);
    enum l1_answer a = l1_admit(c, &p);
    if (!l1_is_stall(a)) a = l1_commit_load(c, now, t, &p, a, &r);
    return l1_end_access(c, now, t, &p, a, &r);
}

/* A load looked up the L1 and did not find all of its sectors in `line`. The plan stays in registers, so its
 * address is not passed on. Flattened: the steps of a miss are short and have few other callers. */
HOT NOINLINE __attribute__((flatten)) static enum l1_answer
l1_look_further(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line)
{
    struct l1_result r = {0};
    struct l1_plan p = l1_no_way(t);
    l1_plan_read(c, t, &p, line);
    enum l1_answer a = p.way == L1_WAY_MISS ? l1_admit_miss(c, &p) : l1_admit_merge(c, &p);
    if (a == L1_MISS) a = l1_miss(c, now, t, &p, &r);
    if (a == L1_PENDING) l1_merge(c, now, t, &p, &r);
    return l1_end_access(c, now, t, &p, a, &r);
}

/* Loads that hit come first, and need no plan. */
static inline __attribute__((always_inline)) enum l1_answer l1_serve(struct l1 *c, tick now,
                                                                     const struct l1_txn *t)
{
    struct l1_result r = {0};
    uint32_t line;
    if (t->kind != REQ_READ || UNLIKELY(c->is_perfect)) return l1_look_up_other(c, now, t);
    if (UNLIKELY(c->is_shrinking || l1_goes_past(c, t) || t->is_prefetch)) return l1_look_up_load(c, now, t);
    if (!l1_finds(c, t, &line)) return l1_look_further(c, now, t, line);
    if (UNLIKELY(l1_admit_hit(c, t->token != L1_NO_TOKEN) != L1_HIT)) return l1_look_up_load(c, now, t);
    l1_hit(c, now, t, line, &r);
    return l1_end_access(c, now, t, NULL, L1_HIT, &r);
}

enum l1_answer l1_look_up(struct l1 *c, tick now, const struct l1_txn *t) { return l1_serve(c, now, t); }

/* The access does not come in, for this cause. The head of a full pipeline is charged, not the access that
 * waits in front of it. */
COLD static enum l1_answer l1_turn_away(struct l1 *c, tick now, const struct l1_txn *t, enum l1_answer cause)
{
    if (t->is_prefetch)
        l1_count_prefetch(c, now, t, cause);
    else if (cause == L1_STALL_STOLEN)
        l1_refused_port(c, now, t);
    return cause;
}

HOT NOINLINE __attribute__((flatten)) enum l1_answer l1_access(struct l1 *c, tick now, const struct l1_txn *t)
{
    debug_assert(t->addr % c->p.line == 0 && t->sectors && t->warp < L1_WARPS_MAX);
    debug_assert(!t->is_prefetch || (t->kind == REQ_READ && t->token == L1_NO_TOKEN));
    debug_assert(t->kind != REQ_WRITE || t->token == L1_NO_TOKEN);
    c->last = now;
    l1_open_ports(c, now);
    const enum l1_answer entry = l1_admit_port(c, now);
    if (UNLIKELY(entry != L1_TAKEN)) return l1_turn_away(c, now, t, entry);
    return UNLIKELY(c->has_pipe) ? l1_pipe_put(c, now, t) : l1_serve(c, now, t);
}
