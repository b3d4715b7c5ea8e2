/* l2_admit.c: the rules of the tag stage: what the head needs, in which order this is checked, and to which
 * cause a waiting head is charged.
 *
 * Order (thesis 3.4.2, Figure 3.8). A hit or a write, which replies at once, needs a slot of the response
 * queue (bp-ICNT), then the data port. A miss needs a line of its set, then the miss queue (bp-DRAM), then an
 * MSHR, then the port, if it writes a line back. With l2.wait_for_all, as in GPGPU-Sim's slices (l2cache.cc,
 * 3.2.2 and 4.2), every head needs miss queue, response queue and port, in this order, before the tags
 * answer.
 *
 * A reply takes its slot in the response queue at the tags, although its data passes the port first.
 * Otherwise a slice whose port (four cycles a line) is faster than its way into the crossbar (five flits)
 * would seem to wait for the port. */
#include "mem/l2_admit.h"

/* A slot of the response queue and the data port. */
static enum l2_stall l2_admit_reply(const struct l2_slice *s, tick now)
{
    if (!l2_out_has_room(s, now)) return L2_STALL_ICNT;
    if (s->latch_ready != TICK_NEVER || s->port_free > now) return L2_STALL_PORT;
    return L2_GOES_ON;
}

/* l2.wait_for_all: everything that any request may need. */
static enum l2_stall l2_admit_any(const struct l2_slice *s, tick now, struct l2_plan *plan)
{
    if (!l2_dram_has_room(s, now)) return L2_STALL_DRAM;
    plan->used_room = true;
    return l2_admit_reply(s, now);
}

/* An entry whose data has come and whose replies are leaving takes no further requests. */
static bool l2_has_mshr(const struct l2_slice *s, uint32_t entry, bool joins)
{
    if (entry == MSHR_NONE) return mshr_has_room(&s->mshr);
    return s->mshr.entries[entry].sectors && (!joins || mshr_can_merge(&s->mshr, entry));
}

/* Sectors of the request that its line does not have and does not wait for. */
static uint32_t l2_missing(const struct l2_slice *s, const struct req *r)
{
    if (s->head_outcome == CACHE_MISS || !s->is_sectored) return l2_moved(s, r->sectors);
    const struct cache_line *l = &s->cache.lines[s->head_line];
    return r->sectors & ~l->valid & ~l->reserved & s->line_sectors;
}

static bool l2_write_fetches(const struct l2_slice *s, const struct req *r)
{
    switch ((enum l2_write_miss)s->params.write_miss) {
    case L2_FETCH_ON_WRITE: return true;
    case L2_LAZY_FETCH: return false;
    case L2_FETCH_PARTIAL: return !l2_covers(s, r);
    }
    UNREACHABLE("a write policy that does not exist");
}

static void l2_plan_miss(const struct l2_slice *s, const struct req *r, struct l2_plan *plan)
{
    const bool is_miss = s->head_outcome == CACHE_MISS || s->head_outcome == CACHE_SECTOR_MISS;
    if (is_miss && (r->kind != REQ_WRITE || l2_write_fetches(s, r))) plan->fetch = l2_missing(s, r);
    if (s->head_outcome != CACHE_MISS) return;
    const struct cache_line *old = &s->cache.lines[s->head_line];
    plan->allocates = true;
    if (old->used && old->dirty) plan->evict = l2_moved(s, old->dirty);
}

/* Miss queue, MSHR, port. A read joins the chain of requests that wait for the line; a write is answered
 * without waiting. */
NOINLINE static enum l2_stall l2_admit_miss(const struct l2_slice *s, const struct req *r, tick now,
                                            struct l2_plan *plan)
{
    const bool joins = r->kind != REQ_WRITE;
    l2_plan_miss(s, r, plan);
    if (plan->evict && s->victim != REQ_NONE) return L2_STALL_DRAM;
    if (plan->fetch && !l2_dram_has_room(s, now)) return L2_STALL_DRAM;
    plan->used_room |= plan->fetch != 0;
    if (plan->fetch || joins) {
        plan->entry = mshr_find(&s->mshr, r->addr);
        if (!l2_has_mshr(s, plan->entry, joins)) return L2_STALL_MSHR;
    }
    return plan->evict && s->port_free > now ? L2_STALL_PORT : L2_GOES_ON;
}

HOT enum l2_stall l2_admit(const struct l2_slice *s, const struct req *r, tick now, struct l2_plan *plan)
{
    enum l2_stall stall = L2_GOES_ON;
    debug_assert(s->is_probed);
    *plan = (struct l2_plan){.entry = MSHR_NONE};
    if (s->wait_for_all) stall = l2_admit_any(s, now, plan);
    if (stall != L2_GOES_ON) return stall;
    if (s->head_outcome == CACHE_RESERVATION_FAIL) return L2_STALL_LINE;
    if (!s->wait_for_all && l2_replies_now(s, r)) stall = l2_admit_reply(s, now);
    if (stall != L2_GOES_ON) return stall;
    if (s->head_outcome != CACHE_HIT) return l2_admit_miss(s, r, now, plan);
    return r->kind == REQ_ATOMIC && s->atomic_free > now ? L2_STALL_PORT : L2_GOES_ON;
}
