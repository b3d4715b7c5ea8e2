/* l2.c: a slice of the L2 cache: creation and end, and the order of its stages in a cycle.
 *
 * The stages run from the last to the first, so that a stage can use room that a later stage made in the same
 * cycle: fill done, reply, write-back, fill start, tags, entry. If requests stayed in the access queue (the
 * link `in`) for tag_latency, the slice would be limited to the depth of the queue in each such time. So they
 * go on into a pipeline of one request a cycle, which stops when its last stage stops. The access queue then
 * fills up; the thesis plots its occupancy.
 *
 * Laws. stalled cycles = sum over the causes; accesses = hits + pending hits + misses. Stalls are charged as
 * intervals between ticks: whatever can change the cause also wakes the slice, so skipped cycles change no
 * count. */
#include "mem/l2_admit.h"
#include "mem/l2_claim_impl.h"
#include "mem/l2_sleep.h"

#include "base/hugepage.h"
#include "mem/link_ahead.h"

/* Requests in an infinite slice: more than the links of a machine ever hold. */
enum { INFINITE_REQUESTS = 16384 };

/* Requests that the pipeline holds: one for each L2 cycle of the fixed latency. With a slow core clock that
 * would be millions, more than there can be requests; the bound is that of l2.pipeline. */
static uint32_t l2_pipe_depth(const struct l2_slice *s)
{
    enum { STAGES_MAX = 65536 };
    uint64_t ticks = (uint64_t)s->params.tag_latency * s->core.period;
    uint64_t stages = MIN((ticks + s->clock.period - 1) / s->clock.period, (uint64_t)STAGES_MAX);
    return MAX(1u, s->params.pipeline ? s->params.pipeline : (uint32_t)stages);
}

COLD struct l2_slice *l2_create(const struct l2_params *p, uint32_t index, const struct clock_domain *clock,
                                const struct clock_domain *core, struct req_pool *pool, struct link *in,
                                struct link *out, struct link *to_dram, struct link *from_dram)
{
    struct l2_slice *s = mem_zalloc_huge(sizeof *s);
    *s = (struct l2_slice){.params = *p,
                           .index = index,
                           .clock = *clock,
                           .core = *core,
                           .pool = pool,
                           .in = in,
                           .out = out,
                           .to_dram = to_dram,
                           .from_dram = from_dram,
                           .period = clock->period,
                           .variant = p->infinite ? L2_INFINITE : 0,
                           .fill_port = p->fill_port,
                           .is_perfect = p->perfect,
                           .is_sectored = p->sectored,
                           .wait_for_all = p->wait_for_all,
                           .late_slots = p->late_queue ? p->access_queue : UINT32_MAX,
                           .head_ready = TICK_NEVER,
                           .closed_from = TICK_NEVER,
                           .latch_ready = TICK_NEVER,
                           .fill_ready = TICK_NEVER,
                           .victim = REQ_NONE};
    const struct cache_geometry g = {.sets = l2_sets(p),
                                     .ways = p->ways,
                                     .line_bytes = p->line,
                                     .sectored = p->sectored,
                                     .index = (uint8_t)p->index,
                                     .replace = (uint8_t)p->replacement};
    assert(g.sets && p->line <= 32 * CACHE_SECTOR_BYTES);
    s->line_sectors = (uint32_t)((1ull << (p->line / CACHE_SECTOR_BYTES)) - 1);
    s->tags_after = MAX(clock_edge(clock, (tick)p->tag_latency * core->period), (tick)clock->period);
    for (uint32_t i = 0; i < ARRAY_LEN(s->sector_cycles); i++)
        s->sector_cycles[i] = (uint16_t)l2_port_cycles(s, CACHE_SECTOR_BYTES * i);
    cache_init(&s->cache, &g);
    s->line_addr = mem_zalloc_huge(sizeof(uint64_t) * g.sets * g.ways);
    mshr_init(&s->mshr, p->mshrs, p->merges);
    l2_drain_init(&s->drain, p->mshrs);
    l2_ring_init(&s->pipe, l2_pipe_depth(s));
    link_note_pushes(from_dram, &s->has_fills);
    if (!p->infinite) return s;
    l2_ring_init(&s->delayed, INFINITE_REQUESTS);
    s->line_ready = mem_zalloc_huge(sizeof(tick) * g.sets * g.ways);
    return s;
}

COLD void l2_destroy(struct l2_slice *s)
{
    if (!s) return;
    cache_free(&s->cache);
    mem_free_huge(s->line_addr);
    mshr_free(&s->mshr);
    l2_drain_free(&s->drain);
    l2_ring_free(&s->pipe);
    l2_ring_free(&s->delayed);
    mem_free_huge(s->line_ready);
    if (s->claims) l2_ring_free(&s->claims->other.pipe);
    free(s->claims);
    mem_free_huge(s);
}

void l2_use_map(struct l2_slice *s, uint64_t (*to_local)(const void *ctx, uint64_t addr), const void *ctx)
{
    s->to_local = to_local;
    s->local_ctx = ctx;
}

void l2_on_atomic(struct l2_slice *s, void (*apply)(void *ctx, const struct req *r), void *ctx)
{
    s->apply = apply;
    s->apply_ctx = ctx;
}

void l2_on_write(struct l2_slice *s, void (*wrote)(void *ctx, const struct req *r), void *ctx)
{
    s->wrote = wrote;
    s->wrote_ctx = ctx;
}

void l2_settle(struct l2_slice *s, tick now)
{
    if (!s->is_stalled || now <= s->stall_since) return;
    tick cycles = (now - s->stall_since + s->period - 1) / s->period;
    s->counts.stall_ticks[s->stall_cause] += cycles * s->period;
    s->stall_since += cycles * s->period;
}

/* Moves the head of the access queue into the pipeline. */
HOT NOINLINE static void l2_take_request(struct l2_slice *s, tick now)
{
    const uint32_t id = link_pop(s->in, now);
    l2_ring_push(&s->pipe, (struct l2_timed){.id = id, .ready = l2_at_tags(s, now)});
    if (s->pipe.ring.count == 1) l2_new_head(s);
    s->closed_from = l2_pipe_closes(&s->pipe, s->pipe.ring.capacity, s->late_slots);
}

/* Moves one request a cycle from the access queue into the pipeline. */
static inline void l2_enter(struct l2_slice *s, tick now)
{
    if (UNLIKELY(l2_has_claims(s)))
        l2_enter_pipe(s, now);
    else if (l2_enters_at(s, now))
        l2_take_request(s, now);
}

static void l2_cycle(struct l2_slice *s, tick now)
{
    if (s->is_stalled && now > s->stall_since) s->counts.stall_ticks[s->stall_cause] += now - s->stall_since;
    s->is_stalled = s->replied = s->awaits_reply = s->awaits_dram = false;
    if (s->fill_ready <= now) l2_finish_fill(s, now);
    if (s->drains) l2_drain_one(s, now);
    if (s->latch_ready <= now && !s->replied) l2_send_latch(s, now);
    if (s->victim != REQ_NONE) l2_send_victim(s, now);
    if (s->has_fills) l2_start_fill(s, now);
    if (UNLIKELY(l2_has_claims(s))) l2_choose_pipe(s, now);
    if (s->head_ready <= now) l2_access(s, now);
    /* a write-back made in this cycle; a reply that is complete at once */
    if (s->victim != REQ_NONE) l2_send_victim(s, now);
    if (s->latch_ready <= now && !s->replied) l2_send_latch(s, now);
    if (UNLIKELY(l2_has_claims(s))) l2_claims_cycle(s, now);
    l2_enter(s, now);
}

void l2_tick(struct l2_slice *s, tick now)
{
    s->wake = TICK_NEVER;
    if (UNLIKELY(l2_is_infinite(s))) {
        l2_infinite_tick(s, now);
    } else if (l2_sleeps(s, now)) {
        l2_enter(s, now);
        l2_sleep_on(s, now);
    } else {
        l2_cycle(s, now);
        l2_set_wake(s, now);
    }
}

tick *l2_wake(struct l2_slice *s) { return &s->wake; }

bool l2_idle(const struct l2_slice *s)
{
    return !s->pipe.ring.count && !s->delayed.ring.count && !s->mshr.used && s->latch_ready == TICK_NEVER &&
           s->fill_ready == TICK_NEVER && s->victim == REQ_NONE && (!s->claims || l2_claims_idle(s->claims));
}

uint64_t l2_taken_bytes(const struct l2_slice *s) { return s->counts.taken_bytes; }

COLD void l2_fill_from_host(struct l2_slice *s, uint64_t line_addr)
{
    uint64_t local = l2_local(s, line_addr);
    uint32_t line;
    enum cache_outcome outcome = cache_probe(&s->cache, local, s->line_sectors, &line);
    if (outcome == CACHE_HIT || outcome == CACHE_HIT_RESERVED || outcome == CACHE_RESERVATION_FAIL) return;
    if (outcome == CACHE_MISS) {
        line = cache_victim(&s->cache, local);
        if (s->cache.lines[line].dirty) return; /* a copy writes no line back */
    }
    if (s->cache.lines[line].reserved) return;
    cache_reserve(&s->cache, line, local, 0);
    s->line_addr[line] = line_addr;
    cache_fill(&s->cache, line, s->line_sectors);
    s->is_probed = false;
    s->act_at = 0;
    if (s->line_ready) s->line_ready[line] = 0;
}

COLD void l2_flush(struct l2_slice *s)
{
    assert(l2_idle(s));
    for (uint32_t i = 0; i < s->cache.g.sets * s->cache.g.ways; i++)
        s->stats.flushed_lines += s->cache.lines[i].used && s->cache.lines[i].dirty;
    cache_clear(&s->cache);
}

static const char *const stall_names[L2_STALL_COUNT] = {
    "the response queue", "the miss queue to DRAM", "the data port", "a line of its set", "an MSHR",
    "room at a mechanism"};

COLD static void l2_explain_request(const struct l2_slice *s, const char *where, uint32_t id, tick age,
                                    struct strbuf *out)
{
    const struct req *r = req_at(s->pool, id);
    strbuf_printf(out, "  %s: request %u of SM %u for 0x%llx, here for %llu core cycles\n", where, id, r->sm,
                  (unsigned long long)r->addr, (unsigned long long)(age / s->core.period));
}

COLD void l2_explain(const struct l2_slice *s, tick now, struct strbuf *out)
{
    if (l2_idle(s)) return;
    strbuf_printf(out, "L2 slice %u: %u requests before the tags, %u MSHRs in use\n", s->index,
                  s->pipe.ring.count + s->delayed.ring.count, s->mshr.used);
    if (s->claims)
        strbuf_printf(out,
                      "  a mechanism has %u requests, %u of them parked, and waits for %u lines of DRAM; "
                      "%u %s wait behind the other pipeline\n",
                      s->claims->live, s->claims->parked, s->claims->reads, s->claims->other.pipe.ring.count,
                      s->claims->has_messages ? "requests of the program" : "messages");
    if (s->latch_ready != TICK_NEVER)
        l2_explain_request(s, "reply", s->latch, now - req_at(s->pool, s->latch)->at_l2, out);
    if (s->pipe.ring.count)
        l2_explain_request(s, "head", l2_ring_at(&s->pipe, 0)->id, now - (s->head_ready - s->tags_after),
                           out);
    if (s->is_stalled) strbuf_printf(out, "    waits for %s\n", stall_names[s->stall_cause]);
    if (s->victim != REQ_NONE) strbuf_printf(out, "  a write-back waits for room in %s\n", s->to_dram->name);
    for (uint32_t i = 0; i < s->mshr.count; i++)
        if (s->mshr.entries[i].used && s->mshr.entries[i].sectors)
            strbuf_printf(out, "  waits for DRAM: line 0x%llx with %u requests\n",
                          (unsigned long long)s->mshr.entries[i].addr, s->mshr.entries[i].merged);
}
