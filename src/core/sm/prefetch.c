/* prefetch.c: prefetches take what the instructions leave of the L1's accesses; one that the L1 refuses is
 * dropped (mem/l1.h counts it). */
#include "core/sm/sm_impl.h"

#include "base/hugepage.h"

void prefetch_init(struct sm *m, const struct sm_params *p)
{
    m->prefetch.size = p->prefetch_queue;
    m->prefetch.queue = mem_zalloc_huge(p->prefetch_queue * sizeof *m->prefetch.queue);
}

void prefetch_free(struct sm *m) { mem_free_huge(m->prefetch.queue); }

bool prefetch_ask(struct sm *m, uint64_t address, uint32_t pc, uint32_t context)
{
    struct prefetch *p = &m->prefetch;
    if (m->prefetches.count == p->size) {
        m->stats.prefetches_refused++;
        sm_mech_prefetch(m, address / m->line_bytes * m->line_bytes, pc, context, MECH_PREFETCH_REFUSED);
        return false;
    }
    p->queue[(p->head + m->prefetches.count++) % p->size] = (struct prefetch_entry){
        .line = address / m->line_bytes * m->line_bytes, .pc = pc, .context = context};
    return true;
}

COLD void prefetch_send(struct sm *m)
{
    struct prefetch *p = &m->prefetch;
    const struct prefetch_entry f = p->queue[p->head];
    const struct l1_txn t = {.addr = f.line,
                             .sectors = (uint32_t)((1ull << m->line_bytes / COALESCE_SECTOR_BYTES) - 1),
                             .kind = REQ_READ,
                             .cls = REQ_GLOBAL,
                             .is_prefetch = true,
                             .warp = (uint16_t)f.context,
                             .launch = (uint32_t)context_at(&m->residency, f.context)->launch,
                             .pc = f.pc,
                             .lane_address = f.line,
                             .token = UINT32_MAX};
    l1_access(m->l1, m->sleep.now, &t);
    m->stats.prefetches++;
    p->head = (p->head + 1) % p->size;
    m->prefetches.count--;
}

void prefetch_clear(struct sm *m) { m->prefetches.count = 0; }
