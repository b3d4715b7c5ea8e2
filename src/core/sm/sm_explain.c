/* sm_explain.c: which warp waits for what, for the report of a machine that is stuck. */
#include "core/sm/sm_impl.h"

static void explain_registers(const struct context *x, struct strbuf *out)
{
    uint32_t shown = 0;
    for (uint32_t r = 0; r < REG_WORDS * 64 && shown < 4; r++) {
        if (!(x->board_pending[r / 64].any & x->next->registers[r / 64].hazard & 1ull << r % 64)) continue;
        bool is_memory = x->board_pending[r / 64].memory & 1ull << r % 64;
        strbuf_printf(out, "%s R%u (%s)", shown++ ? "," : "", r, is_memory ? "memory" : "arithmetic");
    }
    if (!shown) strbuf_puts(out, " a predicate");
}

static void explain_wait(const struct sm *m, const struct context *x, struct strbuf *out)
{
    const struct bank *b = &m->banks[slot_bank(x->slot)];
    const uint64_t bit = slot_bit(x->slot);
    if (b->warp.done & bit)
        strbuf_printf(out, "has ended, waits for %u memory and %u other instructions and %u stores",
                      x->board_memory, x->board_flights, l1_writes_pending(m->l1, x->id));
    else if (b->warp.held & bit)
        strbuf_puts(out, emu_warp_state(x->emu) == EMU_WARP_AT_BARRIER ? "waits at a barrier"
                                                                       : "waits for lanes of its own");
    else if (b->warp.asleep & bit)
        strbuf_printf(out, "sleeps until cycle %llu", (unsigned long long)x->sleep_until);
    else if (!(b->fetch.buffered & bit))
        strbuf_puts(out, b->fetch.missed & bit ? "waits for an instruction line" : "waits to be fetched");
    else if (b->board.fenced & bit)
        strbuf_puts(out, "waits at a fence");
    else if (b->board.hazard & bit) {
        strbuf_puts(out, "waits for");
        explain_registers(x, out);
    } else if (transfer_where(m, x->cta) != REGISTERS_HERE)
        strbuf_puts(out, "lacks its registers");
    else if (!(votes_allow(&m->mech->masks[slot_bank(x->slot)], b->next.memory, b->next.load) & bit))
        strbuf_puts(out, "is held back by a mechanism");
    else if (!(sched_room(m, b) & bit))
        strbuf_puts(out, x->next->cls == CLASS_MEM ? "waits for room in the load-store unit"
                                                   : "waits for its unit");
    else
        strbuf_puts(out, "could issue");
}

static void explain_cta(const struct sm *m, uint32_t cta, struct strbuf *out)
{
    static const char *const places[] = {[CTA_LEAVING] = "is leaving its slots",
                                         [CTA_INACTIVE] = "has no slots",
                                         [CTA_ENTERING] = "is entering slots"};
    const struct swap_cta *s = &m->swaps.ctas[cta];
    const struct sm_cta *c = &m->residency.ctas[cta];
    if (s->place == CTA_ACTIVE) return; /* or there is none */
    strbuf_printf(out, "  CTA %llu of %u warps %s%s; %s\n", (unsigned long long)c->linear, c->left,
                  places[s->place], c->has_rows ? "" : ", without rows of the register file",
                  s->could_go_on ? "could go on" : "waits for memory");
}

static void explain_warp(const struct sm *m, uint32_t slot, uint64_t cycle, struct strbuf *out)
{
    const struct context *x = slot_context(&m->state, slot);
    strbuf_printf(out, "  warp %u (CTA %llu, warp %u of it, pc %u) ", slot,
                  (unsigned long long)m->residency.ctas[x->cta].linear, x->index, x->next_pc);
    explain_wait(m, x, out);
    strbuf_printf(out, ", for %llu cycles\n", (unsigned long long)(cycle - x->issue_cycle));
}

void sm_explain(const struct sm *m, tick now, struct strbuf *out)
{
    const struct residency *r = &m->residency;
    strbuf_printf(out, "SM %u: %u CTAs, %u warps, load-store queue %u of %u with %u accesses%s\n",
                  m->setup.index, r->cta_count, m->state.warp_count, m->lsu.queue_count, m->p->lsu_queue,
                  m->lsu.untaken, m->lsu.sleep.blocked ? " (its head is refused by the L1)" : "");
    for (uint32_t i = 0; i < m->state.bank_count; i++) FOR_BITS(k, m->banks[i].warp.resident)
    explain_warp(m, i * SM_BANK_SLOTS + (uint32_t)k, now / m->clock.period, out);
    for (uint32_t i = 0; i < r->cta_slots; i++) explain_cta(m, i, out);
    transfer_explain(m, out);
    l1_explain(m->l1, now, out);
}
