/* laws.c: what must hold at the end of every kernel. A breach is an error of the simulator: the run ends and says which law,
 * where and by how much, rather than give a number.
 *
 * Of the kernel, whoever else runs:
 *  (1) All of its CTAs were started and have ended; none is left on an SM.   (2) All of its requests were answered.
 *  (3) The registers, shared memory, warp and CTA slots in use on each SM are those of the CTAs still there.
 *  (4) For each SM: the causes of its issue slots sum to schedulers * cycles.
 *  (5) If it ran alone, its own events (own.h) are all that the machine counted.
 * Of the machine, when it is empty:
 *  (6) Every request that was made was answered: the pool is empty.   (7) No SM, crossbar, slice or channel holds anything.
 *  (8) All links are empty.   (9) CTA slots and registers are home. */
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

static void check_slots(const struct timed_gpu *g, struct strbuf *out)
{
    for (uint32_t i = 0; i < g->sm_count; i++) {
        const struct sm_stats *s = sm_stats(g->sms[i]);
        uint64_t sum = 0;
        for (int c = 0; c < SLOT_COUNT; c++) sum += s->slots[c];
        uint64_t slots = s->cycles * g->machine.sm.schedulers;
        law(out, sum == slots, "issue slots of SM", i, sum, slots);
    }
}

static void check_sms(const struct timed_gpu *g, struct strbuf *out)
{
    for (uint32_t i = 0; i < g->sm_count; i++) {
        law(out, sm_idle(g->sms[i]), "SM not idle:", i, 0, 1);
        law(out, sm_ctas(g->sms[i]) == 0, "CTAs left on SM", i, sm_ctas(g->sms[i]), 0);
        law(out, sm_registers_used(g->sms[i]) == 0, "registers taken on SM", i, sm_registers_used(g->sms[i]),
            0);
    }
}

static void judge(struct timed_gpu *g, struct strbuf *out, const char *whose)
{
    if (out->len) {
        struct strbuf text = {0};
        strbuf_printf(&text, "heddle: a law is broken at cycle %" PRIu64 ", %s:\n%s", gpu_cycle(g), whose,
                      strbuf_text(out));
        gpu_fail(g, END_LAW, EMU_LAW_BROKEN, strbuf_text(&text));
        strbuf_free(&text);
    }
    strbuf_free(out);
}

void laws_check_kernel(struct timed_gpu *g, const struct gpu_kernel *k)
{
    struct strbuf out = {0};
    const struct req_owner r = units_owner(g, k->place);
    loop_settle(g);
    law(&out, k->next_cta == k->ctas && k->ctas_done == k->ctas, "CTAs of kernel", (uint32_t)k->id,
        k->ctas_done, k->ctas);
    law(&out, r.live == 0, "requests not answered of kernel", (uint32_t)k->id, r.live, 0);
    for (uint32_t i = 0; i < g->sm_count; i++) {
        const char *wrong = sm_leaks(g->sms[i], k->grid);
        if (wrong) strbuf_printf(&out, "  SM %u: %s\n", i, wrong);
    }
    check_slots(g, &out);
    judge(g, &out, "a kernel has ended");
}

void laws_check_alone(struct timed_gpu *g, const struct gpu_kernel *k, void *const *stats)
{
    struct strbuf out = {0};
    own_compare(stats, &k->own, &out);
    judge(g, &out, "a kernel has ended");
}

void laws_check(struct timed_gpu *g)
{
    struct strbuf out = {0};
    law(&out, units_requests_live(g) == 0, "requests not answered, pool", 0, units_requests_live(g), 0);
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
    judge(g, &out, "the machine should be empty");
}
