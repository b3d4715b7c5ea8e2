/* account.c: where each issue slot goes.
 *
 * A scheduler's slot of a cycle is charged to the first of these that holds (thesis 3.4.1, "Summary", for the
 * hazards; the thesis leaves the order of the others open):
 *   issued              an instruction was issued
 *   idle                the scheduler has no resident warp
 *   held                a warp could issue, and the policy of a mechanism left the slot empty
 *   str-MEM, str-ALU    at least one warp has no data dependence and is stalled because its unit is full:
 *                       MEM when one of them wants the load-store unit
 *   held                at least one warp waits for nothing but the vote of a mechanism
 *   data-MEM, data-ALU  at least one warp waits for a result: MEM when one of them waits for a memory
 *                       operation. A warp that has ended and waits for its last results counts here too
 *   fetch               at least one warp lacks instructions
 *   barrier             all warps wait at barriers or sleep (nanosleep)
 * (1) The causes add up to schedulers x cycles, cycles slept included: while the SM sleeps nothing changes,
 * so each slept cycle has the causes of the one before. So causes are charged when they may change, not cycle
 * by cycle. */
#include "core/sm/sm_impl.h"

static bool has_writes(const struct sm *m, uint32_t bank, uint64_t warps)
{
    FOR_BITS(i, warps)
    {
        if (board_writes(m, slot_context(&m->state, bank * SM_BANK_SLOTS + i))) return true;
    }
    return false;
}

enum issue_slot account_cause(const struct sm *m, uint32_t scheduler, const struct chances *c)
{
    const struct bank *b = c->bank;
    const uint64_t mine = m->scheduler.slots[scheduler], all = b->warp.resident & mine;
    const uint64_t full = c->free & ~c->ready & mine, asks = c->has_instruction & mine;
    if (!all) return SLOT_IDLE;
    if (c->ready & mine) return SLOT_HELD;
    if (full) return full & b->next.cls[CLASS_MEM] ? SLOT_STR_MEM : SLOT_STR_ALU;
    if (asks & ~b->board.hazard & ~c->free) return SLOT_HELD;
    const uint64_t data = asks & b->board.hazard, ended = all & b->warp.done;
    if (data & b->board.hazard_mem || has_writes(m, m->scheduler.bank[scheduler], ended))
        return SLOT_DATA_MEM;
    if (data | ended) return SLOT_DATA_ALU;
    if (all & ~(b->fetch.buffered | b->warp.held | b->warp.asleep)) return SLOT_FETCH;
    return SLOT_BARRIER;
}

void account_slots(struct sm *m, uint64_t until)
{
    struct account *a = &m->account;
    if (until <= a->slots_to) return;
    for (uint32_t i = 0; i < m->sched.count; i++)
        m->stats.slots[m->scheduler.cause[i]] += until - a->slots_to;
    a->slots_to = until;
}

void account_occupancy(struct sm *m, uint64_t until)
{
    struct sm_stats *s = &m->stats;
    const struct residency *r = &m->residency;
    account_slots(m, until);
    const uint64_t cycles = m->account.slots_to - m->account.occupied_to;
    m->account.occupied_to = m->account.slots_to;
    s->cycles += cycles;
    s->slots_all += cycles * m->sched.count;
    if (!m->state.warp_count && !r->cta_count) return;
    s->active_cycles += cycles;
    s->warp_cycles += cycles * (m->state.warp_count - r->slotless);
    s->warp_slot_cycles += cycles * r->slot_count;
    s->cta_cycles += cycles * r->cta_count;
    s->pending_cta_cycles += cycles * (r->cta_count - r->active_count);
    s->saved_cta_cycles += cycles * r->saved_count;
    s->register_cycles += cycles * r->registers;
    s->register_file_cycles += cycles * m->setup.machine->sm_registers;
    s->shared_cycles += cycles * r->shared;
    s->shared_size_cycles += cycles * r->shared_size;
    s->l1_size_cycles += cycles * r->l1_size;
}
