/* gpu_occupancy.c: CUDA's occupancy rules for a kernel on this machine. */
#include "core/occupancy.h"
#include "cuda/gpu_impl.h"

uint64_t gpu_kernel_bound(const struct isa_kernel *k)
{
    const uint32_t *bound = k->reqntid[0] ? k->reqntid : k->maxntid;
    return bound[0] ? (uint64_t)bound[0] * MAX(bound[1], 1u) * MAX(bound[2], 1u) : UINT64_MAX;
}

uint32_t gpu_kernel_threads_max(const struct gpu *g, const struct isa_kernel *k)
{
    uint32_t limit = MIN(g->machine.cta_threads, occupancy_warps_by_registers(&g->machine, k) * ISA_LANES);
    return (uint32_t)MIN(gpu_kernel_bound(k), (uint64_t)limit);
}

uint32_t gpu_occupancy(const struct gpu *g, const struct isa_kernel *k, uint32_t block_threads,
                       size_t dynamic_shared)
{
    const struct machine *m = &g->machine;
    if (!block_threads || block_threads > gpu_kernel_threads_max(g, k)) return 0;
    if (k->shared_bytes + dynamic_shared > MAX(m->cta_shared_bytes, m->cta_shared_optin_bytes)) return 0;
    return occupancy_ctas(m, k, block_threads, (uint64_t)k->shared_bytes + dynamic_shared);
}
