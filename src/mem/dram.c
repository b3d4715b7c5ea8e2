/* dram.c: one DRAM channel on its command clock: from the links of its L2 slices to the chips and back.
 *
 *   links of the slices -> (round robin, one a clock) -> way of fixed latency -> queue -> bank -> chips
 *                                                     links of the slices <- (one a clock) <- return queue <-
 *
 * After GPGPU-Sim 3.2.2 (l2cache.cc, dram.cc): requests enter the fixed way only while the queue has room and
 * fewer than queue + return_queue are in the channel; a bank works on one request at a time; column commands
 * go before row commands, and the older request's before the younger one's. A line larger than a burst takes
 * several column commands; a part of a burst costs a whole burst.
 *
 * Invariants. (1) A read has its slot of the return queue before its first column command. (2) The channel's
 * actions depend on state and on the time of events, never on how often it is ticked. (3) Reads come back in
 * the order in which their data is complete. (4) A read comes back latency_min core cycles after its link
 * showed it, or later: the idle latency is the same for an open row, a closed row and a conflict, while a
 * loaded channel is limited by its timing. Left out: error correction, power-down. */
#include "mem/dram_channel.h"

#include "base/hugepage.h"
#include "mem/link_ahead.h"

uint32_t dram_idle_latency(const struct dram_params *p, const struct clock_domain *clock,
                           const struct clock_domain *core)
{
    enum { LINE_BYTES = 128 };
    uint32_t atom = p->bus_bytes * p->burst, bursts = MAX(LINE_BYTES / atom, 1);
    uint64_t clocks =
        p->trcd + p->tcl + (uint64_t)(bursts - 1) * MAX(p->tccd, p->tccdl) + p->burst / p->ratio;
    uint64_t cycles = p->latency + (clocks * clock->period + core->period - 1) / core->period;
    return (uint32_t)MAX(cycles, p->latency_min);
}

COLD struct dram_channel *dram_create(const struct dram_params *p, uint32_t index, const struct addrmap *map,
                                      const struct clock_domain *clock, const struct clock_domain *core,
                                      struct req_pool *pool, struct link **in, struct link **out,
                                      uint32_t slices)
{
    struct dram_channel *d = mem_zalloc_huge(sizeof *d);
    d->params = *p;
    d->index = index;
    d->map = map;
    d->period = clock->period;
    d->pool = pool;
    d->slices = (uint16_t)slices;
    d->in = mem_zalloc_huge(sizeof *d->in * slices);
    d->out = mem_zalloc_huge(sizeof *d->out * slices);
    memcpy(d->in, in, sizeof *d->in * slices);
    memcpy(d->out, out, sizeof *d->out * slices);
    for (uint32_t s = 0; s < slices; s++) link_note_pushes(in[s], &d->has_requests);
    d->wake = d->way_ready = d->return_ready = TICK_NEVER;
    d->ticked = (tick)0 - d->period;
    d->ticked_clock = UINT64_MAX; /* one clock before the first */
    d->latency = (tick)p->latency * core->period;
    d->latency_min = (tick)(p->infinite ? dram_idle_latency(p, clock, core) : p->latency_min) * core->period;
    d->burst_sectors = MAX(p->bus_bytes * p->burst / 32, 1);
    d->sector_bursts = MAX(32 / (p->bus_bytes * p->burst), 1);
    d->all_banks = p->banks == 64 ? UINT64_MAX : (1ull << p->banks) - 1;
    d->is_infinite = p->infinite;
    d->is_simple = p->ranks == 1 && !p->trefi;
    d->inside_max =
        p->infinite ? IDEAL_RETURNS : p->queue + p->return_queue + (p->write_drain ? p->write_queue : 0);
    d->refresh_next = UINT64_MAX;
    for (uint32_t r = 0; p->trefi && r < p->ranks; r++) { /* spread evenly over the interval */
        d->refresh_due[r] = (uint64_t)p->trefi * (r + 1) / p->ranks;
        d->refresh_next = d->refresh_due[0];
    }
    dram_ways_init(&d->way, d->inside_max);
    dram_ways_init(&d->returns, p->infinite ? IDEAL_RETURNS : p->return_queue);
    dram_chips_init(&d->chips, &d->params);
    d->read_time = (uint32_t)(p->tcl + d->chips.burst_clocks) * d->period;
    d->out_latency = out[0]->latency;
    dram_queue_init(&d->queue, &d->params, d->stats.queue_level);
    return d;
}

COLD void dram_destroy(struct dram_channel *d)
{
    if (!d) return;
    dram_queue_free(&d->queue);
    mem_free_huge(d->in);
    mem_free_huge(d->out);
    dram_ways_free(&d->way);
    dram_ways_free(&d->returns);
    mem_free_huge(d);
}

void dram_observe(struct dram_channel *d, const struct dram_observer *o) { d->chips.observer = *o; }
tick *dram_wake(struct dram_channel *d) { return &d->wake; }
void *dram_stats(struct dram_channel *d) { return &d->stats; }
bool dram_idle(const struct dram_channel *d) { return d->inside == 0; }

uint64_t dram_sectors(const struct dram_channel *d, enum req_kind kind)
{
    assert(kind != REQ_ATOMIC);
    return d->sectors[kind];
}

/* ---- the return queue ---- */

/* Keeps the reads sorted by ready time (invariant 3): a new one nearly always goes last. */
void dram_channel_add_return(struct dram_channel *d, const struct dram_way *r)
{
    struct dram_ways *w = &d->returns;
    dram_ways_push(w, *r);
    uint32_t i = w->ring.count - 1;
    for (; i > 0; i--) {
        const struct dram_way *older = dram_way_at(w, i - 1);
        if (older->ready <= r->ready) break;
        *dram_way_at(w, i) = *older;
    }
    *dram_way_at(w, i) = *r;
    if (!i) d->return_ready = r->ready;
}

/* Hands the head to its slice. True: it went. */
static bool channel_give_back(struct dram_channel *d, tick now)
{
    if (d->return_ready > now) {
        wake_at(&d->wake, d->return_ready);
        return false;
    }
    const struct dram_way *r = dram_way_at(&d->returns, 0);
    if (!link_can_push(d->out[r->slice], now)) return false; /* the link wakes the channel */
    link_push(d->out[r->slice], now, r->req);
    ring_pop(&d->returns.ring);
    d->return_ready = dram_way_head(&d->returns);
    d->returns_taken--;
    if (d->is_held) d->command_next = 0;
    d->inside--;
    return true;
}

static void channel_return(struct dram_channel *d, tick now)
{
    if (channel_give_back(d, now)) wake_at(&d->wake, MAX(d->return_ready, now + d->period));
}

/* ---- from the slices into the queue ---- */

static bool is_write(const struct dram_channel *d, uint32_t req)
{
    return req_at(d->pool, req)->kind == REQ_WRITE;
}

/* Returns the side of the queue that the request goes to; reads the request only with write_drain. */
static uint32_t channel_side(const struct dram_channel *d, uint32_t req)
{
    return d->queue.write_drain ? dram_queue_side(&d->queue, is_write(d, req)) : 0;
}

static uint32_t channel_slice_after(const struct dram_channel *d, uint32_t slice)
{
    return slice + 1 == d->slices ? 0 : slice + 1;
}

/* Finds the next slice in turn whose head may come in; false: there is none. */
static bool channel_choose_slice(struct dram_channel *d, tick now, struct dram_way *w)
{
    uint32_t s = d->turn;
    for (uint32_t i = 0; i < d->slices; i++, s = channel_slice_after(d, s)) {
        if (!link_peek(d->in[s], now, &w->req)) continue;
        w->side = (uint8_t)channel_side(d, w->req);
        w->slice = (uint16_t)s;
        if (dram_queue_has_room(&d->queue, w->side)) return true;
    }
    return false;
}

static void channel_accept(struct dram_channel *d, tick now)
{
    struct dram_way w = {.ready = now + d->latency};
    if (d->inside == d->inside_max || !channel_choose_slice(d, now, &w)) return;
    w.came = link_next(d->in[w.slice]);
    link_pop(d->in[w.slice], now);
    dram_ways_push(&d->way, w);
    d->way_ready = MIN(d->way_ready, w.ready);
    d->inside++;
    d->turn = (uint16_t)channel_slice_after(d, w.slice);
}

static void channel_count(struct dram_channel *d, const struct req *r)
{
    const uint32_t sectors = req_sector_count(r->sectors);
    d->sectors[r->kind] += sectors;
    if (LIKELY(!req_is_context(r))) return;
    *(r->kind == REQ_WRITE ? &d->stats.context_writes : &d->stats.context_reads) += sectors;
}

/* Bursts that hold the sectors of a request: a burst of which one sector is wanted is transferred completely,
 * a sector that is longer than a burst takes several bursts. */
static uint16_t channel_bursts(const struct dram_channel *d, uint32_t sectors, bool writes)
{
    uint32_t n = 0, width = d->params.sector_bursts && !writes ? 1 : d->burst_sectors;
    assert(sectors);
    if (width >= 32) return 1;
    for (uint32_t mask = (1u << width) - 1; sectors; sectors >>= width) n += (sectors & mask) != 0;
    return (uint16_t)(n * d->sector_bursts);
}

static void channel_enqueue(struct dram_channel *d, uint64_t clock)
{
    const struct dram_way *w = dram_way_at(&d->way, 0);
    if (!dram_queue_has_room(&d->queue, w->side)) return;
    const struct req *r = req_at(d->pool, w->req);
    uint32_t bank, row;
    addrmap_cell(d->map, r->addr, &bank, &row);
    struct dram_entry e = {.req = w->req,
                           .row = row,
                           .slice = w->slice,
                           .bank = (uint8_t)bank,
                           .is_write = r->kind == REQ_WRITE,
                           .bursts = channel_bursts(d, r->sectors, r->kind == REQ_WRITE),
                           .came = w->came};
    assert(r->kind != REQ_ATOMIC && r->channel == d->index && bank < d->params.banks);
    channel_count(d, r);
    if (!d->busy_banks && !dram_queue_waiting(&d->queue)) d->pending_since = MAX(clock, d->chips.data_end);
    dram_queue_add(&d->queue, clock, &e);
    ring_pop(&d->way.ring);
    d->way_ready = dram_way_head(&d->way);
}

/* ---- time ---- */

/* When a link of the slices has a request, and the queue has room. */
static void channel_plan_links(struct dram_channel *d, tick next)
{
    tick first = TICK_NEVER;
    for (uint32_t s = 0; s < d->slices; s++) first = MIN(first, link_next(d->in[s]));
    d->has_requests = first != TICK_NEVER;
    bool has_room =
        dram_queue_has_room(&d->queue, 0) || (d->queue.write_drain && dram_queue_has_room(&d->queue, 1));
    if (d->has_requests && has_room && d->inside < d->inside_max) wake_at(&d->wake, MAX(first, next));
}

/* When the stages before the banks next have something to do; banks and returns have already set the wake. */
static void channel_plan(struct dram_channel *d, tick now)
{
    tick next = now + d->period;
    if (d->has_requests) channel_plan_links(d, next);
    if (d->way_ready != TICK_NEVER && dram_queue_has_room(&d->queue, dram_way_at(&d->way, 0)->side))
        wake_at(&d->wake, MAX(d->way_ready, next));
    if (dram_queue_takers(&d->queue, dram_channel_free_banks(d))) wake_at(&d->wake, next);
    if (d->busy_banks || dram_queue_waiting(&d->queue)) dram_channel_wake(d, d->refresh_next);
}

/* P_DRAM: a write ends as soon as it comes, a read waits for its latency, and every reply that is ready goes
 * back. */
COLD static void channel_tick_ideal(struct dram_channel *d, tick now)
{
    while (d->return_ready != TICK_NEVER && channel_give_back(d, now)) {}
    for (uint32_t s = 0; s < d->slices; s++) {
        uint32_t id;
        while (d->inside < d->inside_max && link_peek(d->in[s], now, &id)) {
            struct dram_way r = {
                .ready = link_next(d->in[s]) + d->latency_min, .req = id, .slice = (uint16_t)s};
            link_pop(d->in[s], now);
            d->stats.requests++;
            channel_count(d, req_at(d->pool, id));
            if (is_write(d, id)) {
                req_del(d->pool, id);
                d->stats.writes++;
                continue;
            }
            dram_channel_add_return(d, &r);
            d->returns_taken++;
            d->inside++;
            d->stats.reads++;
            wake_at(&d->wake, MAX(r.ready, now + d->period));
        }
        if (d->inside < d->inside_max) wake_at(&d->wake, link_next(d->in[s]));
    }
}

/* The number of the clock that begins now: nearly always the one after the newest. */
static uint64_t channel_clock(struct dram_channel *d, tick now)
{
    uint32_t period = d->period;
    debug_assert(now % period == 0);
    d->ticked_clock = now == d->ticked + period ? d->ticked_clock + 1 : now / period;
    d->ticked = now;
    return d->ticked_clock;
}

void dram_tick(struct dram_channel *d, tick now)
{
    if (d->ticked == now) return;
    uint64_t clock = channel_clock(d, now);
    d->wake = TICK_NEVER;
    if (UNLIKELY(d->is_infinite)) {
        channel_tick_ideal(d, now);
        return;
    }
    if (clock >= d->refresh_next) dram_channel_refresh(d, clock);
    if (d->return_ready != TICK_NEVER) channel_return(d, now);
    if (d->has_requests) channel_accept(d, now);
    if (d->way_ready <= now) channel_enqueue(d, clock);
    if (dram_queue_waiting(&d->queue) || d->queue.write_drain) dram_channel_take(d, clock);
    dram_channel_command(d, clock);
    channel_plan(d, now);
}

void dram_settle(struct dram_channel *d, tick now)
{
    uint64_t clock = now / d->period;
    if (!d->is_infinite) dram_channel_refresh(d, clock);
    d->stats.cycles = clock;
    dram_queue_settle(&d->queue, clock);
    if ((d->busy_banks || dram_queue_waiting(&d->queue)) && clock > d->pending_since) {
        d->stats.pending += clock - d->pending_since;
        d->pending_since = clock;
    }
}
