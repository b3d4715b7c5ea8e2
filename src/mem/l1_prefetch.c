/* l1_prefetch.c: prefetches in the L1: whether one finds room, and how it ends.
 *
 * A prefetch that is offered is redundant (its line is in the cache or under way), dropped (refused: it is
 * not offered again) or sent. A prefetch that was sent ends in exactly one of these ways:
 *   useful   a load hits its line
 *   late     a load wants its line while the line is under way
 *   early    its line leaves before a load wanted it, and a load misses it later in the kernel
 *   useless  its line leaves before a load wanted it, and is prefetched again first, or no load of the
 *            kernel wants it; or its data does not stay
 * Until then it is open (l1_prefetches_open). `wasted` holds the prefetched lines that have left unused;
 * those still in it when the kernel ends were useless. */
#include "mem/l1_admit.h"

/* ---- before the offer ---- */

/* Mechanisms are asked when the prefetch is offered. */
bool l1_prefetch_fits(struct l1 *c, tick now, uint64_t addr)
{
    const struct l1_txn t = {
        .addr = addr, .sectors = c->line_sectors, .is_prefetch = true, .token = L1_NO_TOKEN};
    struct l1_plan p = l1_no_way(&t);
    if (l1_is_stall(l1_admit_port(c, now))) return false;
    l1_plan_alone(c, &t, &p);
    return !l1_is_stall(l1_admit(c, &p));
}

bool l1_has_taken(const struct l1 *c, tick now) { return c->port_time == now && c->ports_used > 0; }

/* ---- the offer ---- */

void l1_count_prefetch(struct l1 *c, tick now, const struct l1_txn *t, enum l1_answer a)
{
    enum l1_prefetch_outcome outcome = l1_is_stall(a) ? L1_PREFETCH_DROPPED
                                       : a == L1_MISS ? L1_PREFETCH_SENT
                                                      : L1_PREFETCH_REDUNDANT;
    c->stats.prefetch_offered++;
    switch (outcome) {
    case L1_PREFETCH_SENT: c->stats.prefetch_issued++; break;
    case L1_PREFETCH_REDUNDANT: c->stats.prefetch_redundant++; break;
    case L1_PREFETCH_DROPPED: c->stats.prefetch_dropped++; break;
    }
    if (c->hooks.on_prefetch) c->hooks.on_prefetch(c->hooks.ctx, now, t, outcome);
}

COLD void l1_prefetched(struct l1 *c, tick now, const struct l1_txn *t, enum l1_answer a)
{
    l1_count_prefetch(c, now, t, a);
    if (!l1_is_stall(a)) l1_note(c, L1_CHANGE_OTHER);
}

/* ---- lines that leave without a load ---- */

COLD void l1_waste_prefetch(struct l1 *c, uint64_t number)
{
    c->stats.prefetch_unused++;
    lineset_add(&c->wasted, number);
    c->wasted_lines++;
    c->has_wasted = true;
}

COLD void l1_end_prefetch(struct l1 *c)
{
    c->stats.prefetch_unused++;
    c->stats.prefetch_useless++;
}

COLD void l1_judge_wasted(struct l1 *c, uint64_t number, bool is_demand)
{
    if (!lineset_remove(&c->wasted, number)) return;
    c->has_wasted = --c->wasted_lines != 0;
    c->stats.prefetch_early += is_demand;
    c->stats.prefetch_useless += !is_demand;
}

void l1_kernel_end(struct l1 *c)
{
    c->stats.prefetch_useless += c->wasted_lines;
    c->wasted_lines = 0;
    c->has_wasted = false;
    lineset_clear(&c->wasted);
}

void l1_mark_prefetch(struct l1 *c, uint32_t line)
{
    struct cache_line *l = &c->cache.lines[line];
    if (l->is_prefetch) l1_end_prefetch(c); /* another prefetch, of other sectors */
    l->is_prefetch = true;
}

/* ---- prefetches that have not ended ---- */

static uint64_t l1_prefetches_in_pipe(const struct l1 *c)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->pipe.ring.count; i++)
        n += c->pipe.items[ring_index(&c->pipe.ring, i)].txn.is_prefetch;
    return n;
}

/* A miss that has a line marks the line. */
uint64_t l1_prefetches_open(const struct l1 *c)
{
    uint64_t n = l1_prefetches_in_pipe(c) + c->wasted_lines;
    if (!c->stats.prefetch_issued) return n;
    for (uint32_t i = 0; i < cache_lines(&c->cache); i++)
        n += c->cache.lines[i].used && c->cache.lines[i].is_prefetch;
    for (uint32_t i = 0; i < c->mshr.count; i++) {
        const struct mshr_entry *e = &c->mshr.entries[i];
        n += e->used && e->is_prefetch && e->line == CACHE_NO_LINE;
    }
    return n;
}
