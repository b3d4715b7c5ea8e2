/* l1.c: the L1 data cache: its life, its port to the load-store unit, what is done, and the account of
 * refusals.
 *
 * Known from the thesis, chapters 2.2.2 and 3.4 (Fermi: allocate on miss, write-evict, MSHRs with merging,
 * miss queue), and from GPGPU-Sim 3.2.2, whose order of checks (line, miss queue, MSHR) decides the cause
 * when several hold at once.
 *
 * Invariants. (1) A refused access changes nothing but the account, and a dirty victim that it may clean. (2)
 * Every cycle in which the access at the head of the load-store unit is refused is charged to exactly one
 * cause and one type; the SM may sleep through such cycles, for nothing of the L1 changes without a tick. (3)
 * A taken load is reported done exactly once. (4) Nothing below the crossbar has to move for a reply to be
 * taken: so replies always drain.
 *
 * Left out: banks of the data array, the port that a fill takes, and eviction by .cg loads. */
#include "mem/l1_impl.h"

#include "base/hugepage.h"

static void l1_ring_init(struct l1_ring *r, uint32_t cap)
{
    *r = (struct l1_ring){.items = mem_zalloc_huge(sizeof *r->items * cap), .cap = cap};
}

static void l1_queue_init(struct l1_queue *q, uint32_t cap)
{
    *q = (struct l1_queue){.items = mem_zalloc_huge(sizeof *q->items * cap), .cap = cap};
}

static void l1_init_cache(struct l1 *c)
{
    uint32_t lines = (uint32_t)MAX(c->p.size / c->p.line, 1);
    uint32_t ways = MIN(c->p.ways, lines);
    struct cache_geometry g = {.sets = lines / ways,
                               .ways = ways,
                               .line_bytes = c->p.line,
                               .sectored = c->p.sectored,
                               .index = (uint8_t)c->p.index,
                               .replace = (uint8_t)c->p.replacement};
    cache_init(&c->cache, &g);
    c->line_sectors = (uint32_t)((1ull << c->p.line / CACHE_SECTOR_BYTES) - 1);
}

/* Loads that can wait: those merged into MSHRs, and as many that bypass them as the miss queue is deep. */
static void l1_init_nodes(struct l1 *c)
{
    c->nodes_left = c->p.mshrs * c->p.merges + c->p.miss_queue;
    c->nodes = mem_zalloc(sizeof *c->nodes * c->nodes_left);
    c->node_free = L1_NONE;
}

static void l1_init_params(struct l1 *c, const struct l1_params *p)
{
    c->p = *p;
    c->reply_step = p->reply_step * c->clock.period;
    c->ports = p->ports;
    c->hit_latency = p->latency - p->tag_latency;
    c->read_places = p->read_places;
    c->is_perfect = p->perfect;
    c->caches_global = p->cache_global;
    c->is_sectored = p->sectored;
    c->allocates_on_miss = p->allocate == L1_ALLOCATE_ON_MISS;
    c->holds_mshrs = p->mshr_until_taken;
    c->answers_itself = p->fixed_miss_latency != 0;
}

struct l1 *l1_create(const struct l1_params *p, uint32_t sm, const struct clock_domain *core,
                     struct req_pool *pool, struct link *to_xbar, struct link *from_xbar, tick *sm_wake)
{
    enum { SEEN_REGIONS = 1024 };
    struct l1 *c = mem_zalloc_huge(sizeof *c);
    c->clock = *core;
    l1_init_params(c, p);
    c->sm = (uint16_t)sm;
    c->pool = pool;
    c->to_xbar = to_xbar;
    c->from_xbar = from_xbar;
    c->sm_wake = sm_wake;
    c->port_time = c->hit_ready = c->fill_ready = TICK_NEVER;
    l1_init_cache(c);
    l1_init_nodes(c);
    mshr_init(&c->mshr, p->mshrs, p->merges);
    l1_pipe_init(&c->pipe, p);
    c->has_pipe = c->pipe.cap != 0;
    l1_ring_init(&c->hits, p->ports * (p->latency + 2));
    l1_queue_init(&c->miss_queue, p->miss_queue);
    l1_queue_init(&c->others, p->miss_queue);
    /* Each request that waits for an answer has a merged load, a promised node, or an MSHR of its own (a
     * prefetch). */
    if (l1_answers_itself(c)) l1_ring_init(&c->answers, c->nodes_left + p->mshrs * (p->merges + 1));
    lineset_init(&c->seen, SEEN_REGIONS);
    return c;
}

void l1_destroy(struct l1 *c)
{
    if (!c) return;
    cache_free(&c->cache);
    mshr_free(&c->mshr);
    lineset_free(&c->seen);
    free(c->nodes);
    mem_free_huge(c->pipe.items);
    mem_free_huge(c->hits.items);
    mem_free_huge(c->miss_queue.items);
    mem_free_huge(c->others.items);
    mem_free_huge(c->answers.items);
    mem_free_huge(c);
}

void l1_hook(struct l1 *c, const struct l1_hooks *hooks) { c->hooks = *hooks; }

/* ---- what is done ---- */

static uint32_t l1_pop_done(struct l1 *c)
{
    uint32_t n = c->done_head;
    struct l1_node *node = &c->nodes[n];
    c->done_head = node->next;
    c->fill_ready = c->done_head != L1_NONE ? c->nodes[c->done_head].ready : TICK_NEVER;
    node->next = c->node_free;
    c->node_free = n;
    c->nodes_left++;
    c->mshrs_held -= node->frees_mshr;
    return node->token;
}

static uint32_t l1_pop_hit(struct l1 *c)
{
    uint32_t token = l1_ring_pop(&c->hits);
    c->hit_ready = c->hits.count ? l1_ring_head(&c->hits)->ready : TICK_NEVER;
    return token;
}

/* The one that has been ready longest; of two, the fill. */
bool l1_next_done(struct l1 *c, tick now, uint32_t *token)
{
    if (MIN(c->hit_ready, c->fill_ready) > now) return false;
    *token = c->fill_ready <= c->hit_ready ? l1_pop_done(c) : l1_pop_hit(c);
    c->last = now;
    c->has_room = c->stall.open;
    c->news |= L1_NEWS_DONE;
    return true;
}

bool l1_next_is_hit(const struct l1 *c) { return c->hit_ready < c->fill_ready; }

bool l1_missed_hit(struct l1 *c, tick now, uint32_t *token)
{
    if (c->hit_ready >= now) return false;
    *token = l1_pop_hit(c);
    return true;
}

/* ---- refusals ---- */

static void l1_charge(struct l1 *c, uint64_t cycles)
{
    struct l1_stats *s = &c->stats;
    switch (c->stall.cause) {
    case L1_STALL_LINE: s->stall_line += cycles; break;
    case L1_STALL_MSHR: s->stall_mshr += cycles; break;
    case L1_STALL_QUEUE: s->stall_queue += cycles; break;
    case L1_STALL_PORT: s->stall_port += cycles; break;
    default: UNREACHABLE("a stall without a cause");
    }
    s->stall_cycles += cycles;
    s->fails[c->stall.type] += cycles;
}

void l1_settle(struct l1 *c, tick now)
{
    tick until = MAX(now, c->stall.offered_until);
    if (!c->stall.open || c->stall.charged_until >= until) return;
    tick passed = until - c->stall.charged_until;
    uint64_t cycles = passed == c->clock.period ? 1 : clock_cycles(&c->clock, passed);
    l1_charge(c, cycles);
    c->stall.charged_until += cycles * c->clock.period;
}

/* Checks come in the order line, queue, MSHR, so that what a later one wants cannot change the answer of an earlier. */
static uint8_t l1_waits_for(enum l1_answer cause)
{
    switch (cause) {
    case L1_STALL_LINE: return L1_NEWS_REPLY | L1_NEWS_OTHER;
    case L1_STALL_QUEUE: return L1_NEWS_SENT | L1_NEWS_REPLY | L1_NEWS_OTHER;
    case L1_STALL_MSHR: return L1_NEWS_REPLY | L1_NEWS_DONE | L1_NEWS_OTHER;
    default: return L1_NEWS_ANY;
    }
}

/* Without other accesses the tags hold the same addresses, so that a miss stays one; replies take no victim away, and the queue only drains. */
static bool l1_still_lacks(struct l1 *c)
{
    if (c->news & L1_NEWS_OTHER) return false;
    switch ((enum l1_lack)c->stall.lack) {
    case L1_LACKS_LINE:
        return c->stall.cause == L1_STALL_LINE && cache_victim(&c->cache, c->stall.addr) == CACHE_NO_LINE;
    case L1_LACKS_QUEUE: return c->stall.cause == L1_STALL_QUEUE && !l1_queue_has(c, c->read_places);
    case L1_LACKS_MSHR: return c->stall.cause == L1_STALL_MSHR && !l1_has_mshr(c);
    case L1_LACKS_MORE: return false;
    }
    UNREACHABLE("something that a miss can lack");
}

static bool l1_has_news(struct l1 *c)
{
    if (!(c->news & c->stall.waits_for)) return false;
    if (!l1_still_lacks(c)) return true;
    c->news = 0;
    return false;
}

bool l1_still_refuses(struct l1 *c, tick now)
{
    return (!c->has_pipe || c->pipe.count == c->pipe.cap) && l1_stays_refused(c, now);
}

bool l1_stays_refused(struct l1 *c, tick now)
{
    if (!c->stall.open || c->stall.cause == L1_STALL_PORT || l1_has_news(c)) return false;
    c->stall.offered_until = clock_after(&c->clock, now, 1);
    c->has_room = false;
    return true;
}

static void l1_open_stall(struct l1 *c, enum l1_answer cause, const struct l1_txn *t)
{
    c->stall.open = true;
    c->stall.cause = (uint8_t)cause;
    c->stall.type = (uint8_t)l1_type_of(t);
    c->stall.waits_for = l1_waits_for(cause);
    c->stall.lack = c->lack;
    c->stall.addr = t->addr;
    c->news = 0;
    c->has_room = false;
}

static void l1_stalled(struct l1 *c, tick now, enum l1_answer cause, const struct l1_txn *t)
{
    if (c->stall.open) l1_settle(c, now);
    bool is_charged = c->stall.open && c->stall.charged_until > now; /* asked twice in one cycle */
    l1_open_stall(c, cause, t);
    if (is_charged) return;
    c->stall.charged_until = now + c->clock.period;
    l1_charge(c, 1);
}

bool l1_is_full(const struct l1 *c)
{
    return (c->is_blocked && !l1_queue_has(c, c->read_places)) || !l1_has_mshr(c);
}

bool l1_may_move(const struct l1 *c) { return c->to_send || c->from_xbar->count; }
bool l1_awaits_reply(const struct l1 *c) { return c->requests_out || c->others_out; }
tick l1_reply_at(const struct l1 *c) { return l1_reply_time(c); }

bool l1_refuses_ahead(struct l1 *c, tick now, const struct l1_txn *t)
{
    if (c->stall.open || c->is_shrinking) return false;
    enum l1_answer cause = l1_foresee(c, t);
    if (!l1_is_stall(cause)) return false;
    l1_open_stall(c, cause, t);
    c->stall.charged_until = now + c->clock.period; /* where the first cycle of it begins */
    return true;
}

void l1_count_prefetch(struct l1 *c, enum l1_answer a)
{
    c->stats.prefetch_offered++;
    if (l1_is_stall(a))
        c->stats.prefetch_dropped++;
    else if (a == L1_MISS)
        c->stats.prefetch_issued++;
    else
        c->stats.prefetch_redundant++;
}

static void l1_prefetched(struct l1 *c, enum l1_answer a)
{
    l1_count_prefetch(c, a);
    if (!l1_is_stall(a)) c->news |= L1_NEWS_OTHER;
}

/* An access that was offered: what was refused before is no more, and news of it begin anew with the next refusal. */
static inline void l1_taken(struct l1 *c, tick now)
{
    c->has_vote = c->has_room = false;
    if (!c->stall.open) return;
    l1_settle(c, now);
    c->stall.open = false;
}

/* What the tags say of it, and what follows. */
enum l1_answer l1_look_up(struct l1 *c, tick now, const struct l1_txn *t)
{
    bool intra_warp = false;
    c->lack = L1_LACKS_MORE;
    enum l1_answer a = UNLIKELY(c->is_shrinking) ? L1_STALL_LINE : l1_route(c, now, t, &intra_warp);
    if (UNLIKELY(t->is_prefetch))
        l1_prefetched(c, a);
    else if (UNLIKELY(l1_is_stall(a)))
        l1_stalled(c, now, a, t);
    else
        l1_taken(c, now);
    if (UNLIKELY(l1_is_stall(a))) return a;
    c->ports_used += !c->has_pipe; /* those of a pipeline are at its other end */
    if (c->hooks.on_access) c->hooks.on_access(c->hooks.ctx, now, t, a, intra_warp);
    return a;
}

enum l1_answer l1_access(struct l1 *c, tick now, const struct l1_txn *t)
{
    assert(t->addr % c->p.line == 0 && t->sectors && t->warp < L1_WARPS_MAX);
    assert(!t->is_prefetch || (t->kind == REQ_READ && t->token == L1_NO_TOKEN));
    c->last = now;
    if (c->port_time != now) {
        c->port_time = now;
        c->ports_used = 0;
    }
    if (c->ports_used == c->ports && !c->is_perfect) { /* a busy cycle, not a stalled one */
        if (t->is_prefetch) l1_count_prefetch(c, L1_STALL_PORT);
        return L1_STALL_PORT;
    }
    return c->has_pipe ? l1_pipe_put(c, now, t) : l1_look_up(c, now, t);
}

/* ---- state that others ask for ---- */

uint32_t l1_writes_pending(const struct l1 *c, uint32_t warp) { return c->writes_pending[warp]; }

bool l1_idle(const struct l1 *c)
{
    return !c->requests_out && !c->others_out && !c->pipe.count && !c->hits.count &&
           c->fill_ready == TICK_NEVER && !c->is_flushing;
}

static inline tick l1_next_cycle(const struct l1 *c) { return c->last + c->clock.period; }

/* What only some machines, or moments, have. */
static tick l1_wake_special(const struct l1 *c, tick next)
{
    tick wake = c->is_flushing ? next : TICK_NEVER;
    if (l1_answers_itself(c) && c->answers.count) wake_at(&wake, l1_ring_head(&c->answers)->ready);
    if (c->has_pipe) wake_at(&wake, l1_pipe_next(c, next));
    return wake;
}

tick l1_wake(const struct l1 *c) { return MIN(l1_wake_past_hits(c), MAX(c->hit_ready, l1_next_cycle(c))); }

tick l1_wake_past_hits(const struct l1 *c)
{
    tick next = l1_next_cycle(c), wake = c->fill_ready;
    if (c->hit_ready <= c->last) return next; /* overdue */
    if ((c->to_send && !c->is_blocked) || c->has_room) return next;
    wake_at(&wake, l1_reply_time(c));
    if (UNLIKELY(c->is_special)) wake_at(&wake, l1_wake_special(c, next));
    return MAX(wake, next); /* what is overdue waits for its turn in the next cycle */
}

void *l1_stats(struct l1 *c)
{
    l1_stats_derive(&c->stats);
    c->stats.mshr_max = c->mshr.used_max;
    return &c->stats;
}

static const struct mshr_entry *l1_oldest_miss(const struct l1 *c)
{
    const struct mshr_entry *oldest = NULL;
    for (const struct mshr_entry *e = c->mshr.entries; e < c->mshr.entries + c->mshr.count; e++)
        if (e->used && (!oldest || e->born < oldest->born)) oldest = e;
    return oldest;
}

void l1_explain(const struct l1 *c, tick now, struct strbuf *out)
{
    static const char *const causes[] = {"", "", "", "", "", "a line", "an MSHR", "the miss queue", "a port"};
    const struct mshr_entry *m = l1_oldest_miss(c);
    strbuf_printf(out, "L1 of SM %u: %u of %u MSHRs, miss queue %u of %u%s, %u requests outstanding", c->sm,
                  c->mshr.used, c->mshr.count, c->miss_queue.count, c->miss_queue.cap,
                  c->is_blocked ? " (the crossbar is full)" : "", c->requests_out + c->others_out);
    if (c->stall.open) strbuf_printf(out, ", the next access waits for %s", causes[c->stall.cause]);
    if (c->pipe.count) strbuf_printf(out, ", %u accesses before the tags", c->pipe.count);
    strbuf_puts(out, "\n");
    if (m)
        strbuf_printf(out, "  oldest miss: line 0x%llx, warp %u, pc %u, for %llu cycles\n",
                      (unsigned long long)m->addr, m->warp, m->pc,
                      (unsigned long long)((now - m->born) / c->clock.period));
}
