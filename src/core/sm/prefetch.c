/* prefetch.c: the queue of lines that mechanisms ask for, before the L1.
 *
 * GPGPU-Sim 3.x has no prefetcher. A public one that was built into it (samgh1230/gpgpu-prefetch, shader.cc)
 * keeps a queue beside the load-store unit and, in cycles in which that has no access to global memory,
 * offers its head to the L1, again and again while it is refused. Here a prefetch waits until the L1 has room
 * for it (mem/l1_prefetch.h: l1_prefetch_fits), and its tags are looked up then. With l1.prefetch_priority
 * `low` it takes an access that loads and stores leave, also while their head is refused; with `alternate`,
 * where both wait, every second access that the L1 takes is its own: a load-store unit that is never empty
 * would take each MSHR that becomes free.
 *
 * A prefetch ends here as refused (its address is in no allocation), merged (its line waits already) or
 * dropped (the queue was full, and newer ones came; or the kernel ended), or it is offered to the L1
 * (mem/l1_prefetch.c). */
#include "core/sm/sm_impl.h"

void prefetch_init(struct sm *m, const struct sm_params *p)
{
    prefetch_queue_init(&m->prefetch.queue, p->prefetch_queue);
    m->prefetch.sent = TICK_NEVER;
    m->prefetch.alternates = m->setup.l1->prefetch_priority == L1_PREFETCH_ALTERNATE;
}

void prefetch_free(struct sm *m) { prefetch_queue_free(&m->prefetch.queue); }

/* ---- the queue ---- */

static struct prefetch_entry pop(struct sm *m)
{
    m->prefetches.count--;
    return prefetch_queue_pop(&m->prefetch.queue);
}

static bool is_waiting(const struct sm *m, uint64_t line)
{
    const struct prefetch_queue *q = &m->prefetch.queue;
    for (uint32_t i = 0; i < q->ring.count; i++)
        if (q->items[ring_index(&q->ring, i)].line == line) return true;
    return false;
}

static void drop(struct sm *m, const struct prefetch_entry *f)
{
    m->stats.prefetches_dropped++;
    sm_mech_prefetch(m, f->line, f->pc, f->context, MECH_PREFETCH_DROPPED);
}

static void push(struct sm *m, const struct prefetch_entry *f)
{
    struct prefetch_entry oldest;
    const bool is_full = !prefetch_queue_has_room(&m->prefetch.queue);
    if (is_full) oldest = pop(m);
    prefetch_queue_push(&m->prefetch.queue, *f);
    m->prefetches.count++;
    m->prefetches.is_busy = true;
    if (is_full) drop(m, &oldest);
}

COLD bool prefetch_ask(struct sm *m, uint64_t address, uint32_t pc, uint32_t context)
{
    const struct prefetch_entry f = {
        .line = address / m->line_bytes * m->line_bytes, .pc = pc, .context = context};
    m->stats.prefetches++;
    if (!residency_has_memory(m, address)) {
        m->stats.prefetches_refused++;
        sm_mech_prefetch(m, f.line, pc, context, MECH_PREFETCH_REFUSED);
        return false;
    }
    if (is_waiting(m, f.line)) {
        m->stats.prefetches_merged++;
        sm_mech_prefetch(m, f.line, pc, context, MECH_PREFETCH_REDUNDANT);
    } else
        push(m, &f);
    return true;
}

COLD void prefetch_clear(struct sm *m)
{
    while (m->prefetches.count) {
        const struct prefetch_entry f = pop(m);
        drop(m, &f);
    }
    m->prefetch.is_first = false;
}

/* ---- the way into the L1 ---- */

static void offer(struct sm *m, const struct prefetch_entry *f)
{
    const struct l1_txn t = {.addr = f->line,
                             .sectors = sm_line_sectors(m),
                             .kind = REQ_READ,
                             .cls = REQ_GLOBAL,
                             .is_prefetch = true,
                             .warp = (uint16_t)f->context,
                             .launch = (uint32_t)context_at(&m->state, f->context)->launch,
                             .pc = f->pc,
                             .lane_address = f->line,
                             .token = L1_NO_TOKEN};
    l1_access(m->l1, m->sleep.now, &t);
}

/* The oldest goes to the L1, if that has room. The SM may sleep while it waits, since anything that makes
 * room wakes the SM. After one was taken the SM stays awake, since the cause of a refusal at the L1 may have
 * changed. */
static void try_oldest(struct sm *m)
{
    const bool fits = l1_prefetch_fits(m->l1, m->sleep.now, prefetch_queue_front(&m->prefetch.queue)->line);
    m->prefetches.is_busy = fits || !l1_has_port(m->l1, m->sleep.now);
    if (!fits) return;
    const struct prefetch_entry f = pop(m);
    m->prefetch.is_first = false;
    m->prefetch.sent = m->sleep.now;
    offer(m, &f);
}

COLD void prefetch_before(struct sm *m)
{
    if (m->prefetch.is_first && m->prefetches.count) try_oldest(m);
}

COLD void prefetch_after(struct sm *m)
{
    const bool is_sent = m->prefetch.sent == m->sleep.now;
    m->prefetches.is_busy = is_sent;
    if (is_sent || !m->prefetches.count) return;
    m->prefetch.is_first |= m->prefetch.alternates && l1_has_taken(m->l1, m->sleep.now);
    try_oldest(m);
}
