/* account.c: where each issue slot goes.
 *
 * A scheduler's slot of a cycle is charged to the first of these that holds (thesis 3.4.1, "Summary", for the
 * hazards; the thesis leaves the order of the others open):
 *   issued              an instruction was issued
 *   idle                the scheduler has no resident warp
 *   str-MEM, str-ALU    at least one warp has no data dependence and is stalled because its unit is full: MEM when one
 *                       of them wants the load-store unit
 *   data-MEM, data-ALU  at least one warp waits for a result: MEM when one of them waits for a memory operation. A warp
 *                       that has ended and waits for its last results counts here too
 *   fetch               at least one warp lacks instructions
 *   barrier             all warps wait at barriers, sleep (nanosleep), or are held back by a mechanism's vote
 * (1) The causes add up to schedulers x cycles, cycles slept included: while the SM sleeps nothing changes, so each
 * slept cycle has the causes of the one before. So causes are charged when they may change, not cycle by cycle. */
#include "core/sm_impl.h"

enum issue_slot account_cause(const struct sm *m, uint32_t scheduler, uint64_t free, uint64_t ready)
{
    uint64_t all = m->resident & m->slots_of[scheduler], live = all & ~m->done & ~m->held & ~m->asleep;
    if (!all) return SLOT_IDLE;
    if (free & ~ready) return free & ~ready & m->next[CLASS_MEM] ? SLOT_STR_MEM : SLOT_STR_ALU;
    uint64_t data = live & m->buffered & m->hazard, ended = all & m->done;
    if (data & m->hazard_mem) return SLOT_DATA_MEM;
    FOR_WARPS(w, ended)
    {
        if (sm_warp_writes(m, (uint32_t)w)) return SLOT_DATA_MEM;
    }
    if (data | ended) return SLOT_DATA_ALU;
    if (live & ~m->buffered) return SLOT_FETCH;
    return SLOT_BARRIER;
}

void account_slots(struct sm *m, uint64_t until)
{
    if (until <= m->charged) return;
    for (uint32_t i = 0; i < m->schedulers; i++) m->stats.slots[m->cause[i]] += until - m->charged;
    m->charged = until;
}

void account_occupancy(struct sm *m, uint64_t until)
{
    struct sm_stats *s = &m->stats;
    account_slots(m, until);
    uint64_t cycles = m->charged - m->occupied_to;
    m->occupied_to = m->charged;
    s->cycles += cycles;
    s->slots_all += cycles * m->schedulers;
    if (!m->warp_count && !m->cta_count) return;
    s->active_cycles += cycles;
    s->warp_cycles += cycles * m->warp_count;
    s->warp_slot_cycles += cycles * m->warp_slots;
    s->cta_cycles += cycles * m->cta_count;
    s->register_cycles += cycles * m->registers;
    s->register_file_cycles += cycles * m->setup.machine->sm_registers;
    s->shared_cycles += cycles * m->shared;
    s->shared_size_cycles += cycles * m->shared_size;
    s->l1_size_cycles += cycles * m->l1_size;
}
