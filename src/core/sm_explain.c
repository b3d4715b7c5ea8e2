/* sm_explain.c: which warp waits for what, for the report of a machine that is stuck. */
#include "core/sm_impl.h"

static void explain_registers(const struct sm_warp *s, struct strbuf *out)
{
    uint32_t shown = 0;
    for (uint32_t r = 0; r < REG_WORDS * 64 && shown < 4; r++) {
        if (!(s->pending[r / 64].any & s->next->hazard[r / 64] & 1ull << r % 64)) continue;
        bool is_memory = s->pending[r / 64].memory & 1ull << r % 64;
        strbuf_printf(out, "%s R%u (%s)", shown++ ? "," : "", r, is_memory ? "memory" : "arithmetic");
    }
    if (!shown) strbuf_puts(out, " a predicate");
}

static void explain_wait(const struct sm *m, uint32_t w, struct strbuf *out)
{
    const struct sm_warp *s = &m->warps[w];
    if (m->done & bit(w))
        strbuf_printf(out, "has ended, waits for %u memory and %u other instructions and %u stores",
                      s->memory, s->flights, l1_writes_pending(m->l1, w));
    else if (m->held & bit(w))
        strbuf_puts(out, emu_warp_state(s->emu) == EMU_WARP_AT_BARRIER ? "waits at a barrier"
                                                                       : "waits for lanes of its own");
    else if (m->asleep & bit(w))
        strbuf_printf(out, "sleeps until cycle %llu", (unsigned long long)s->sleep_until);
    else if (!(m->buffered & bit(w)))
        strbuf_puts(out, m->missed & bit(w) ? "waits for an instruction line" : "waits to be fetched");
    else if (m->fenced & bit(w))
        strbuf_puts(out, "waits at a fence");
    else if (m->hazard & bit(w)) {
        strbuf_puts(out, "waits for");
        explain_registers(s, out);
    } else if (!(mech_allowed(m->mech, 0, m->memory_next, 0) & bit(w)))
        strbuf_puts(out, "is held back by a mechanism");
    else if (!(sm_room(m) & bit(w)))
        strbuf_puts(out, s->next->cls == CLASS_MEM ? "waits for room in the load-store unit"
                                                   : "waits for its unit");
    else
        strbuf_puts(out, "could issue");
}

void sm_explain(const struct sm *m, tick now, struct strbuf *out)
{
    uint64_t cycle = now / m->clock.period;
    strbuf_printf(out, "SM %u: %u CTAs, %u warps, load-store queue %u of %u with %u accesses%s\n",
                  m->setup.index, m->cta_count, m->warp_count, m->queue_count, m->p->lsu_queue, m->untaken,
                  m->blocked ? " (its head is refused by the L1)" : "");
    FOR_WARPS(w, m->resident)
    {
        const struct sm_warp *s = &m->warps[w];
        strbuf_printf(out, "  warp %u (CTA %llu, warp %u of it, pc %u) ", (uint32_t)w,
                      (unsigned long long)m->ctas[s->cta].linear, s->index, s->next_pc);
        explain_wait(m, (uint32_t)w, out);
        strbuf_printf(out, ", for %llu cycles\n", (unsigned long long)(cycle - s->since));
    }
    l1_explain(m->l1, now, out);
}
