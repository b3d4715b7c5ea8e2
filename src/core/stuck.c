/* stuck.c: when nothing moves any more: who waits for whom.
 *
 * A machine is stuck when work is outstanding and no component will wake by itself, or when no instruction was issued and no
 * request made or answered, and no warp asleep, for gpu.stuck_cycles. The report goes along the way of the data: grids, SMs (which warp waits for
 * what), crossbar, L2 slices, DRAM channels, then the links that hold something, each with its age. */
#include "core/timed_impl.h"

#include <inttypes.h>

static void explain_kernels(const struct timed_gpu *g, struct strbuf *out)
{
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++) {
        const struct gpu_kernel *k = g->dispatch.queue.data[i];
        static const char *const states[] = {"queued", "running", "waits for its stores"};
        strbuf_printf(out,
                      "  kernel %" PRIu64 " '%s' of stream %" PRIu64 ": %s, %" PRIu64 " of %" PRIu64
                      " CTAs done, %" PRIu64 " started\n",
                      k->id, k->name, k->stream, states[k->state], k->ctas_done, k->ctas, k->next_cta);
    }
}

static void explain_link(const struct timed_gpu *g, const struct link *l, uint32_t index, struct strbuf *out)
{
    if (!l->count) return;
    uint32_t id = l->head_value;
    const struct req *r = id < g->pool.cap ? &g->pool.items[id] : NULL;
    strbuf_printf(out, "  link %s %u: %u of %u", l->name, index, l->count, l->capacity);
    if (r)
        strbuf_printf(out, ", head request %u of SM %u warp %u, line 0x%" PRIx64 ", %" PRIu64 " cycles old",
                      id, r->sm, r->warp, r->addr,
                      (uint64_t)((g->now - r->born) / g->clock.domains[DOMAIN_CORE].period));
    strbuf_putc(out, '\n');
}

static void explain_links(const struct timed_gpu *g, struct strbuf *out)
{
    for (uint32_t i = 0; i < g->sm_count; i++) {
        explain_link(g, &g->links.sm_to_xbar[i], i, out);
        explain_link(g, &g->links.xbar_to_sm[i], i, out);
    }
    for (uint32_t i = 0; i < g->slice_count; i++) {
        explain_link(g, &g->links.xbar_to_slice[i], i, out);
        explain_link(g, &g->links.slice_to_dram[i], i, out);
        explain_link(g, &g->links.dram_to_slice[i], i, out);
        explain_link(g, &g->links.slice_to_xbar[i], i, out);
    }
}

void stuck_report(struct timed_gpu *g, const char *why)
{
    struct strbuf *out = &g->report;
    strbuf_printf(out, "heddle: the machine is stuck at cycle %" PRIu64 ": %s\n", gpu_cycle(g), why);
    explain_kernels(g, out);
    streams_explain(g, out);
    for (uint32_t i = 0; i < g->sm_count; i++)
        if (!sm_idle(g->sms[i])) sm_explain(g->sms[i], g->now, out);
    if (!xbar_idle(g->xbar)) xbar_explain(g->xbar, g->now, out);
    for (uint32_t i = 0; i < g->slice_count; i++)
        if (!l2_idle(g->slices[i])) l2_explain(g->slices[i], g->now, out);
    for (uint32_t i = 0; i < g->channel_count; i++)
        if (!dram_idle(g->channels[i])) dram_explain(g->channels[i], g->now, out);
    explain_links(g, out);
    strbuf_printf(out, "  requests: %" PRIu64 " made, %u under way\n", units_requests_made(g),
                  units_requests_live(g));
    gpu_fail(g, END_STUCK, EMU_DEADLOCK, NULL);
}

bool stuck_no_progress(struct timed_gpu *g)
{
    uint64_t mark = units_requests_made(g) + g->counts.ctas;
    uint64_t insts = 0;
    bool sleeps = false;
    for (uint32_t i = 0; i < g->sm_count; i++) {
        insts += ((const struct sm_stats *)sm_stats(g->sms[i]))->warp_insts;
        sleeps |= sm_sleeps(g->sms[i]);
    }
    g->progress_insts = insts;
    mark += insts;
    if (mark != g->progress_mark || sleeps || !g->dispatch.queue.len || streams_wake(g) != TICK_NEVER) {
        g->progress_mark = mark;
        g->progress_cycle = gpu_cycle(g);
    }
    return gpu_cycle(g) - g->progress_cycle > g->machine.gpu_stuck_cycles;
}
