/* rt_pool.c: stream-ordered allocation (cudaMallocAsync) and memory pools, in a simple form: work runs in
 * call order, so an allocation exists at once and a freed one is gone at once; a pool counts what it
 * allocated and keeps nothing. */
#include "cuda/rt_api.h"
#include "cuda/rt_launch.h"
#include "cuda/rt_memory.h"

enum { POOL_INT_ATTRS = 3 };

struct rt_pool {
    struct rt_object object;
    /* cudaMemPoolReuse*, on by default; nothing depends on them */
    int reuse[POOL_INT_ATTRS];
    uint64_t release_threshold;
    uint64_t used_bytes, used_high_bytes;
};
struct rt_pooled {
    struct rt_pool *pool;
    uint64_t bytes;
};

static struct rt_pool *pool_new(void)
{
    struct rt_pool *p = mem_zalloc(sizeof(*p));
    for (int i = 0; i < POOL_INT_ATTRS; i++) p->reuse[i] = 1;
    rt_object_add(p, RT_POOL);
    return p;
}

static struct rt_pool *pool_default(void)
{
    struct rt_state *s = rt_state();
    if (!s->pool_default) s->pool_default = pool_new();
    return s->pool_default;
}

static struct rt_pool *pool_current(void)
{
    struct rt_state *s = rt_state();
    return s->pool_current ? s->pool_current : pool_default();
}

void rt_pooled_forget(void *p)
{
    struct rt_pooled *entry = rt_table_remove(&rt_state()->pooled, rt_key(p));
    if (!entry) return;
    if (entry->pool) entry->pool->used_bytes -= entry->bytes;
    free(entry);
}

void rt_pools_reset(void)
{
    struct rt_state *s = rt_state();
    struct rt_pooled *entry;
    for (uint32_t i = 0; (entry = rt_table_next(&s->pooled, &i));) free(entry);
    rt_table_free(&s->pooled);
    struct rt_object *o;
    for (uint32_t i = 0; (o = rt_table_next(&s->objects, &i));)
        if (o->kind == RT_POOL) rt_object_remove(o);
    s->pool_default = s->pool_current = NULL;
}

static cudaError_t pool_alloc(struct gpu *g, void **out, size_t bytes, struct rt_pool *pool,
                              cudaStream_t stream)
{
    if (!out || !pool) return cudaErrorInvalidValue;
    if (!rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    cudaError_t e = rt_alloc(g, out, bytes, SPACE_DEVICE, "cudaMallocAsync");
    if (e || !*out) return e;
    struct rt_pooled *entry = mem_zalloc(sizeof(*entry));
    *entry = (struct rt_pooled){pool, bytes};
    rt_table_put(&rt_state()->pooled, rt_key(*out), entry);
    pool->used_bytes += bytes;
    pool->used_high_bytes = MAX(pool->used_high_bytes, pool->used_bytes);
    return cudaSuccess;
}

CUDART(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream))
{
    RT_CALL(pool_alloc(g, out, bytes, pool_current(), stream));
}
CUDART_ALIAS(cudaMallocAsync, cudaMallocAsync_ptsz);
CUDART(cudaMallocFromPoolAsync, (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream))
{
    RT_CALL(pool_alloc(g, out, bytes, rt_object_find(pool, RT_POOL), stream));
}
CUDART_ALIAS(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz);

static cudaError_t free_async(struct gpu *g, void *p, cudaStream_t stream)
{
    if (!rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (!p) return cudaSuccess;
    const struct space_alloc *a = rt_find_alloc(g, p);
    if (!a || a->kind != SPACE_DEVICE || a->base != rt_key(p)) return cudaErrorInvalidValue;
    rt_pooled_forget(p);
    return space_free(rt_space(g), rt_key(p)) ? cudaSuccess : cudaErrorInvalidValue;
}
CUDART(cudaFreeAsync, (void *p, cudaStream_t stream)) { RT_CALL(free_async(g, p, stream)); }
CUDART_ALIAS(cudaFreeAsync, cudaFreeAsync_ptsz);

/* ---- pools ---- */

static cudaError_t pool_get(cudaMemPool_t *out, int device, bool current)
{
    if (device != 0) return cudaErrorInvalidDevice;
    if (!out) return cudaErrorInvalidValue;
    *out = current ? pool_current() : pool_default();
    return cudaSuccess;
}
CUDART(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * out, int device))
{
    RT_CALL(pool_get(out, device, false));
}
CUDART(cudaDeviceGetMemPool, (cudaMemPool_t * out, int device)) { RT_CALL(pool_get(out, device, true)); }

static cudaError_t pool_set(int device, cudaMemPool_t pool)
{
    if (device != 0) return cudaErrorInvalidDevice;
    struct rt_pool *p = rt_object_find(pool, RT_POOL);
    if (!p) return cudaErrorInvalidValue;
    rt_state()->pool_current = p;
    return cudaSuccess;
}
CUDART(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool)) { RT_CALL(pool_set(device, pool)); }

static cudaError_t pool_create(cudaMemPool_t *out, const struct cudaMemPoolProps *props)
{
    if (!out || !props || props->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (props->location.type != cudaMemLocationTypeDevice || props->handleTypes) return cudaErrorNotSupported;
    if (props->location.id != 0) return cudaErrorInvalidDevice;
    *out = pool_new();
    return cudaSuccess;
}
CUDART(cudaMemPoolCreate, (cudaMemPool_t * out, const struct cudaMemPoolProps *props))
{
    RT_CALL(pool_create(out, props));
}

static cudaError_t pool_destroy(cudaMemPool_t pool)
{
    struct rt_state *s = rt_state();
    struct rt_pool *p = rt_object_find(pool, RT_POOL);
    if (!p || p == s->pool_default) return cudaErrorInvalidValue;
    struct rt_pooled *entry; /* its allocations live on until they are freed */
    for (uint32_t i = 0; (entry = rt_table_next(&s->pooled, &i));)
        if (entry->pool == p) entry->pool = NULL;
    if (s->pool_current == p) s->pool_current = NULL;
    rt_object_remove(p);
    return cudaSuccess;
}
CUDART(cudaMemPoolDestroy, (cudaMemPool_t pool)) { RT_CALL(pool_destroy(pool)); }

static cudaError_t pool_get_attribute(cudaMemPool_t pool, int attribute, void *value)
{
    const struct rt_pool *p = rt_object_find(pool, RT_POOL);
    if (!p || !value) return cudaErrorInvalidValue;
    uint64_t number;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *(int *)value = p->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: number = p->release_threshold; break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: number = p->used_bytes; break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: number = p->used_high_bytes; break;
    default: return cudaErrorInvalidValue;
    }
    memcpy(value, &number, sizeof(number));
    return cudaSuccess;
}
CUDART(cudaMemPoolGetAttribute, (cudaMemPool_t pool, int attribute, void *value))
{
    RT_CALL(pool_get_attribute(pool, attribute, value));
}

static cudaError_t pool_set_attribute(cudaMemPool_t pool, int attribute, const void *value)
{
    struct rt_pool *p = rt_object_find(pool, RT_POOL);
    if (!p || !value) return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        p->reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *(const int *)value != 0;
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
        memcpy(&p->release_threshold, value, sizeof(uint64_t));
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: /* can only be set back */
        if (*(const uint64_t *)value) return cudaErrorInvalidValue;
        p->used_high_bytes = p->used_bytes;
        return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}
CUDART(cudaMemPoolSetAttribute, (cudaMemPool_t pool, int attribute, void *value))
{
    RT_CALL(pool_set_attribute(pool, attribute, value));
}

static cudaError_t pool_check(cudaMemPool_t pool)
{
    return rt_object_find(pool, RT_POOL) ? cudaSuccess : cudaErrorInvalidValue;
}
CUDART(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep_bytes)) { RT_CALL(pool_check(pool)); }

static cudaError_t pool_set_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count)
{
    if (!list && count) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        if (list[i].location.type != cudaMemLocationTypeDevice || list[i].location.id != 0)
            return cudaErrorInvalidDevice;
    return pool_check(pool);
}
CUDART(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count))
{
    RT_CALL(pool_set_access(pool, list, count));
}

static cudaError_t pool_get_access(int *flags, cudaMemPool_t pool, const struct cudaMemLocation *at)
{
    if (!flags || !at) return cudaErrorInvalidValue;
    if (at->type != cudaMemLocationTypeDevice || at->id != 0) return cudaErrorInvalidDevice;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return pool_check(pool);
}
CUDART(cudaMemPoolGetAccess, (int *flags, cudaMemPool_t pool, struct cudaMemLocation *at))
{
    RT_CALL(pool_get_access(flags, pool, at));
}
