/* sm.c: one streaming multiprocessor: its life and its cycle. sm_impl.h lists its parts.
 *
 * The machine that the papers take for granted is GPGPU-Sim's shader core. A cycle runs its stages last to
 * first, so that what a stage hands on is seen by the next one in the following cycle. (1) A second tick in
 * the same cycle does nothing. (2) A CTA that is started in a cycle takes part from the next one on. */
#include "core/sm/sm_impl.h"

#include "base/hugepage.h"
#include "mem/smring.h"

/* ---- life ---- */

struct sm *sm_create(const struct sm_setup *s)
{
    struct sm *m = mem_zalloc_huge(sizeof *m);
    m->setup = *s;
    m->p = s->params;
    m->clock = *s->clock;
    m->line_bytes = s->l1->line;
    sleep_init(m, s->wake, s->ring != NULL);
    residency_init(m);
    sm_mech_create(m);
    swap_init(m);
    m->port = sm_port_create(&(struct sm_port_setup){.to_xbar = s->to_xbar,
                                                     .from_xbar = s->from_xbar,
                                                     .clock = &m->clock,
                                                     .pool = s->pool,
                                                     .queue = s->l1->miss_queue,
                                                     .reply_step = s->l1->reply_step,
                                                     .line_bytes = s->machine->l2.line});
    m->l1 = l1_create(&(struct l1_setup){.params = s->l1,
                                         .sm = s->index,
                                         .clock = &m->clock,
                                         .pool = s->pool,
                                         .port = m->port,
                                         .extra_lines = sm_mech_extra_lines(m)});
    residency_see_l1(m);
    fetch_init(m, m->p);
    sched_init(m, m->p, m->state.bank_count);
    execute_init(m, m->p);
    lsu_init(m, m->p);
    prefetch_init(m, m->p);
    readonly_init(m, m->p);
    transfer_init(m);
    sm_mech_connect(m);
    sched_hear_votes(m);
    return m;
}

void sm_destroy(struct sm *m)
{
    if (!m) return;
    sm_abandon(m);
    sm_mech_free(m);
    l1_destroy(m->l1);
    readonly_free(m);
    sm_port_destroy(m->port);
    transfer_free(m);
    prefetch_free(m);
    lsu_free(m);
    execute_free(m);
    swap_free(m);
    residency_free(m);
    mem_free_huge(m);
}

/* ---- a cycle ---- */

static COLD void ring_alarm(struct sm *m)
{
    warps_awake(m);
    if (m->scheduler.timer <= m->sleep.cycle && m->state.warp_count) {
        mech_on_timer(m->mech, m->sleep.cycle);
        sleep_changed(&m->sleep);
    }
    if (m->swaps.is_on) swap_cycle(m);
}

/* Calls the mechanism for a message of the ring before the L1 and the load-store unit run the cycle: a port
 * of the L1 that it takes (l1_read) is then missing to the load-store unit. An SM that sees a message runs in
 * that cycle (units_ring.c). */
static COLD void look_at_ring(struct sm *m)
{
    if (smring_next(m->setup.ring, m->setup.index) <= m->sleep.now) mech_on_ring(m->mech, m->sleep.cycle);
}

/* Does a warp that has ended wait for acknowledgements? */
NOINLINE static bool has_ended_warp(const struct sm *m)
{
    bool has = false;
    for (uint32_t i = 0; i < m->state.bank_count; i++) has |= m->banks[i].warp.done != 0;
    return has;
}

/* Could the schedulers find another result than when they looked last? Without collectors, that a unit
 * becomes free is enough. */
static inline bool must_look(const struct sm *m)
{
    if (sleep_has_look(&m->sleep) || !m->exec.has_collector) return true;
    return m->sleep.has_reply && m->board.awaits_writes && has_ended_warp(m);
}

static inline __attribute__((always_inline)) void end_cycle(struct sm *m, bool look)
{
    if (look) sched_issue(m);
    if (m->fetching.count) fetch_decode(m);
    if (m->fetching.wants) fetch_cycle(m);
    sleep_end(m);
}

COLD void sm_end_cycle(struct sm *m) { end_cycle(m, must_look(m)); }

/* Takes a reply for the L1 or a small cache and sends a request; the L1's own steps lie between. */
static inline void move_port(struct sm *m, tick now)
{
    l1_begin_tick(m->l1, now);
    sm_port_receive(m->port, now);
    const bool has_work = l1_take_own(m->l1, now);
    if (m->port->to_send) sm_port_forward(m->port, now);
    if (UNLIKELY(has_work)) l1_tick(m->l1, now);
    sleep_reply(&m->sleep, l1_has_acknowledged(m->l1));
}

HOT void sm_cycle(struct sm *m, tick now)
{
    if (sleep_begin(m, now)) return;
    execute_begin(&m->exec);
    if (UNLIKELY(m->sleep.has_ring)) look_at_ring(m);
    move_port(m, now);
    if (lsu_has_replies(m)) lsu_replies(m);
    if (sleep_is_l1_alone(m)) return;
    execute_writeback(m);
    if (m->sleep.has_reply && m->board.awaits_writes) board_acknowledged(m);
    if (UNLIKELY(m->sleep.votes_changed)) sched_hear_votes(m);
    if (UNLIKELY(m->alarm <= m->sleep.cycle)) ring_alarm(m);
    if (lsu_has_work(m)) lsu_cycle(m);
    if (UNLIKELY(m->misses.unsent)) readonly_send(m);
    if (m->exec.collects || (m->exec.awaits_queue && !lsu_is_full(&m->lsu))) execute_cycle(m);
    const bool look = must_look(m);
    if (look && sleep_pauses(m)) return;
    end_cycle(m, look);
}

void sm_tick(struct sm *m, tick now)
{
    sm_cycle(m, now);
    account_slots(m, sleep_cycles_done(m));
    sm_end_ctas(m);
}

/* ---- what others ask for ---- */

tick *sm_wake(struct sm *m) { return m->sleep.wake; }

tick sm_heard(struct sm *m)
{
    sleep_wake_at(&m->sleep, sm_port_reply_at(m->port));
    return *m->sleep.wake;
}

struct sm_traffic sm_traffic(const struct sm *m)
{
    return (struct sm_traffic){.sectors_asked = m->port->sectors_asked,
                               .sectors_got = m->port->sectors_got,
                               .bytes_sent = m->port->bytes_sent};
}

uint64_t sm_prefetches_open(const struct sm *m) { return m->prefetches.count + l1_prefetches_open(m->l1); }

bool sm_idle(const struct sm *m)
{
    return !m->residency.cta_count && lsu_idle(m) && !m->prefetches.count && readonly_idle(m) &&
           transfer_idle(m) && l1_idle(m->l1);
}

void sm_settle(struct sm *m, tick now)
{
    if (now % m->clock.period == 0)
        sm_tick(m, now); /* the same whether the SM has run in this cycle, has not, or sleeps */
    else
        account_slots(m, now / m->clock.period + 1);
    lsu_settle(m, clock_edge(&m->clock, now));
}

void sm_launch(struct sm *m, tick now, const struct sm_launch_info *info)
{
    sm_mech_disturb(m, now);
    residency_launch(m);
    if (!m->mech->has_launch) return;
    struct mech_launch e = {.cycle = sm_mech_now(m) / m->clock.period,
                            .kernel = info->name,
                            .launch = info->launch,
                            .registers = info->registers,
                            .shared_bytes = (uint32_t)info->shared_bytes,
                            .ctas_fit = info->ctas_per_sm,
                            .is_cooperative = info->cooperative};
    memcpy(e.grid, info->grid, sizeof e.grid);
    memcpy(e.block, info->block, sizeof e.block);
    mech_on_launch(m->mech, &e);
    sleep_disturb(m);
    sleep_wake_at(&m->sleep, clock_after(&m->clock, now, 1));
}

void sm_kernel_end(struct sm *m, tick now)
{
    sm_mech_disturb(m, now);
    prefetch_clear(m);
    sleep_disturb(m);
    residency_kernel_end(m);
    if (!m->setup.l1->flush) {
        l1_kernel_end(m->l1);
        return;
    }
    l1_flush(m->l1, now);
    readonly_flush(m);
    sleep_wake_at(&m->sleep, now); /* the flush begins in this cycle, whether the SM was awake or not */
}

void sm_change_role(struct sm *m, tick now, const struct l1_params *l1)
{
    assert(sm_idle(m));
    l1_change_role(m->l1, now, l1);
    m->setup.l1 = l1;
    sm_kernel_end(m, now);
}

static struct sm_stats *sum_sm(struct sm *m)
{
    m->sum.sm = m->stats;
    programs_add_sm(m, &m->sum.sm);
    return &m->sum.sm;
}

static struct l1_stats *sum_l1(struct sm *m)
{
    const struct l1_stats *l1 = l1_stats(m->l1);
    m->sum.l1 = *l1;
    programs_add_l1(m, &m->sum.l1);
    l1_stats_derive(&m->sum.l1);
    return &m->sum.l1;
}

struct sm_own *sm_sum(struct sm *m)
{
    sum_sm(m);
    sum_l1(m);
    return &m->sum;
}

void *sm_stats(struct sm *m)
{
    account_occupancy(m, m->sleep.has_ticked ? sleep_cycles_done(m) : 0);
    lsu_count(m);
    m->stats.collector_conflict_cycles = m->collector.conflict_cycles;
    return sum_sm(m);
}
void *sm_l1_stats(struct sm *m) { return sum_l1(m); }
