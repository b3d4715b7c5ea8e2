/* l2_access.c: the tag stage: one request an L2 cycle, in order. The head either goes on or is charged to one
 * cause.
 *
 * Which cause (thesis 3.4.2, Figure 3.8), when several hold: a hit or a write, which answers now, is charged
 * to the response queue first (bp-ICNT), then to the data port; a miss to the cache line first, then to the
 * miss queue (bp-DRAM), then to the MSHRs, then to the port (which a write-back needs). With l2.wait_for_all,
 * which GPGPU-Sim's slices do (l2cache.cc, 3.2.2 and 4.2), miss queue, response queue and port are asked for
 * in this order before the tags, for hits and misses alike.
 *
 * The place in the response queue is taken at the tags, though the data passes the port first: else a slice
 * whose port (four cycles a line) is faster than its way into the crossbar (five flits) would seem to wait
 * for the port.
 *
 * Write misses allocate. A sector that was written in part and not fetched is dirty but not valid: a read of
 * it is a sector miss, and its write-back needs no fetch. Without sectors the same holds for the line.
 *
 * Invariants. (1) A request that goes on has all that it needs: nothing is undone. (2) A line with an MSHR
 * entry that waits for data has reserved sectors and is never replaced. (3) A read or atomic in a chain waits
 * for all sectors of its line that are on their way.
 *
 * Left out: bytes of a sector (two partial writes never make a whole sector). */
#include "mem/l2_slice.h"

/* ---- statistics ---- */
void l2_count(struct l2_slice *s, const struct req *r, enum cache_outcome outcome)
{
    assert(outcome != CACHE_RESERVATION_FAIL);
    s->counts.passed[r->kind][r->cls][outcome]++;
    if (r->kind == REQ_READ) s->counts.read_sectors += req_sector_count(r->sectors);
}

static bool l2_stall(struct l2_slice *s, enum l2_stall cause, tick now)
{
    s->is_stalled = true;
    s->stall_cause = (uint8_t)cause;
    s->stall_since = now;
    return false;
}

/* It waits for a line, an MSHR or the miss queue, which counts once for a request. */
static bool l2_fail(struct l2_slice *s, const struct req *r, enum l2_stall cause, tick now)
{
    s->counts.fails[r->kind][r->cls] += !s->head_failed;
    s->head_failed = true;
    return l2_stall(s, cause, now);
}

/* ---- answers that leave the tag stage at once ---- */
static bool l2_has_answer(struct l2_slice *s, tick now)
{
    if (!l2_can_reply(s, now)) return l2_stall(s, L2_STALL_ICNT, now);
    if (s->latch_ready != TICK_NEVER || s->port_free > now) return l2_stall(s, L2_STALL_PORT, now);
    return true;
}

/* With l2.wait_for_all every request was asked already (l2_has_all). */
static inline bool l2_can_answer(struct l2_slice *s, tick now)
{
    return s->wait_for_all || l2_has_answer(s, now);
}

static bool l2_read_hit(struct l2_slice *s, uint32_t id, struct req *r, uint32_t line, tick now)
{
    if (!l2_can_answer(s, now)) return false;
    if (r->kind == REQ_ATOMIC) {
        if (s->atomic_free > now) return l2_stall(s, L2_STALL_PORT, now);
        s->atomic_free = clock_after(&s->clock, now, s->params.atomic_cycles);
        l2_apply_atomic(s, r);
    }
    l2_use_port(s, now, l2_sector_cycles(s, r->sectors), &s->counts.port_read);
    s->latch = id;
    s->latch_ready = s->port_free;
    s->latch_since = r->kind == REQ_READ ? r->at_l2 : TICK_NEVER;
    r->l2_hit = true;
    if (line == CACHE_NO_LINE) return true; /* a perfect L2 */
    cache_touch(&s->cache, line);
    if (r->kind == REQ_ATOMIC) s->cache.lines[line].dirty |= cache_mask(&s->cache, r->sectors);
    return true;
}

/* ---- misses ---- */
struct l2_plan {
    uint64_t local; /* the address within the slice */
    uint32_t line;  /* that holds or will hold the address */
    bool allocates;
    uint32_t fetch; /* sectors to get from DRAM */
    uint32_t evict; /* sectors of the old line to write back */
    uint32_t entry; /* MSHR entry of the line, or MSHR_NONE */
};

/* An entry whose data has come and whose replies are leaving takes no more. */
static bool l2_entry_is_open(const struct l2_slice *s, uint32_t entry)
{
    return s->mshr.entries[entry].sectors != 0;
}

static bool l2_find_victim(struct l2_slice *s, const struct req *r, struct l2_plan *plan, tick now)
{
    plan->allocates = true;
    plan->line = cache_victim(&s->cache, plan->local);
    if (plan->line == CACHE_NO_LINE) return l2_fail(s, r, L2_STALL_LINE, now);
    const struct cache_line *l = &s->cache.lines[plan->line];
    if (l->used && l->dirty) plan->evict = l2_moved(s, l->dirty);
    return true;
}

static bool l2_has_mshr(const struct l2_slice *s, const struct l2_plan *plan, bool joins)
{
    if (plan->entry == MSHR_NONE) return mshr_has_room(&s->mshr);
    return l2_entry_is_open(s, plan->entry) && (!joins || mshr_can_merge(&s->mshr, plan->entry));
}

/* All that the plan needs, or a stall. joins: the request waits in the MSHR's chain. */
static bool l2_can_do(struct l2_slice *s, const struct req *r, const struct l2_plan *plan, bool joins,
                      tick now)
{
    if (plan->evict && s->victim != REQ_NONE) return l2_fail(s, r, L2_STALL_DRAM, now);
    if (plan->fetch && !l2_can_send(s, now)) return l2_fail(s, r, L2_STALL_DRAM, now);
    if ((plan->fetch || joins) && !l2_has_mshr(s, plan, joins)) return l2_fail(s, r, L2_STALL_MSHR, now);
    if (plan->evict && s->port_free > now) return l2_stall(s, L2_STALL_PORT, now);
    return true;
}

/* Its token is the line: a fill need not look for it. */
static uint32_t l2_dram_request(struct l2_slice *s, const struct req *cause, uint64_t addr, uint32_t line,
                                uint32_t sectors, enum req_kind kind, tick now)
{
    const struct req made = {.addr = addr,
                             .sectors = sectors,
                             .write_bytes = kind == REQ_WRITE ? l2_sector_bytes(sectors) : 0,
                             .kind = (uint8_t)kind,
                             .cls = cause->cls,
                             .is_prefetch = cause->is_prefetch,
                             .sm = cause->sm,
                             .warp = cause->warp,
                             .pc = cause->pc,
                             .token = line,
                             .slice = cause->slice,
                             .channel = cause->channel,
                             .born = now};
    return req_new(s->pool, &made);
}

static void l2_evict(struct l2_slice *s, const struct req *r, const struct l2_plan *plan, tick now)
{
    l2_use_port(s, now, l2_sector_cycles(s, plan->evict), &s->counts.port_evict);
    s->victim = l2_dram_request(s, r, s->line_addr[plan->line], plan->line, plan->evict, REQ_WRITE, now);
    s->stats.writebacks++;
    s->stats.written_sectors += req_sector_count(plan->evict);
}

static void l2_fetch(struct l2_slice *s, const struct req *r, struct l2_plan *plan, tick now)
{
    l2_send(s, l2_dram_request(s, r, r->addr, plan->line, plan->fetch, REQ_READ, now), now);
    s->stats.fetches++;
    s->stats.fetched_sectors += req_sector_count(plan->fetch);
    if (plan->entry == MSHR_NONE)
        plan->entry = mshr_take(&s->mshr, r->addr, plan->fetch);
    else
        s->mshr.entries[plan->entry].sectors |= plan->fetch;
    s->stats.mshr_max = MAX(s->stats.mshr_max, s->mshr.used);
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

/* Sectors of the request that the line neither has nor waits for. */
static uint32_t l2_missing(const struct l2_slice *s, const struct req *r, uint32_t line)
{
    if (line == CACHE_NO_LINE || !s->is_sectored) return l2_moved(s, r->sectors);
    const struct cache_line *l = &s->cache.lines[line];
    return r->sectors & ~l->valid & ~l->reserved & s->line_sectors;
}

static void l2_do(struct l2_slice *s, const struct req *r, struct l2_plan *plan, tick now)
{
    if (plan->evict) l2_evict(s, r, plan, now);
    cache_reserve(&s->cache, plan->line, plan->local, plan->fetch);
    s->line_addr[plan->line] = r->addr;
    if (plan->fetch) l2_fetch(s, r, plan, now);
}

static bool l2_read_miss(struct l2_slice *s, uint32_t id, struct req *r, enum cache_outcome outcome,
                         uint32_t line, tick now)
{
    struct l2_plan plan = {.local = s->head_local, .line = line, .entry = mshr_find(&s->mshr, r->addr)};
    if (outcome != CACHE_HIT_RESERVED) plan.fetch = l2_missing(s, r, line);
    if (line == CACHE_NO_LINE && !l2_find_victim(s, r, &plan, now)) return false;
    if (!l2_can_do(s, r, &plan, true, now)) return false;
    l2_do(s, r, &plan, now);
    l2_join(s, id, r, plan.entry);
    if (r->kind == REQ_ATOMIC) s->cache.lines[plan.line].dirty |= cache_mask(&s->cache, r->sectors);
    return true;
}

/* ---- writes: answered when accepted ---- */
static bool l2_covers(const struct l2_slice *s, const struct req *r)
{
    return !r->is_fill_partial && (s->is_sectored || r->sectors == s->line_sectors);
}

static uint32_t l2_write_fetch(const struct l2_slice *s, const struct req *r, uint32_t line)
{
    switch ((enum l2_write_miss)s->params.write_miss) {
    case L2_FETCH_ON_WRITE: return l2_missing(s, r, line);
    case L2_LAZY_FETCH: return 0;
    case L2_FETCH_PARTIAL: return l2_covers(s, r) ? 0 : l2_missing(s, r, line);
    }
    UNREACHABLE("a write policy that does not exist");
}

/* What is on its way from DRAM becomes valid with the fill. */
static void l2_write_line(const struct l2_slice *s, const struct req *r, struct cache_line *l)
{
    uint32_t mask = cache_mask(&s->cache, r->sectors);
    l->dirty |= mask;
    if (l2_covers(s, r)) l->valid |= mask & ~l->reserved;
}

static bool l2_write(struct l2_slice *s, uint32_t id, struct req *r, enum cache_outcome outcome,
                     uint32_t line, tick now)
{
    bool is_miss = outcome != CACHE_HIT && outcome != CACHE_HIT_RESERVED;
    struct l2_plan plan = {.local = s->head_local, .line = line, .entry = MSHR_NONE};
    if (!l2_can_answer(s, now)) return false;
    if (is_miss) plan.fetch = l2_write_fetch(s, r, line);
    if (plan.fetch) plan.entry = mshr_find(&s->mshr, r->addr);
    if (is_miss && line == CACHE_NO_LINE && !l2_find_victim(s, r, &plan, now)) return false;
    if (!l2_can_do(s, r, &plan, false, now)) return false;
    if (plan.line != CACHE_NO_LINE) { /* else a perfect L2 */
        l2_do(s, r, &plan, now);
        l2_write_line(s, r, &s->cache.lines[plan.line]);
    }
    s->stats.write_allocs += plan.allocates;
    if (outcome == CACHE_HIT || !s->fill_port) /* else its bytes go in with the fill */
        l2_use_port(s, now, l2_port_cycles(s, r->write_bytes), &s->counts.port_write);
    s->latch = id;
    s->latch_ready = now;
    s->latch_since = TICK_NEVER;
    r->l2_hit = outcome == CACHE_HIT;
    return true;
}

/* A head that waits asks the tags again only when a fill has changed them. */
static void l2_probe_head(struct l2_slice *s, struct req *r)
{
    if (s->is_probed) return;
    s->is_probed = true;
    r->at_l2 = s->head_ready - s->tags_after;
    s->head_line = CACHE_NO_LINE;
    s->head_outcome = CACHE_HIT;
    if (UNLIKELY(s->is_perfect)) return;
    s->head_outcome = (uint8_t)cache_probe(&s->cache, s->head_local, r->sectors, &s->head_line);
}

/* l2.wait_for_all: what has to be there before the tags are looked at. */
static bool l2_has_all(struct l2_slice *s, const struct req *r, tick now)
{
    if (!l2_can_send(s, now)) return l2_fail(s, r, L2_STALL_DRAM, now);
    return l2_has_answer(s, now);
}

static bool l2_serve(struct l2_slice *s, uint32_t id, struct req *r, tick now)
{
    if (s->wait_for_all && !l2_has_all(s, r, now)) return false;
    l2_probe_head(s, r);
    enum cache_outcome outcome = (enum cache_outcome)s->head_outcome;
    uint32_t line = s->head_line;
    bool done;
    if (outcome == CACHE_RESERVATION_FAIL)
        done = l2_fail(s, r, L2_STALL_LINE, now);
    else if (r->kind == REQ_WRITE)
        done = l2_write(s, id, r, outcome, line, now);
    else if (outcome == CACHE_HIT)
        done = l2_read_hit(s, id, r, line, now);
    else
        done = l2_read_miss(s, id, r, outcome, line, now);
    if (done) l2_count(s, r, outcome);
    return done;
}

/* Its tags are asked in a later turn: until then the host has time to fetch them. */
void l2_new_head(struct l2_slice *s)
{
    const struct l2_timed *head = l2_ring_head(&s->pipe);
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
    s->closed_from = p->ring.count >= s->late_places ? l2_ring_at(p, s->late_places - 1)->ready : TICK_NEVER;
    s->head_failed = s->is_probed = false;
}

void l2_access(struct l2_slice *s, tick now)
{
    uint32_t id = l2_ring_head(&s->pipe)->id;
    if (l2_serve(s, id, req_at(s->pool, id), now)) l2_next_head(s);
}

/* Does the head need an answer's place and the port before anything else? Then it does so until something happens in the slice. */
static bool l2_head_answers(struct l2_slice *s)
{
    if (s->wait_for_all) return s->dram_room != 0;
    struct req *r = req_at(s->pool, l2_ring_head(&s->pipe)->id);
    l2_probe_head(s, r);
    return s->head_outcome == CACHE_HIT ||
           (r->kind == REQ_WRITE && s->head_outcome != CACHE_RESERVATION_FAIL);
}

/* While the latch is taken no head is answered: it waits for a place in the response queue, if the queue has refused us already (so that being
 * refused once more counts nothing, and room in it wakes us), and for the port, if there is a place. */
bool l2_foresee(struct l2_slice *s, tick at)
{
    if (s->latch_ready <= at || s->latch_ready == TICK_NEVER || !l2_head_answers(s)) return false;
    bool is_full = s->out->count + 1 >= s->out->capacity;
    if (is_full && !s->out->producer_waits) return false;
    l2_stall(s, is_full ? L2_STALL_ICNT : L2_STALL_PORT, at);
    s->awaits_reply |= is_full;
    return true;
}
