/* l1_reply.c: replies to the L1: fills, acknowledgements, results of atomics.
 *
 * The L1 always takes a reply that has arrived: no reply waits for room in the miss queue, so the reply
 * network never waits for the request network. Where an allocating fill would have to write back a dirty line
 * and cannot, the line is not kept. */
#include "mem/l1_miss.h"

/* ---- fills ---- */

static void l1_count_latency(struct l1 *c, tick now, const struct req *r)
{
    if (r->is_prefetch) return;
    uint64_t cycles = clock_cycles(&c->clock, now - r->born);
    c->stats.miss_latency_sum += cycles;
    c->stats.miss_latency[MIN(cycles / L1_LATENCY_BUCKET_CYCLES, L1_LATENCY_BUCKETS - 1)]++;
    if (!r->l2_hit) return;
    c->stats.l2_hit_latency_sum += cycles;
    c->stats.l2_hit_latency_count++;
}

/* Takes a line at the fill, unless all lines of the set wait for data or the dirty line cannot be written
 * back. False: the data does not stay. */
COLD static bool l1_keep_fill(struct l1 *c, tick now, const struct req *r, const struct mshr_entry *m)
{
    uint32_t line;
    bool is_there = cache_look_up(&c->cache, r->addr, r->sectors, &line) != CACHE_MISS;
    if (!is_there) {
        line = cache_victim(&c->cache, r->addr);
        if (line == CACHE_NO_LINE || !l1_admit_victim(c, L1_WAY_STORE_LINE, line)) return false;
        if (c->cache.lines[line].dirty) l1_write_back(c, now, line);
        l1_take_line(c, now, line,
                     &(struct l1_txn){.addr = r->addr,
                                      .warp = m->warp,
                                      .launch = m->launch,
                                      .pc = m->pc,
                                      .is_prefetch = m->is_prefetch},
                     r->sectors);
    } else if (m->is_prefetch)
        l1_mark_prefetch(c, line);
    cache_fill(&c->cache, line, r->sectors);
    c->cache.lines[line].last_pc = m->last_pc;
    c->cache.lines[line].last_warp = m->last_warp;
    return true;
}

/* Allocate on fill, or a miss without a line. */
COLD static bool l1_fill_lineless(struct l1 *c, tick now, const struct req *r, const struct mshr_entry *m,
                                  bool is_last)
{
    if (m->may_keep && !m->doomed && l1_keep_fill(c, now, r, m)) return true;
    c->stats.fills_not_kept++;
    if (m->is_prefetch && is_last) l1_end_prefetch(c);
    return false;
}

/* True: the line stays. */
static bool l1_fill_line(struct l1 *c, tick now, const struct req *r, const struct mshr_entry *m,
                         bool is_last)
{
    if (UNLIKELY(m->line == CACHE_NO_LINE)) return l1_fill_lineless(c, now, r, m, is_last);
    struct cache_line *l = &c->cache.lines[m->line];
    bool was_valid = l->valid;
    cache_fill(&c->cache, m->line, r->sectors);
    if (!is_last) return !m->doomed;
    l->last_pc = m->last_pc; /* its owner was l->mshr until now */
    l->last_warp = m->last_warp;
    if (LIKELY(!m->doomed) || l->dirty) return true;
    c->stats.fills_not_kept++;
    l1_drop_awaited(c, now, m->line, L1_EVICT_STORE, was_valid);
    return false;
}

/* Loads whose last sector has come are done; the others go on waiting, in their order. True: at least one is
 * done. */
static inline bool l1_release_loads(struct l1 *c, tick now, struct mshr_entry *e, uint32_t sectors)
{
    uint32_t n = e->head, before = e->merged;
    tick waited = 0;
    e->head = e->tail = MSHR_NONE;
    while (n != MSHR_NONE) {
        uint32_t next = c->nodes[n].next;
        c->nodes[n].need &= ~sectors;
        c->nodes[n].next = L1_NONE;
        if (!c->nodes[n].need) {
            e->merged--;
            waited += now - c->nodes[n].ready;
            l1_done(c, n, now);
        } else {
            if (e->head == MSHR_NONE)
                e->head = n;
            else
                c->nodes[e->tail].next = n;
            e->tail = n;
        }
        n = next;
    }
    c->demand_wait += waited;
    c->stats.demand_waits += before - e->merged;
    return e->merged != before;
}

COLD static void l1_tell_fill(struct l1 *c, tick now, const struct req *r, bool kept)
{
    const struct mshr_entry *e = &c->mshr.entries[r->token];
    struct l1_fill_event f = {.line = r->addr,
                              .latency = now - r->born,
                              .pc = e->pc,
                              .warp = e->warp,
                              .is_prefetch = r->is_prefetch,
                              .is_local = r->cls == REQ_LOCAL,
                              .kept = kept,
                              .as_of = r->at_l2};
    c->hooks.on_fill(c->hooks.ctx, now, &f);
}

/* The waiting loads are done; if no sector is missing, the miss is done too. */
static inline __attribute__((always_inline)) void l1_end_sectors(struct l1 *c, tick now, uint32_t entry,
                                                                 uint32_t sectors)
{
    struct mshr_entry *e = &c->mshr.entries[entry];
    bool has_done = l1_release_loads(c, now, e, sectors);
    if (e->sectors) return;
    debug_assert(e->head == MSHR_NONE);
    c->mshrs_lineless -= e->line == CACHE_NO_LINE;
    mshr_release(&c->mshr, entry);
    if (c->holds_mshrs && has_done) {
        c->nodes[c->done_tail].frees_mshr = true;
        c->mshrs_held++;
    }
    l1_tell_level(c, now);
}

static uint32_t l1_come(struct l1 *c, const struct req *r)
{
    struct mshr_entry *e = &c->mshr.entries[r->token];
    uint32_t sectors = cache_mask(&c->cache, r->sectors);
    debug_assert(e->used && e->addr == r->addr && !(sectors & ~e->sectors));
    e->sectors &= ~sectors;
    return sectors;
}

static inline __attribute__((always_inline)) void l1_bring(struct l1 *c, tick now, const struct req *r)
{
    uint32_t sectors = l1_come(c, r);
    const struct mshr_entry *e = &c->mshr.entries[r->token];
    c->stats.fills++;
    l1_count_latency(c, now, r);
    bool kept = l1_fill_line(c, now, r, e, !e->sectors);
    if (UNLIKELY(c->tells_fill)) l1_tell_fill(c, now, r, kept);
    l1_end_sectors(c, now, r->token, sectors);
}

void l1_fill(struct l1 *c, tick now, const struct req *r) { l1_bring(c, now, r); }

void l1_fill_taken(struct l1 *c, tick now, const struct req *r)
{
    uint32_t sectors = l1_come(c, r);
    c->stats.taken_hits++;
    l1_count_latency(c, now, r);
    if (c->mshr.entries[r->token].is_prefetch) l1_end_prefetch(c);
    l1_end_sectors(c, now, r->token, sectors);
}

/* ---- replies ---- */

static void l1_token_done(struct l1 *c, tick now, uint32_t token)
{
    if (token != L1_NO_TOKEN) l1_done(c, l1_node_new(c, token, 0), now);
}

static void l1_acknowledge(struct l1 *c, uint16_t warp)
{
    debug_assert(c->writes_pending[warp]);
    c->writes_pending[warp]--;
}

HOT __attribute__((flatten)) void l1_reply(void *l1, tick now, uint32_t id)
{
    struct l1 *c = l1;
    const struct req *r = req_at(c->pool, id);
    l1_note(c, L1_CHANGE_REPLY);
    c->has_acknowledged |= r->kind != REQ_READ;
    c->stats.replies++;
    switch ((enum req_kind)r->kind) {
    case REQ_READ:
        if (r->l1_outcome == L1_MISS) {
            l1_bring(c, now, r);
        } else {
            l1_count_latency(c, now, r);
            l1_token_done(c, now, r->token);
        }
        break;
    case REQ_WRITE:
        if (r->token == L1_STORE) l1_acknowledge(c, r->warp);
        break;
    case REQ_ATOMIC:
        l1_acknowledge(c, r->warp);
        /* A request made in this cycle of the SM has its result at the end of the cycle. */
        l1_token_done(c, l1_answers_itself(c) ? clock_after(&c->clock, now, 1) : now, r->token);
        break;
    }
    debug_assert(c->requests_out);
    c->requests_out--;
    req_del(c->pool, id);
}

COLD void l1_take_answers(struct l1 *c, tick now)
{
    while (c->answers.ring.count && l1_ring_front(&c->answers)->ready <= now) {
        uint32_t id = l1_ring_pop(&c->answers).value;
        struct req *r = req_at(c->pool, id);
        r->at_l2 = now; /* the atomic never went to the L2 */
        if (r->kind == REQ_ATOMIC) c->hooks.on_atomic(c->hooks.ctx, r);
        l1_reply(c, now, id);
    }
}
