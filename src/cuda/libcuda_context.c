/* libcuda_context.c: contexts. There is one device and its memory is one space, so a context is an owner: of
 * modules and allocations, which end with it. The current context is a stack of each host thread. */
#include "cuda/libcuda.h"

enum { STACK_MAX = 64 };
static _Thread_local struct {
    CUcontext items[STACK_MAX];
    uint32_t depth;
} stack;
static CUcontext primary;
static unsigned primary_flags;
static uint64_t next_id;
static VEC(CUcontext) contexts;

static CUcontext context_new(unsigned flags, bool is_primary)
{
    CUcontext c = handle_new(HANDLE_CONTEXT, sizeof *c);
    c->id = ++next_id;
    c->flags = flags;
    c->primary = is_primary;
    vec_push(&contexts, c);
    return c;
}

static CUcontext get_primary(void)
{
    gpu_lock();
    if (!primary) primary = context_new(primary_flags, true);
    gpu_unlock();
    return primary;
}

/* The top of the thread's stack; without one, the primary context if libcudart.so works in this process. */
CUcontext cu_current(void)
{
    if (stack.depth) return stack.items[stack.depth - 1];
    return gpu_runtime_in_use() ? get_primary() : NULL;
}

/* Ends what the context owns. A fault is cleared with it, as is everything else on the device then. */
static void context_end(CUcontext c, bool reset)
{
    gpu_lock();
    struct gpu *g = cu_gpu();
    cu_storage_end(c);
    for (uint32_t i = 0; i < c->modules.len; i++) {
        c->modules.data[i]->context = NULL;
        cu_module_destroy(c->modules.data[i]);
    }
    struct space *space = emu_device_space(gpu_device(g));
    for (uint32_t i = 0; i < c->allocs.len; i++) space_free(space, c->allocs.data[i]);
    vec_free(&c->modules);
    vec_free(&c->allocs);
    if (reset || gpu_sticky(g) != GPU_OK) gpu_reset(g);
    gpu_unlock();
}

static void context_delete(CUcontext c)
{
    gpu_lock();
    context_end(c, false);
    for (uint32_t i = 0; i < contexts.len; i++)
        if (contexts.data[i] == c) contexts.data[i] = contexts.data[--contexts.len];
    if (stack.depth && cu_current() == c) stack.depth--;
    handle_free(c);
    gpu_unlock();
}

void cu_context_add_alloc(CUcontext ctx, uint64_t base)
{
    gpu_lock();
    vec_push(&ctx->allocs, base);
    gpu_unlock();
}

static CUcontext find_alloc(uint64_t base, uint32_t *index)
{
    for (uint32_t c = 0; c < contexts.len; c++)
        for (uint32_t i = contexts.data[c]->allocs.len;
             i-- > 0;) /* most programs free what they allocated last */
            if (contexts.data[c]->allocs.data[i] == base) {
                *index = i;
                return contexts.data[c];
            }
    return NULL;
}

bool cu_context_drop_alloc(uint64_t base)
{
    uint32_t i;
    gpu_lock();
    CUcontext c = find_alloc(base, &i);
    if (c) c->allocs.data[i] = c->allocs.data[--c->allocs.len];
    gpu_unlock();
    return c != NULL;
}

CUcontext cu_context_of_alloc(uint64_t base)
{
    uint32_t i;
    gpu_lock();
    CUcontext c = find_alloc(base, &i);
    gpu_unlock();
    return c;
}

/* ---- create and destroy ---- */

static CUresult create(CUcontext *out, unsigned flags, CUdevice dev)
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!out || flags > 0xff) return CUDA_ERROR_INVALID_VALUE;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    if (stack.depth == STACK_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    gpu_lock();
    *out = stack.items[stack.depth++] = context_new(flags, false);
    (*out)->refs = 1;
    gpu_unlock();
    return CUDA_SUCCESS;
}

CU_API(cuCtxCreate_v2, (CUcontext * out, unsigned flags, CUdevice dev)) { return create(out, flags, dev); }
/* A context on a part of the SMs. */
static CUresult refuse_affinity(const char *call)
{
    fprintf(stderr, "heddle: %s: execution affinity is not supported: a context has all SMs (sm.count)\n",
            call);
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CU_API(cuCtxCreate_v3,
       (CUcontext * out, CUexecAffinityParam *params, int count, unsigned flags, CUdevice dev))
{
    (void)params;
    return count ? refuse_affinity("cuCtxCreate_v3") : create(out, flags, dev);
}
CU_API(cuCtxCreate_v4, (CUcontext * out, CUctxCreateParams *params, unsigned flags, CUdevice dev))
{
    if (params && params->numExecAffinityParams) return refuse_affinity("cuCtxCreate_v4");
    if (params && params->cigParams) {
        fputs("heddle: cuCtxCreate_v4: a context shared with graphics (cigParams) is not supported\n",
              stderr);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return create(out, flags, dev);
}
CU_API(cuCtxCreate, (CUcontext * out, unsigned flags, CUdevice dev)) { return create(out, flags, dev); }

CU_API(cuCtxDestroy_v2, (CUcontext ctx))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!handle_is(ctx, HANDLE_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    if (ctx->primary) return CUDA_ERROR_INVALID_CONTEXT; /* released, never destroyed */
    context_delete(ctx);
    return CUDA_SUCCESS;
}
CU_API(cuCtxDestroy, (CUcontext ctx)) { return cuCtxDestroy_v2(ctx); }

CU_API(cuCtxAttach, (CUcontext * out, unsigned flags))
{
    CUcontext c;
    CUresult r = cu_enter(&c);
    if (r) return r;
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    c->refs++;
    *out = c;
    return CUDA_SUCCESS;
}

CU_API(cuCtxDetach, (CUcontext ctx))
{
    if (!handle_is(ctx, HANDLE_CONTEXT) || ctx != cu_current()) return CUDA_ERROR_INVALID_CONTEXT;
    return --ctx->refs ? CUDA_SUCCESS : cuCtxDestroy_v2(ctx);
}

/* ---- current ---- */

CU_API(cuCtxPushCurrent_v2, (CUcontext ctx))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!handle_is(ctx, HANDLE_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth == STACK_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    stack.items[stack.depth++] = ctx;
    return CUDA_SUCCESS;
}
CU_API(cuCtxPushCurrent, (CUcontext ctx)) { return cuCtxPushCurrent_v2(ctx); }

CU_API(cuCtxPopCurrent_v2, (CUcontext * out))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!stack.depth) return CUDA_ERROR_INVALID_CONTEXT;
    CUcontext c = stack.items[--stack.depth];
    if (out) *out = c;
    return CUDA_SUCCESS;
}
CU_API(cuCtxPopCurrent, (CUcontext * out)) { return cuCtxPopCurrent_v2(out); }

CU_API(cuCtxSetCurrent, (CUcontext ctx))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (ctx && !handle_is(ctx, HANDLE_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth) stack.depth--;
    if (ctx) stack.items[stack.depth++] = ctx;
    return CUDA_SUCCESS;
}

CU_API(cuCtxGetCurrent, (CUcontext * out))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = cu_current();
    return CUDA_SUCCESS;
}

/* The context given, or the current one for NULL. */
static CUresult pick(CUcontext ctx, CUcontext *out)
{
    if (ctx) {
        *out = ctx;
        CUresult r = cu_ready();
        if (r) return r;
        return handle_is(ctx, HANDLE_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    }
    return cu_enter(out);
}

CU_API(cuCtxGetDevice, (CUdevice * dev))
{
    CUcontext c;
    CUresult r = pick(NULL, &c);
    if (r) return r;
    if (!dev) return CUDA_ERROR_INVALID_VALUE;
    *dev = 0;
    return CUDA_SUCCESS;
}
CU_API(cuCtxGetDevice_v2, (CUdevice * dev, CUcontext ctx))
{
    CUresult r = pick(ctx, &ctx);
    if (r) return r;
    if (!dev) return CUDA_ERROR_INVALID_VALUE;
    *dev = 0;
    return CUDA_SUCCESS;
}

CU_API(cuCtxGetId, (CUcontext ctx, unsigned long long *id))
{
    CUresult r = pick(ctx, &ctx);
    if (r) return r;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = ctx->id;
    return CUDA_SUCCESS;
}

CU_API(cuCtxGetApiVersion, (CUcontext ctx, unsigned *version))
{
    CUresult r = pick(ctx, &ctx);
    if (r) return r;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020; /* the version of the context interface, as drivers report it */
    return CUDA_SUCCESS;
}

CU_API(cuCtxSynchronize, (void)) { return cu_enter(NULL); }
CU_API(cuCtxSynchronize_v2, (CUcontext ctx))
{
    CUresult r = pick(ctx, &ctx);
    return r ? r : cu_status(gpu_settle(cu_gpu()));
}

/* ---- settings ---- */

CU_API(cuCtxGetFlags, (unsigned *flags))
{
    CUcontext c;
    CUresult r = cu_enter(&c);
    if (r) return r;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = c->flags;
    return CUDA_SUCCESS;
}
CU_API(cuCtxSetFlags, (unsigned flags))
{
    CUcontext c;
    CUresult r = cu_enter(&c);
    if (r) return r;
    if (flags > 0xff) return CUDA_ERROR_INVALID_VALUE;
    c->flags = flags;
    return CUDA_SUCCESS;
}

#define SETTING(get_name, set_name, type, field, last)                                                       \
    CU_API(get_name, (type * value))                                                                         \
    {                                                                                                        \
        CUcontext c;                                                                                         \
        CUresult r = cu_enter(&c);                                                                           \
        if (r) return r;                                                                                     \
        if (!value) return CUDA_ERROR_INVALID_VALUE;                                                         \
        *value = (type)c->field;                                                                             \
        return CUDA_SUCCESS;                                                                                 \
    }                                                                                                        \
    CU_API(set_name, (type value))                                                                           \
    {                                                                                                        \
        CUcontext c;                                                                                         \
        CUresult r = cu_enter(&c);                                                                           \
        if (r) return r;                                                                                     \
        if ((int)value < 0 || (int)value > (last)) return CUDA_ERROR_INVALID_VALUE;                          \
        c->field = (int)value; /* a hint; banks are fixed */                                                 \
        return CUDA_SUCCESS;                                                                                 \
    }
SETTING(cuCtxGetCacheConfig, cuCtxSetCacheConfig, CUfunc_cache, cache_config, 3)
SETTING(cuCtxGetSharedMemConfig, cuCtxSetSharedMemConfig, CUsharedconfig, shared_config, 2)

CU_API(cuCtxGetStreamPriorityRange, (int *least, int *greatest))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

CU_API(cuCtxResetPersistingL2Cache, (void)) { return cu_enter(NULL); }

CU_API(cuCtxGetLimit, (size_t * value, CUlimit limit))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    const struct emu_limits *l = emu_device_limits(gpu_device(cu_gpu()));
    switch (limit) {
    case CU_LIMIT_STACK_SIZE: *value = l->stack_bytes; return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE: *value = l->heap_bytes; return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        *value = 1 << 20;
        return CUDA_SUCCESS; /* unlimited: text is written as it comes */
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: *value = 64; return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: *value = 0; return CUDA_SUCCESS;
    default:
        return (int)limit >= 0 && limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT
                                                       : CUDA_ERROR_INVALID_VALUE;
    }
}

CU_API(cuCtxSetLimit, (CUlimit limit, size_t value))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    struct emu_limits *l = emu_device_limits(gpu_device(cu_gpu()));
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        if (value > 512 << 10) return CUDA_ERROR_INVALID_VALUE;
        l->stack_bytes = (uint32_t)value;
        return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE: l->heap_bytes = value; return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return CUDA_SUCCESS; /* hints that change no result */
    default:
        return (int)limit >= 0 && limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT
                                                       : CUDA_ERROR_INVALID_VALUE;
    }
}

CU_API(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))
{
    CUresult r = cu_enter(NULL);
    return r ? r : CUDA_ERROR_INVALID_DEVICE; /* one device: no peer to reach */
}
CU_API(cuCtxDisablePeerAccess, (CUcontext peer))
{
    CUresult r = cu_enter(NULL);
    return r ? r : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/* ---- the primary context ---- */

CU_API(cuDevicePrimaryCtxRetain, (CUcontext * out, CUdevice dev))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    gpu_lock();
    *out = get_primary();
    primary->refs++;
    gpu_unlock();
    return CUDA_SUCCESS;
}

/* The handle stays the same for the life of the process, as programs expect; what it owned goes. */
CU_API(cuDevicePrimaryCtxReset_v2, (CUdevice dev))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    if (primary) context_end(primary, true);
    return CUDA_SUCCESS;
}
CU_API(cuDevicePrimaryCtxReset, (CUdevice dev)) { return cuDevicePrimaryCtxReset_v2(dev); }

CU_API(cuDevicePrimaryCtxRelease_v2, (CUdevice dev))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    gpu_lock();
    if (!primary || !primary->refs)
        r = CUDA_ERROR_INVALID_CONTEXT;
    else if (!--primary->refs)
        context_end(primary, false);
    gpu_unlock();
    return r;
}
CU_API(cuDevicePrimaryCtxRelease, (CUdevice dev)) { return cuDevicePrimaryCtxRelease_v2(dev); }

CU_API(cuDevicePrimaryCtxSetFlags_v2, (CUdevice dev, unsigned flags))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    if (flags > 0xff) return CUDA_ERROR_INVALID_VALUE;
    primary_flags = flags;
    if (primary) primary->flags = flags;
    return CUDA_SUCCESS;
}
CU_API(cuDevicePrimaryCtxSetFlags, (CUdevice dev, unsigned flags))
{
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CU_API(cuDevicePrimaryCtxGetState, (CUdevice dev, unsigned *flags, int *active))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    if (flags) *flags = primary ? primary->flags : primary_flags;
    if (active) *active = primary && primary->refs;
    return CUDA_SUCCESS;
}
