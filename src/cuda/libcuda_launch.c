/* libcuda_launch.c: functions and their launches, through all interfaces of CUDA 2 to 13, and occupancy. */
#include "cuda/libcuda.h"

/* ---- attributes of functions ---- */

static uint64_t const_bytes(CUfunction f)
{
    const struct isa_module *isa = emu_module_isa(gpu_module_emu(f->module->gpu));
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < isa->var_count; i++)
        if (isa->vars[i].is_const) bytes += isa->vars[i].bytes;
    return bytes;
}

static CUresult get_attribute(CUfunction f, CUfunction_attribute attribute, int *value)
{
    if (!f || !f->kernel) return CUDA_ERROR_INVALID_HANDLE;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    const struct isa_kernel *k = f->kernel;
    const struct machine *m = gpu_machine(cu_gpu());
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)gpu_kernel_threads_max(cu_gpu(), k); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)k->shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)const_bytes(f); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)k->frame_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)k->reg_count; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)emu_module_isa(gpu_module_emu(f->module->gpu))->target_sm;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)(m->cc_major * 10 + m->cc_minor); break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->dynamic_shared_max; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->non_portable; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = f->cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult set_attribute(CUfunction f, CUfunction_attribute attribute, int value)
{
    if (!f || !f->kernel) return CUDA_ERROR_INVALID_HANDLE;
    const struct machine *m = gpu_machine(cu_gpu());
    uint64_t shared_max = MAX(m->cta_shared_bytes, m->cta_shared_optin_bytes);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (uint64_t)value + f->kernel->shared_bytes > shared_max)
            return CUDA_ERROR_INVALID_VALUE;
        f->dynamic_shared_max = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value; /* a wish for the timed machine */
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: f->non_portable = value; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        f->cluster_policy = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return value ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CU_API(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction f))
{
    CUresult r = cu_ready();
    return r ? r : get_attribute(cu_function(f), attribute, value);
}
CU_API(cuFuncSetAttribute, (CUfunction f, CUfunction_attribute attribute, int value))
{
    CUresult r = cu_ready();
    return r ? r : set_attribute(cu_function(f), attribute, value);
}
CU_API(cuKernelGetAttribute, (int *value, CUfunction_attribute attribute, CUkernel k, CUdevice dev))
{
    CUresult r = cu_ready();
    if (!r && !cu_device_ok(dev)) r = CUDA_ERROR_INVALID_DEVICE;
    return r ? r : get_attribute(cu_function(k), attribute, value);
}
CU_API(cuKernelSetAttribute, (CUfunction_attribute attribute, int value, CUkernel k, CUdevice dev))
{
    CUresult r = cu_ready();
    if (!r && !cu_device_ok(dev)) r = CUDA_ERROR_INVALID_DEVICE;
    return r ? r : set_attribute(cu_function(k), attribute, value);
}

static CUresult set_cache_config(CUfunction f, CUfunc_cache config)
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!f) return CUDA_ERROR_INVALID_HANDLE;
    if ((int)config < 0 || (int)config > 3) return CUDA_ERROR_INVALID_VALUE;
    f->cache_config = (int)config;
    return CUDA_SUCCESS;
}
CU_API(cuFuncSetCacheConfig, (CUfunction f, CUfunc_cache config))
{
    return set_cache_config(cu_function(f), config);
}
CU_API(cuKernelSetCacheConfig, (CUkernel k, CUfunc_cache config, CUdevice dev))
{
    return cu_device_ok(dev) ? set_cache_config(cu_function(k), config) : CUDA_ERROR_INVALID_DEVICE;
}
CU_API(cuFuncSetSharedMemConfig, (CUfunction f, CUsharedconfig config))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    return (int)config >= 0 && (int)config <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult get_name(CUfunction f, const char **name)
{
    if (!f) return CUDA_ERROR_INVALID_HANDLE;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = f->name;
    return CUDA_SUCCESS;
}
CU_API(cuFuncGetName, (const char **name, CUfunction f)) { return get_name(cu_function(f), name); }
CU_API(cuKernelGetName, (const char **name, CUkernel k)) { return get_name(cu_function(k), name); }

static CUresult param_info(CUfunction f, size_t index, size_t *offset, size_t *bytes)
{
    if (!f || !f->kernel) return CUDA_ERROR_INVALID_HANDLE;
    if (!offset || index >= f->kernel->param_count) return CUDA_ERROR_INVALID_VALUE;
    *offset = f->kernel->params[index].offset;
    if (bytes) *bytes = f->kernel->params[index].bytes;
    return CUDA_SUCCESS;
}
CU_API(cuFuncGetParamInfo, (CUfunction f, size_t index, size_t *offset, size_t *bytes))
{
    return param_info(cu_function(f), index, offset, bytes);
}
CU_API(cuKernelGetParamInfo, (CUkernel k, size_t index, size_t *offset, size_t *bytes))
{
    return param_info(cu_function(k), index, offset, bytes);
}

CU_API(cuFuncGetModule, (CUmodule * out, CUfunction f))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = f->module;
    return CUDA_SUCCESS;
}

CU_API(cuFuncLoad, (CUfunction f)) { return cu_function(f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }

CU_API(cuFuncIsLoaded, (CUfunctionLoadingState * state, CUfunction f))
{
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

/* The argument block of the `extra` form: a list of key, value, ... ended by CU_LAUNCH_PARAM_END. */
static CUresult read_extra(void **extra, struct gpu_launch *l)
{
    enum { KEYS_MAX = 8 };
    for (int i = 0; i < KEYS_MAX; i++, extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_END) return CUDA_SUCCESS;
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            l->packed = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            l->packed_bytes = *(const size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch(CUfunction handle, const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                       CUstream stream, void **params, void **extra, bool cooperative)
{
    CUcontext context;
    CUresult r = cu_enter_launch(&context);
    if (r) return r;
    CUfunction f = cu_function(handle);
    if (!f || !f->kernel) return CUDA_ERROR_INVALID_HANDLE;
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (params && extra) return CUDA_ERROR_INVALID_VALUE;
    if (f->dynamic_shared_max < 0 || shared > (uint32_t)f->dynamic_shared_max)
        return CUDA_ERROR_INVALID_VALUE;
    struct gpu_launch l = {.module = f->module->gpu,
                           .kernel = f->kernel,
                           .grid = {grid[0], grid[1], grid[2]},
                           .block = {block[0], block[1], block[2]},
                           .shared_dynamic_bytes = shared,
                           .args = params,
                           .cooperative = cooperative,
                           .shared_wish =
                               gpu_shared_wish(f->carveout, f->cache_config, context->cache_config),
                           .stream = cu_stream_id(stream)};
    if (extra && (r = read_extra(extra, &l))) return r;
    enum gpu_status status = gpu_launch(cu_gpu(), &l);
    r = cu_status(status);
    /* The runtime reports this as cudaErrorInvalidConfiguration, for which the driver API has no name of its
     * own. */
    if (status == GPU_BAD_LAUNCH && cu_runtime_linked()) r = (CUresult)9;
    if (r == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && cooperative) r = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    /* A kernel that faults was launched: the error belongs to the next call and to every one after it. */
    return gpu_sticky(cu_gpu()) != GPU_OK ? CUDA_SUCCESS : r;
}

CU_ON_STREAM(cuLaunchKernel,
             (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
              unsigned shared, CUstream stream, void **params, void **extra),
             launch(f, (uint32_t[]){gx, gy, gz}, (uint32_t[]){bx, by, bz}, shared, stream, params, extra,
                    false))

CU_ON_STREAM(cuLaunchCooperativeKernel,
             (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
              unsigned shared, CUstream stream, void **params),
             launch(f, (uint32_t[]){gx, gy, gz}, (uint32_t[]){bx, by, bz}, shared, stream, params, NULL,
                    true))

static CUresult launch_config(const CUlaunchConfig *c, CUfunction f, void **params, void **extra,
                              CUstream zero)
{
    if (!c || (c->numAttrs && !c->attrs)) return CUDA_ERROR_INVALID_VALUE;
    bool cooperative = false;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttributeValue *v = &c->attrs[i].value;
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = v->cooperative != 0;
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
            (uint64_t)v->clusterDim.x * v->clusterDim.y * v->clusterDim.z > 1)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE; /* no clusters on these machines (device attribute 120) */
        /* All other attributes are about scheduling and change no result. */
    }
    return launch(f, (uint32_t[]){c->gridDimX, c->gridDimY, c->gridDimZ},
                  (uint32_t[]){c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes,
                  c->hStream ? c->hStream : zero, params, extra, cooperative);
}
CU_API(cuLaunchKernelEx, (const CUlaunchConfig *c, CUfunction f, void **params, void **extra))
{
    return launch_config(c, f, params, extra, NULL);
}
CU_API(cuLaunchKernelEx_ptsz, (const CUlaunchConfig *c, CUfunction f, void **params, void **extra))
{
    return launch_config(c, f, params, extra, CU_STREAM_PER_THREAD);
}

/* ---- the launch interface of CUDA 2 and 3 ---- */

CU_API(cuFuncSetBlockShape, (CUfunction f, int x, int y, int z))
{
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    if (x < 1 || y < 1 || z < 1) return CUDA_ERROR_INVALID_VALUE;
    f->old_block[0] = (uint32_t)x, f->old_block[1] = (uint32_t)y, f->old_block[2] = (uint32_t)z;
    return CUDA_SUCCESS;
}
CU_API(cuFuncSetSharedSize, (CUfunction f, unsigned bytes))
{
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    f->old_shared = bytes;
    return CUDA_SUCCESS;
}
CU_API(cuParamSetSize, (CUfunction f, unsigned bytes))
{
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    return bytes <= sizeof f->old_params ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CU_API(cuParamSetv, (CUfunction f, int offset, void *data, unsigned bytes))
{
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    if (!data || offset < 0 || (size_t)offset + bytes > sizeof f->old_params) return CUDA_ERROR_INVALID_VALUE;
    memcpy(f->old_params + offset, data, bytes);
    return CUDA_SUCCESS;
}
CU_API(cuParamSeti, (CUfunction f, int offset, unsigned value))
{
    return cuParamSetv(f, offset, &value, sizeof value);
}
CU_API(cuParamSetf, (CUfunction f, int offset, float value))
{
    return cuParamSetv(f, offset, &value, sizeof value);
}

CU_API(cuLaunchGridAsync, (CUfunction f, int width, int height, CUstream stream))
{
    if (!cu_function(f)) return CUDA_ERROR_INVALID_HANDLE;
    if (width < 1 || height < 1) return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = sizeof f->old_params;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, f->old_params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    return launch(f, (uint32_t[]){(uint32_t)width, (uint32_t)height, 1}, f->old_block, f->old_shared, stream,
                  NULL, extra, false);
}
CU_API(cuLaunchGrid, (CUfunction f, int width, int height))
{
    return cuLaunchGridAsync(f, width, height, NULL);
}
CU_API(cuLaunch, (CUfunction f)) { return cuLaunchGridAsync(f, 1, 1, NULL); }

/* ---- occupancy ---- */

CU_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
       (int *blocks, CUfunction handle, int threads, size_t shared, unsigned flags))
{
    CUresult r = cu_ready();
    CUfunction f = cu_function(handle);
    if (r) return r;
    if (!f || !f->kernel) return CUDA_ERROR_INVALID_HANDLE;
    if (!blocks || threads < 1 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    *blocks = (int)gpu_occupancy(cu_gpu(), f->kernel, (uint32_t)threads, shared);
    return CUDA_SUCCESS;
}
CU_API(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction f, int threads, size_t shared))
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, 0);
}

/* The block size with the most resident threads; among equals the largest. */
CU_API(cuOccupancyMaxPotentialBlockSizeWithFlags,
       (int *min_grid, int *block, CUfunction handle, CUoccupancyB2DSize of, size_t shared, int limit,
        unsigned flags))
{
    CUresult r = cu_ready();
    CUfunction f = cu_function(handle);
    if (r) return r;
    if (!f || !f->kernel) return CUDA_ERROR_INVALID_HANDLE;
    if (!min_grid || !block || limit < 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    int top = (int)gpu_kernel_threads_max(cu_gpu(), f->kernel), best_threads = 0;
    if (limit) top = MIN(top, limit);
    *block = 0;
    *min_grid = 0;
    for (int size = (top + ISA_LANES - 1) / ISA_LANES * ISA_LANES; size > 0; size -= ISA_LANES) {
        int threads = MIN(size, top);
        size_t dynamic = of ? of(threads) : shared;
        int blocks = (int)gpu_occupancy(cu_gpu(), f->kernel, (uint32_t)threads, dynamic);
        if (blocks * threads <= best_threads) continue;
        best_threads = blocks * threads;
        *block = threads;
        *min_grid = blocks * (int)gpu_machine(cu_gpu())->sm_count;
    }
    return *block ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}
CU_API(cuOccupancyMaxPotentialBlockSize,
       (int *min_grid, int *block, CUfunction f, CUoccupancyB2DSize of, size_t shared, int limit))
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, f, of, shared, limit, 0);
}

CU_API(cuOccupancyAvailableDynamicSMemPerBlock, (size_t * bytes, CUfunction handle, int blocks, int threads))
{
    CUresult r = cu_ready();
    CUfunction f = cu_function(handle);
    if (r) return r;
    if (!f || !f->kernel) return CUDA_ERROR_INVALID_HANDLE;
    if (!bytes || blocks < 1 || threads < 1) return CUDA_ERROR_INVALID_VALUE;
    const struct machine *m = gpu_machine(cu_gpu());
    if (gpu_occupancy(cu_gpu(), f->kernel, (uint32_t)threads, 0) < (uint32_t)blocks)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t share = m->sm_shared_bytes / (uint64_t)blocks;
    share = MIN(share - share % m->sm_shared_unit, MAX(m->cta_shared_bytes, m->cta_shared_optin_bytes));
    *bytes = share > f->kernel->shared_bytes ? share - f->kernel->shared_bytes : 0;
    return CUDA_SUCCESS;
}
