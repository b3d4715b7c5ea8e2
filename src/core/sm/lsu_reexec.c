/* lsu_reexec.c: the re-execution queue beside the load-store unit (MASCAR, HPCA'15, section 4.2).
 *
 * A load that a mechanism holds back (may_miss), or that finds no line, MSHR or room in the miss queue at the
 * L1, does not block those behind it: it goes into a bounded queue, at most one of each warp. Bulk copies
 * wait in the ordinary queue. The oldest of the queue is offered again when the load-store unit has nothing
 * new, when the queue is full (nothing else is served then), or when the head of the load-store unit cannot
 * come in because its warp has one there. One that is refused again goes to the tail. Left out: an L1 whose
 * tags are looked up late (l1.tag_latency): what it refuses has left the load-store unit and waits in its
 * pipeline. An SM that has nothing else to do need not wake for offers that will be refused: lsu_sleep.c. */
#include "core/sm/sm_impl.h"

void lsu_reexec_init(struct sm *m, uint32_t entries)
{
    m->lsu.reexecutes = entries != 0;
    lsu_reexec_queue_init(&m->reexec.queue, entries);
}

static bool has_context(const struct lsu_reexec *q, uint32_t context)
{
    return q->contexts[context / 64] >> context % 64 & 1;
}

COLD bool lsu_reexec_is_full(const struct sm *m) { return !lsu_reexec_queue_has_room(&m->reexec.queue); }

COLD bool lsu_reexec_is_next(const struct sm *m)
{
    const struct lsu_reexec *q = &m->reexec;
    if (!m->lsu.queue_count || lsu_reexec_is_full(m)) return true;
    const struct lsu_access *head = &m->memory.accesses[m->memory.head];
    return head->ro == RO_COUNT && has_context(q, head->ask.warp);
}

COLD bool lsu_reexec_take(struct sm *m)
{
    struct lsu_reexec *q = &m->reexec;
    struct lsu_access *a = &m->memory.accesses[m->memory.head];
    const uint32_t context = a->ask.warp;
    if (lsu_reexec_is_full(m) || has_context(q, context) || a->is_bulk) return false;
    lsu_count_taken(m, a);
    const struct lsu_reexec_entry e = {.access = m->memory.head, .counted = m->memory.counted};
    lsu_reexec_queue_push(&q->queue, e);
    q->contexts[context / 64] |= 1ull << context % 64;
    m->memory.counted = 0;
    m->lsu.untaken -= (uint32_t)(a->count - a->done);
    m->lsu.has_reexec = true;
    lsu_pop_head(m);
    m->stats.reexecutions++;
    return true;
}

COLD void lsu_reexec_serve(struct sm *m)
{
    struct lsu_reexec *q = &m->reexec;
    struct lsu_reexec_entry *e = lsu_reexec_at(q, 0);
    struct lsu_access *a = &m->memory.accesses[e->access];
    bool steps_aside = true;
    if (lsu_reexec_is_held(m, e) || !lsu_offer(m, a, &steps_aside)) {
        if (steps_aside) lsu_reexec_to_tail(q);
        return;
    }
    lsu_forget_foreseen(&e->foreseen);
    if (a->done < a->count) return;
    const uint32_t context = a->ask.warp, counted = m->memory.counted;
    m->memory.counted = e->counted;
    const uint32_t access = lsu_reexec_queue_pop(&q->queue).access;
    q->contexts[context / 64] &= ~(1ull << context % 64);
    m->lsu.has_reexec = lsu_reexec_count(q) != 0;
    lsu_end_access(m, access);
    m->memory.counted = counted;
}
