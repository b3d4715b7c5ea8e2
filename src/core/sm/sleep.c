/* sleep.c: when an SM need not tick. See sleep.h.
 *
 * (1) A tick in which nothing changed leaves a state that only time (a unit, a result, the L1) can change:
 * until then the SM sleeps, and the slept cycles have the causes of the newest cycle (account.c). (2) When
 * only the L1 is awake, to send what it has queued or to answer a part of a load, only its part of the tick
 * runs. (3) Cycles in which the L1 will refuse the head of the load-store unit, and cycles with hits that end
 * no load, are skipped: their outcome is known in advance (lsu_sleep.c). --no-skip ticks every cycle and must
 * give the same result. */
#include "core/sm/sm_impl.h"

void sleep_init(struct sm *m, tick *wake, bool has_ring)
{
    m->sleep.has_ring = has_ring;
    m->sleep.wake = wake ? wake : &m->sleep_cold.wake;
    *m->sleep.wake = TICK_NEVER;
}

bool sleep_begin(struct sm *m, tick now)
{
    struct sleep *s = &m->sleep;
    if (UNLIKELY(s->now >= now && s->has_ticked)) {
        sleep_cycle_again(m, now);
        return true;
    }
    *s->wake = TICK_NEVER;
    const bool is_next = now == s->now + m->clock.period;
    if (!is_next | m->lsu.sleep.rests) lsu_catch_up(m, now);
    s->cycle += is_next ? 1 : clock_cycles(&m->clock, now - s->now);
    s->now = now;
    s->has_ticked = true;
    if (s->changed) {
        s->must_look = true;
        s->changed = false;
    }
    return false;
}

/* Timers count only while the SM has warps. */
static COLD uint64_t alarm_ahead(const struct sm *m)
{
    const uint64_t own = MIN(warps_awake_at(m), m->swaps.due);
    return MIN(m->state.warp_count ? m->scheduler.timer : UINT64_MAX, own);
}

/* Everything else in the collectors waits behind these, or for memory. */
static bool is_unit_awaited(const struct sm *m)
{
    return m->sched.awaits_unit || m->collector.leaving & ~(1u << CLASS_MEM);
}

/* When something other than the L1 moves again, after a cycle in which nothing did. */
static tick next_own(const struct sm *m)
{
    uint64_t next = m->pipes.next;
    if (is_unit_awaited(m)) next = MIN(next, pipes_next_free(&m->pipes, m->sleep.cycle));
    if (UNLIKELY(m->alarm < next)) next = MIN(next, alarm_ahead(m));
    return next == UINT64_MAX ? TICK_NEVER : next * m->clock.period;
}

NOINLINE static void fall_asleep(struct sm *m)
{
    struct sleep *s = &m->sleep;
    if (UNLIKELY(s->votes_changed)) sched_hear_votes(m); /* the next timer may be one of theirs */
    s->next_own = next_own(m);
    wake_at(s->wake, s->next_own);
    wake_at(s->wake, lsu_wake(m));
}

void sleep_end(struct sm *m)
{
    struct sleep *s = &m->sleep;
    /* schedulers and fetch have done what they could, and said so */
    s->is_busy = m->exec.moved || s->changed || m->misses.unsent || lsu_is_busy(m);
    if (s->is_busy)
        wake_at(s->wake, clock_after(&m->clock, s->now, 1)); /* no part can want an earlier cycle */
    else
        fall_asleep(m);
}

static bool is_l1_alone(struct sm *m)
{
    struct sleep *s = &m->sleep;
    if (s->is_awake | m->prefetches.has_work | m->lsu.has_transfer) return false;
    if (s->next_own <= s->now || m->lsu.writeback_head != SM_NONE || (s->has_reply && m->board.awaits_writes))
        return false;
    return lsu_is_unchanged(m);
}

bool sleep_is_l1_alone(struct sm *m)
{
    if (!is_l1_alone(m)) return false;
    wake_at(m->sleep.wake, m->sleep.next_own);
    wake_at(m->sleep.wake, lsu_wake(m));
    return true;
}

void sleep_disturb(struct sm *m)
{
    m->sleep.must_look = true;
    m->sleep.is_busy = true;
}

uint64_t sleep_cycles_done(const struct sm *m) { return m->sleep.cycle + !(m->sleep.ahead & AHEAD_PAUSED); }
