/* rt_memory.c: device, pinned, managed and registered memory.
 *
 * Every kind lives in the device's one range of addresses (emu/space.h), which is the host's too: a pointer
 * is the same on both sides, so mapping is the identity and managed memory needs no migration. Registered
 * memory is host memory at its own address. Error codes as measured on an H200 with CUDA 13.0. */
#include "cuda/rt_memory.h"

#include "cuda/rt_api.h"
#include "cuda/rt_module.h"

/* Alignment of cudaMalloc and cudaMallocPitch on devices since Kepler. */
enum { ALLOC_ALIGN = 512, PITCH_ALIGN = 512 };

cudaError_t rt_alloc(struct gpu *g, void **out, size_t bytes, enum space_kind kind, const char *what)
{
    if (!out) return cudaErrorInvalidValue;
    *out = NULL;
    if (!bytes) return cudaSuccess;
    char label[64];
    snprintf(label, sizeof(label), "%s #%u", what, ++rt_state()->alloc_count);
    uint64_t address = space_alloc(rt_space(g), bytes, ALLOC_ALIGN, kind, label);
    if (!address) return cudaErrorMemoryAllocation;
    *out = (void *)(uintptr_t)address;
    return cudaSuccess;
}

const struct space_alloc *rt_find_alloc(struct gpu *g, const void *p)
{
    return p ? space_find(rt_space(g), rt_key(p)) : NULL;
}

bool rt_alloc_is_managed(const struct space_alloc *a, const void *p)
{
    return a->kind == SPACE_MANAGED || (a->kind == SPACE_MODULE && rt_managed_variable_at(rt_key(p)));
}

/* Frees p if it is the base of an allocation of one of two kinds. */
static cudaError_t free_kind(struct gpu *g, void *p, enum space_kind a, enum space_kind b)
{
    const struct space_alloc *found = rt_find_alloc(g, p);
    if (!found || found->base != rt_key(p) || (found->kind != a && found->kind != b))
        return cudaErrorInvalidValue;
    struct rt_state *s = rt_state();
    rt_table_remove(&s->host_flags, rt_key(p));
    free(rt_table_remove(&s->advised, rt_key(p)));
    return space_free(rt_space(g), rt_key(p)) ? cudaSuccess : cudaErrorInvalidValue;
}

void rt_memory_reset(void)
{
    struct rt_state *s = rt_state();
    void *advice;
    for (uint32_t i = 0; (advice = rt_table_next(&s->advised, &i));) free(advice);
    rt_table_free(&s->advised);
    rt_table_free(&s->host_flags);
}

/* ---- device and managed ---- */

CUDART(cudaMalloc, (void **out, size_t bytes))
{
    RT_CALL(rt_alloc(g, out, bytes, SPACE_DEVICE, "cudaMalloc"));
}

static cudaError_t free_device(struct gpu *g, void *p)
{
    if (!p) return cudaSuccess;
    rt_pooled_forget(p);
    return free_kind(g, p, SPACE_DEVICE, SPACE_MANAGED);
}
CUDART(cudaFree, (void *p)) { RT_CALL(free_device(g, p)); }

static cudaError_t malloc_managed(struct gpu *g, void **out, size_t bytes, unsigned flags)
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return rt_alloc(g, out, bytes, SPACE_MANAGED, "cudaMallocManaged");
}
CUDART(cudaMallocManaged, (void **out, size_t bytes, unsigned flags))
{
    RT_CALL(malloc_managed(g, out, bytes, flags));
}

static cudaError_t malloc_pitch(struct gpu *g, void **out, size_t *pitch, size_t width, size_t height,
                                size_t depth)
{
    if (!out || !pitch) return cudaErrorInvalidValue;
    *out = NULL;
    *pitch = 0;
    if (!width || !height || !depth) return cudaSuccess;
    size_t rows, bytes;
    if (width > SIZE_MAX / 2 || __builtin_mul_overflow(height, depth, &rows))
        return cudaErrorMemoryAllocation;
    *pitch = round_up_u64(width, PITCH_ALIGN);
    if (__builtin_mul_overflow(*pitch, rows, &bytes)) return cudaErrorMemoryAllocation;
    return rt_alloc(g, out, bytes, SPACE_DEVICE, depth > 1 ? "cudaMalloc3D" : "cudaMallocPitch");
}
CUDART(cudaMallocPitch, (void **out, size_t *pitch, size_t width, size_t height))
{
    RT_CALL(malloc_pitch(g, out, pitch, width, height, 1));
}

static cudaError_t malloc_3d(struct gpu *g, struct cudaPitchedPtr *out, struct cudaExtent e)
{
    if (!out) return cudaErrorInvalidValue;
    *out = (struct cudaPitchedPtr){.xsize = e.width, .ysize = e.height};
    return malloc_pitch(g, &out->ptr, &out->pitch, e.width, e.height, e.depth);
}
CUDART(cudaMalloc3D, (struct cudaPitchedPtr * out, struct cudaExtent extent))
{
    RT_CALL(malloc_3d(g, out, extent));
}

static cudaError_t mem_info(struct gpu *g, size_t *free_bytes, size_t *total_bytes)
{
    uint64_t total = space_bytes_max(rt_space(g)), used = space_bytes_used(rt_space(g));
    if (free_bytes) *free_bytes = used < total ? total - used : 0;
    if (total_bytes) *total_bytes = total;
    return cudaSuccess;
}
CUDART(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes))
{
    RT_CALL(mem_info(g, free_bytes, total_bytes));
}

/* ---- pinned and registered ---- */

static void flags_put(const void *p, unsigned flags)
{
    rt_table_put(&rt_state()->host_flags, rt_key(p), (void *)(uintptr_t)(flags + 1));
}

static cudaError_t host_alloc(struct gpu *g, void **out, size_t bytes, unsigned flags, const char *what)
{
    unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known) return cudaErrorInvalidValue;
    cudaError_t e = rt_alloc(g, out, bytes, SPACE_HOST, what);
    if (!e && *out) flags_put(*out, flags | cudaHostAllocMapped); /* one address space: always mapped */
    return e;
}
CUDART(cudaHostAlloc, (void **out, size_t bytes, unsigned flags))
{
    RT_CALL(host_alloc(g, out, bytes, flags, "cudaHostAlloc"));
}
CUDART(cudaMallocHost, (void **out, size_t bytes))
{
    RT_CALL(host_alloc(g, out, bytes, 0, "cudaMallocHost"));
}
CUDART(cudaFreeHost, (void *p)) { RT_CALL(p ? free_kind(g, p, SPACE_HOST, SPACE_HOST) : cudaSuccess); }

static cudaError_t host_register(struct gpu *g, void *p, size_t bytes, unsigned flags)
{
    if (!p || !bytes || flags & ~(unsigned)cudaHostRegisterMask || rt_key(p) + bytes < rt_key(p))
        return cudaErrorInvalidValue;
    const struct space_alloc *first = rt_find_alloc(g, p);
    if (first && first->kind != SPACE_REGISTERED && first->kind != SPACE_HOST) return cudaErrorInvalidValue;
    if (first || !space_register(rt_space(g), p, bytes, "cudaHostRegister"))
        return cudaErrorHostMemoryAlreadyRegistered;
    flags_put(p, flags | cudaHostRegisterMapped);
    return cudaSuccess;
}
CUDART(cudaHostRegister, (void *p, size_t bytes, unsigned flags))
{
    RT_CALL(host_register(g, p, bytes, flags));
}

static cudaError_t host_unregister(struct gpu *g, void *p)
{
    const struct space_alloc *found = rt_find_alloc(g, p);
    if (!found || found->kind != SPACE_REGISTERED) return cudaErrorHostMemoryNotRegistered;
    if (!space_unregister(rt_space(g), p)) return cudaErrorInvalidValue; /* inside, not at its start */
    rt_table_remove(&rt_state()->host_flags, rt_key(p));
    return cudaSuccess;
}
CUDART(cudaHostUnregister, (void *p)) { RT_CALL(host_unregister(g, p)); }

static const struct space_alloc *find_host(struct gpu *g, const void *p)
{
    const struct space_alloc *a = rt_find_alloc(g, p);
    return a && (a->kind == SPACE_HOST || a->kind == SPACE_REGISTERED) ? a : NULL;
}

static cudaError_t host_device_pointer(struct gpu *g, void **out, void *p, unsigned flags)
{
    if (!out || flags || !find_host(g, p)) return cudaErrorInvalidValue;
    *out = p;
    return cudaSuccess;
}
CUDART(cudaHostGetDevicePointer, (void **out, void *p, unsigned flags))
{
    RT_CALL(host_device_pointer(g, out, p, flags));
}

static cudaError_t host_flags(struct gpu *g, unsigned *out, void *p)
{
    const struct space_alloc *a = find_host(g, p);
    uintptr_t flags = a ? (uintptr_t)rt_table_get(&rt_state()->host_flags, a->base) : 0;
    if (!out || !a) return cudaErrorInvalidValue;
    *out = flags ? (unsigned)flags - 1 : cudaHostAllocMapped;
    return cudaSuccess;
}
CUDART(cudaHostGetFlags, (unsigned *out, void *p)) { RT_CALL(host_flags(g, out, p)); }

/* ---- attributes of a pointer ---- */

void rt_pointer_info(struct gpu *g, const void *p, struct cudaPointerAttributes *out)
{
    const struct space_alloc *a = rt_find_alloc(g, p);
    void *plain = (void *)(uintptr_t)p;
    *out = (struct cudaPointerAttributes){.type = cudaMemoryTypeDevice, .devicePointer = plain};
    if (!a) {
        *out = (struct cudaPointerAttributes){
            .type = cudaMemoryTypeUnregistered, .device = cudaInvalidDeviceId, .hostPointer = plain};
    } else if (a->kind == SPACE_HOST || a->kind == SPACE_REGISTERED) {
        out->type = cudaMemoryTypeHost;
        out->hostPointer = plain;
    } else if (rt_alloc_is_managed(a, p)) {
        out->type = cudaMemoryTypeManaged;
        out->hostPointer = plain;
    }
}
