/* ahead.c: an SM runs cycles before the other SMs have come to them.
 *
 * The other components influence an SM's cycle in few ways: by a reply or room in its link to the crossbar,
 * by a load of memory that they may have written, by a CTA that the dispatcher gives it. Until the next such
 * moment it runs on, cycle after cycle, while its state is in the host's cache; core/ahead_window.h says how
 * far. No simulated result changes. (1) No reply comes before the crossbar's next edge and the latency from
 * there (xbar_reply_floor); before that edge only the SM uses its links. From the edge on it may neither send
 * nor take anything: the crossbar runs first. (2) An instruction with UOP_SEES is not issued: the SM stops in
 * the middle of the cycle, before the schedulers, and goes on from there in the step of that cycle. (3) The
 * SM stops when it keeps effects for the end of a step (stores, CTAs that ended); the step of that cycle
 * handles them. (4) While the SM has a warp, its kernel cannot end; the dispatcher starts CTAs on SMs where
 * others have ended, so not on this SM. (5) A mechanism may let more CTAs in while the SM is ahead: the SM
 * then stops by (2) or (3), and has no room for them until the others have come to that cycle (sm_fits). */
#include "core/sm/sm_ahead.h"

#include "core/sm/sm_impl.h"
#include "mem/sm_port_sleep.h"
#include "mem/xbar_ahead.h"

/* May the SM have its next cycle now? *next: the time of that cycle. Before the crossbar's edge this touches
 * only the SM's first line. */
static inline bool may_go_on(const struct sm *m, const struct sm_window *w, const struct req_pool *pool,
                             tick *next)
{
    const tick wake = *m->sleep.wake, soon = m->sleep.now + m->clock.period;
    if (MAX(wake, soon) >= w->end || !m->sleep.has_warps || pool->spare < w->requests_max) return false;
    *next = wake <= soon ? soon : clock_edge(&m->clock, wake);
    if (*next >= w->end) return false;
    if (*next < w->edge) return true;
    if (sm_port_may_move(m->port)) return false;
    return !m->port->out || *next < xbar_reply_floor(w->xbar, m->setup.index, w->edge);
}

/* Each access of the L1 may cost a write-back in addition, and so may a fill and a step of a flush. Misses
 * that a mechanism has delayed go on together, as many as the miss queue takes. Each small cache sends one
 * request, and so does the transfer engine; a part (sm_port_lines.c) adds one. A smaller pool would be
 * refilled too often, so the result is at least 16. */
uint32_t sm_requests_max(const struct sm *m)
{
    enum { FILL_AND_FLUSH = 2, TRANSFER = 1, PART = 1, LEAST = 16 };
    const struct l1_params *l1 = m->setup.l1;
    const uint32_t delayed = m->mech->has_take_miss ? l1->miss_queue : 0;
    const uint32_t sent =
        2 * MIN(m->p->lsu_ports, l1->ports) + delayed + FILL_AND_FLUSH + RO_COUNT + TRANSFER + PART;
    return MAX(sent, (uint32_t)LEAST);
}

bool sm_may_run_ahead(const struct sm *m) { return m->scheduler.issue_width == 1; }

void sm_run_ahead(struct sm *m, const struct sm_window *w, const struct req_pool *pool,
                  struct event_flag *pending)
{
    tick next;
    if (event_flag_is_set(pending) || !may_go_on(m, w, pool, &next)) return;
    m->sleep.ahead = AHEAD_RUNS;
    do {
        sm_cycle(m, next);
        if (!event_flag_is_set(pending)) continue;
        event_flag_clear(pending);
        *m->sleep.wake = m->sleep.now;
        m->sleep.ahead |= AHEAD_EVENTS;
    } while (m->sleep.ahead == AHEAD_RUNS && may_go_on(m, w, pool, &next));
    m->sleep.ahead &= (uint8_t)~AHEAD_RUNS;
}

bool sleep_pauses(struct sm *m)
{
    if (m->sleep.ahead != AHEAD_RUNS || !sched_may_see(m)) return false;
    m->sleep.ahead |= AHEAD_PAUSED;
    *m->sleep.wake = m->sleep.now;
    return true;
}

void sleep_cycle_again(struct sm *m, tick now)
{
    if (m->sleep.now > now) return; /* statistics of a run that ended early */
    const uint8_t was = m->sleep.ahead;
    m->sleep.ahead = 0;
    if (was & AHEAD_EVENTS && m->setup.pending) event_flag_set(m->setup.pending);
    *m->sleep.wake = TICK_NEVER;
    if (was & AHEAD_PAUSED)
        sm_end_cycle(m);
    else
        *m->sleep.wake = clock_after(&m->clock, now, 1);
}

bool sm_awaits_step(const struct sm *m) { return m->sleep.ahead != 0; }
