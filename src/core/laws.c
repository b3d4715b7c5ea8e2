/* laws.c: what must hold whenever the machine is empty, at the end of a kernel. A breach is an error of the simulator: the run
 * ends and says which law, where and by how much, rather than give a number.
 *
 *  (1) Every request that was made was answered: the pool is empty.   (2) No SM, crossbar, slice or channel holds anything.
 *  (3) All links are empty.   (4) CTA slots and registers are home.
 *  (5) For each SM: the causes of its issue slots sum to schedulers * cycles.   (6) All CTAs of the kernels that ran have ended. */
#include "core/timed_impl.h"

#include <inttypes.h>

static void law(struct strbuf *out, bool holds, const char *what, uint32_t index, uint64_t is,
                uint64_t should)
{
    if (!holds) strbuf_printf(out, "  %s %u: %" PRIu64 ", should be %" PRIu64 "\n", what, index, is, should);
}

static void check_link(struct strbuf *out, const struct link *l, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (l[i].count) strbuf_printf(out, "  link '%s' %u holds %u\n", l[i].name, i, l[i].count);
}

static void check_sms(const struct timed_gpu *g, struct strbuf *out)
{
    for (uint32_t i = 0; i < g->sm_count; i++) {
        const struct sm_stats *s = sm_stats(g->sms[i]);
        uint64_t sum = 0;
        for (int c = 0; c < SLOT_COUNT; c++) sum += s->slots[c];
        uint64_t slots = s->cycles * g->machine.sm.schedulers;
        law(out, sm_idle(g->sms[i]), "SM not idle:", i, 0, 1);
        law(out, sm_ctas(g->sms[i]) == 0, "CTAs left on SM", i, sm_ctas(g->sms[i]), 0);
        law(out, sm_registers_used(g->sms[i]) == 0, "registers taken on SM", i, sm_registers_used(g->sms[i]),
            0);
        law(out, sum == slots, "issue slots of SM", i, sum, slots);
    }
}

void laws_check(struct timed_gpu *g)
{
    struct strbuf out = {0};
    law(&out, g->pool.live == 0, "requests not answered, pool", 0, g->pool.live, 0);
    check_sms(g, &out);
    law(&out, xbar_idle(g->xbar), "crossbar not idle:", 0, 0, 1);
    for (uint32_t i = 0; i < g->slice_count; i++)
        law(&out, l2_idle(g->slices[i]), "L2 slice not idle:", i, 0, 1);
    for (uint32_t i = 0; i < g->channel_count; i++)
        law(&out, dram_idle(g->channels[i]), "DRAM channel not idle:", i, 0, 1);
    check_link(&out, g->links.sm_to_xbar, g->sm_count);
    check_link(&out, g->links.xbar_to_sm, g->sm_count);
    check_link(&out, g->links.xbar_to_slice, g->slice_count);
    check_link(&out, g->links.slice_to_xbar, g->slice_count);
    check_link(&out, g->links.slice_to_dram, g->slice_count);
    check_link(&out, g->links.dram_to_slice, g->slice_count);
    if (out.len) {
        struct strbuf text = {0};
        strbuf_printf(&text, "heddle: a law is broken at cycle %" PRIu64 ", the machine should be empty:\n%s",
                      gpu_cycle(g), strbuf_text(&out));
        gpu_fail(g, END_LAW, EMU_LAW_BROKEN, strbuf_text(&text));
        strbuf_free(&text);
    }
    strbuf_free(&out);
}
