/* libcuda_stream.c: streams and events. What was launched has been run to its end before a call here does its work
 * (gpu_settle), so a stream is a name with settings, everything in it is finished, and an event is a moment of
 * simulated time. */
#include "cuda/libcuda.h"

static uint64_t next_stream_id = 3; /* 1 and 2 are the legacy and the per-thread default stream */

static bool is_default(CUstream s) { return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD; }

/* A stream made by libcudart.so is unknown here, and is as good as any: nothing is queued in it. */
bool cu_stream_ok(CUstream s) { return is_default(s) || handle_is(s, HANDLE_STREAM) || gpu_runtime_in_use(); }

/* A call on a stream: CUDA_SUCCESS, the fault that is pending, or what is wrong with the handle. */
static CUresult enter(CUstream s)
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    return cu_stream_ok(s) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CU_API(cuStreamCreateWithPriority, (CUstream * out, unsigned flags, int priority))
{
    CUcontext ctx;
    CUresult r = cu_enter(&ctx);
    if (r) return r;
    if (!out || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    CUstream s = handle_new(HANDLE_STREAM, sizeof *s);
    gpu_lock();
    s->id = next_stream_id++;
    gpu_unlock();
    s->context = ctx;
    s->flags = flags;
    s->priority = MAX(MIN(priority, 0), -5);
    *out = s;
    return CUDA_SUCCESS;
}
CU_API(cuStreamCreate, (CUstream * out, unsigned flags)) { return cuStreamCreateWithPriority(out, flags, 0); }

CU_API(cuStreamDestroy_v2, (CUstream s))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!handle_is(s, HANDLE_STREAM)) return CUDA_ERROR_INVALID_HANDLE;
    handle_free(s);
    return CUDA_SUCCESS;
}
CU_API(cuStreamDestroy, (CUstream s)) { return cuStreamDestroy_v2(s); }

CU_API_PT(cuStreamSynchronize, _ptsz, (CUstream s)) { return enter(s); }
CU_API_PT(cuStreamQuery, _ptsz, (CUstream s)) { return enter(s); }

CU_API_PT(cuStreamWaitEvent, _ptsz, (CUstream s, CUevent e, unsigned flags))
{
    CUresult r = enter(s);
    if (r) return r;
    return handle_is(e, HANDLE_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

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

/* ---- host functions: the stream is idle, so they run now, on the caller's thread ---- */

CU_API_PT(cuLaunchHostFunc, _ptsz, (CUstream s, CUhostFn fn, void *user))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!fn) return CUDA_ERROR_INVALID_VALUE;
    fn(user);
    return CUDA_SUCCESS;
}
CU_API_PT(cuStreamAddCallback, _ptsz, (CUstream s, CUstreamCallback fn, void *user, unsigned flags))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!fn || flags) return CUDA_ERROR_INVALID_VALUE;
    fn(s, CUDA_SUCCESS, user);
    return CUDA_SUCCESS;
}

/* ---- memory operations: written at once; a wait holds already, or never will ---- */

static CUresult write_value(CUstream s, CUdeviceptr p, const void *value, size_t bytes)
{
    CUresult r = enter(s);
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
    CUresult r = cu_enter(NULL);
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

CU_API_PT(cuEventRecordWithFlags, _ptsz, (CUevent e, CUstream s, unsigned flags))
{
    CUresult r = enter(s);
    if (r) return r;
    if (!handle_is(e, HANDLE_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
    e->recorded = true;
    e->time_ns = gpu_now_ns(cu_gpu());
    return CUDA_SUCCESS;
}
CU_API_PT(cuEventRecord, _ptsz, (CUevent e, CUstream s)) { return cuEventRecordWithFlags(e, s, 0); }

CU_API(cuEventSynchronize, (CUevent e))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    return handle_is(e, HANDLE_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CU_API(cuEventQuery, (CUevent e)) { return cuEventSynchronize(e); }

CU_API(cuEventElapsedTime_v2, (float *milliseconds, CUevent start, CUevent end))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!handle_is(start, HANDLE_EVENT) || !handle_is(end, HANDLE_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    *milliseconds = (float)((double)(int64_t)(end->time_ns - start->time_ns) * 1e-6);
    return CUDA_SUCCESS;
}
CU_API(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
