/* rt_func.c: attributes of kernels, and the occupancy calculator. */
#include "cuda/rt_abi.h"
#include "cuda/rt_api.h"
#include "cuda/rt_launch.h"

static size_t const_bytes(const struct rt_binary *b)
{
    const struct isa_module *m = emu_module_isa(gpu_module_emu(b->module));
    size_t bytes = 0;
    for (uint32_t i = 0; i < m->var_count; i++)
        if (m->vars[i].is_const && !m->vars[i].is_extern) bytes += m->vars[i].bytes;
    return bytes;
}

static cudaError_t func_attributes(struct gpu *g, struct cudaFuncAttributes *out, const void *func)
{
    struct rt_kernel *k;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t e = rt_kernel_find(g, func, &k);
    if (e) return e;
    const struct isa_module *m = emu_module_isa(gpu_module_emu(k->binary->module));
    const struct machine *machine = gpu_machine(g);
    struct cudaFuncAttributes a = {
        .sharedSizeBytes = k->isa->shared_bytes,
        .constSizeBytes = const_bytes(k->binary),
        .localSizeBytes = k->isa->frame_bytes,
        .maxThreadsPerBlock = (int)gpu_kernel_threads_max(g, k->isa),
        .numRegs = (int)k->isa->reg_count,
        .ptxVersion = (int)m->target_sm,
        .binaryVersion = (int)(machine->cc_major * 10 + machine->cc_minor),
        .maxDynamicSharedSizeBytes = (int)rt_dynamic_shared_limit(g, k),
        .preferredShmemCarveout = k->carveout,
    };
    memcpy(out, &a, rt_abi_func_attributes_bytes());
    return cudaSuccess;
}
CUDART(cudaFuncGetAttributes, (struct cudaFuncAttributes * out, const void *func))
{
    RT_QUEUE(func_attributes(g, out, func));
}

static cudaError_t func_set_attribute(struct gpu *g, const void *func, int attribute, int value)
{
    struct rt_kernel *k;
    cudaError_t e = rt_kernel_find(g, func, &k);
    if (e) return e;
    uint64_t optin = MAX(gpu_machine(g)->cta_shared_optin_bytes, gpu_machine(g)->cta_shared_bytes);
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (uint64_t)value + k->isa->shared_bytes > optin) return cudaErrorInvalidValue;
        k->dynamic_shared_max = value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cudaErrorInvalidValue;
        k->carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth: return value > 1 ? cudaErrorNotSupported : cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess; /* there are no clusters */
    default: return cudaErrorInvalidValue;
    }
}
CUDART(cudaFuncSetAttribute, (const void *func, int attribute, int value))
{
    RT_QUEUE(func_set_attribute(g, func, attribute, value));
}
CUDART(cudaKernelSetAttributeForDevice, (cudaKernel_t kernel, int attribute, int value, int device))
{
    RT_QUEUE(device == 0 ? func_set_attribute(g, kernel, attribute, value) : cudaErrorInvalidDevice);
}

/* Wishes about the split of the L1 and about banks have no effect on results. The split is a wish for the
 * timed machine; banks are what the machine has. */
static cudaError_t func_cache(struct gpu *g, const void *func, int value)
{
    struct rt_kernel *k;
    if (value < 0 || value > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    cudaError_t e = rt_kernel_find(g, func, &k);
    if (!e) k->cache_config = value;
    return e;
}
CUDART(cudaFuncSetCacheConfig, (const void *func, int config)) { RT_QUEUE(func_cache(g, func, config)); }

static cudaError_t func_banks(struct gpu *g, const void *func, int value)
{
    struct rt_kernel *k;
    if (value < 0 || value > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
    return rt_kernel_find(g, func, &k);
}
CUDART(cudaFuncSetSharedMemConfig, (const void *func, int config)) { RT_QUEUE(func_banks(g, func, config)); }

static cudaError_t func_name(struct gpu *g, const char **out, const void *func)
{
    struct rt_kernel *k;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t e = rt_kernel_find(g, func, &k);
    if (!e) *out = k->name;
    return e;
}
CUDART(cudaFuncGetName, (const char **out, const void *func)) { RT_QUEUE(func_name(g, out, func)); }

static cudaError_t func_param(struct gpu *g, const void *func, size_t index, size_t *offset, size_t *bytes)
{
    struct rt_kernel *k;
    if (!offset) return cudaErrorInvalidValue;
    cudaError_t e = rt_kernel_find(g, func, &k);
    if (e) return e;
    if (index >= k->isa->param_count) return cudaErrorInvalidValue;
    *offset = k->isa->params[index].offset;
    if (bytes) *bytes = k->isa->params[index].bytes;
    return cudaSuccess;
}
CUDART(cudaFuncGetParamInfo, (const void *func, size_t index, size_t *offset, size_t *bytes))
{
    RT_QUEUE(func_param(g, func, index, offset, bytes));
}

/* ---- occupancy ---- */

static cudaError_t occupancy_blocks(struct gpu *g, int *out, const void *func, int threads,
                                    size_t dynamic_bytes)
{
    struct rt_kernel *k;
    if (!out || threads <= 0) return cudaErrorInvalidValue;
    cudaError_t e = rt_kernel_find(g, func, &k);
    if (e) return e;
    bool fits = dynamic_bytes <= rt_dynamic_shared_limit(g, k);
    *out = fits ? (int)gpu_occupancy(g, k->isa, (uint32_t)threads, dynamic_bytes) : 0;
    return cudaSuccess;
}
CUDART(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
       (int *out, const void *func, int threads, size_t dynamic_bytes))
{
    RT_QUEUE(occupancy_blocks(g, out, func, threads, dynamic_bytes));
}
CUDART(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
       (int *out, const void *func, int threads, size_t dynamic_bytes, unsigned flags))
{
    RT_QUEUE(flags <= 1 ? occupancy_blocks(g, out, func, threads, dynamic_bytes) : cudaErrorInvalidValue);
}

/* The most dynamic shared memory with which `blocks` CTAs still share an SM. */
static cudaError_t occupancy_shared(struct gpu *g, size_t *out, const void *func, int blocks, int threads)
{
    struct rt_kernel *k;
    if (!out || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    cudaError_t e = rt_kernel_find(g, func, &k);
    if (e) return e;
    const struct machine *m = gpu_machine(g);
    *out = 0;
    if (gpu_occupancy(g, k->isa, (uint32_t)threads, 0) < (uint32_t)blocks) return cudaSuccess;
    uint64_t share = m->sm_shared_bytes / (uint64_t)blocks;
    if (m->sm_shared_unit) share -= share % m->sm_shared_unit;
    if (share > k->isa->shared_bytes) *out = MIN(share - k->isa->shared_bytes, rt_dynamic_shared_limit(g, k));
    return cudaSuccess;
}
CUDART(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t * out, const void *func, int blocks, int threads))
{
    RT_QUEUE(occupancy_shared(g, out, func, blocks, threads));
}
