/* l2_sleep.c: when a slice next has something to do.
 *
 * A link wakes what waits for room in it; a fill wakes what waits for a line or an MSHR. All other events
 * have a time, and set act_at. Until then the slice runs only to move requests from the access queue into its
 * pipeline.
 *
 * A stall that the next cycle would find is charged without that cycle: l2_foresee asks the rule itself
 * (l2_admit) for that cycle. It may rely on the answer as long as the answer cannot change without a wake:
 * the slice's own state changes only in a cycle in which all stages run, and such a cycle asks again. */
#include "mem/l2_sleep.h"

#include "mem/l2_admit.h"
#include "mem/l2_claim_impl.h"

/* Predicts the stall that the head will meet when it is at the tags at `at`, if nothing happens before:
 * charges it from then on and returns true. It asks only about the common case, a head that replies while the
 * latch holds another reply. It predicts nothing where the access also changes state: when it is the first to
 * find the response queue full, or finds new room in the miss queue. */
static bool l2_foresee(struct l2_slice *s, tick at)
{
    if (s->latch_ready <= at || s->latch_ready == TICK_NEVER) return false;
    if (UNLIKELY(l2_has_claims(s)) && !s->claims->head_passed) return false;
    struct req *r = req_at(s->pool, l2_ring_front(&s->pipe)->id);
    struct l2_plan plan;
    l2_probe_head(s, r);
    if (!s->wait_for_all && !l2_replies_now(s, r)) return false;
    const enum l2_stall cause = l2_admit(s, r, at, &plan);
    if (cause != L2_STALL_ICNT && cause != L2_STALL_PORT) return false;
    if (plan.used_room && !s->dram_room) return false;
    if (cause == L2_STALL_ICNT && !s->out->producer_waits) return false;
    l2_charge(s, cause, at);
    s->awaits_reply |= cause == L2_STALL_ICNT;
    return true;
}

/* The next cycle that takes a request from the access queue. */
static void l2_wake_to_enter(struct l2_slice *s, tick now)
{
    const tick at = MAX(l2_next_cycle(s, now), link_next(s->in));
    if (l2_enters_at(s, at)) wake_at(&s->wake, at);
}

/* When the next reply can leave: the response queue wakes a reply that it refused. */
static tick l2_reply_time(const struct l2_slice *s, tick now, tick next)
{
    tick at = TICK_NEVER;
    if (s->latch_ready > now || s->replied) at = MAX(next, s->latch_ready);
    if (!s->drains) return at;
    const tick drain_at = l2_drain_at(s, now);
    if (s->replied || drain_at > now) wake_at(&at, MAX(next, drain_at));
    return at;
}

/* When the head can be at the tags, or have the port for which it waits. */
static tick l2_head_time(struct l2_slice *s, tick next)
{
    if (!s->is_stalled) {
        if (!s->pipe.ring.count) return TICK_NEVER;
        const tick at = MAX(next, s->head_ready);
        if (!l2_foresee(s, at)) return at;
    }
    return s->stall_cause == L2_STALL_PORT ? MAX(next, s->port_free) : TICK_NEVER;
}

void l2_set_wake(struct l2_slice *s, tick now)
{
    const tick next = l2_next_cycle(s, now);
    wake_at(&s->wake, s->fill_ready);
    if (s->has_fills) wake_at(&s->wake, MAX(next, l2_fill_at(s)));
    wake_at(&s->wake, l2_reply_time(s, now, next));
    wake_at(&s->wake, l2_head_time(s, next));
    if (UNLIKELY(l2_has_claims(s))) {
        /* DRAM accesses that the mechanism sent behind the head took room: the head may now wait for another
         * cause. */
        const bool may_wait_for_room = s->claims->has_sent && s->is_stalled;
        if (l2_claims_wait(s->claims) || may_wait_for_room) wake_at(&s->wake, next);
        wake_at(&s->wake, MAX(next, l2_other_ready(s->claims)));
    }
    s->act_at = s->wake;
    l2_wake_to_enter(s, now);
}

bool l2_sleeps(const struct l2_slice *s, tick now)
{
    if ((now >= s->act_at) | ((s->has_fills != 0) & (s->fill_ready == TICK_NEVER))) return false;
    /* Room that comes in this tick can be used in the next one, so the links are asked about that time. */
    if (s->awaits_reply && l2_out_has_room(s, now + 1)) return false;
    return !s->awaits_dram || link_is_full(s->to_dram, now + 1, 1);
}

void l2_sleep_on(struct l2_slice *s, tick now)
{
    if (!s->is_stalled) wake_at(&s->act_at, s->head_ready);
    if (UNLIKELY(l2_has_claims(s))) wake_at(&s->act_at, l2_other_ready(s->claims));
    s->wake = s->act_at;
    l2_wake_to_enter(s, now);
}
