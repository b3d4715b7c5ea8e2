/* libcuda_base.c: initialisation, handles and errors of libcuda.so.1. */
#include "cuda/libcuda.h"

#include <stdatomic.h>

static atomic_bool initialised;

/* ---- handles ----
 * A freed handle waits in a queue before its memory is used again for one of the same size, so that most uses
 * of a stale handle are seen. */

enum { QUARANTINE = 256 };
static struct {
    struct handle *oldest, *newest;
    uint32_t count;
} quarantine;

static struct handle *take_from_quarantine(size_t bytes)
{
    struct handle *before = NULL;
    if (quarantine.count < QUARANTINE) return NULL;
    for (struct handle *h = quarantine.oldest; h; before = h, h = h->next) {
        if (h->bytes != bytes) continue;
        if (before)
            before->next = h->next;
        else
            quarantine.oldest = h->next;
        if (quarantine.newest == h) quarantine.newest = before;
        quarantine.count--;
        return h;
    }
    return NULL;
}

void *handle_new(enum handle_kind kind, size_t bytes)
{
    gpu_lock();
    struct handle *h = take_from_quarantine(bytes);
    if (h)
        memset(h, 0, bytes);
    else
        h = mem_zalloc(bytes);
    h->kind = (uint32_t)kind;
    h->bytes = (uint32_t)bytes;
    gpu_unlock();
    return h;
}

void handle_free(void *handle)
{
    struct handle *h = handle;
    gpu_lock();
    h->kind = HANDLE_DEAD;
    h->next = NULL;
    if (quarantine.newest)
        quarantine.newest->next = h;
    else
        quarantine.oldest = h;
    quarantine.newest = h;
    quarantine.count++;
    gpu_unlock();
}

/* ---- entry ---- */

CUresult cu_status(enum gpu_status s)
{
    static const CUresult map[] = {
        [GPU_OK] = CUDA_SUCCESS,
        [GPU_OUT_OF_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY,
        [GPU_INVALID_VALUE] = CUDA_ERROR_INVALID_VALUE,
        [GPU_INVALID_PTX] = CUDA_ERROR_INVALID_PTX,
        [GPU_NO_BINARY] = CUDA_ERROR_NO_BINARY_FOR_GPU,
        [GPU_NOT_FOUND] = CUDA_ERROR_NOT_FOUND,
        [GPU_INVALID_HANDLE] = CUDA_ERROR_INVALID_HANDLE,
        [GPU_LAUNCH_FAILED] = CUDA_ERROR_LAUNCH_FAILED,
        [GPU_BAD_LAUNCH] = CUDA_ERROR_INVALID_VALUE,
        [GPU_TOO_MANY_RESOURCES] = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        [GPU_ILLEGAL_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
        [GPU_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [GPU_ASSERT] = CUDA_ERROR_ASSERT,
        [GPU_TIMEOUT] = CUDA_ERROR_LAUNCH_TIMEOUT,
        [GPU_ILLEGAL_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
        [GPU_NOT_SUPPORTED] = CUDA_ERROR_NOT_SUPPORTED,
        [GPU_NOT_READY] = CUDA_ERROR_NOT_READY,
        [GPU_NO_DEVICE] = CUDA_ERROR_NO_DEVICE,
    };
    return (size_t)s < ARRAY_LEN(map) ? map[s] : CUDA_ERROR_UNKNOWN;
}

struct gpu *cu_gpu(void) { return gpu_get_for_driver(); }

CUresult cu_ready(void)
{
    if (!atomic_load(&initialised) && !gpu_runtime_in_use()) return CUDA_ERROR_NOT_INITIALIZED;
    return cu_gpu() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cu_enter_launch(CUcontext *ctx)
{
    CUresult r = cu_ready();
    if (r) return r;
    CUcontext current = cu_current();
    if (ctx) *ctx = current;
    if (!current) return CUDA_ERROR_INVALID_CONTEXT;
    if (!handle_is(current, HANDLE_CONTEXT)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return cu_status(gpu_sticky(cu_gpu()));
}

CUresult cu_enter(CUcontext *ctx)
{
    CUresult r = cu_enter_launch(ctx);
    return r ? r : cu_status(gpu_settle(cu_gpu()));
}

bool cu_device_ok(CUdevice dev) { return dev == 0; }

CU_API(cuInit, (unsigned flags))
{
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (!cu_gpu()) return CUDA_ERROR_NO_DEVICE;
    atomic_store(&initialised, true);
    return CUDA_SUCCESS;
}

CU_API(cuDriverGetVersion, (int *version))
{
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = CU_VERSION;
    return CUDA_SUCCESS;
}

/* ---- error texts ---- */

static const struct error_text {
    CUresult code;
    const char *name, *text;
} error_texts[] = {
#define CU_ERROR(name, code, text) {name, #name, text},
#include "cuda/libcuda_error.def"
#undef CU_ERROR
};

static const struct error_text *find_error(CUresult error)
{
    for (size_t i = 0; i < ARRAY_LEN(error_texts); i++)
        if (error_texts[i].code == error) return &error_texts[i];
    return NULL;
}

CU_API(cuGetErrorName, (CUresult error, const char **text))
{
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    const struct error_text *e = find_error(error);
    *text = e ? e->name : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuGetErrorString, (CUresult error, const char **text))
{
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    const struct error_text *e = find_error(error);
    *text = e ? e->text : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Profiler control has no effect: the summary covers the whole run. */
CU_API(cuProfilerStart, (void)) { return cu_ready(); }
CU_API(cuProfilerStop, (void)) { return cu_ready(); }
