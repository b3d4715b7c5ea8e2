/* rt_stream.c: streams and events.
 *
 * The order of work and the times of events are cuda/gpu_stream.c's. Here are the handles and their settings.
 * A query waits: host code takes no simulated time, so a program that asks again and again would never see
 * time pass. */
#include "cuda/rt_api.h"
#include "cuda/rt_launch.h"

struct rt_stream {
    struct rt_object object;
    uint64_t id;
    unsigned flags;
    int priority;
    /* as the program set them */
    cudaLaunchAttributeValue attributes[cudaLaunchAttributeCount];
};
struct rt_event {
    struct rt_object object;
    unsigned flags;
    struct gpu_event gpu;
};

/* The range of devices since compute capability 7.0. */
enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };
/* Values of cudaStreamGetId. */
enum { STREAM_ID_LEGACY = 1, STREAM_ID_PER_THREAD = 2 };

static bool stream_is_default(cudaStream_t s)
{
    return !s || s == cudaStreamLegacy || s == cudaStreamPerThread;
}

bool rt_stream_valid(cudaStream_t s)
{
    if (stream_is_default(s)) return true;
    gpu_lock();
    bool valid = rt_object_find(s, RT_STREAM) != NULL;
    gpu_unlock();
    return valid;
}

uint64_t rt_stream_id(struct gpu *g, cudaStream_t s)
{
    if (s == cudaStreamPerThread) return gpu_stream_per_thread(g);
    return stream_is_default(s) ? 0 : s->id;
}

struct gpu_order rt_gpu_order(struct gpu *g, struct rt_order o)
{
    return (struct gpu_order){.stream = rt_stream_id(g, o.stream), .async = o.async};
}

static unsigned long long public_id(cudaStream_t s)
{
    if (s == cudaStreamPerThread) return STREAM_ID_PER_THREAD;
    return stream_is_default(s) ? STREAM_ID_LEGACY : s->id;
}

static cudaError_t stream_create(struct gpu *g, cudaStream_t *out, unsigned flags, int priority)
{
    if (!out || flags & ~(unsigned)cudaStreamNonBlocking) return cudaErrorInvalidValue;
    struct rt_stream *s = mem_zalloc(sizeof(*s));
    s->id = gpu_stream_new(g, s, flags & cudaStreamNonBlocking);
    s->flags = flags;
    s->priority = MIN(MAX(priority, (int)PRIORITY_GREATEST), (int)PRIORITY_LEAST);
    s->attributes[cudaLaunchAttributePriority].priority = s->priority;
    rt_object_add(s, RT_STREAM);
    *out = s;
    return cudaSuccess;
}

CUDART(cudaStreamCreate, (cudaStream_t * out)) { RT_QUEUE(stream_create(g, out, 0, 0)); }
CUDART(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned flags))
{
    RT_QUEUE(stream_create(g, out, flags, 0));
}
CUDART(cudaStreamCreateWithPriority, (cudaStream_t * out, unsigned flags, int priority))
{
    RT_QUEUE(stream_create(g, out, flags, priority));
}

static cudaError_t stream_destroy(struct gpu *g, cudaStream_t stream)
{
    struct rt_stream *s = rt_object_find(stream, RT_STREAM);
    if (!s) return cudaErrorInvalidResourceHandle;
    gpu_stream_end(g, s);
    rt_object_remove(s);
    return cudaSuccess;
}

CUDART(cudaStreamDestroy, (cudaStream_t stream)) { RT_QUEUE(stream_destroy(g, stream)); }
CUDART_ALIAS(cudaStreamDestroy, cudaStreamDestroy_v5050);

static cudaError_t stream_sync(struct gpu *g, cudaStream_t stream)
{
    if (!rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    return rt_from_status(gpu_stream_sync(g, rt_stream_id(g, stream)));
}

CUDART_ON_STREAM(cudaStreamSynchronize, (cudaStream_t stream), stream_sync(g, stream))
CUDART_ON_STREAM(cudaStreamQuery, (cudaStream_t stream), stream_sync(g, stream))

static cudaError_t stream_wait(struct gpu *g, cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    if (flags > 1) return cudaErrorInvalidValue;
    const struct rt_event *e = rt_object_find(event, RT_EVENT);
    if (!e || !rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    return rt_from_status(gpu_stream_wait_event(g, rt_stream_id(g, stream), &e->gpu));
}

CUDART_ON_STREAM(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                 stream_wait(g, stream, event, flags))

/* ---- queries ---- */

#define STREAM_GETTER(function, type, out, value)                                                            \
    static cudaError_t get_##function(cudaStream_t stream, type *out)                                        \
    {                                                                                                        \
        if (!out) return cudaErrorInvalidValue;                                                              \
        if (!rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;                                 \
        *out = (value);                                                                                      \
        return cudaSuccess;                                                                                  \
    }                                                                                                        \
    CUDART(function, (cudaStream_t stream, type * out)) { RT_QUEUE(get_##function(stream, out)); }           \
    CUDART_ALIAS(function, function##_ptsz)

STREAM_GETTER(cudaStreamGetPriority, int, priority, stream_is_default(stream) ? 0 : stream->priority);
STREAM_GETTER(cudaStreamGetFlags, unsigned, flags, stream_is_default(stream) ? 0 : stream->flags);
STREAM_GETTER(cudaStreamGetId, unsigned long long, id, public_id(stream));
STREAM_GETTER(cudaStreamGetDevice, int, device, 0);
STREAM_GETTER(cudaStreamIsCapturing, enum cudaStreamCaptureStatus, status, cudaStreamCaptureStatusNone);

static cudaError_t attribute_move(cudaStream_t stream, int id, cudaLaunchAttributeValue *value, bool set)
{
    if (!value || id <= 0 || id >= cudaLaunchAttributeCount) return cudaErrorInvalidValue;
    if (!rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (stream_is_default(stream)) { /* its settings are fixed */
        if (!set) memset(value, 0, sizeof(*value));
        return cudaSuccess;
    }
    if (set)
        stream->attributes[id] = *value;
    else
        *value = stream->attributes[id];
    return cudaSuccess;
}

CUDART(cudaStreamGetAttribute, (cudaStream_t stream, int id, cudaLaunchAttributeValue *out))
{
    RT_QUEUE(attribute_move(stream, id, out, false));
}
CUDART_ALIAS(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz);
CUDART(cudaStreamSetAttribute, (cudaStream_t stream, int id, const cudaLaunchAttributeValue *value))
{
    RT_QUEUE(attribute_move(stream, id, (cudaLaunchAttributeValue *)value, true));
}
CUDART_ALIAS(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz);

static cudaError_t attributes_copy(cudaStream_t dst, cudaStream_t src)
{
    if (!rt_stream_valid(dst) || !rt_stream_valid(src)) return cudaErrorInvalidResourceHandle;
    if (!stream_is_default(dst) && !stream_is_default(src) && dst != src)
        memcpy(dst->attributes, src->attributes, sizeof(dst->attributes));
    return cudaSuccess;
}

CUDART(cudaStreamCopyAttributes, (cudaStream_t dst, cudaStream_t src))
{
    RT_QUEUE(attributes_copy(dst, src));
}
CUDART_ALIAS(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz);

static cudaError_t priority_range(int *least, int *greatest)
{
    if (least) *least = PRIORITY_LEAST;
    if (greatest) *greatest = PRIORITY_GREATEST;
    return cudaSuccess;
}
CUDART(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest))
{
    RT_QUEUE(priority_range(least, greatest));
}

/* ---- events ---- */

static cudaError_t event_create(cudaEvent_t *out, unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!out || flags & ~known) return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
    struct rt_event *e = mem_zalloc(sizeof(*e));
    e->flags = flags;
    rt_object_add(e, RT_EVENT);
    *out = e;
    return cudaSuccess;
}

CUDART(cudaEventCreate, (cudaEvent_t * out)) { RT_QUEUE(event_create(out, 0)); }
CUDART(cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned flags)) { RT_QUEUE(event_create(out, flags)); }

static cudaError_t event_record(struct gpu *g, cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    struct rt_event *e = rt_object_find(event, RT_EVENT);
    if (!e || !rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (flags > 1) return cudaErrorInvalidValue;
    return rt_from_status(gpu_event_record(g, &e->gpu, rt_stream_id(g, stream)));
}

CUDART_ON_STREAM(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), event_record(g, event, stream, 0))
CUDART_ON_STREAM(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
                 event_record(g, event, stream, flags))

static cudaError_t event_sync(struct gpu *g, cudaEvent_t event)
{
    struct rt_event *e = rt_object_find(event, RT_EVENT);
    return e ? rt_from_status(gpu_event_sync(g, &e->gpu)) : cudaErrorInvalidResourceHandle;
}

CUDART(cudaEventQuery, (cudaEvent_t event)) { RT_QUEUE(event_sync(g, event)); }
CUDART(cudaEventSynchronize, (cudaEvent_t event)) { RT_QUEUE(event_sync(g, event)); }

static cudaError_t event_destroy(cudaEvent_t event)
{
    struct rt_event *e = rt_object_find(event, RT_EVENT);
    if (!e) return cudaErrorInvalidResourceHandle;
    rt_object_remove(e);
    return cudaSuccess;
}

CUDART(cudaEventDestroy, (cudaEvent_t event)) { RT_QUEUE(event_destroy(event)); }

static cudaError_t event_elapsed(struct gpu *g, float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (!ms) return cudaErrorInvalidValue;
    struct rt_event *a = rt_object_find(start, RT_EVENT), *b = rt_object_find(end, RT_EVENT);
    if (!a || !b || !a->gpu.recorded || !b->gpu.recorded) return cudaErrorInvalidResourceHandle;
    if ((a->flags | b->flags) & cudaEventDisableTiming) return cudaErrorInvalidResourceHandle;
    return rt_from_status(gpu_event_elapsed(g, &a->gpu, &b->gpu, ms));
}

CUDART(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end))
{
    RT_QUEUE(event_elapsed(g, ms, start, end));
}
CUDART_ALIAS(cudaEventElapsedTime, cudaEventElapsedTime_v2);

/* No stream ever captures (graphs are not supported), so the mode is only remembered. */
CUDART(cudaThreadExchangeStreamCaptureMode, (int *mode))
{
    static _Thread_local int current;
    if (!mode || *mode < 0 || *mode > 2) return rt_done(cudaErrorInvalidValue);
    int old = current;
    current = *mode;
    *mode = old;
    return cudaSuccess;
}
