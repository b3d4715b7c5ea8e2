/* lsu_sleep.c: see lsu_sleep.h.
 *
 * (1) Hits that end no load may be taken late, when the SM wakes for something else: their loads still wait
 * for other answers. (2) A head that the L1 refuses is refused until the L1 says that something has changed;
 * where the L1 can tell beforehand that it will refuse the head, even the first refusal need not be run. (3)
 * The SM may sleep while all loads of the re-execution queue whose turns come would be refused. How often
 * each was refused, and which one is next, is computed when the SM wakes or when statistics are read. */
#include "core/sm/sm_impl.h"

void lsu_sleep_init(struct sm *m)
{
    const struct l1_params *l1 = m->setup.l1;
    m->lsu.sleep.past_hits =
        !l1->perfect && !l1->tag_latency && !m->mech->has_extra_hit && m->lsu.replies >= l1->ports;
}

/* ---- the re-execution queue ---- */

/* Why a load of the queue would be refused, in this cycle or the next ones; L1_HIT: it is to be offered. */
static enum l1_answer foresee(struct sm *m, struct lsu_reexec_entry *e)
{
    const struct lsu_access *a = &m->memory.accesses[e->access];
    struct l1_absence *absence = &e->foreseen.absence;
    if (a->ask.cls != REQ_GLOBAL && a->ask.cls != REQ_LOCAL) return L1_HIT;
    const enum mech_hold hold = mech_holds(m->mech, context_at(&m->state, a->ask.warp)->last_slot);
    if (hold == MECH_HOLD_UNKNOWN) return L1_HIT;
    struct l1_txn t;
    if (hold == MECH_HOLD_YES) {
        const enum l1_answer cause = l1_foresee_held(m->l1, a->txns[a->done].line, absence);
        if (cause != L1_HIT) return cause;
    }
    lsu_next_transaction(a, &t);
    return l1_foresee(m->l1, &t, hold == MECH_HOLD_YES, absence);
}

bool lsu_reexec_is_held(struct sm *m, struct lsu_reexec_entry *e)
{
    struct l1_txn t;
    if (foresee(m, e) != L1_STALL_HELD) return false;
    lsu_next_transaction(&m->memory.accesses[e->access], &t);
    if (!l1_refuse_held(m->l1, m->sleep.now, &t)) return false;
    m->lsu.sleep.blocked = false;
    mech_on_held(m->mech, 1);
    return true;
}

/* In the next cycle, will nothing but the re-execution queue offer an access to the L1? */
static bool is_alone(const struct sm *m)
{
    if (m->prefetches.has_work || m->lsu.has_transfer || m->sleep.has_ring) return false;
    const bool is_exclusive = !m->lsu.queue_count || m->lsu.ports == 1 || lsu_reexec_is_full(m);
    return is_exclusive && lsu_reexec_is_next(m) && l1_has_refused(m->l1, m->sleep.now);
}

/* Predicts the answers to the next loads in turn, at most twice as many as the last sleep had cycles, since
 * longer sleeps are rare. */
COLD bool lsu_reexec_may_rest(struct sm *m)
{
    struct lsu_reexec *q = &m->reexec;
    uint32_t foreseen = 0;
    if (!is_alone(m)) return false;
    for (const uint32_t most = MIN(lsu_reexec_count(q), 2 * q->rest.slept + 1); foreseen < most; foreseen++) {
        struct lsu_reexec_entry *e = lsu_reexec_at(q, foreseen);
        e->foreseen.cause = (uint8_t)foresee(m, e);
        if (e->foreseen.cause == L1_HIT) break;
    }
    q->rest.slept = 0;
    if (!foreseen) return false;
    q->rest.accounted = clock_after(&m->clock, m->sleep.now, 1);
    q->rest.until =
        foreseen == lsu_reexec_count(q) ? TICK_NEVER : clock_after(&m->clock, m->sleep.now, foreseen + 1);
    l1_rest(m->l1);
    return m->lsu.sleep.rests = true;
}

/* Charges the refusals of the loads of the queue up to this cycle. */
COLD static void settle_rest(struct sm *m, tick until)
{
    struct lsu_reexec *q = &m->reexec;
    const uint32_t count = lsu_reexec_count(q);
    if (until <= q->rest.accounted || !count) return;
    const uint64_t cycles = clock_cycles(&m->clock, until - q->rest.accounted);
    const uint32_t more = (uint32_t)(cycles % count);
    uint64_t held = 0;
    for (uint32_t i = 0; i < more; i++) lsu_reexec_to_tail(q);
    /* the one at the tail was the last to be refused */
    for (uint32_t i = cycles < count ? count - more : 0; i < count; i++) {
        const struct lsu_reexec_entry *e = lsu_reexec_at(q, i);
        const enum l1_answer cause = (enum l1_answer)e->foreseen.cause;
        const uint64_t offers = cycles / count + (i >= count - more);
        struct l1_txn t;
        lsu_next_transaction(&m->memory.accesses[e->access], &t);
        l1_charge_foreseen(m->l1, cause, &t, offers);
        if (e->foreseen.absence.is_known) l1_keep_vote(m->l1, &t, cause != L1_STALL_HELD);
        if (cause == L1_STALL_HELD) held += offers;
    }
    if (held) mech_on_held(m->mech, held);
    q->rest.slept += (uint32_t)MIN(cycles, q->queue.ring.capacity);
    q->rest.accounted = until;
}

/* ---- the queue ---- */

bool lsu_is_refusal_ahead(struct sm *m)
{
    const struct lsu_access *a = &m->memory.accesses[m->memory.head];
    if (a->passes || a->done == a->count || a->ro != RO_COUNT || a->ask.kind != REQ_READ) return false;
    if (m->lsu.reexecutes) return false;
    struct l1_txn t;
    lsu_next_transaction(a, &t);
    return l1_refuses_ahead(m->l1, m->sleep.now, &t);
}

bool lsu_is_unchanged(struct sm *m)
{
    if (!m->lsu.sleep.blocked) return !m->lsu.has_reexec;
    return m->lsu.sleep.blocked = l1_still_refuses(m->l1, m->sleep.now);
}

void lsu_settle(struct sm *m, tick until)
{
    if (m->lsu.sleep.rests) settle_rest(m, until);
    l1_settle(m->l1, until);
}

void lsu_catch_up(struct sm *m, tick now)
{
    if (UNLIKELY(m->lsu.sleep.rests)) {
        settle_rest(m, now);
        m->lsu.sleep.rests = false;
    }
    if (!m->lsu.sleep.past_hits) return;
    for (uint32_t t; l1_missed_hit(m->l1, now, &t);) lsu_hit_done(m, t & TOKEN_MASK);
}

tick lsu_wake(const struct sm *m)
{
    const struct lsu_sleep *s = &m->lsu.sleep;
    const tick wake = s->past_hits && !s->only_hits ? l1_wake_past_hits(m->l1) : l1_wake(m->l1);
    return UNLIKELY(s->rests) ? MIN(wake, m->reexec.rest.until) : wake;
}
