/* libcuda_stream.c: streams and events: handles and their settings. The order of work and the times of events
 * are cuda/gpu_stream.c's. A query waits: host code takes no simulated time, so a program that asks again and
 * again would never see time pass. */
#include "cuda/libcuda.h"

static bool is_default(CUstream s) { return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD; }

/* Streams of libcudart.so are registered as well; a handle that is not registered is not a stream. */
bool cu_stream_ok(CUstream s)
{
    uint64_t id;
    return is_default(s) || gpu_stream_find(cu_gpu(), s, &id);
}

uint64_t cu_stream_id(CUstream s)
{
    uint64_t id = 0;
    if (s == CU_STREAM_PER_THREAD) return gpu_stream_per_thread(cu_gpu());
    if (!is_default(s)) gpu_stream_find(cu_gpu(), s, &id);
    return id;
}

struct gpu_order cu_order(CUstream s, bool async)
{
    return (struct gpu_order){.stream = cu_stream_id(s), .async = async};
}

/* A call on a stream: CUDA_SUCCESS, the fault that is pending, or what is wrong with the handle. */
static CUresult enter(CUstream s)
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    return cu_stream_ok(s) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CU_API(cuStreamCreateWithPriority, (CUstream * out, unsigned flags, int priority))
{
    CUcontext ctx;
    CUresult r = cu_enter_launch(&ctx);
    if (r) return r;
    if (!out || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    CUstream s = handle_new(HANDLE_STREAM, sizeof *s);
    s->id = gpu_stream_new(cu_gpu(), s, flags & CU_STREAM_NON_BLOCKING);
    s->context = ctx;
    s->flags = flags;
    s->priority = MAX(MIN(priority, 0), -5);
    *out = s;
    return CUDA_SUCCESS;
}
CU_API(cuStreamCreate, (CUstream * out, unsigned flags)) { return cuStreamCreateWithPriority(out, flags, 0); }

CU_API(cuStreamDestroy_v2, (CUstream s))
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    if (!handle_is(s, HANDLE_STREAM)) return CUDA_ERROR_INVALID_HANDLE;
    gpu_stream_end(cu_gpu(), s);
    handle_free(s);
    return CUDA_SUCCESS;
}
CU_API(cuStreamDestroy, (CUstream s)) { return cuStreamDestroy_v2(s); }

static CUresult stream_sync(CUstream s)
{
    CUresult r = enter(s);
    return r ? r : cu_status(gpu_stream_sync(cu_gpu(), cu_stream_id(s)));
}
CU_ON_STREAM(cuStreamSynchronize, (CUstream stream), stream_sync(stream))
CU_ON_STREAM(cuStreamQuery, (CUstream stream), stream_sync(stream))

static CUresult stream_wait(CUstream s, CUevent e)
{
    CUresult r = enter(s);
    if (r) return r;
    if (!handle_is(e, HANDLE_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    return cu_status(gpu_stream_wait_event(cu_gpu(), cu_stream_id(s), &e->gpu));
}
CU_ON_STREAM(cuStreamWaitEvent, (CUstream stream, CUevent e, unsigned flags), stream_wait(stream, e))

CU_API_PT(cuStreamGetFlags, _ptsz, (CUstream s, unsigned *flags))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = handle_is(s, HANDLE_STREAM) ? s->flags : 0;
    return CUDA_SUCCESS;
}
CU_API_PT(cuStreamGetPriority, _ptsz, (CUstream s, int *priority))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!priority) return CUDA_ERROR_INVALID_VALUE;
    *priority = handle_is(s, HANDLE_STREAM) ? s->priority : 0;
    return CUDA_SUCCESS;
}
CU_API_PT(cuStreamGetId, _ptsz, (CUstream s, unsigned long long *id))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    if (handle_is(s, HANDLE_STREAM))
        *id = s->id;
    else
        *id = is_default(s) ? (s == CU_STREAM_PER_THREAD ? 2 : 1) : (unsigned long long)(uintptr_t)s;
    return CUDA_SUCCESS;
}
CU_API_PT(cuStreamGetCtx, _ptsz, (CUstream s, CUcontext *ctx))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!ctx) return CUDA_ERROR_INVALID_VALUE;
    *ctx = handle_is(s, HANDLE_STREAM) ? s->context : cu_current();
    return CUDA_SUCCESS;
}
CU_API_PT(cuStreamGetCtx_v2, _ptsz, (CUstream s, CUcontext *ctx, CUgreenCtx *green))
{
    if (green) *green = NULL; /* there are no green contexts */
    return cuStreamGetCtx(s, ctx);
}
CU_API_PT(cuStreamGetDevice, _ptsz, (CUstream s, CUdevice *device))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

/* ---- host functions ----
 * The stream is run up to the function, which is then called on the caller's thread. */

static CUresult call_host(CUstream s, CUhostFn fn, void *user)
{
    CUresult r = fn ? stream_sync(s) : CUDA_ERROR_INVALID_VALUE;
    if (!r) fn(user);
    return r;
}
CU_ON_STREAM(cuLaunchHostFunc, (CUstream stream, CUhostFn fn, void *user), call_host(stream, fn, user))

static CUresult call_back(CUstream s, CUstreamCallback fn, void *user, unsigned flags)
{
    CUresult r = fn && !flags ? stream_sync(s) : CUDA_ERROR_INVALID_VALUE;
    if (!r) fn(s, CUDA_SUCCESS, user);
    return r;
}
CU_ON_STREAM(cuStreamAddCallback, (CUstream stream, CUstreamCallback fn, void *user, unsigned flags),
             call_back(stream, fn, user, flags))

/* ---- memory operations ----
 * All that is queued runs first; then a write is made, and a wait either holds or never will. */

static CUresult write_value(CUstream s, CUdeviceptr p, const void *value, size_t bytes)
{
    CUresult r = enter(s);
    if (!r) r = cu_status(gpu_settle(cu_gpu()));
    if (r) return r;
    gpu_lock();
    bool ok = p % bytes == 0 && space_valid(emu_device_space(gpu_device(cu_gpu())), p, bytes);
    if (ok) memcpy((void *)(uintptr_t)p, value, bytes);
    gpu_unlock();
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult wait_value(CUstream s, CUdeviceptr p, uint64_t value, size_t bytes, unsigned how)
{
    CUresult r = enter(s);
    if (!r) r = cu_status(gpu_settle(cu_gpu()));
    if (r) return r;
    uint64_t now = 0;
    gpu_lock();
    bool ok = p % bytes == 0 && space_valid(emu_device_space(gpu_device(cu_gpu())), p, bytes);
    if (ok) memcpy(&now, (const void *)(uintptr_t)p, bytes);
    gpu_unlock();
    if (!ok) return CUDA_ERROR_INVALID_VALUE;
    int64_t ahead = bytes == 4 ? (int32_t)((uint32_t)now - (uint32_t)value) : (int64_t)(now - value);
    uint64_t nor = ~(now | value) & (bytes == 4 ? UINT32_MAX : UINT64_MAX);
    const bool holds[] = {ahead >= 0, now == value, (now & value) != 0, nor != 0}; /* geq, eq, and, nor */
    if (holds[how & 3]) return CUDA_SUCCESS;
    fprintf(
        stderr,
        "heddle: a stream waits for a value that is written later: not supported, calls execute in order\n");
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define VALUE_OPS(suffix)                                                                                    \
    CU_API_PT(cuStreamWriteValue32##suffix, _ptsz,                                                           \
              (CUstream s, CUdeviceptr p, cuuint32_t value, unsigned flags))                                 \
    {                                                                                                        \
        return write_value(s, p, &value, sizeof value);                                                      \
    }                                                                                                        \
    CU_API_PT(cuStreamWriteValue64##suffix, _ptsz,                                                           \
              (CUstream s, CUdeviceptr p, cuuint64_t value, unsigned flags))                                 \
    {                                                                                                        \
        return write_value(s, p, &value, sizeof value);                                                      \
    }                                                                                                        \
    CU_API_PT(cuStreamWaitValue32##suffix, _ptsz,                                                            \
              (CUstream s, CUdeviceptr p, cuuint32_t value, unsigned flags))                                 \
    {                                                                                                        \
        return wait_value(s, p, value, sizeof value, flags);                                                 \
    }                                                                                                        \
    CU_API_PT(cuStreamWaitValue64##suffix, _ptsz,                                                            \
              (CUstream s, CUdeviceptr p, cuuint64_t value, unsigned flags))                                 \
    {                                                                                                        \
        return wait_value(s, p, value, sizeof value, flags);                                                 \
    }
VALUE_OPS()
VALUE_OPS(_v2)

/* ---- capture: there are no graphs, so no stream ever captures ---- */

static CUresult not_capturing(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                              const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count)
{
    CUresult r = enter(s);
    if (r) return r;
    if (!status) return CUDA_ERROR_INVALID_VALUE;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (id) *id = 0;
    if (graph) *graph = NULL;
    if (nodes) *nodes = NULL;
    if (edges) *edges = NULL;
    if (count) *count = 0;
    return CUDA_SUCCESS;
}
CU_API_PT(cuStreamIsCapturing, _ptsz, (CUstream s, CUstreamCaptureStatus *status))
{
    return not_capturing(s, status, NULL, NULL, NULL, NULL, NULL);
}
CU_API_PT(cuStreamGetCaptureInfo, _ptsz, (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id))
{
    return not_capturing(s, status, id, NULL, NULL, NULL, NULL);
}
CU_API_PT(cuStreamGetCaptureInfo_v2, _ptsz,
          (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
           const CUgraphNode **nodes, size_t *count))
{
    return not_capturing(s, status, id, graph, nodes, NULL, count);
}
CU_API_PT(cuStreamGetCaptureInfo_v3, _ptsz,
          (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
           const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count))
{
    return not_capturing(s, status, id, graph, nodes, edges, count);
}

CU_API(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode))
{
    static _Thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = current;
    current = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* ---- events ---- */

CU_API(cuEventCreate, (CUevent * out, unsigned flags))
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    if (!out || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    if (flags & 4) return CUDA_ERROR_NOT_SUPPORTED; /* between processes */
    CUevent e = handle_new(HANDLE_EVENT, sizeof *e);
    e->flags = flags;
    *out = e;
    return CUDA_SUCCESS;
}

CU_API(cuEventDestroy_v2, (CUevent e))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!handle_is(e, HANDLE_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    handle_free(e);
    return CUDA_SUCCESS;
}
CU_API(cuEventDestroy, (CUevent e)) { return cuEventDestroy_v2(e); }

static CUresult event_record(CUevent e, CUstream s, unsigned flags)
{
    CUresult r = enter(s);
    if (r) return r;
    if (!handle_is(e, HANDLE_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
    return cu_status(gpu_event_record(cu_gpu(), &e->gpu, cu_stream_id(s)));
}
CU_ON_STREAM(cuEventRecordWithFlags, (CUevent e, CUstream stream, unsigned flags),
             event_record(e, stream, flags))
CU_ON_STREAM(cuEventRecord, (CUevent e, CUstream stream), event_record(e, stream, 0))

CU_API(cuEventSynchronize, (CUevent e))
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    return handle_is(e, HANDLE_EVENT) ? cu_status(gpu_event_sync(cu_gpu(), &e->gpu))
                                      : CUDA_ERROR_INVALID_HANDLE;
}
CU_API(cuEventQuery, (CUevent e)) { return cuEventSynchronize(e); }

CU_API(cuEventElapsedTime_v2, (float *milliseconds, CUevent start, CUevent end))
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    if (!handle_is(start, HANDLE_EVENT) || !handle_is(end, HANDLE_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->gpu.recorded || !end->gpu.recorded) return CUDA_ERROR_INVALID_HANDLE;
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    return cu_status(gpu_event_elapsed(cu_gpu(), &start->gpu, &end->gpu, milliseconds));
}
CU_API(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
