/* dram.c: one DRAM channel on its command clock: from the links of its L2 slices to the chips and back.
 *
 *   links of the slices -> (round robin, one a clock) -> way of fixed latency -> queue -> bank -> chips
 *                                                     links of the slices <- (one a clock) <- return queue <-
 *
 * After GPGPU-Sim 3.2.2 (l2cache.cc, dram.cc): requests enter the fixed way only while the queue has room and
 * fewer than queue + return_queue are in the channel; a bank works on one request at a time; column commands
 * go before row commands, and the older request's before the younger one's. A line larger than a burst takes
 * several column commands, a part of a burst costs all of it.
 *
 * Invariants. (1) A read has its place in the return queue before its first column command. (2) What the
 * channel does depends on state and on the time of events, never on how often it is ticked. (3) Reads come
 * back in the order in which their data is complete. (4) A read is back no sooner than latency_min core
 * cycles after its link showed it: the idle latency is the same for an open row, a closed row and a conflict,
 * while a loaded channel is bound by its timing. Left out: error correction, powering down. */
#include "mem/dram_channel.h"

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

struct dram_channel *dram_create(const struct dram_params *p, uint32_t index, const struct addrmap *map,
                                 const struct clock_domain *clock, const struct clock_domain *core,
                                 struct req_pool *pool, struct link **in, struct link **out, uint32_t slices)
{
    struct dram_channel *d = mem_zalloc(sizeof *d);
    d->params = *p;
    d->index = index;
    d->map = map;
    d->clock = clock;
    d->pool = pool;
    d->slices = slices;
    d->in = mem_alloc(sizeof *d->in * slices);
    d->out = mem_alloc(sizeof *d->out * slices);
    memcpy(d->in, in, sizeof *d->in * slices);
    memcpy(d->out, out, sizeof *d->out * slices);
    d->wake = d->ticked = TICK_NEVER;
    d->ticked_clock = UINT64_MAX; /* one clock before the first */
    d->latency = (tick)p->latency * core->period;
    d->latency_min = (tick)(p->infinite ? dram_idle_latency(p, clock, core) : p->latency_min) * core->period;
    d->burst_sectors = MAX(p->bus_bytes * p->burst / 32, 1);
    d->returns_cap = p->infinite ? IDEAL_RETURNS : p->return_queue;
    d->inside_max =
        p->infinite ? IDEAL_RETURNS : p->queue + p->return_queue + (p->write_drain ? p->write_queue : 0);
    d->refresh_next = UINT64_MAX;
    for (uint32_t r = 0; p->trefi && r < p->ranks; r++) { /* one after the other, evenly */
        d->refresh_due[r] = (uint64_t)p->trefi * (r + 1) / p->ranks;
        d->refresh_next = d->refresh_due[0];
    }
    d->way = mem_zalloc(sizeof *d->way * d->inside_max);
    d->returns = mem_zalloc(sizeof *d->returns * d->returns_cap);
    dram_chips_init(&d->chips, &d->params);
    dram_queue_init(&d->queue, &d->params, d->stats.queue_level);
    return d;
}

void dram_destroy(struct dram_channel *d)
{
    if (!d) return;
    dram_queue_free(&d->queue);
    free(d->in);
    free(d->out);
    free(d->way);
    free(d->returns);
    free(d);
}

void dram_observe(struct dram_channel *d, const struct dram_observer *o) { d->chips.observer = *o; }
tick *dram_wake(struct dram_channel *d) { return &d->wake; }
void *dram_stats(struct dram_channel *d) { return &d->stats; }
bool dram_idle(const struct dram_channel *d) { return d->inside == 0; }

/* ---- the return queue ---- */

/* Nearly always the newest; an earlier one moves up to its place (invariant 3). */
void dram_channel_add_return(struct dram_channel *d, const struct dram_way *r)
{
    assert(d->returns_count < d->returns_cap);
    uint32_t i = d->returns_count++;
    for (; i > 0; i--) {
        const struct dram_way *older = &d->returns[dram_ring_at(d->returns_head, i - 1, d->returns_cap)];
        if (older->ready <= r->ready) break;
        d->returns[dram_ring_at(d->returns_head, i, d->returns_cap)] = *older;
    }
    d->returns[dram_ring_at(d->returns_head, i, d->returns_cap)] = *r;
}

/* Hands the head to its slice. True: it went. */
static bool channel_give_back(struct dram_channel *d, tick now)
{
    if (!d->returns_count) return false;
    const struct dram_way *r = &d->returns[d->returns_head];
    if (r->ready > now) {
        wake_at(&d->wake, r->ready);
        return false;
    }
    if (!link_can_push(d->out[r->slice], now)) return false; /* the link wakes us */
    link_push(d->out[r->slice], now, r->req);
    d->returns_head = dram_ring_at(d->returns_head, 1, d->returns_cap);
    d->returns_count--;
    d->returns_taken--;
    if (d->is_held) d->command_next = 0;
    d->inside--;
    return true;
}

static void channel_return(struct dram_channel *d, tick now)
{
    if (channel_give_back(d, now) && d->returns_count)
        wake_at(&d->wake, MAX(d->returns[d->returns_head].ready, now + d->clock->period));
}

/* ---- from the slices into the queue ---- */

static bool is_write(const struct dram_channel *d, uint32_t req)
{
    return req_at(d->pool, req)->kind == REQ_WRITE;
}

/* The next slice in turn whose head may come in, or false. */
static bool channel_choose_slice(struct dram_channel *d, tick now, uint32_t *slice, uint32_t *req)
{
    for (uint32_t i = 0; i < d->slices; i++) {
        uint32_t s = dram_ring_at(d->turn, i, d->slices);
        if (!link_peek(d->in[s], now, req) || !dram_queue_has_room(&d->queue, is_write(d, *req))) continue;
        *slice = s;
        return true;
    }
    return false;
}

static void channel_accept(struct dram_channel *d, tick now)
{
    uint32_t slice, req;
    if (d->inside == d->inside_max || !channel_choose_slice(d, now, &slice, &req)) return;
    tick came = link_next(d->in[slice]);
    link_pop(d->in[slice], now);
    d->way[dram_ring_at(d->way_head, d->way_count++, d->inside_max)] =
        (struct dram_way){.came = came, .ready = now + d->latency, .req = req, .slice = (uint16_t)slice};
    d->inside++;
    d->turn = dram_ring_at(slice, 1, d->slices);
}

/* Bursts that hold the sectors of a request: a burst of which one sector is wanted is transferred whole. */
static uint16_t channel_bursts(const struct dram_channel *d, uint32_t sectors, bool writes)
{
    uint32_t n = 0, width = d->params.sector_bursts && !writes ? 1 : d->burst_sectors;
    assert(sectors);
    if (width >= 32) return 1;
    for (uint32_t mask = (1u << width) - 1; sectors; sectors >>= width) n += (sectors & mask) != 0;
    return (uint16_t)n;
}

static void channel_enqueue(struct dram_channel *d, tick now, uint64_t clock)
{
    if (!d->way_count) return;
    const struct dram_way *w = &d->way[d->way_head];
    if (w->ready > now || !dram_queue_has_room(&d->queue, is_write(d, w->req))) return;
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
    if (!d->busy_banks && !dram_queue_waiting(&d->queue)) d->pending_since = MAX(clock, d->chips.data_end);
    dram_queue_add(&d->queue, clock, &e);
    d->way_head = dram_ring_at(d->way_head, 1, d->inside_max);
    d->way_count--;
}

/* ---- time ---- */

/* When the stages before the banks have something to do next; banks and returns have said so themselves. */
static void channel_plan(struct dram_channel *d, tick now)
{
    tick next = now + d->clock->period;
    bool room_read = dram_queue_has_room(&d->queue, false), room_write = dram_queue_has_room(&d->queue, true);
    if (d->inside < d->inside_max && (room_read || room_write))
        for (uint32_t s = 0; s < d->slices; s++)
            if (link_next(d->in[s]) != TICK_NEVER) wake_at(&d->wake, MAX(link_next(d->in[s]), next));
    if (d->way_count) {
        const struct dram_way *w = &d->way[d->way_head];
        if (is_write(d, w->req) ? room_write : room_read) wake_at(&d->wake, MAX(w->ready, next));
    }
    if (dram_queue_takers(&d->queue, dram_channel_free_banks(d))) wake_at(&d->wake, next);
    if (d->busy_banks || dram_queue_waiting(&d->queue)) dram_channel_wake(d, d->refresh_next);
}

/* P_DRAM: everything that has come goes on the way, everything that is ready goes back. */
static void channel_tick_ideal(struct dram_channel *d, tick now)
{
    while (channel_give_back(d, now)) {}
    for (uint32_t s = 0; s < d->slices; s++) {
        uint32_t id;
        while (d->inside < d->inside_max && link_peek(d->in[s], now, &id)) {
            struct dram_way r = {
                .ready = link_next(d->in[s]) + d->latency_min, .req = id, .slice = (uint16_t)s};
            link_pop(d->in[s], now);
            d->stats.requests++;
            if (is_write(d, id)) {
                req_del(d->pool, id);
                d->stats.writes++;
                continue;
            }
            dram_channel_add_return(d, &r);
            d->returns_taken++;
            d->inside++;
            d->stats.reads++;
            wake_at(&d->wake, MAX(r.ready, now + d->clock->period));
        }
        if (d->inside < d->inside_max) wake_at(&d->wake, link_next(d->in[s]));
    }
}

/* The number of the clock that begins now: nearly always the one after the newest. */
static uint64_t channel_clock(struct dram_channel *d, tick now)
{
    uint32_t period = d->clock->period;
    assert(now % period == 0);
    d->ticked_clock = now == d->ticked + period ? d->ticked_clock + 1 : now / period;
    d->ticked = now;
    return d->ticked_clock;
}

void dram_tick(struct dram_channel *d, tick now)
{
    if (d->ticked == now) return;
    uint64_t clock = channel_clock(d, now);
    d->wake = TICK_NEVER;
    if (d->params.infinite) {
        channel_tick_ideal(d, now);
        return;
    }
    dram_channel_refresh(d, clock);
    channel_return(d, now);
    channel_accept(d, now);
    channel_enqueue(d, now, clock);
    dram_channel_take(d, clock);
    dram_channel_command(d, clock);
    channel_plan(d, now);
}

void dram_settle(struct dram_channel *d, tick now)
{
    uint64_t clock = now / d->clock->period;
    if (!d->params.infinite) dram_channel_refresh(d, clock);
    d->stats.cycles = clock;
    dram_queue_settle(&d->queue, clock);
    if ((d->busy_banks || dram_queue_waiting(&d->queue)) && clock > d->pending_since) {
        d->stats.pending += clock - d->pending_since;
        d->pending_since = clock;
    }
}
