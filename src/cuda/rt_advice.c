/* rt_advice.c: hints about managed memory. Nothing migrates in a functional run; the hints are checked and
 * remembered, so that cudaMemRangeGetAttribute answers as on a GPU. There is one record for each
 * allocation: hints for a part of it apply to the whole. */
#include "cuda/rt_api.h"
#include "cuda/rt_launch.h"
#include "cuda/rt_memory.h"

struct rt_advice {
    bool read_mostly, accessed_by_device, accessed_by_host;
    /* type Invalid = none */
    struct cudaMemLocation preferred, prefetched;
};

static bool location_valid(struct cudaMemLocation at)
{
    if (at.type == cudaMemLocationTypeDevice) return at.id == 0;
    return at.type >= cudaMemLocationTypeHost && at.type <= cudaMemLocationTypeHostNumaCurrent;
}

/* The record of the managed allocation that holds all of [p, p + bytes), or NULL. */
static struct rt_advice *advice_of(struct gpu *g, const void *p, size_t bytes)
{
    const struct space_alloc *a = rt_find_alloc(g, p);
    if (!a || !rt_alloc_is_managed(a, p) || !bytes || !space_valid(rt_space(g), rt_key(p), bytes))
        return NULL;
    struct rt_table *t = &rt_state()->advised;
    struct rt_advice *advice = rt_table_get(t, a->base);
    if (!advice) {
        advice = mem_zalloc(sizeof(*advice));
        rt_table_put(t, a->base, advice);
    }
    return advice;
}

cudaError_t rt_mem_prefetch(struct gpu *g, const void *p, size_t bytes, struct cudaMemLocation to,
                            cudaStream_t stream)
{
    struct rt_advice *a = advice_of(g, p, bytes);
    if (!a) return cudaErrorInvalidValue;
    if (!location_valid(to)) return cudaErrorInvalidDevice;
    if (!rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    a->prefetched = to;
    return cudaSuccess;
}

cudaError_t rt_mem_advise(struct gpu *g, const void *p, size_t bytes, int advice, struct cudaMemLocation at)
{
    struct rt_advice *a = advice_of(g, p, bytes);
    bool needs_place = advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy;
    if (!a) return cudaErrorInvalidValue;
    if (needs_place && !location_valid(at)) return cudaErrorInvalidDevice;
    bool on_device = at.type == cudaMemLocationTypeDevice;
    switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly: a->read_mostly = advice == cudaMemAdviseSetReadMostly; break;
    case cudaMemAdviseSetPreferredLocation: a->preferred = at; break;
    case cudaMemAdviseUnsetPreferredLocation: a->preferred = (struct cudaMemLocation){0}; break;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
        *(on_device ? &a->accessed_by_device : &a->accessed_by_host) = advice == cudaMemAdviseSetAccessedBy;
        break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* A location as the older attributes give it: device number, -1 the host, -2 none. */
static int location_id(struct cudaMemLocation at)
{
    if (at.type == cudaMemLocationTypeInvalid) return cudaInvalidDeviceId;
    return at.type == cudaMemLocationTypeDevice ? at.id : cudaCpuDeviceId;
}

static cudaError_t range_attribute(struct gpu *g, void *data, size_t bytes, int attribute, const void *p,
                                   size_t count)
{
    const struct rt_advice *a = advice_of(g, p, count);
    if (!a || !data || bytes < sizeof(int) || bytes % sizeof(int)) return cudaErrorInvalidValue;
    int *out = data;
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        size_t n = 0, room = bytes / sizeof(int);
        if (a->accessed_by_device) out[n++] = 0;
        if (a->accessed_by_host && n < room) out[n++] = cudaCpuDeviceId;
        while (n < room) out[n++] = cudaInvalidDeviceId;
        return cudaSuccess;
    }
    if (bytes != sizeof(int)) return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *out = a->read_mostly; break;
    case cudaMemRangeAttributePreferredLocation: *out = location_id(a->preferred); break;
    case cudaMemRangeAttributeLastPrefetchLocation: *out = location_id(a->prefetched); break;
    case cudaMemRangeAttributePreferredLocationType: *out = (int)a->preferred.type; break;
    case cudaMemRangeAttributePreferredLocationId: *out = a->preferred.id; break;
    case cudaMemRangeAttributeLastPrefetchLocationType: *out = (int)a->prefetched.type; break;
    case cudaMemRangeAttributeLastPrefetchLocationId: *out = a->prefetched.id; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

CUDART(cudaMemRangeGetAttribute, (void *data, size_t bytes, int attribute, const void *p, size_t count))
{
    RT_QUEUE(range_attribute(g, data, bytes, attribute, p, count));
}

static cudaError_t range_attributes(struct gpu *g, void **data, const size_t *bytes, const int *attributes,
                                    size_t n, const void *p, size_t count)
{
    if (!data || !bytes || !attributes || !n) return cudaErrorInvalidValue;
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; i < n && !e; i++) e = range_attribute(g, data[i], bytes[i], attributes[i], p, count);
    return e;
}
CUDART(cudaMemRangeGetAttributes,
       (void **data, size_t *bytes, int *attributes, size_t n, const void *p, size_t count))
{
    RT_QUEUE(range_attributes(g, data, bytes, attributes, n, p, count));
}

static cudaError_t attach(struct gpu *g, cudaStream_t stream, void *p, size_t bytes, unsigned flags)
{
    const struct space_alloc *a = rt_find_alloc(g, p);
    bool flags_ok =
        flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    if (!a || a->kind != SPACE_MANAGED || !flags_ok || (bytes && bytes != a->bytes))
        return cudaErrorInvalidValue;
    if (flags == cudaMemAttachSingle && !stream) return cudaErrorInvalidValue; /* not to the default stream */
    return rt_stream_valid(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
CUDART(cudaStreamAttachMemAsync, (cudaStream_t stream, void *p, size_t bytes, unsigned flags))
{
    RT_QUEUE(attach(g, stream, p, bytes, flags));
}
CUDART_ALIAS(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz);
