/* l1_admit.h: the rules of the L1: whether an access comes in, which way it goes, whether it is taken, and if
 * not, why.
 *
 * l1_admit_port says whether an access comes in: it checks ports, and the pipeline to the tags. l1_plan looks
 * up tags and MSHRs and says which way the access goes; l1_admit says whether this way has what it needs.
 * They change nothing, except that mechanisms may remember their own votes. Callers:
 *   l1_access.c    stores, atomics, prefetches and loads that bypass: l1_plan and l1_admit. A load that looks
 *                  up the L1 takes the same steps one by one, since nearly all accesses are such loads:
 *                  l1_finds and l1_admit_hit, then l1_plan_read and l1_admit_miss or l1_admit_merge
 *   l1_take.c      a miss that a mechanism had taken goes on: its plan is known except for the line
 *                  (l1_takes_line); l1_admit
 *   l1_prefetch.c  room for a prefetch: l1_admit_port, l1_plan_alone, which asks no mechanism, and l1_admit
 *   l1_sleep.c     the retry of a refused access keeps its plan where it cannot have changed, and asks
 *                  l1_admit; predictions of refusals: l1_plan, l1_plan_alone or l1_plan_absent, and l1_admit
 *   l1_reply.c     a fill that takes its line late: l1_admit_victim
 * l1_access calls l1_admit_port before the pipeline; l1_prefetch.c and l1_sleep.c call it as well.
 *
 * The order of checks (line, miss queue, MSHR, merge) is that of GPGPU-Sim 3.2.2: it decides the cause when
 * several causes hold at once.
 *
 * Only a dirty line that is to be replaced is checked later: l1_make_room. */
#ifndef HEDDLE_L1_ADMIT_H
#define HEDDLE_L1_ADMIT_H

#include "mem/l1_impl.h"

/* ---- what is there ---- */

/* Does the miss queue have room, beside the entry that is kept for a claimed miss (l1_miss_forward)? */
static inline bool l1_port_has(const struct l1 *c, uint32_t entries)
{
    return sm_port_room(c->port) >= entries + c->queue_kept;
}

/* An L1 whose misses answer themselves does not use its miss queue. */
static inline bool l1_queue_has(const struct l1 *c, uint32_t entries)
{
    return l1_answers_itself(c) || l1_port_has(c, entries);
}

/* ---- the way in ---- */

/* Is an access port free at now? There are l1.ports in a cycle. */
static inline bool l1_port_is_free(const struct l1 *c, tick now)
{
    return c->port_time != now || c->ports_used < c->ports;
}

/* The first access that asks for a port in a cycle finds all ports free. */
static inline void l1_open_ports(struct l1 *c, tick now)
{
    if (c->port_time == now) return;
    c->port_time = now;
    c->ports_used = 0;
}

static inline bool l1_pipe_is_full(const struct l1 *c) { return c->has_pipe && !l1_pipe_has_room(&c->pipe); }

/* Does an access come in at now? It needs a port, unless the L1 is perfect, and a slot of the pipeline to the
 * tags, where there is one. L1_TAKEN: it comes in. Without a free port the cause is L1_STALL_PORT, unless a
 * mechanism took the port. A full pipeline waits for what its head waits for: invariant 2 of l1_pipe.c. */
static inline __attribute__((always_inline)) enum l1_answer l1_admit_port(const struct l1 *c, tick now)
{
    if (UNLIKELY(!l1_port_is_free(c, now)) && !c->is_perfect)
        return c->stolen_time == now ? L1_STALL_STOLEN : L1_STALL_PORT;
    if (LIKELY(!l1_pipe_is_full(c))) return L1_TAKEN;
    assert(c->stall.open);
    return (enum l1_answer)c->stall.cause;
}

/* ---- what a way needs ---- */

static inline bool l1_has_mshr(const struct l1 *c) { return c->mshr.used + c->mshrs_held < c->mshr.count; }

static inline bool l1_can_wait(const struct l1 *c, const struct l1_plan *p)
{
    return !p->waits || c->nodes_left > 0;
}

static inline bool l1_can_merge(const struct l1 *c, const struct l1_plan *p)
{
    return !p->waits || (mshr_can_merge(&c->mshr, p->entry) && c->nodes_left > 0);
}

/* ---- the way ---- */

static inline bool l1_goes_past(const struct l1 *c, const struct l1_txn *t)
{
    return t->bypass || (t->cls == REQ_GLOBAL && !c->caches_global);
}

/* The votes of mechanisms on a load that misses. */
static inline void l1_plan_asked(struct l1 *c, const struct l1_txn *t, struct l1_plan *p)
{
    if (c->hooks.may_miss && !t->is_prefetch) p->is_held = !l1_may_go(c, t);
    if (c->hooks.take_miss && p->entry == MSHR_NONE)
        p->asks_taker = t->is_prefetch || !l1_kept_of(c, t)->passes;
}

/* Does a miss replace a line? is_new: the address has no line, and no miss for it is under way; may_keep: its
 * line may stay. */
static inline bool l1_takes_line(const struct l1 *c, bool is_new, bool may_keep)
{
    return is_new && c->allocates_on_miss && may_keep;
}

/* The way of a load whose line belongs to this set and is known to be neither in the cache nor under way. */
static inline void l1_plan_absent(const struct l1 *c, struct l1_plan *p, uint32_t set)
{
    p->way = L1_WAY_MISS;
    p->may_keep = true;
    p->takes_line = l1_takes_line(c, true, true);
    p->set = set;
}

/* A read of sectors that `line`, or no line, does not have: they are under way, or missing. Asks no
 * mechanism. */
static inline __attribute__((always_inline)) void l1_plan_sectors(struct l1 *c, const struct l1_txn *t,
                                                                  struct l1_plan *p, uint32_t line)
{
    p->line = line;
    p->entry = l1_find_mshr(c, t->addr, line);
    p->need = cache_mask(&c->cache, t->sectors);
    if (line != CACHE_NO_LINE) p->need &= ~c->cache.lines[line].valid;
    p->missing = p->entry == MSHR_NONE ? p->need : p->need & ~c->mshr.entries[p->entry].sectors;
    /* a prefetch of a line under way is redundant, even if it asks for other sectors */
    bool merges = !p->missing || (t->is_prefetch && p->entry != MSHR_NONE);
    p->way = merges ? L1_WAY_MERGE : L1_WAY_MISS;
    if (merges) return;
    p->may_keep = true;
    p->takes_line = l1_takes_line(c, line == CACHE_NO_LINE && p->entry == MSHR_NONE, true);
    p->set = c->cache.found_set;
}

/* Is it a miss whose line is neither in the cache nor under way? */
static inline bool l1_is_new(const struct l1_plan *p)
{
    return p->way == L1_WAY_MISS && p->line == CACHE_NO_LINE && p->entry == MSHR_NONE;
}

/* The votes of mechanisms on a miss. */
static inline __attribute__((always_inline)) void l1_plan_votes(struct l1 *c, const struct l1_txn *t,
                                                                struct l1_plan *p)
{
    if (UNLIKELY(c->asks_of_misses) && t->kind == REQ_READ) l1_plan_asked(c, t, p);
    if (LIKELY(!c->hooks.may_allocate) || !l1_is_new(p)) return;
    p->may_keep = l1_may_keep(c, t);
    p->takes_line = l1_takes_line(c, true, p->may_keep);
}

static inline __attribute__((always_inline)) void l1_plan_read(struct l1 *c, const struct l1_txn *t,
                                                               struct l1_plan *p, uint32_t line)
{
    l1_plan_sectors(c, t, p, line);
    if (p->way == L1_WAY_MISS) l1_plan_votes(c, t, p);
}

/* A load looks up the L1: are all of its sectors there? *line: the line of the address, or CACHE_NO_LINE. */
static inline bool l1_finds(struct l1 *c, const struct l1_txn *t, uint32_t *line)
{
    return cache_look_up(&c->cache, t->addr, t->sectors, line) == CACHE_HIT;
}

/* Sets the way of an access that does not depend on tags and MSHRs. */
static inline bool l1_plan_fixed(const struct l1 *c, const struct l1_txn *t, struct l1_plan *p)
{
    if (UNLIKELY(c->is_shrinking))
        p->way = L1_WAY_CLOSED;
    else if (UNLIKELY(c->is_perfect) && (t->kind != REQ_ATOMIC || c->hooks.on_atomic))
        p->way = L1_WAY_IDEAL;
    else
        return false;
    return true;
}

/* The way of a load, as far as the L1 alone knows: asks no mechanism. */
static inline __attribute__((always_inline)) void l1_plan_alone(struct l1 *c, const struct l1_txn *t,
                                                                struct l1_plan *p)
{
    uint32_t line;
    if (l1_plan_fixed(c, t, p)) return;
    if (UNLIKELY(l1_goes_past(c, t))) {
        p->way = L1_WAY_BYPASS;
        return;
    }
    if (!l1_finds(c, t, &line)) {
        l1_plan_sectors(c, t, p, line);
        return;
    }
    p->way = L1_WAY_HIT;
    p->line = line;
}

static inline __attribute__((always_inline)) void l1_plan_load(struct l1 *c, const struct l1_txn *t,
                                                               struct l1_plan *p)
{
    l1_plan_alone(c, t, p);
    if (p->way == L1_WAY_MISS) l1_plan_votes(c, t, p);
}

static inline void l1_plan_through(const struct l1 *c, const struct l1_txn *t, struct l1_plan *p)
{
    bool is_atomic = t->kind == REQ_ATOMIC;
    p->way = L1_WAY_THROUGH;
    p->travels = is_atomic || !l1_answers_itself(c);
}

/* Does a store write everything that the tags tell apart, so that it needs no data from memory? */
static inline bool l1_covers(const struct l1 *c, const struct l1_txn *t)
{
    return !t->partial && (c->is_sectored || t->sectors == c->line_sectors);
}

/* A store that finds its line makes the line dirty. A store that finds no line goes on to the L2 where
 * l1.local_write_allocate is not set (thesis 2.2.2). Where it is set, a store that covers its sectors takes a
 * line without reading; one that does not cover them reads them first if lines are allocated on miss, and
 * otherwise goes on to the L2. */
COLD __attribute__((unused)) static void l1_plan_local_store(struct l1 *c, const struct l1_txn *t,
                                                             struct l1_plan *p)
{
    uint32_t line;
    enum cache_outcome outcome = cache_look_up(&c->cache, t->addr, t->sectors, &line);
    p->line = line;
    if (line != CACHE_NO_LINE) {
        bool reads = outcome == CACHE_SECTOR_MISS && (!l1_covers(c, t) || c->cache.lines[line].reserved != 0);
        p->way = L1_WAY_STORE_HELD;
        p->outcome = (uint8_t)outcome;
        if (reads) l1_plan_read(c, t, p, line);
        return;
    }
    bool allocates = c->p.local_write_allocate && l1_find_mshr(c, t->addr, line) == MSHR_NONE &&
                     (!c->hooks.may_allocate || l1_may_keep(c, t));
    if (allocates && l1_covers(c, t)) {
        p->way = L1_WAY_STORE_LINE;
        p->takes_line = true;
        p->set = c->cache.found_set;
    } else if (allocates && c->allocates_on_miss)
        l1_plan_read(c, t, p, line);
    else
        l1_plan_through(c, t, p);
}

static inline void l1_plan_write(struct l1 *c, const struct l1_txn *t, struct l1_plan *p)
{
    if (t->cls == REQ_LOCAL && c->p.write_local == L1_WRITE_BACK)
        l1_plan_local_store(c, t, p);
    else {
        l1_plan_through(c, t, p);
        p->keeps = c->p.write_global == L1_WRITE_UPDATE;
    }
}

static inline void l1_plan_atomic(const struct l1 *c, const struct l1_txn *t, struct l1_plan *p)
{
    if (l1_answers_itself(c) && c->hooks.on_atomic)
        p->way = L1_WAY_FIXED_ATOMIC;
    else
        l1_plan_through(c, t, p);
}

static inline __attribute__((always_inline)) struct l1_plan l1_no_way(const struct l1_txn *t)
{
    return (struct l1_plan){.is_demand = !t->is_prefetch,
                            .waits = t->token != L1_NO_TOKEN,
                            .line = CACHE_NO_LINE,
                            .entry = MSHR_NONE};
}

/* Sets the way of an access. Asks hooks.may_allocate once for each access; changes nothing else. */
static inline __attribute__((always_inline)) void l1_plan(struct l1 *c, const struct l1_txn *t,
                                                          struct l1_plan *p)
{
    *p = l1_no_way(t);
    if (t->kind == REQ_READ)
        l1_plan_load(c, t, p);
    else if (l1_plan_fixed(c, t, p))
        return;
    else if (t->kind == REQ_WRITE)
        l1_plan_write(c, t, p);
    else
        l1_plan_atomic(c, t, p);
}

/* ---- whether it is taken ---- */

static inline enum l1_answer l1_admit_hit(const struct l1 *c, bool waits)
{
    return !waits || l1_ring_has_room(&c->hits) ? L1_HIT : L1_STALL_PORT;
}

static inline enum l1_answer l1_admit_merge(const struct l1 *c, const struct l1_plan *p)
{
    if (!p->is_demand) return L1_PENDING;
    if (c->read_places > 1 && !l1_queue_has(c, c->read_places)) return L1_STALL_QUEUE;
    return l1_can_merge(c, p) ? L1_PENDING : L1_STALL_MSHR;
}

static inline enum l1_answer l1_admit_mshr(const struct l1 *c, const struct l1_plan *p)
{
    if (p->entry != MSHR_NONE) return l1_can_merge(c, p) ? L1_MISS : L1_STALL_MSHR;
    return l1_has_mshr(c) && l1_can_wait(c, p) ? L1_MISS : L1_STALL_MSHR;
}

/* What a miss needs before hooks.take_miss is asked. */
static inline bool l1_may_ask_taker(const struct l1 *c, const struct l1_plan *p)
{
    if (c->hooks.claims_lines && p->takes_line && !cache_has_victim(&c->cache, p->set)) return false;
    return l1_admit_mshr(c, p) == L1_MISS;
}

/* A miss that a mechanism may take needs no entry of the miss queue; when the mechanism cannot be asked, the
 * cause is that of any other miss. */
static inline __attribute__((always_inline)) enum l1_answer l1_admit_miss(const struct l1 *c,
                                                                          const struct l1_plan *p)
{
    if (UNLIKELY(p->is_held)) return L1_STALL_HELD;
    if (UNLIKELY(p->asks_taker) && l1_may_ask_taker(c, p)) return L1_MISS;
    if (p->takes_line && !cache_has_victim(&c->cache, p->set)) return L1_STALL_LINE;
    if (!l1_queue_has(c, c->read_places)) return L1_STALL_QUEUE;
    return l1_admit_mshr(c, p);
}

static inline enum l1_answer l1_admit_bypass(const struct l1 *c, const struct l1_plan *p)
{
    if (!p->is_demand) return L1_PENDING; /* a prefetched line would have no place to go */
    if (!l1_queue_has(c, 1)) return L1_STALL_QUEUE;
    return l1_can_wait(c, p) ? L1_SENT : L1_STALL_MSHR;
}

static inline enum l1_answer l1_admit_through(const struct l1 *c, const struct l1_plan *p)
{
    if (p->travels && !l1_port_has(c, 1)) return L1_STALL_QUEUE;
    return l1_can_wait(c, p) ? L1_SENT : L1_STALL_MSHR;
}

/* Is an access of this plan taken now? Returns the outcome, or the cause of the refusal. */
static inline __attribute__((always_inline)) enum l1_answer l1_admit(const struct l1 *c,
                                                                     const struct l1_plan *p)
{
    switch ((enum l1_way)p->way) {
    case L1_WAY_HIT: return l1_admit_hit(c, p->waits);
    case L1_WAY_MERGE: return l1_admit_merge(c, p);
    case L1_WAY_MISS: return l1_admit_miss(c, p);
    case L1_WAY_BYPASS: return l1_admit_bypass(c, p);
    case L1_WAY_THROUGH: return l1_admit_through(c, p);
    case L1_WAY_STORE_HELD: return p->outcome == CACHE_HIT_RESERVED ? L1_PENDING : L1_HIT;
    case L1_WAY_STORE_LINE: return cache_has_victim(&c->cache, p->set) ? L1_MISS : L1_STALL_LINE;
    case L1_WAY_FIXED_ATOMIC: return l1_can_wait(c, p) ? L1_SENT : L1_STALL_MSHR;
    case L1_WAY_IDEAL: return l1_can_wait(c, p) ? L1_HIT : L1_STALL_PORT;
    case L1_WAY_CLOSED: return L1_STALL_LINE;
    }
    UNREACHABLE("an access without a way");
}

/* Entries of the miss queue that an access needs beside that of a write-back. */
static inline uint32_t l1_own_entries(enum l1_way way) { return way == L1_WAY_MISS; }

/* May an access that was admitted replace this line? False: a write-back has to go first. */
static inline bool l1_admit_victim(const struct l1 *c, enum l1_way way, uint32_t victim)
{
    return !c->cache.lines[victim].dirty || l1_queue_has(c, 1 + l1_own_entries(way));
}

#endif
