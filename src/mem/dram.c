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
#include "mem/dram.h"

#include "mem/dram_queue.h"

#include <inttypes.h>

enum {
    IDEAL_RETURNS = 4096
}; /* requests under way in a channel of infinite bandwidth: more than all MSHRs of its slices */

struct dram_way {
    tick came, ready;
    uint32_t req;
    uint16_t slice;
};

struct dram_channel {
    tick wake, ticked;
    uint64_t busy_banks; /* that work on a request */
    uint32_t current[DRAM_BANKS_MAX];
    struct dram_chips chips;
    struct dram_queue queue;
    struct dram_way *way; /* ring: requests on the fixed way */
    uint32_t way_head, way_count;
    struct dram_way *returns; /* ring, by ready time */
    uint32_t returns_head, returns_count, returns_cap;
    uint32_t returns_taken;      /* with those that have a place but are not complete */
    uint32_t inside, inside_max; /* requests in the channel */
    uint32_t turn;               /* slice that is asked first */
    uint64_t refresh_due[DRAM_RANKS_MAX], refresh_next; /* of each rank; the least of them */
    uint64_t pending_since;
    tick latency, latency_min; /* ticks */
    uint32_t burst_sectors;    /* 32-byte sectors of one burst */

    struct dram_params params;
    struct dram_stats stats;
    const struct addrmap *map;
    const struct clock_domain *clock;
    struct req_pool *pool;
    struct link **in, **out;
    uint32_t slices, index;
};

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

static uint32_t ring_at(uint32_t head, uint32_t i, uint32_t cap)
{
    return head + i < cap ? head + i : head + i - cap;
}

/* Nearly always the newest; an earlier one moves up to its place (invariant 3). */
static void channel_add_return(struct dram_channel *d, const struct dram_way *r)
{
    assert(d->returns_count < d->returns_cap);
    uint32_t i = d->returns_count++;
    for (; i > 0; i--) {
        const struct dram_way *older = &d->returns[ring_at(d->returns_head, i - 1, d->returns_cap)];
        if (older->ready <= r->ready) break;
        d->returns[ring_at(d->returns_head, i, d->returns_cap)] = *older;
    }
    d->returns[ring_at(d->returns_head, i, d->returns_cap)] = *r;
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
    d->returns_head = ring_at(d->returns_head, 1, d->returns_cap);
    d->returns_count--;
    d->returns_taken--;
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
        uint32_t s = ring_at(d->turn, i, d->slices);
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
    req_at(d->pool, req)->at_dram = now;
    d->way[ring_at(d->way_head, d->way_count++, d->inside_max)] =
        (struct dram_way){.came = came, .ready = now + d->latency, .req = req, .slice = (uint16_t)slice};
    d->inside++;
    d->turn = ring_at(slice, 1, d->slices);
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
    struct addr_place at = addrmap_place(d->map, r->addr);
    struct dram_entry e = {.req = w->req,
                           .row = at.row,
                           .slice = w->slice,
                           .bank = (uint8_t)at.bank,
                           .is_write = r->kind == REQ_WRITE,
                           .bursts = channel_bursts(d, r->sectors, r->kind == REQ_WRITE),
                           .came = w->came};
    assert(r->kind != REQ_ATOMIC && at.channel == d->index && at.bank < d->params.banks);
    if (!d->busy_banks && !dram_queue_waiting(&d->queue)) d->pending_since = MAX(clock, d->chips.data_end);
    dram_queue_add(&d->queue, clock, &e);
    d->way_head = ring_at(d->way_head, 1, d->inside_max);
    d->way_count--;
}

/* ---- banks ---- */

static uint64_t channel_free_banks(const struct dram_channel *d)
{
    uint64_t all = d->params.banks == 64 ? UINT64_MAX : (1ull << d->params.banks) - 1;
    return all & ~d->busy_banks;
}

static void channel_take(struct dram_channel *d, uint64_t clock)
{
    dram_queue_turn(&d->queue);
    for (uint64_t m = dram_queue_takers(&d->queue, channel_free_banks(d)); m; m &= m - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(m);
        int64_t open = d->chips.banks[bank].row;
        uint32_t id = dram_queue_take(&d->queue, clock, bank, open);
        assert(id != DRAM_ENTRY_NONE);
        d->current[bank] = id;
        d->busy_banks |= 1ull << bank;
        d->stats.requests++;
        d->stats.row_hits += open == (int64_t)d->queue.entries[id].row;
    }
    dram_queue_turn(&d->queue); /* settled now, not when the next tick happens to come (invariant 2) */
}

/* The last data of a request is on its way: a read waits for it in the return queue, a write is forgotten. */
static void channel_complete(struct dram_channel *d, uint32_t bank, uint64_t data_end)
{
    uint32_t id = d->current[bank];
    const struct dram_entry *e = &d->queue.entries[id];
    if (e->is_write) {
        req_del(d->pool, e->req);
        d->inside--;
        d->stats.writes++;
    } else {
        struct dram_way r = {e->came, MAX(data_end * d->clock->period, e->came + d->latency_min), e->req,
                             e->slice};
        channel_add_return(d, &r);
        wake_at(&d->wake, r.ready);
        d->stats.reads++;
    }
    d->busy_banks &= ~(1ull << bank);
    dram_queue_release(&d->queue, id);
    if (!d->busy_banks && !dram_queue_waiting(&d->queue) && data_end > d->pending_since)
        d->stats.pending += data_end - d->pending_since;
}

static void channel_column(struct dram_channel *d, uint64_t clock, uint32_t bank)
{
    struct dram_entry *e = &d->queue.entries[d->current[bank]];
    uint64_t end = dram_chips_give(&d->chips, clock, bank, e->is_write ? DRAM_WRITE : DRAM_READ, e->row);
    if (!e->begun) {
        e->begun = true;
        d->stats.queue_cycles += clock - e->queued;
        if (!e->is_write) d->returns_taken++; /* invariant 1 */
    }
    *(e->is_write ? &d->stats.write_bursts : &d->stats.read_bursts) += 1;
    d->stats.busy += d->chips.burst_clocks;
    if (--e->bursts == 0) channel_complete(d, bank, end);
}

static void channel_give_command(struct dram_channel *d, uint64_t clock, uint32_t bank)
{
    const struct dram_entry *e = &d->queue.entries[d->current[bank]];
    enum dram_command c = dram_chips_next(&d->chips, bank, e->row, e->is_write);
    if (c == DRAM_READ || c == DRAM_WRITE) {
        channel_column(d, clock, bank);
        return;
    }
    dram_chips_give(&d->chips, clock, bank, c, e->row);
    *(c == DRAM_ACTIVATE ? &d->stats.activates : &d->stats.precharges) += 1;
}

/* A read that has no place in the return queue yet, and there is none. */
static bool channel_is_held(const struct dram_channel *d, const struct dram_entry *e, enum dram_command c)
{
    return c == DRAM_READ && !e->begun && d->returns_taken == d->returns_cap;
}

struct choice {
    uint32_t bank;
    uint64_t order;
};

/* The oldest request whose column command, and whose row command, may go at this clock; the next clock at
 * which another may. */
static uint64_t channel_choose(const struct dram_channel *d, uint64_t clock, struct choice *column,
                               struct choice *row)
{
    uint64_t next = UINT64_MAX;
    for (uint64_t m = d->busy_banks; m; m &= m - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(m);
        const struct dram_entry *e = &d->queue.entries[d->current[bank]];
        enum dram_command c = dram_chips_next(&d->chips, bank, e->row, e->is_write);
        if (channel_is_held(d, e, c)) continue; /* goes on when a read has left */
        uint64_t at = dram_chips_earliest(&d->chips, clock, bank, c);
        struct choice *best = c == DRAM_READ || c == DRAM_WRITE ? column : row;
        if (at > clock) {
            next = MIN(next, at);
        } else if (e->order < best->order) {
            if (best->order != UINT64_MAX) next = clock + 1; /* the one that steps back */
            *best = (struct choice){bank, e->order};
        } else {
            next = clock + 1;
        }
    }
    return next;
}

/* When the bank may have its next command, from the clock on. */
static uint64_t channel_bank_next(const struct dram_channel *d, uint64_t clock, uint32_t bank)
{
    if (!(d->busy_banks >> bank & 1)) return UINT64_MAX;
    const struct dram_entry *e = &d->queue.entries[d->current[bank]];
    return dram_chips_earliest(&d->chips, clock, bank, dram_chips_next(&d->chips, bank, e->row, e->is_write));
}

static void wake_at_clock(struct dram_channel *d, uint64_t clock)
{
    if (clock != UINT64_MAX) wake_at(&d->wake, clock * d->clock->period);
}

static void channel_command(struct dram_channel *d, uint64_t clock)
{
    struct choice column = {0, UINT64_MAX}, row = {0, UINT64_MAX};
    uint64_t next = channel_choose(d, clock, &column, &row);
    bool has_column = column.order != UINT64_MAX, has_row = row.order != UINT64_MAX;
    if (has_column) {
        channel_give_command(d, clock, column.bank);
        next = MIN(next, channel_bank_next(d, clock, column.bank));
    }
    if (has_row) { /* a column command may have taken the bus, or held its group's precharges back */
        if (channel_bank_next(d, clock, row.bank) <= clock) channel_give_command(d, clock, row.bank);
        next = MIN(next, channel_bank_next(d, clock, row.bank));
    }
    wake_at_clock(d, next);
}

static uint32_t channel_refresh_first(const struct dram_channel *d)
{
    uint32_t first = 0;
    for (uint32_t r = 1; r < d->params.ranks; r++)
        if (d->refresh_due[r] < d->refresh_due[first]) first = r;
    return first;
}

static void channel_refresh_rank(struct dram_channel *d, uint32_t rank)
{
    d->stats.precharges += dram_chips_refresh(&d->chips, rank, d->refresh_due[rank]);
    d->stats.refreshes++;
    d->refresh_due[rank] += d->params.trefi;
    d->refresh_next = d->refresh_due[channel_refresh_first(d)];
}

/* Passes over rounds of refreshes in which nothing else happened: the rows are closed, and the newest ones
 * alone may still be under way. */
static void channel_refresh_skip(struct dram_channel *d, uint64_t clock)
{
    uint64_t rounds = (clock - d->refresh_next) / d->params.trefi;
    if (rounds <= 2) return;
    for (uint32_t r = 0; r < d->params.ranks; r++) d->refresh_due[r] += (rounds - 2) * d->params.trefi;
    d->refresh_next += (rounds - 2) * d->params.trefi;
    d->stats.refreshes += (rounds - 2) * d->params.ranks;
}

/* Refreshes that have come due, in the order and as of the clocks they were due at: the same whether the
 * channel was ticked then or not. */
static void channel_refresh(struct dram_channel *d, uint64_t clock)
{
    if (clock < d->refresh_next) return;
    for (uint32_t n = 0; clock >= d->refresh_next; n++) {
        channel_refresh_rank(d, channel_refresh_first(d));
        if (n + 1 == d->params.ranks && clock >= d->refresh_next) channel_refresh_skip(d, clock);
    }
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
    if (dram_queue_takers(&d->queue, channel_free_banks(d))) wake_at(&d->wake, next);
    if (d->busy_banks || dram_queue_waiting(&d->queue)) wake_at_clock(d, d->refresh_next);
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
            req_at(d->pool, id)->at_dram = now;
            channel_add_return(d, &r);
            d->returns_taken++;
            d->inside++;
            d->stats.reads++;
            wake_at(&d->wake, MAX(r.ready, now + d->clock->period));
        }
        if (d->inside < d->inside_max) wake_at(&d->wake, link_next(d->in[s]));
    }
}

void dram_tick(struct dram_channel *d, tick now)
{
    if (d->ticked == now) return;
    assert(now % d->clock->period == 0);
    d->ticked = now;
    d->wake = TICK_NEVER;
    uint64_t clock = now / d->clock->period;
    if (d->params.infinite) {
        channel_tick_ideal(d, now);
        return;
    }
    channel_refresh(d, clock);
    channel_return(d, now);
    channel_accept(d, now);
    channel_enqueue(d, now, clock);
    channel_take(d, clock);
    channel_command(d, clock);
    channel_plan(d, now);
}

void dram_settle(struct dram_channel *d, tick now)
{
    uint64_t clock = now / d->clock->period;
    if (!d->params.infinite) channel_refresh(d, clock);
    d->stats.cycles = clock;
    dram_queue_settle(&d->queue, clock);
    if ((d->busy_banks || dram_queue_waiting(&d->queue)) && clock > d->pending_since) {
        d->stats.pending += clock - d->pending_since;
        d->pending_since = clock;
    }
}

/* ---- the report of a stuck machine ---- */

static const char *command_name(enum dram_command c)
{
    static const char *const names[] = {"activate", "precharge", "read", "write"};
    return names[c];
}

static void channel_explain_bank(const struct dram_channel *d, uint64_t clock, uint32_t bank,
                                 struct strbuf *out)
{
    const struct dram_entry *e = &d->queue.entries[d->current[bank]];
    enum dram_command c = dram_chips_next(&d->chips, bank, e->row, e->is_write);
    uint64_t at = dram_chips_earliest(&d->chips, clock, bank, c);
    strbuf_printf(out, "  bank %u: %s of 0x%" PRIx64 " (row %u), in the queue since clock %" PRIu64 ", ",
                  bank, e->is_write ? "write" : "read", req_at(d->pool, e->req)->addr, e->row, e->queued);
    if (channel_is_held(d, e, c))
        strbuf_puts(out, "waits for a place in the return queue\n");
    else if (at > clock)
        strbuf_printf(out, "may %s at clock %" PRIu64 "\n", command_name(c), at);
    else
        strbuf_printf(out, "may %s now\n", command_name(c));
}

void dram_explain(const struct dram_channel *d, tick now, struct strbuf *out)
{
    uint64_t clock = now / d->clock->period;
    if (!d->inside) return;
    strbuf_printf(out,
                  "dram channel %u, clock %" PRIu64 ": %u of %u requests inside; %u on the way, %u of %u "
                  "wait in the queue, %u of %u in the return queue\n",
                  d->index, clock, d->inside, d->inside_max, d->way_count, dram_queue_waiting(&d->queue),
                  d->params.queue, d->returns_taken, d->returns_cap);
    if (d->returns_count) {
        const struct dram_way *r = &d->returns[d->returns_head];
        const struct link *l = d->out[r->slice];
        strbuf_printf(out, "  oldest answer: 0x%" PRIx64 " for slice %u of the channel, ",
                      req_at(d->pool, r->req)->addr, r->slice);
        if (r->ready > now)
            strbuf_printf(out, "complete at clock %" PRIu64 "\n", r->ready / d->clock->period);
        else
            strbuf_printf(out, "waits for its link, %u of %u full\n", l->count, l->capacity);
    }
    for (uint64_t m = d->busy_banks; m; m &= m - 1)
        channel_explain_bank(d, clock, (uint32_t)__builtin_ctzll(m), out);
}
