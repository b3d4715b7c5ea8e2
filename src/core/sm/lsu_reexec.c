/* lsu_reexec.c: the re-execution queue beside the load-store unit (MASCAR, HPCA'15, section 4.2).
 *
 * A load that a mechanism holds back (may_miss), or that the L1 has no line, MSHR or entry of its miss queue
 * for, does not block those behind it: it goes into a bounded queue, at most one of each warp; bulk copies
 * wait where they are. The oldest of the queue is offered again when the load-store unit has nothing new,
 * when the queue is full (nothing else is served then), or when the head of the load-store unit cannot come
 * in because its warp has one there. One that is refused again goes to the tail. Left out: an L1 whose tags
 * are looked up late (l1.tag_latency): what it refuses has left the load-store unit and waits in its
 * pipeline.
 *
 * An SM that has nothing else to do sleeps while the loads whose turns come would be refused (may_rest).
 * They take turns all the same: which one was refused how often, and which is next, is computed when the SM
 * wakes, or when statistics are read. */
#include "core/sm/sm_impl.h"

void lsu_reexec_init(struct sm *m, uint32_t entries)
{
    struct lsu_reexec *q = &m->reexec;
    q->max = entries;
    m->lsu.reexecutes = entries != 0;
    if (entries) q->entries = mem_zalloc(entries * sizeof *q->entries);
}

static bool has_context(const struct lsu_reexec *q, uint32_t context)
{
    return q->contexts[context / 64] >> context % 64 & 1;
}

/* The i-th from the head. */
static struct lsu_reexec_entry *entry_at(const struct lsu_reexec *q, uint32_t i)
{
    const uint32_t at = q->head + i;
    return &q->entries[at < q->max ? at : at - q->max];
}

static void push(struct lsu_reexec *q, const struct lsu_reexec_entry *e)
{
    debug_assert(q->count < q->max);
    *entry_at(q, q->count++) = *e;
}

static void advance(struct lsu_reexec *q) { q->head = q->head + 1 == q->max ? 0 : q->head + 1; }

static struct lsu_reexec_entry pop(struct lsu_reexec *q)
{
    const struct lsu_reexec_entry e = q->entries[q->head];
    advance(q);
    q->count--;
    return e;
}

COLD bool lsu_reexec_is_full(const struct sm *m) { return m->reexec.count == m->reexec.max; }

COLD bool lsu_reexec_is_next(const struct sm *m)
{
    const struct lsu_reexec *q = &m->reexec;
    if (!m->lsu.queue_count || q->count == q->max) return true;
    const struct lsu_access *head = &m->memory.accesses[m->lsu.head];
    return head->ro == RO_COUNT && has_context(q, head->ask.warp);
}

COLD bool lsu_reexec_take(struct sm *m)
{
    struct lsu_reexec *q = &m->reexec;
    struct lsu_access *a = &m->memory.accesses[m->lsu.head];
    const uint32_t context = a->ask.warp;
    if (q->count == q->max || has_context(q, context) || a->is_bulk) return false;
    lsu_count_taken(m, a);
    push(q, &(struct lsu_reexec_entry){.access = m->lsu.head, .counted = m->memory.counted});
    q->contexts[context / 64] |= 1ull << context % 64;
    m->memory.counted = 0;
    m->lsu.untaken -= (uint32_t)(a->count - a->done);
    m->lsu.has_reexec = true;
    lsu_pop_head(m);
    m->stats.reexecutions++;
    return true;
}

/* Why a load of the queue would be refused, in this cycle or the next ones; L1_HIT: it is to be offered. */
static enum l1_answer foresee(struct sm *m, struct lsu_reexec_entry *e)
{
    const struct lsu_access *a = &m->memory.accesses[e->access];
    if (a->ask.cls != REQ_GLOBAL && a->ask.cls != REQ_LOCAL) return L1_HIT;
    const enum mech_hold hold = mech_holds(m->mech, context_at(&m->state, a->ask.warp)->last_slot);
    if (hold == MECH_HOLD_UNKNOWN) return L1_HIT;
    if (hold == MECH_HOLD_YES && l1_is_absent(m->l1, a->txns[a->done].line, &e->absence))
        return L1_STALL_HELD;
    struct l1_txn t;
    lsu_next_transaction(a, &t);
    return l1_foresee(m->l1, &t, hold == MECH_HOLD_YES, &e->absence);
}

/* The same as an offer of a load that a mechanism still holds back. False: it is to be offered. */
static bool is_held_again(struct sm *m, struct lsu_reexec_entry *e)
{
    struct l1_txn t;
    if (foresee(m, e) != L1_STALL_HELD) return false;
    lsu_next_transaction(&m->memory.accesses[e->access], &t);
    if (!l1_refuse_held(m->l1, m->sleep.now, &t)) return false;
    m->lsu.blocked = false;
    mech_on_held(m->mech, 1);
    return true;
}

static void to_tail(struct lsu_reexec *q)
{
    if (q->count < q->max) *entry_at(q, q->count) = q->entries[q->head];
    advance(q);
}

COLD void lsu_reexec_serve(struct sm *m)
{
    struct lsu_reexec *q = &m->reexec;
    struct lsu_reexec_entry *e = &q->entries[q->head];
    struct lsu_access *a = &m->memory.accesses[e->access];
    bool steps_aside = true;
    if (is_held_again(m, e) || !lsu_offer(m, a, &steps_aside)) {
        if (steps_aside) to_tail(q);
        return;
    }
    l1_forget_absence(&e->absence);
    if (a->done < a->count) return;
    const uint32_t context = a->ask.warp, counted = m->memory.counted;
    m->memory.counted = e->counted;
    const uint32_t access = pop(q).access;
    q->contexts[context / 64] &= ~(1ull << context % 64);
    m->lsu.has_reexec = q->count != 0;
    lsu_end_access(m, access);
    m->memory.counted = counted;
}

/* ---- sleep ---- */

/* Is it the queue's turn in the next cycle, and nobody else's? */
static bool is_alone(const struct sm *m)
{
    if (m->prefetches.has_work || m->lsu.has_transfer || m->sleep.has_ring) return false;
    const bool is_exclusive = !m->lsu.queue_count || m->lsu.ports == 1 || lsu_reexec_is_full(m);
    return is_exclusive && lsu_reexec_is_next(m) && l1_has_refused(m->l1, m->sleep.now);
}

/* Looks at the loads whose turns come next, not further than twice the newest sleep was long: others wake the
 * SM before. */
COLD bool lsu_reexec_may_rest(struct sm *m)
{
    struct lsu_reexec *q = &m->reexec;
    uint32_t foreseen = 0;
    if (!is_alone(m)) return false;
    for (const uint32_t most = MIN(q->count, 2 * q->slept + 1); foreseen < most; foreseen++) {
        struct lsu_reexec_entry *e = entry_at(q, foreseen);
        e->cause = (uint8_t)foresee(m, e);
        if (e->cause == L1_HIT) break;
    }
    q->slept = 0;
    if (!foreseen) return false;
    q->rested_to = clock_after(&m->clock, m->sleep.now, 1);
    q->rests_until = foreseen == q->count ? TICK_NEVER : clock_after(&m->clock, m->sleep.now, foreseen + 1);
    l1_rest(m->l1);
    return m->lsu.reexec_rests = true;
}

COLD void lsu_reexec_settle(struct sm *m, tick until)
{
    struct lsu_reexec *q = &m->reexec;
    if (until <= q->rested_to || !q->count) return;
    const uint64_t cycles = clock_cycles(&m->clock, until - q->rested_to);
    const uint32_t more = (uint32_t)(cycles % q->count);
    uint64_t held = 0;
    for (uint32_t i = 0; i < more; i++) to_tail(q);
    /* the one at the tail was the last to be refused */
    for (uint32_t i = cycles < q->count ? q->count - more : 0; i < q->count; i++) {
        const struct lsu_reexec_entry *e = entry_at(q, i);
        const uint64_t offers = cycles / q->count + (i >= q->count - more);
        struct l1_txn t;
        lsu_next_transaction(&m->memory.accesses[e->access], &t);
        l1_charge_foreseen(m->l1, (enum l1_answer)e->cause, &t, offers);
        if (e->absence.is_known) l1_keep_vote(m->l1, &t, e->cause != L1_STALL_HELD);
        if (e->cause == L1_STALL_HELD) held += offers;
    }
    if (held) mech_on_held(m->mech, held);
    q->slept += (uint32_t)MIN(cycles, q->max);
    q->rested_to = until;
}
