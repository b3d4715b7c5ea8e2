/* machine_size.c: see machine_size.h. The bounds of single parameters are generous, so that studies of limits
 * can ask for what they like of one of them; the product of a few would take terabytes. The count is rough:
 * what an entry takes is rounded up, and what does not grow with a parameter is left out. */
#include "core/machine_size.h"

enum {
    /* ---- bytes of the host's memory ---- */

    /* its tags, its age, its address */
    LINE_COST = 64,
    /* the entry and its slots of the hash table */
    MSHR_COST = 96,
    /* an entry of a queue or of a list of waiters */
    ENTRY_COST = 32
};
/* Bytes. Every machine of machines/ takes less than a hundredth of it. */
static const uint64_t host_bytes_max = 8ull << 30;
/* Slices have 16-bit numbers in struct req and in the crossbar's ports. */
enum { SLICES_MAX = UINT16_MAX };

static uint64_t lines_cost(uint64_t bytes, uint32_t line) { return bytes / line * LINE_COST; }

static uint64_t mshrs_cost(uint64_t mshrs, uint64_t merges)
{
    return mshrs * (MSHR_COST + merges * ENTRY_COST);
}

static uint64_t sm_cost(const struct machine *m)
{
    const struct sm_params *p = &m->sm;
    const struct xbar_params *x = &m->xbar;
    const uint64_t entries = 2ull * m->l1.miss_queue + m->gpu_sm_out_queue + m->gpu_sm_in_queue +
                             x->injection + (uint64_t)x->vcs * x->vc_buffer + x->ejection;
    return lines_cost(m->l1.size, m->l1.line) + mshrs_cost(m->l1.mshrs, m->l1.merges) +
           lines_cost(p->icache_bytes, p->icache_line) + lines_cost(p->const_bytes, p->const_line) +
           lines_cost(p->tex_bytes, p->tex_line) + entries * ENTRY_COST;
}

static uint64_t slice_cost(const struct machine *m)
{
    const struct l2_params *p = &m->l2;
    const struct xbar_params *x = &m->xbar;
    const uint64_t entries = (uint64_t)p->access_queue + p->response_queue + p->miss_queue + p->fill_queue +
                             p->pipeline + x->injection + (uint64_t)x->vcs * x->vc_buffer + x->ejection;
    return lines_cost(p->slice_size, p->line) + mshrs_cost(p->mshrs, 0) + entries * ENTRY_COST;
}

static uint64_t channel_cost(const struct machine *m)
{
    return ((uint64_t)m->dram.queue + m->dram.return_queue + m->dram.write_queue) * 2 * ENTRY_COST;
}

bool machine_size_check(const struct machine *m, struct diag_list *diags)
{
    const uint32_t channels = m->addrmap.channels, slices = channels * m->addrmap.slices;
    const uint32_t errors = diags->errors;
    if (slices > SLICES_MAX)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL,
                 "addr.channels * addr.slices is %u, a machine has at most %u slices of the L2", slices,
                 SLICES_MAX);
    const uint64_t bytes = m->sm_count * sm_cost(m) + slices * slice_cost(m) + channels * channel_cost(m);
    if (bytes > host_bytes_max)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0,
                 "smaller caches, fewer MSHRs, merges or queue entries, fewer SMs or slices",
                 "this machine is too large to be simulated: its caches, MSHRs and queues would take about "
                 "%llu GB of the host's memory, and at most %llu are allowed",
                 (unsigned long long)(bytes >> 30), (unsigned long long)(host_bytes_max >> 30));
    return diags->errors == errors;
}
