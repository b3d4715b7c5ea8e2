/* sm.c: one streaming multiprocessor: its life and its cycle.
 *
 * The machine that the papers take for granted is GPGPU-Sim's shader core: fetch.c (instruction cache,
 * i-buffers), sm_warp.c (scoreboard), issue.c (schedulers, collector.c, pipes.c), lsu.c (load-store unit,
 * rocache.c), the L1 (mem/l1.h), residency.c (CTAs), account.c.
 *
 * A cycle runs its stages last to first, so that what a stage hands on is seen by the next one in the
 * following cycle. (1) A tick in which nothing changed leaves a state that only time (a unit, a result, the
 * L1) can change: until then the SM sleeps, and the cycles slept have the causes of the newest one. Where the
 * L1 alone is awake, to send what it has queued or to answer a part of a load, only its part of the tick is done.  (2) A
 * second tick in the same cycle does nothing.  (3) A CTA that is started in a cycle takes part from the next
 * one on. */
#include "core/sm_impl.h"

#include "base/home.h"

/* ---- life ---- */

static void create_pools(struct sm *m)
{
    const struct sm_params *p = m->p;
    uint32_t before = m->collector.unit_count +
                      2 * p->mem_width * LATCH_MAX; /* memory instructions before the queue, at most */
    uint32_t flights = pipes_capacity(p) + m->collector.unit_count + 2 * LATCH_MAX * CLASS_COUNT;
    uint32_t accesses = p->lsu_queue + MIN(before, 32u);
    uint32_t atomics = MAX(p->lsu_pending, 64u);
    pipes_init(&m->pipes, p, flights, p->lsu_pending);
    m->flights = mem_zalloc_home(flights * sizeof *m->flights);
    m->accesses = mem_zalloc_home(accesses * sizeof *m->accesses);
    m->pendings = mem_zalloc_home(p->lsu_pending * sizeof *m->pendings);
    m->atomics = mem_zalloc_home(atomics * sizeof *m->atomics);
    m->queue = mem_zalloc_home(p->lsu_queue * sizeof *m->queue);
    m->prefetches = mem_zalloc_home(p->prefetch_queue * sizeof *m->prefetches);
#define CHAIN(pool, count)                                                                                   \
    for (uint32_t i = 0; i < (count); i++) m->pool[i].next = i + 1 < (count) ? i + 1 : SM_NONE
    CHAIN(flights, flights);
    CHAIN(accesses, accesses);
    CHAIN(pendings, p->lsu_pending);
    CHAIN(atomics, atomics);
#undef CHAIN
    m->writeback_head = SM_NONE;
}

static void create_caches(struct sm *m)
{
    const struct sm_params *p = m->p;
    m->port = sm_port_create(&(struct sm_port_setup){.to_xbar = m->setup.to_xbar,
                                                     .from_xbar = m->setup.from_xbar,
                                                     .clock = &m->clock,
                                                     .pool = m->setup.pool,
                                                     .queue = m->setup.l1->miss_queue,
                                                     .reply_step = m->setup.l1->reply_step});
    const struct rocache_setup caches[RO_COUNT] = {
        [RO_INST] = {p->icache_bytes, p->icache_ways, p->icache_line, p->icache_mshrs, p->icache_merges,
                     .cls = REQ_INST, .client = SM_PORT_INST, .on_fill = sm_fetch_filled},
        [RO_CONST] = {p->const_bytes, p->const_ways, p->const_line, p->const_mshrs, p->const_merges,
                      .cls = REQ_CONST, .client = SM_PORT_CONST, .on_fill = lsu_filled},
        [RO_TEX] = {p->tex_bytes, p->tex_ways, p->tex_line, p->tex_mshrs, p->tex_merges,
                    .cls = REQ_TEX, .client = SM_PORT_TEX, .on_fill = lsu_filled}};
    for (int i = 0; i < RO_COUNT; i++) {
        struct rocache_setup s = caches[i];
        s.request_line_bytes = m->line_bytes;
        s.sm = m->setup.index;
        s.pool = m->setup.pool;
        s.port = m->port;
        s.ctx = m;
        rocache_init(&m->ro[i], &s);
    }
    m->l1 = l1_create(&(struct l1_setup){.params = m->setup.l1,
                                         .sm = m->setup.index,
                                         .clock = &m->clock,
                                         .pool = m->setup.pool,
                                         .port = m->port,
                                         .sm_wake = m->wake});
    bool readable = split_read(p, &m->sizes);
    assert(readable); /* split_check */
    (void)readable;
    m->shared_size = m->sizes.count ? 0 : m->setup.machine->sm_shared_bytes; /* 0: until a kernel comes */
    m->l1_size = l1_capacity(m->l1);
    m->sleeps_past_hits =
        !m->setup.l1->perfect && !m->setup.l1->tag_latency && m->replies >= m->setup.l1->ports;
}

/* Parameters that stages read often. */
static void copy_params(struct sm *m, const struct sm_params *p)
{
    m->p = p;
    m->queue_max = (uint16_t)p->lsu_queue;
    m->untaken_max = p->lsu_requests ? p->lsu_requests : UINT32_MAX;
    m->ports = (uint8_t)p->lsu_ports;
    m->replies = (uint8_t)p->lsu_replies;
    m->writebacks = (uint8_t)p->lsu_writebacks;
    m->schedulers = (uint8_t)p->schedulers;
    m->issue_width = (uint8_t)p->issue_width;
    m->has_collector = p->operand_collector;
    m->forwards = p->forwarding;
    m->turns_by_cycle = p->turns_by_cycle;
    m->fetches_past_branch = p->fetch_past_branch;
}

struct sm *sm_create(const struct sm_setup *s)
{
    struct sm *m = mem_zalloc_home(sizeof *m);
    m->setup = *s;
    copy_params(m, s->params);
    m->clock = *s->clock;
    m->line_bytes = s->l1->line;
    m->seen.line_shift = (uint32_t)__builtin_ctz(m->line_bytes);
    m->warp_slots = MIN(s->machine->sm_warps, (uint32_t)SM_WARPS_MAX);
    m->cta_slots = s->machine->sm_ctas;
    m->wake = s->wake ? s->wake : &m->own_wake;
    *m->wake = TICK_NEVER;
    m->ctas = mem_zalloc_home(m->cta_slots * sizeof *m->ctas);
    m->finished = mem_zalloc_home((m->cta_slots + 63) / 64 * sizeof *m->finished);
    for (uint32_t i = 0; i < m->schedulers; i++) {
        m->last[i] = MECH_NO_WARP;
        m->cause[i] = SLOT_IDLE;
        for (uint32_t w = i; w < SM_WARPS_MAX; w += m->schedulers) m->slots_of[i] |= bit(w);
    }
    collector_init(&m->collector, m->p);
    create_pools(m);
    create_caches(m);
    sm_mech_connect(m);
    sm_hear_votes(m);
    return m;
}

void sm_destroy(struct sm *m)
{
    if (!m) return;
    sm_abandon(m);
    mech_sm_destroy(m->mech);
    l1_destroy(m->l1);
    for (int i = 0; i < RO_COUNT; i++) rocache_free(&m->ro[i]);
    sm_port_destroy(m->port);
    pipes_free(&m->pipes);
    sm_programs_free(m);
    mem_free_home(m->flights);
    mem_free_home(m->accesses);
    mem_free_home(m->pendings);
    mem_free_home(m->atomics);
    mem_free_home(m->queue);
    mem_free_home(m->prefetches);
    mem_free_home(m->ctas);
    mem_free_home(m->finished);
    mem_free_home(m);
}

/* ---- a cycle ---- */

void sm_set_alarm(struct sm *m)
{
    m->alarm = m->asleep ? MIN(m->sleep_next, m->votes.timer) : m->votes.timer;
}

void sm_hear_votes(struct sm *m)
{
    m->votes.timer = m->mech->next_timer;
    m->votes.issue = m->mech->issue_mask;
    m->votes.memory = m->mech->memory_mask;
    sm_set_alarm(m);
}

static COLD void ring_alarm(struct sm *m)
{
    if (m->asleep) sm_warps_awake(m);
    if (m->votes.timer > m->cycle || !m->warp_count) return;
    mech_on_timer(m->mech, m->cycle);
    m->changed = true;
}

/* Timers wait for warps. */
static COLD uint64_t alarm_ahead(const struct sm *m)
{
    uint64_t next = m->warp_count ? m->votes.timer : UINT64_MAX;
    return m->asleep ? MIN(next, m->sleep_next) : next;
}

static bool is_unit_awaited(const struct sm *m)
{
    return m->awaits_unit ||
           m->collector.leaving &
               ~(1u << CLASS_MEM); /* all else in the collectors waits behind these, or for memory */
}

static tick tick_of(const struct sm *m, uint64_t cycle)
{
    return cycle == UINT64_MAX ? TICK_NEVER : cycle * m->clock.period;
}

/* When something other than the L1 moves again, after a cycle in which nothing did. */
static tick find_next_own(struct sm *m)
{
    uint64_t next = m->pipes.next;
    if (is_unit_awaited(m)) next = MIN(next, pipes_next_free(&m->pipes, m->cycle));
    if (UNLIKELY(m->mech_news)) sm_hear_votes(m);
    if (UNLIKELY(m->alarm < next)) next = MIN(next, alarm_ahead(m));
    return tick_of(m, next);
}

static void set_wake(struct sm *m)
{
    m->is_busy = m->moved || m->changed ||
                 lsu_busy(m); /* schedulers and fetch have done what they could, and said so */
    if (m->is_busy) {
        wake_at(m->wake, clock_after(&m->clock, m->now, 1)); /* nothing can want an earlier cycle */
        return;
    }
    m->next_own = find_next_own(m);
    wake_at(m->wake, m->next_own);
    wake_at(m->wake, lsu_wake(m));
}

/* True: this cycle is like the last one but for the L1's way out and for answers that ended no load: these have had their turn, and no
 * other stage has to be looked at. */
static bool is_l1_alone(struct sm *m)
{
    if (m->is_awake | m->prefetch_count) return false;
    if (m->next_own <= m->now || m->writeback_head != SM_NONE || (m->has_reply && m->awaits_writes))
        return false;
    if (!m->blocked) return true;
    return m->blocked = l1_still_refuses(m->l1, m->now);
}

void sm_end_cycle(struct sm *m)
{
    sm_issue(m);
    if (m->fetched_count) sm_decode(m);
    if (m->wants_fetch) sm_fetch(m);
    set_wake(m);
}

void sm_cycle(struct sm *m, tick now)
{
    if (UNLIKELY(m->now >= now && m->has_ticked)) {
        sm_cycle_again(m, now);
        return;
    }
    *m->wake = TICK_NEVER;
    if (now != m->now + m->clock.period) lsu_catch_up(m, now);
    m->cycle += now == m->now + m->clock.period ? 1 : clock_cycles(&m->clock, now - m->now);
    m->now = now;
    m->has_ticked = true;
    if (m->changed) {
        m->must_look = true;
        m->changed = false;
    }
    m->moved = false;
    m->has_reply = l1_tick(m->l1, now);
    lsu_replies(m);
    if (is_l1_alone(m)) {
        wake_at(m->wake, m->next_own);
        wake_at(m->wake, lsu_wake(m));
        return;
    }
    sm_writeback(m);
    if (m->has_reply && m->awaits_writes) sm_warps_acknowledged(m);
    if (UNLIKELY(m->mech_news)) sm_hear_votes(m);
    if (UNLIKELY(m->alarm <= m->cycle)) ring_alarm(m);
    lsu_cycle(m);
    if (m->collects || (m->awaits_queue && !lsu_is_full(m))) sm_execute(m);
    if (m->ahead == AHEAD_RUNS && sm_may_see(m)) {
        m->ahead |= AHEAD_PAUSED;
        *m->wake = now;
        return;
    }
    sm_end_cycle(m);
}

/* One that has not come to the schedulers is not done. */
static uint64_t cycles_done(const struct sm *m) { return m->cycle + !(m->ahead & AHEAD_PAUSED); }

void sm_tick(struct sm *m, tick now)
{
    sm_cycle(m, now);
    account_slots(m, cycles_done(m));
    sm_end_ctas(m);
}

/* ---- what others ask for ---- */

tick *sm_wake(struct sm *m) { return m->wake; }

tick sm_heard(struct sm *m)
{
    wake_at(m->wake, l1_reply_at(m->l1));
    return *m->wake;
}

bool sm_idle(const struct sm *m)
{
    for (int i = 0; i < RO_COUNT; i++)
        if (m->ro[i].live) return false;
    return !m->cta_count && !m->pending_live && !m->access_live && !m->prefetch_count && l1_idle(m->l1);
}

bool sm_faulted(const struct sm *m) { return m->faulted; }

void sm_settle(struct sm *m, tick now)
{
    if (now % m->clock.period == 0)
        sm_tick(m, now); /* so that it does not matter whether the SM has run in this cycle yet, or sleeps */
    else
        account_slots(m, now / m->clock.period + 1);
    l1_settle(m->l1, clock_edge(&m->clock, now));
}

void sm_kernel_end(struct sm *m, tick now)
{
    m->prefetch_count = 0;
    m->is_busy = true;
    sm_programs_end(m);
    if (m->in_kernel) mech_on_kernel(m->mech, false);
    m->in_kernel = false;
    if (!m->setup.l1->flush) return;
    l1_flush(m->l1, now);
    for (int i = 0; i < RO_COUNT; i++)
        if (!m->ro[i].live) rocache_clear(&m->ro[i]);
    wake_at(m->wake, now); /* the flush begins in this cycle, whether the SM was awake or not */
}

void *sm_stats(struct sm *m)
{
    account_occupancy(m, m->has_ticked ? cycles_done(m) : 0);
    lsu_count(m);
    m->stats.collector_conflict_cycles = m->collector.conflict_cycles;
    return &m->stats;
}
void *sm_l1_stats(struct sm *m) { return l1_stats(m->l1); }
bool sm_sleeps(const struct sm *m) { return m->asleep != 0; }
uint32_t sm_ctas(const struct sm *m) { return m->cta_count; }
uint64_t sm_registers_used(const struct sm *m) { return m->registers; }
