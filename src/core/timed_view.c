/* timed_view.c: gathers what a run left behind, for the printers of stats/. */
#include "core/timed.h"
#include "stats/view.h"

static struct stats_machine shown_machine(const struct machine *m)
{
    return (struct stats_machine){.name = m->name,
                                  .sms = m->sm_count,
                                  .warps_per_sm = m->sm_warps,
                                  .core_khz = m->core_clock_khz,
                                  .xbar_khz = m->xbar_clock_khz,
                                  .l2_khz = m->l2_clock_khz,
                                  .dram_khz = m->dram_clock_khz,
                                  .request_flit = m->xbar.request_flit,
                                  .reply_flit = m->xbar.reply_flit,
                                  .burst_bytes = m->dram.bus_bytes * m->dram.burst};
}

static void view_gather(struct timed_gpu *g, struct stats_view *v)
{
    *v = (struct stats_view){.machine = shown_machine(timed_machine(g)),
                             .host_seconds = timed_host_seconds(g)};
    v->group_count = timed_groups(g, &v->groups);
    v->is_own = timed_is_own;
    v->energy = timed_energy(g);
    v->energy_row_count = timed_energy_rows(g, &v->energy_rows);
    v->kernel_count = timed_kernel_count(g);
    v->kernels = mem_alloc(sizeof(*v->kernels) * (v->kernel_count + 1));
    for (uint32_t i = 0; i < v->kernel_count; i++) v->kernels[i] = timed_kernel_at(g, i);
    v->sample_count = timed_sample_count(g);
    v->samples = mem_alloc(sizeof(*v->samples) * (v->sample_count + 1));
    for (uint32_t i = 0; i < v->sample_count; i++) v->samples[i] = timed_sample_at(g, i);
    v->cta_count = timed_cta_count(g);
    v->ctas = mem_alloc(sizeof(*v->ctas) * ((size_t)v->cta_count + 1));
    for (uint32_t i = 0; i < v->cta_count; i++) v->ctas[i] = timed_cta_at(g, i);
    v->transfer_count = timed_transfer_count(g);
    v->transfers = mem_alloc(sizeof(*v->transfers) * ((size_t)v->transfer_count + 1));
    for (uint32_t i = 0; i < v->transfer_count; i++) v->transfers[i] = timed_transfer_at(g, i);
    v->notes = timed_notes(g, &v->note_count, &v->notes_dropped);
    v->l1_count = timed_sm_count(g);
    v->l1s = mem_alloc(sizeof(*v->l1s) * (v->l1_count + 1));
    for (uint32_t i = 0; i < v->l1_count; i++) v->l1s[i] = timed_l1_stats(g, i);
    v->l2_count = timed_slice_count(g);
    v->l2s = mem_alloc(sizeof(*v->l2s) * (v->l2_count + 1));
    for (uint32_t i = 0; i < v->l2_count; i++) v->l2s[i] = timed_slice_stats(g, i);
    v->total = (struct timed_kernel){.name = "total", .end_cycle = timed_cycles(g), .stats = timed_totals(g)};
    if (timed_has_samples(g)) view_add_rest(v);
    v->partial = timed_partial(g);
    v->hash = timed_hash(g);
    view_resolve(v);
}

static void view_forget(struct timed_gpu *g, struct stats_view *v)
{
    if (v->rest.stats) view_free_stats(v, v->rest.stats);
    timed_free_stats(g, v->total.stats);
    free(v->kernels);
    free(v->samples);
    free(v->ctas);
    free(v->transfers);
    free(v->notes);
    free(v->l1s);
    free(v->l2s);
    *v = (struct stats_view){0};
}

void timed_print(struct timed_gpu *g, void (*print)(const struct stats_view *, struct strbuf *),
                 struct strbuf *out)
{
    struct stats_view v;
    view_gather(g, &v);
    print(&v, out);
    view_forget(g, &v);
}
