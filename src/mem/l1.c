/* l1.c: the L1 data cache: creation and end, its cycle, loads that are done, statistics.
 *
 * Known from the thesis, chapters 2.2.2 and 3.4 (Fermi: allocate on miss, write-evict, MSHRs with merging,
 * miss queue), and from GPGPU-Sim 3.2.2.
 *
 * Invariants. (1) A refused access changes only the account of refusals, and may clean a dirty line. (2) A
 * taken load is reported done exactly once. (3) A reply can be taken whatever waits below the crossbar, so
 * replies always drain.
 *
 * Left out: banks of the data array, the port that a fill takes, and eviction by .cg loads. */
#include "mem/l1_impl.h"

#include "base/hugepage.h"

/* The tags include the extra lines, which are unused until l1_resize. */
static void l1_init_cache(struct l1 *c, uint32_t extra_lines)
{
    uint32_t lines = (uint32_t)MAX(c->p.size / c->p.line, 1);
    uint32_t ways = MIN(c->p.ways, lines);
    struct cache_geometry g = {.sets = lines / ways,
                               .ways = ways + extra_lines / (lines / ways),
                               .line_bytes = c->p.line,
                               .sectored = c->p.sectored,
                               .index = (uint8_t)c->p.index,
                               .replace = (uint8_t)c->p.replacement};
    cache_init(&c->cache, &g);
    c->own_ways = ways;
    cache_set_ways(&c->cache, ways);
    c->line_sectors = (uint32_t)((1ull << c->p.line / CACHE_SECTOR_BYTES) - 1);
}

static void l1_init_nodes(struct l1 *c)
{
    c->nodes_left = l1_loads_max(&c->p);
    c->nodes = mem_zalloc(sizeof *c->nodes * c->nodes_left);
    c->node_free = L1_NONE;
}

static void l1_init_params(struct l1 *c, const struct l1_params *p)
{
    c->p = *p;
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

struct l1 *l1_create(const struct l1_setup *s)
{
    enum { SEEN_REGIONS = 1024, WASTED_REGIONS = 16 };
    const struct l1_params *p = s->params;
    struct l1 *c = mem_zalloc_huge(sizeof *c);
    c->clock = *s->clock;
    l1_init_params(c, p);
    c->sm = (uint16_t)s->sm;
    c->pool = s->pool;
    c->port = s->port;
    c->port_time = c->stolen_time = c->claim_time = c->hit_ready = c->fill_ready = TICK_NEVER;
    l1_init_cache(c, s->extra_lines);
    l1_init_nodes(c);
    c->claim_waits = MSHR_NONE;
    mshr_init(&c->mshr, p->mshrs, p->merges);
    l1_pipe_create(&c->pipe, p);
    c->has_pipe = l1_pipe_has_room(&c->pipe);
    l1_ring_init(&c->hits, p->ports * (p->latency + 2));
    /* Each request that waits for an answer has a merged load, a promised node, or an MSHR of its own (a
     * prefetch). */
    if (l1_answers_itself(c)) l1_ring_init(&c->answers, c->nodes_left + p->mshrs * (p->merges + 1));
    lineset_init(&c->seen, SEEN_REGIONS);
    lineset_init(&c->wasted, WASTED_REGIONS);
    c->last_missed = true;
    l1_hook(c, &(struct l1_hooks){0});
    return c;
}

void l1_destroy(struct l1 *c)
{
    if (!c) return;
    cache_free(&c->cache);
    mshr_free(&c->mshr);
    lineset_free(&c->seen);
    lineset_free(&c->wasted);
    mem_free_huge(c->taken);
    mem_free_huge(c->due);
    free(c->nodes);
    l1_pipe_free(&c->pipe);
    l1_ring_free(&c->hits);
    l1_ring_free(&c->answers);
    mem_free_huge(c);
}

static void l1_sent(void *l1, tick now) { l1_tell_level(l1, now); }

/* An access that was refused for lack of an MSHR may lack an entry of the queue from now on. */
void l1_queue_changed(struct l1 *c, tick now)
{
    l1_note(c, L1_CHANGE_OTHER);
    l1_tell_level(c, now);
}

/* A HIT of a mechanism needs an entry under which later loads of its line find it, but does not count as an
 * MSHR, because nothing is on its way from the L2. So there are further entries: twice as many as there can
 * be hits within the L1's own latency. */
static void l1_init_taken(struct l1 *c)
{
    c->hits_kept = c->mshrs_held = 2 * c->hits.ring.capacity;
    mshr_free(&c->mshr);
    mshr_init(&c->mshr, c->p.mshrs + c->hits_kept, c->p.merges);
    c->taken = mem_zalloc_huge(sizeof *c->taken * c->mshr.count);
    c->due = mem_zalloc_huge(sizeof *c->due * c->mshr.count);
}

void l1_hook(struct l1 *c, const struct l1_hooks *hooks)
{
    c->hooks = *hooks;
    c->notes_touches = hooks->on_evict != NULL;
    c->asks_of_misses = hooks->may_miss || hooks->take_miss;
    c->tells_level = hooks->on_level != NULL;
    c->tells_fill = hooks->on_fill != NULL;
    cache_use_policy(&c->cache, hooks->policy);
    sm_port_connect(
        c->port, SM_PORT_L1,
        &(struct sm_port_handler){
            .ctx = c, .reply = l1_reply, .sent = hooks->on_level ? l1_sent : NULL, .line_bytes = c->p.line});
    if (hooks->take_miss && !c->taken) l1_init_taken(c);
}

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
    l1_note(c, L1_CHANGE_DONE);
    if (node->frees_mshr) l1_tell_level(c, c->last);
    return node->token;
}

/* Pops the load that has been ready longest; of two, the fill. */
bool l1_next_done(struct l1 *c, tick now, uint32_t *token)
{
    if (l1_next_done_at(c) > now) return false;
    *token = c->fill_ready <= c->hit_ready ? l1_pop_done(c) : l1_pop_hit(c);
    c->last = now;
    c->offers_next = c->stall.open;
    return true;
}

/* ---- the cycle ---- */

void l1_begin_tick(struct l1 *c, tick now)
{
    c->last = now;
    c->offers_next = c->has_acknowledged = false;
}

bool l1_take_own(struct l1 *c, tick now)
{
    if (LIKELY(!c->is_special)) return false;
    l1_take_answers(c, now);
    return true;
}

void l1_tick(struct l1 *c, tick now)
{
    if (c->has_due) l1_take_due(c, now); /* their requests leave in the next cycle */
    if (c->has_pipe) l1_pipe_tick(c, now);
    if (c->is_flushing) {
        l1_flush_step(c, now);
        l1_note(c, L1_CHANGE_OTHER);
    }
}

/* ---- queries ---- */

uint32_t l1_writes_pending(const struct l1 *c, uint32_t warp) { return c->writes_pending[warp]; }

bool l1_idle(const struct l1 *c)
{
    return !c->requests_out && !c->mshr.used && !c->pipe.ring.count && !c->hits.ring.count &&
           c->fill_ready == TICK_NEVER && !c->is_flushing;
}

void *l1_stats(struct l1 *c)
{
    l1_stats_derive(&c->stats);
    c->stats.mshr_max = MIN(c->mshr.used_max, c->p.mshrs);
    c->stats.demand_wait_sum = clock_cycles(&c->clock, c->demand_wait);
    c->stats.other_requests = c->port->other_requests;
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
    static const char *const causes[] = {
        "", "", "", "", "", "a line", "an MSHR", "the miss queue", "a port", "a mechanism", "a stolen port"};
    const struct mshr_entry *m = l1_oldest_miss(c);
    strbuf_printf(out, "L1 of SM %u: %u of %u MSHRs, miss queue %u of %u%s, %u requests outstanding", c->sm,
                  l1_mshrs_used(c), c->p.mshrs, c->port->misses.ring.count, c->port->misses.ring.capacity,
                  c->port->is_blocked ? " (the crossbar is full)" : "", c->port->out);
    if (c->stall.open) strbuf_printf(out, ", the next access waits for %s", causes[c->stall.cause]);
    if (c->pipe.ring.count) strbuf_printf(out, ", %u accesses before the tags", c->pipe.ring.count);
    strbuf_puts(out, "\n");
    if (m)
        strbuf_printf(out, "  oldest miss: line 0x%llx, warp %u, pc %u, for %llu cycles\n",
                      (unsigned long long)m->addr, m->warp, m->pc,
                      (unsigned long long)((now - m->born) / c->clock.period));
}
