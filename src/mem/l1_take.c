/* l1_take.c: misses that a mechanism takes (hooks.take_miss), and what else it may ask.
 *
 * A taken miss holds an MSHR, so that later loads of the line merge with it, until it is answered or goes on
 * to the L2. Where the mechanism claims lines, it also holds a line. Delayed misses are in a list in the
 * order of their times, at most one for each MSHR.
 *
 * Invariants. (1) A HIT or FILL is answered at its time, whatever waits before it. (2) A miss without a line
 * takes its line together with its entry of the miss queue, when it goes on. (3) One claimed miss at a time
 * keeps an entry of the miss queue for itself. Otherwise new accesses would take every entry before a claim:
 * their turn comes after the port has sent a request, the turn of claims before that. */
#include "mem/l1_miss.h"

/* ---- delays ---- */

static void l1_delay(struct l1 *c, tick ready, uint32_t entry, enum l1_take take)
{
    uint32_t at = c->due_count++;
    assert(at < c->mshr.count);
    for (; at && c->due[at - 1].ready > ready; at--) c->due[at] = c->due[at - 1];
    c->due[at] = (struct l1_due){.ready = ready, .entry = entry, .take = take};
    c->has_due = true;
}

/* Overdue misses wait for a line or an entry of the miss queue. These become free in a tick, or after an
 * access or the end of a claim that is newer than the last attempt. */
tick l1_due_next(const struct l1 *c, tick next)
{
    const bool has_acted = c->has_pipe || c->port_time == c->last || c->claim_time == c->last;
    if (c->due_late && has_acted) return next;
    return c->due_late < c->due_count ? MAX(c->due[c->due_late].ready, next) : TICK_NEVER;
}

/* ---- answers ---- */

/* Describes the taken miss as a reply would. */
static struct req l1_taken_req(const struct l1 *c, uint32_t entry)
{
    const struct l1_taken *k = &c->taken[entry];
    struct req r = l1_req_of(c, c->mshr.entries[entry].born, &k->txn, entry, L1_MISS);
    r.sectors = c->is_sectored ? k->sectors : c->line_sectors;
    r.at_l2 = k->as_of;
    return r;
}

/* A HIT frees the MSHR that it found. */
static void l1_move_aside(struct l1 *c, tick now, uint32_t entry)
{
    if (!c->hits_kept) return;
    c->taken[entry].is_hit = true;
    c->hits_kept--;
    c->mshrs_held--;
    l1_tell_level(c, now);
}

static void l1_answer_hit(struct l1 *c, tick now, uint32_t entry)
{
    struct req r = l1_taken_req(c, entry);
    c->taken[entry].sectors = 0;
    c->hits_kept += c->taken[entry].is_hit;
    c->mshrs_held += c->taken[entry].is_hit;
    l1_note(c, L1_CHANGE_REPLY);
    l1_fill_taken(c, now, &r);
}

static void l1_answer_fill(struct l1 *c, tick now, uint32_t entry)
{
    struct req r = l1_taken_req(c, entry);
    c->taken[entry].sectors = 0;
    c->stats.taken_hits++;
    l1_note(c, L1_CHANGE_REPLY);
    l1_fill(c, now, &r);
}

/* The MSHR of the miss owns this line from now on. */
static void l1_give_line(struct l1 *c, uint32_t entry, uint32_t line)
{
    struct mshr_entry *e = &c->mshr.entries[entry];
    c->cache.lines[line].mshr = entry;
    e->line = line;
    c->mshrs_lineless--;
    mshr_unlist(&c->mshr, entry);
}

/* A miss that goes on takes its line, unless it has one. */
static void l1_find_line(struct l1 *c, tick now, uint32_t entry, const struct l1_plan *p, uint32_t victim)
{
    if (c->mshr.entries[entry].line != CACHE_NO_LINE) return;
    const uint32_t line = l1_reserve_line(c, now, &c->taken[entry].txn, p, victim);
    if (line != CACHE_NO_LINE) l1_give_line(c, entry, line);
}

/* With claims_lines a claimed miss may have no line: its warp may not allocate, but a load that may allocate
 * has merged with it. It does not wait for a line, because claims that end later may hold all lines of the
 * set. */
static bool l1_goes_without(const struct l1 *c, const struct l1_plan *p)
{
    return c->hooks.claims_lines && !cache_has_victim(&c->cache, p->set);
}

/* The taken miss goes the ordinary way. False: it has to wait. */
static bool l1_go_on(struct l1 *c, tick now, uint32_t entry, bool is_claim)
{
    struct l1_txn *t = &c->taken[entry].txn;
    const struct mshr_entry *e = &c->mshr.entries[entry];
    t->is_prefetch = e->is_prefetch; /* a load may have merged with it */
    struct l1_plan p = {.way = L1_WAY_MISS, .entry = entry, .missing = c->taken[entry].sectors};
    bool is_there = cache_look_up(&c->cache, t->addr, t->sectors, &p.line) != CACHE_MISS;
    p.takes_line = l1_takes_line(c, !is_there, e->may_keep && !e->doomed);
    p.set = c->cache.found_set;
    if (is_claim && p.takes_line && l1_goes_without(c, &p)) p.takes_line = false;
    if (l1_is_stall(l1_admit(c, &p))) return false;
    uint32_t victim = p.takes_line ? l1_make_room(c, now, t->addr, (enum l1_way)p.way) : CACHE_NO_LINE;
    if (p.takes_line && victim == CACHE_NO_LINE) return false;
    l1_find_line(c, now, entry, &p, victim);
    l1_fetch(c, now, e->born, t, &p);
    c->taken[entry].sectors = 0;
    l1_note(c, L1_CHANGE_OTHER);
    return true;
}

void l1_take_due(struct l1 *c, tick now)
{
    uint32_t left = 0, i = 0;
    for (; i < c->due_count && c->due[i].ready <= now; i++) {
        const struct l1_due d = c->due[i];
        if (d.take == L1_TAKE_HIT)
            l1_answer_hit(c, now, d.entry);
        else if (d.take == L1_TAKE_FILL)
            l1_answer_fill(c, now, d.entry);
        else if (!l1_go_on(c, now, d.entry, false))
            c->due[left++] = d;
    }
    memmove(&c->due[left], &c->due[i], (c->due_count - i) * sizeof *c->due);
    c->due_count -= i - left;
    c->due_late = left;
    c->has_due = c->due_count != 0;
}

/* ---- asking ---- */

COLD void l1_call_level(struct l1 *c, tick now)
{
    c->hooks.on_level(c->hooks.ctx, now, l1_mshrs_used(c), c->p.mshrs, c->port->misses.ring.count,
                      c->port->misses.ring.capacity);
}

/* Takes the MSHR of a taken miss and, with hooks.claims_lines, its line, unless nothing is to be kept. */
static void l1_open_taken(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p, uint32_t victim,
                          bool has_line)
{
    const uint32_t line = has_line ? l1_reserve_line(c, now, t, p, victim) : CACHE_NO_LINE;
    p->entry = l1_take_mshr(c, now, t, line, p->may_keep);
    const tick as_of = c->taken[p->entry].as_of;
    c->taken[p->entry] = (struct l1_taken){.txn = *t, .sectors = p->missing, .as_of = as_of};
    if (line != CACHE_NO_LINE) c->cache.lines[line].mshr = p->entry;
}

/* Room for the line of a miss that may be claimed: like a store that takes a line, it needs no entry of the
 * miss queue beside that of a write-back. */
static uint32_t l1_claim_room(struct l1 *c, tick now, uint64_t addr)
{
    return l1_make_room(c, now, addr, L1_WAY_STORE_LINE);
}

COLD enum l1_answer l1_ask_taker(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p,
                                 struct l1_result *r)
{
    struct l1_take_answer a = {.take = L1_TAKE_PASS};
    uint32_t victim = CACHE_NO_LINE;
    if (c->hooks.claims_lines && p->takes_line && (victim = l1_claim_room(c, now, t->addr)) == CACHE_NO_LINE)
        return L1_STALL_QUEUE;
    c->taken[mshr_next(&c->mshr)].as_of = 0;
    c->hooks.take_miss(c->hooks.ctx, now, t, mshr_next(&c->mshr), &a);
    p->asks_taker = false;
    if (a.take == L1_TAKE_PASS && !a.cycles) {
        if (!t->is_prefetch) l1_kept_of(c, t)->passes = true;
        return l1_admit_miss(c, p);
    }
    const bool has_line = c->hooks.claims_lines && (a.take == L1_TAKE_CLAIM || a.take == L1_TAKE_FILL);
    r->taken = true;
    if (has_line) l1_name_evicted(c, victim, r);
    l1_open_taken(c, now, t, p, victim, has_line);
    if (a.take == L1_TAKE_HIT) l1_move_aside(c, now, p->entry);
    if (a.take != L1_TAKE_CLAIM)
        l1_delay(c, clock_after(&c->clock, now, MAX(a.cycles, 1u)), p->entry, a.take);
    return L1_MISS;
}

/* ---- what a mechanism may do ---- */

/* The claim acts, so it is not the one that waits for the miss queue any more. It may act after this cycle's
 * offer of an access that is being refused: the next offer may have another answer. */
static void l1_end_claim(struct l1 *c, tick now, uint32_t entry)
{
    assert(c->mshr.entries[entry].used && c->taken[entry].sectors);
    c->offers_next |= c->stall.open;
    c->claim_time = now;
    if (c->claim_waits != entry) return;
    c->claim_waits = MSHR_NONE;
    c->queue_kept = 0;
}

void l1_miss_answer(struct l1 *c, tick now, uint32_t entry)
{
    l1_end_claim(c, now, entry);
    l1_answer_fill(c, now, entry);
}

void l1_miss_as_of(struct l1 *c, uint32_t entry, tick as_of) { c->taken[entry].as_of = as_of; }

bool l1_miss_forward(struct l1 *c, tick now, uint32_t entry)
{
    l1_end_claim(c, now, entry);
    if (l1_go_on(c, now, entry, true)) return true;
    if (c->claim_waits == MSHR_NONE && !l1_queue_has(c, c->read_places)) {
        c->claim_waits = entry;
        c->queue_kept = (uint16_t)c->read_places;
    }
    return false;
}

uint32_t l1_set_of(const struct l1 *c, uint64_t line) { return cache_set_of(&c->cache, line); }

bool l1_probe(struct l1 *c, uint64_t line, uint32_t sectors)
{
    uint32_t at;
    return cache_look_up(&c->cache, line, sectors, &at) == CACHE_HIT;
}

bool l1_read(struct l1 *c, tick now)
{
    l1_open_ports(c, now);
    if (!l1_port_is_free(c, now)) return false;
    l1_forget_foreseen(c, now);
    c->ports_used++;
    c->stolen_time = now;
    return true;
}

bool l1_line_is_extra(struct l1 *c, uint64_t line)
{
    uint32_t at;
    cache_look_up(&c->cache, line, 1, &at);
    return at != CACHE_NO_LINE && at % c->cache.ways_max >= c->own_ways;
}
