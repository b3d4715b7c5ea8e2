/* l2_access.c: the tag stage: one request an L2 cycle, in order. l2_admit decides whether the head goes on;
 * this file performs the request.
 *
 * Write misses allocate. A sector that was written in part and not fetched is dirty but not valid: a read of
 * it is a sector miss, and its write-back needs no fetch. In a cache without sectors the same holds for the
 * line.
 *
 * Invariants. (1) A request that goes on has everything that it needs: nothing is undone. (2) A line with an
 * MSHR entry that waits for data has reserved sectors and is never replaced. (3) A read or atomic in a chain
 * waits for all sectors of its line that are under way.
 *
 * Left out: bytes of a sector (two partial writes never make a complete sector). */
#include "mem/l2_admit.h"
#include "mem/l2_claim_impl.h"

/* ---- the head ---- */

/* The tags are looked up in a later cycle: the host has prefetched them by then. */
HOT void l2_new_head(struct l2_slice *s)
{
    const struct l2_timed *head = l2_ring_front(&s->pipe);
    s->head_ready = head->ready;
    s->head_local = l2_local_of(s, req_at(s->pool, head->id));
    cache_prefetch(&s->cache, s->head_local);
}

static void l2_next_head(struct l2_slice *s)
{
    struct l2_ring *p = &s->pipe;
    l2_ring_pop(p);
    s->head_ready = TICK_NEVER;
    if (p->ring.count) l2_new_head(s);
    if (p->ring.count > 1) __builtin_prefetch(req_at(s->pool, l2_ring_at(p, 1)->id));
    s->closed_from = l2_pipe_closes(p, p->ring.capacity, s->late_slots);
    s->head_failed = s->is_probed = false;
    if (UNLIKELY(l2_has_claims(s))) l2_left_pipe(s);
}

HOT void l2_probe_tags(struct l2_slice *s, struct req *r)
{
    s->is_probed = true;
    r->at_l2 = s->head_ready - s->tags_after;
    s->head_line = CACHE_NO_LINE;
    s->head_outcome = CACHE_HIT;
    if (UNLIKELY(s->is_perfect)) return;
    s->head_outcome = (uint8_t)cache_probe(&s->cache, s->head_local, r->sectors, &s->head_line);
    if (s->head_outcome == CACHE_MISS) s->head_line = cache_victim(&s->cache, s->head_local);
    assert(s->head_line != CACHE_NO_LINE || s->head_outcome == CACHE_RESERVATION_FAIL);
}

void l2_count(struct l2_slice *s, const struct req *r, enum cache_outcome outcome)
{
    assert(outcome != CACHE_RESERVATION_FAIL);
    s->counts.passed[r->kind][r->cls][outcome]++;
    l2_count_data(s, r);
}

/* The head waits; the link that it waits for wakes the slice. A request that lacks a line, an MSHR or room in
 * the miss queue counts as a fail, once. */
static void l2_wait(struct l2_slice *s, const struct req *r, enum l2_stall cause, tick now)
{
    l2_charge(s, cause, now);
    if (cause == L2_STALL_ICNT) l2_await_reply(s, now);
    if (cause == L2_STALL_DRAM) l2_await_dram(s, now);
    if (cause == L2_STALL_ICNT || cause == L2_STALL_PORT) return;
    s->counts.fails[r->kind][r->cls] += !s->head_failed;
    s->head_failed = true;
}

/* ---- a head that goes on ---- */

/* Puts a reply into the latch: `ready` is when its data has passed the port. */
static void l2_reply(struct l2_slice *s, uint32_t id, tick ready, tick since)
{
    s->latch = id;
    s->latch_ready = ready;
    s->latch_since = since;
}

static void l2_read_hit(struct l2_slice *s, uint32_t id, struct req *r, tick now)
{
    if (r->kind == REQ_ATOMIC) {
        s->atomic_free = clock_after(&s->clock, now, s->params.atomic_cycles);
        l2_apply_atomic(s, r);
    }
    l2_use_port(s, now, l2_sector_cycles(s, r->sectors), &s->counts.port_read);
    l2_reply(s, id, s->port_free, r->kind == REQ_READ ? r->at_l2 : TICK_NEVER);
    r->l2_hit = true;
    if (UNLIKELY(s->is_perfect)) return;
    cache_touch(&s->cache, s->head_line);
    if (r->kind == REQ_ATOMIC) s->cache.lines[s->head_line].dirty |= cache_mask(&s->cache, r->sectors);
}

/* The token of a DRAM request is its line, so the fill need not look it up. */
static uint32_t l2_dram_request(struct l2_slice *s, const struct req *cause, uint64_t addr, uint32_t sectors,
                                enum req_kind kind, tick now)
{
    const uint32_t id = req_take(s->pool);
    struct req *r = req_at(s->pool, id);
    r->addr = addr;
    r->sectors = sectors;
    r->write_bytes = kind == REQ_WRITE ? l2_sector_bytes(sectors) : 0;
    r->kind = (uint8_t)kind;
    r->cls = cause->cls;
    r->is_prefetch = cause->is_prefetch;
    r->sm = cause->sm;
    r->warp = cause->warp;
    r->pc = cause->pc;
    r->token = s->head_line;
    r->slice = cause->slice;
    r->channel = cause->channel;
    r->born = now;
    req_start(s->pool, r);
    return id;
}

static void l2_evict(struct l2_slice *s, const struct req *r, const struct l2_plan *plan, tick now)
{
    l2_use_port(s, now, l2_sector_cycles(s, plan->evict), &s->counts.port_evict);
    s->victim = l2_dram_request(s, r, s->line_addr[s->head_line], plan->evict, REQ_WRITE, now);
    s->stats.writebacks++;
    s->stats.written_sectors += req_sector_count(plan->evict);
}

static void l2_fetch(struct l2_slice *s, const struct req *r, struct l2_plan *plan, tick now)
{
    l2_send(s, l2_dram_request(s, r, r->addr, plan->fetch, REQ_READ, now), now);
    s->stats.fetches++;
    s->stats.fetched_sectors += req_sector_count(plan->fetch);
    if (plan->entry == MSHR_NONE)
        plan->entry = mshr_take(&s->mshr, r->addr, plan->fetch);
    else
        s->mshr.entries[plan->entry].sectors |= plan->fetch;
    s->stats.mshr_max = MAX(s->stats.mshr_max, s->mshr.used);
}

/* Writes the old line back, takes the line, and sends the fetch. */
static void l2_take_line(struct l2_slice *s, const struct req *r, struct l2_plan *plan, tick now)
{
    if (plan->evict) l2_evict(s, r, plan, now);
    cache_reserve(&s->cache, s->head_line, s->head_local, plan->fetch);
    s->line_addr[s->head_line] = r->addr;
    if (plan->fetch) l2_fetch(s, r, plan, now);
}

static void l2_join(struct l2_slice *s, uint32_t id, struct req *r, uint32_t entry)
{
    struct mshr_entry *e = &s->mshr.entries[entry];
    r->next = REQ_NONE;
    if (e->head == REQ_NONE)
        e->head = id;
    else
        req_at(s->pool, e->tail)->next = id;
    e->tail = id;
    e->merged++;
}

static void l2_read_miss(struct l2_slice *s, uint32_t id, struct req *r, struct l2_plan *plan, tick now)
{
    l2_take_line(s, r, plan, now);
    l2_join(s, id, r, plan->entry);
    if (r->kind == REQ_ATOMIC) s->cache.lines[s->head_line].dirty |= cache_mask(&s->cache, r->sectors);
}

/* Sectors that are on their way from DRAM become valid with the fill. */
static void l2_write_line(struct l2_slice *s, const struct req *r)
{
    struct cache_line *l = &s->cache.lines[s->head_line];
    uint32_t mask = cache_mask(&s->cache, r->sectors);
    l->dirty |= mask;
    if (l2_covers(s, r)) l->valid |= mask & ~l->reserved;
}

/* A write is answered when it is accepted. */
static void l2_write(struct l2_slice *s, uint32_t id, struct req *r, struct l2_plan *plan, tick now)
{
    const bool is_hit = s->head_outcome == CACHE_HIT;
    if (LIKELY(!s->is_perfect)) {
        l2_take_line(s, r, plan, now);
        l2_write_line(s, r);
    }
    s->stats.write_allocs += plan->allocates;
    if (is_hit || !s->fill_port) /* otherwise its bytes enter the line with the fill */
        l2_use_port(s, now, l2_port_cycles(s, r->write_bytes), &s->counts.port_write);
    l2_reply(s, id, now, TICK_NEVER);
    l2_tell_write(s, r);
    r->l2_hit = is_hit;
}

/* True: the head does not go to the tags; a mechanism has taken it, or it waits until the mechanism has
 * room. */
static bool l2_gives_head(struct l2_slice *s, uint32_t id, tick now)
{
    const enum l2_take answer = l2_offer_head(s, id, now);
    if (answer == L2_TAKE_CLAIMS) l2_next_head(s);
    if (answer == L2_TAKE_WAITS) l2_charge(s, L2_STALL_CLAIM, now);
    return answer != L2_TAKE_PASSES;
}

void l2_access(struct l2_slice *s, tick now)
{
    const uint32_t id = l2_ring_front(&s->pipe)->id;
    struct req *r = req_at(s->pool, id);
    struct l2_plan plan;
    if (UNLIKELY(l2_has_claims(s)) && l2_gives_head(s, id, now)) return;
    l2_probe_head(s, r);
    const enum l2_stall stall = l2_admit(s, r, now, &plan);
    if (plan.used_room) l2_see_room(s, now);
    if (stall != L2_GOES_ON) {
        l2_wait(s, r, stall, now);
        return;
    }
    l2_count(s, r, (enum cache_outcome)s->head_outcome);
    if (r->kind == REQ_WRITE)
        l2_write(s, id, r, &plan, now);
    else if (s->head_outcome == CACHE_HIT)
        l2_read_hit(s, id, r, now);
    else
        l2_read_miss(s, id, r, &plan, now);
    l2_next_head(s);
}
