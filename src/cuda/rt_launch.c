/* rt_launch.c: starts kernels, on all paths that nvcc has used.
 *
 *   CUDA 13       __cudaPushCallConfiguration, then in the stub __cudaGetKernel once,
 *                 __cudaPopCallConfiguration and __cudaLaunchKernel
 *   CUDA 9 to 12  __cudaPushCallConfiguration, then in the stub __cudaPopCallConfiguration and
 *                 cudaLaunchKernel
 *   CUDA 8        cudaConfigureCall, cudaSetupArgument for each argument, cudaLaunch
 *   by hand       cudaLaunchKernel, cudaLaunchKernelExC, cudaLaunchCooperativeKernel
 *
 * The refusal of a launch is the call's error; a fault in it is reported by the next call that waits for it
 * (rt_error.c), or at once where the environment has CUDA_LAUNCH_BLOCKING=1. */
#include "cuda/rt_launch.h"

#include "cuda/rt_api.h"

struct launch {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    void **args;
    const void *packed;
    size_t packed_bytes;
    bool cooperative;
};

static bool launch_blocking(void)
{
    const char *text = getenv("CUDA_LAUNCH_BLOCKING");
    return text && text[0] == '1';
}

/* Stream 0 of a program that was built with --default-stream per-thread. */
static cudaStream_t per_thread(cudaStream_t stream) { return stream ? stream : cudaStreamPerThread; }

static bool is_fault(cudaError_t e)
{
    return e == cudaErrorLaunchFailure || e == cudaErrorIllegalAddress || e == cudaErrorMisalignedAddress ||
           e == cudaErrorAssert || e == cudaErrorLaunchTimeout;
}

static bool shape_valid(const struct emu_limits *l, dim3 grid, dim3 block)
{
    uint32_t sizes[6] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
    uint32_t limits[6] = {l->grid_max[0],  l->grid_max[1],  l->grid_max[2],
                          l->block_max[0], l->block_max[1], l->block_max[2]};
    for (int i = 0; i < 6; i++)
        if (!sizes[i] || sizes[i] > limits[i]) return false;
    return (uint64_t)block.x * block.y * block.z <= l->threads_per_cta_max;
}

static uint64_t threads_of(dim3 d) { return (uint64_t)d.x * d.y * d.z; }

/* The driver refuses a launch beyond the __launch_bounds__ that the kernel was compiled with. */
static bool bounds_kept(const struct isa_kernel *k, dim3 block)
{
    if (k->reqntid[0])
        return block.x == k->reqntid[0] && block.y == MAX(k->reqntid[1], 1u) &&
               block.z == MAX(k->reqntid[2], 1u);
    uint64_t bound = (uint64_t)k->maxntid[0] * MAX(k->maxntid[1], 1u) * MAX(k->maxntid[2], 1u);
    return !bound || threads_of(block) <= bound;
}

static bool args_present(const struct isa_kernel *k, const struct launch *l)
{
    if (l->packed || !k->param_count) return true;
    if (!l->args) return false;
    for (uint32_t i = 0; i < k->param_count; i++)
        if (!l->args[i]) return false;
    return true;
}

size_t rt_dynamic_shared_limit(struct gpu *g, const struct rt_kernel *k)
{
    if (k->dynamic_shared_max >= 0) return (size_t)k->dynamic_shared_max;
    uint64_t limit = gpu_machine(g)->cta_shared_bytes;
    return limit > k->isa->shared_bytes ? limit - k->isa->shared_bytes : 0;
}

static bool cooperative_fits(struct gpu *g, const struct rt_kernel *k, const struct launch *l)
{
    uint64_t per_sm = gpu_occupancy(g, k->isa, (uint32_t)threads_of(l->block), l->shared_bytes);
    return threads_of(l->grid) <= per_sm * gpu_machine(g)->sm_count;
}

static cudaError_t launch_check(struct gpu *g, const struct rt_kernel *k, const struct launch *l)
{
    if (!shape_valid(emu_device_limits(gpu_device(g)), l->grid, l->block))
        return cudaErrorInvalidConfiguration;
    if (!rt_stream_valid(l->stream)) return cudaErrorInvalidResourceHandle;
    if (!bounds_kept(k->isa, l->block) || !args_present(k->isa, l)) return cudaErrorInvalidValue;
    if (l->shared_bytes > rt_dynamic_shared_limit(g, k)) return cudaErrorInvalidValue;
    if (l->cooperative && !cooperative_fits(g, k, l)) return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

static cudaError_t launch_run(const void *func, const struct launch *l)
{
    struct gpu *g;
    cudaError_t e = rt_enter_launch(&g);
    if (e) return e;
    struct rt_kernel *k = NULL;
    gpu_lock();
    e = rt_kernel_find(g, func, &k);
    if (!e) e = launch_check(g, k, l);
    if (!e) {
        struct gpu_launch launch = {
            .module = k->binary->module,
            .kernel = k->isa,
            .grid = {l->grid.x, l->grid.y, l->grid.z},
            .block = {l->block.x, l->block.y, l->block.z},
            .shared_dynamic_bytes = (uint32_t)l->shared_bytes,
            .args = l->args,
            .packed = l->packed,
            .packed_bytes = l->packed_bytes,
            .cooperative = l->cooperative,
            .shared_wish = gpu_shared_wish(k->carveout, k->cache_config, (int)rt_state()->cache_config),
            .stream = rt_stream_id(g, l->stream),
        };
        e = rt_from_status(gpu_launch(g, &launch));
        if (!e && launch_blocking()) e = rt_from_status(gpu_settle(g));
    }
    gpu_unlock();
    return is_fault(e) && !launch_blocking() ? cudaSuccess : e;
}

/* ---- by address or handle ---- */

CUDART(cudaLaunchKernel,
       (const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes, cudaStream_t stream))
{
    struct launch l = {
        .grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream, .args = args};
    return rt_done(launch_run(func, &l));
}
CUDART(cudaLaunchKernel_ptsz,
       (const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes, cudaStream_t stream))
{
    return cudaLaunchKernel(func, grid, block, args, shared_bytes, per_thread(stream));
}

CUDART(__cudaLaunchKernel,
       (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes, cudaStream_t stream))
{
    return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}
CUDART(__cudaLaunchKernel_ptsz,
       (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes, cudaStream_t stream))
{
    return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, per_thread(stream));
}

CUDART(cudaLaunchCooperativeKernel,
       (const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes, cudaStream_t stream))
{
    struct launch l = {.grid = grid,
                       .block = block,
                       .shared_bytes = shared_bytes,
                       .stream = stream,
                       .args = args,
                       .cooperative = true};
    return rt_done(launch_run(func, &l));
}
CUDART(cudaLaunchCooperativeKernel_ptsz,
       (const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes, cudaStream_t stream))
{
    return cudaLaunchCooperativeKernel(func, grid, block, args, shared_bytes, per_thread(stream));
}

/* Attributes that only concern speed are accepted and change nothing; clusters of more than one CTA are not
 * modelled. */
static cudaError_t read_attribute(const cudaLaunchAttribute *a, struct launch *l)
{
    switch (a->id) {
    case cudaLaunchAttributeCooperative: l->cooperative = a->val.cooperative != 0; return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        return a->val.clusterDim.x > 1 || a->val.clusterDim.y > 1 || a->val.clusterDim.z > 1
                   ? cudaErrorNotSupported
                   : cudaSuccess;
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent:
    case cudaLaunchAttributeDeviceUpdatableKernelNode: return cudaErrorNotSupported;
    default: return cudaSuccess;
    }
}

static cudaError_t launch_config(const cudaLaunchConfig_t *c, const void *func, void **args)
{
    if (!c || (c->numAttrs && !c->attrs)) return cudaErrorInvalidValue;
    struct launch l = {.grid = c->gridDim,
                       .block = c->blockDim,
                       .shared_bytes = c->dynamicSmemBytes,
                       .stream = c->stream,
                       .args = args};
    for (unsigned i = 0; i < c->numAttrs; i++) {
        cudaError_t e = read_attribute(&c->attrs[i], &l);
        if (e) return e;
    }
    return launch_run(func, &l);
}

CUDART(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *func, void **args))
{
    return rt_done(launch_config(config, func, args));
}
CUDART(cudaLaunchKernelExC_ptsz, (const cudaLaunchConfig_t *config, const void *func, void **args))
{
    if (!config) return rt_done(cudaErrorInvalidValue);
    cudaLaunchConfig_t c = *config;
    c.stream = per_thread(c.stream);
    return rt_done(launch_config(&c, func, args));
}

/* ---- <<< >>> ---- */

static cudaError_t config_push(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream)
{
    struct rt_thread *t = rt_thread();
    if (t->config_count == RT_CONFIG_DEPTH) return cudaErrorLaunchOutOfResources;
    t->configs[t->config_count++] =
        (struct rt_config){.grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream};
    return cudaSuccess;
}

/* 0, or another value that makes the program skip the launch. */
CUDART_RETURNS(unsigned, __cudaPushCallConfiguration,
               (dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream))
{
    return (unsigned)rt_done(config_push(grid, block, shared_bytes, stream));
}

CUDART(__cudaPopCallConfiguration, (dim3 * grid, dim3 *block, size_t *shared_bytes, void *stream))
{
    struct rt_thread *t = rt_thread();
    if (!t->config_count) return rt_done(cudaErrorMissingConfiguration);
    if (!grid || !block || !shared_bytes || !stream) return rt_done(cudaErrorInvalidValue);
    const struct rt_config *c = &t->configs[--t->config_count];
    *grid = c->grid;
    *block = c->block;
    *shared_bytes = c->shared_bytes;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

static cudaError_t kernel_get(struct gpu *g, cudaKernel_t *out, const void *host)
{
    struct rt_kernel *k;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t e = rt_kernel_find(g, host, &k);
    if (!e) *out = k;
    return e;
}

CUDART(cudaGetKernel, (cudaKernel_t * out, const void *host)) { RT_QUEUE(kernel_get(g, out, host)); }
CUDART_ALIAS(cudaGetKernel, cudaGetFuncBySymbol);

/* The stub keeps the result in a static variable and does not ask again, so it must not depend on the state
 * of the context; a kernel that cannot be loaded is refused at the launch. */
CUDART(__cudaGetKernel, (cudaKernel_t * out, const void *host))
{
    if (!out) return rt_done(cudaErrorInvalidValue);
    gpu_lock();
    *out = rt_table_get(&rt_state()->kernels, rt_key(host));
    gpu_unlock();
    return rt_done(*out ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

/* ---- CUDA 8 and older ---- */

CUDART(cudaConfigureCall, (dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream))
{
    return rt_done(config_push(grid, block, shared_bytes, stream));
}

static cudaError_t argument_set(const void *arg, size_t bytes, size_t offset)
{
    struct rt_thread *t = rt_thread();
    if (!t->config_count) return cudaErrorMissingConfiguration;
    if (!arg || offset > RT_ARGS_MAX || bytes > RT_ARGS_MAX - offset) return cudaErrorInvalidValue;
    struct rt_config *c = &t->configs[t->config_count - 1];
    if (!c->args) c->args = mem_zalloc(RT_ARGS_MAX);
    memcpy(c->args + offset, arg, bytes);
    c->arg_bytes = MAX(c->arg_bytes, offset + bytes);
    return cudaSuccess;
}

CUDART(cudaSetupArgument, (const void *arg, size_t bytes, size_t offset))
{
    return rt_done(argument_set(arg, bytes, offset));
}

CUDART(cudaLaunch, (const void *func))
{
    struct rt_thread *t = rt_thread();
    if (!t->config_count) return rt_done(cudaErrorMissingConfiguration);
    struct rt_config c = t->configs[--t->config_count];
    struct launch l = {.grid = c.grid,
                       .block = c.block,
                       .shared_bytes = c.shared_bytes,
                       .stream = c.stream,
                       .packed = c.args ? (const void *)c.args : "",
                       .packed_bytes = c.arg_bytes};
    cudaError_t e = launch_run(func, &l);
    free(c.args);
    return rt_done(e);
}
CUDART(cudaLaunch_ptsz, (const void *func))
{
    struct rt_thread *t = rt_thread();
    if (t->config_count) {
        struct rt_config *c = &t->configs[t->config_count - 1];
        c->stream = per_thread(c->stream);
    }
    return cudaLaunch(func);
}

/* ---- host functions: the stream is run up to the function, which is then called here ---- */

static cudaError_t host_turn(cudaStream_t stream, bool arguments_ok)
{
    struct gpu *g;
    cudaError_t e = rt_enter_launch(&g);
    if (!e && !arguments_ok) e = cudaErrorInvalidValue;
    if (!e && !rt_stream_valid(stream)) e = cudaErrorInvalidResourceHandle;
    return e ? e : rt_from_status(gpu_stream_sync(g, rt_stream_id(g, stream)));
}

CUDART(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *user))
{
    cudaError_t e = host_turn(stream, fn != NULL);
    if (!e) fn(user); /* without the lock: it may wait for another thread that needs it */
    return rt_done(e);
}
CUDART(cudaLaunchHostFunc_ptsz, (cudaStream_t stream, cudaHostFn_t fn, void *user))
{
    return cudaLaunchHostFunc(per_thread(stream), fn, user);
}

CUDART(cudaStreamAddCallback,
       (cudaStream_t stream, cudaStreamCallback_t callback, void *user, unsigned flags))
{
    cudaError_t e = host_turn(stream, callback && !flags);
    if (!e) callback(stream, cudaSuccess, user);
    return rt_done(e);
}
CUDART(cudaStreamAddCallback_ptsz,
       (cudaStream_t stream, cudaStreamCallback_t callback, void *user, unsigned flags))
{
    return cudaStreamAddCallback(per_thread(stream), callback, user, flags);
}
