/* rt_texref.c: texture references (`texture<float, 2> t;`), for programs built by CUDA 11 and older.
 *
 * Such a program registers the reference under the name of a .texref variable of its PTX and binds memory to
 * it before a launch. The variable is eight bytes in device memory that hold a texture handle: binding makes
 * a texture from the reference's fields, as they are at that moment, and stores its handle there. */
#include "cuda/rt_api.h"
#include "cuda/rt_memory.h"
#include "cuda/rt_module.h"
#include "cuda/rt_texture.h"

enum { BIND_ALIGN = 512 };

static struct rt_texref *texref_find(const struct textureReference *host)
{
    return rt_table_get(&rt_state()->texrefs, rt_key(host));
}

static cudaError_t store_handle(struct gpu *g, const struct rt_texref *t)
{
    uint64_t address, bytes;
    cudaError_t e = rt_binary_load(g, t->binary);
    if (e) return e;
    if (!emu_find_var(gpu_module_emu(t->binary->module), t->name, &address, &bytes) ||
        bytes < sizeof(t->handle))
        return cudaErrorInvalidTexture;
    return rt_from_status(gpu_copy(g, (void *)(uintptr_t)address, &t->handle, sizeof(t->handle), GPU_SYNC));
}

static cudaError_t unbind(struct gpu *g, struct rt_texref *t)
{
    if (!t) return cudaErrorInvalidTexture;
    if (!t->handle) return cudaSuccess;
    emu_texture_destroy(gpu_device(g), t->handle);
    t->handle = 0;
    t->offset_bytes = 0;
    return store_handle(g, t);
}

static cudaError_t bind(struct gpu *g, struct rt_texref *t, const struct cudaResourceDesc *resource,
                        size_t offset)
{
    const struct textureReference *h = t->host;
    struct cudaTextureDesc desc = {
        .addressMode = {h->addressMode[0], h->addressMode[1], h->addressMode[2]},
        .filterMode = h->filterMode,
        .readMode = t->normalized_read ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = h->sRGB,
        .normalizedCoords = h->normalized,
    };
    struct emu_texture texture;
    cudaError_t e = rt_texture_build(g, resource, &desc, &texture);
    if (e) return e;
    e = unbind(g, t);
    if (e) return e;
    t->handle = emu_texture_create(gpu_device(g), &texture);
    t->offset_bytes = offset;
    return t->handle ? store_handle(g, t) : cudaErrorMemoryAllocation;
}

/* Linear memory may begin anywhere if the caller takes the offset; the kernel adds it to its coordinates. */
static cudaError_t split_offset(const void *p, size_t *offset_out, size_t *offset)
{
    *offset = rt_key(p) % BIND_ALIGN;
    if (*offset && !offset_out) return cudaErrorInvalidValue;
    if (offset_out) *offset_out = *offset;
    return cudaSuccess;
}

static cudaError_t bind_linear(struct gpu *g, size_t *offset_out, const struct textureReference *ref,
                               const void *p, const struct cudaChannelFormatDesc *desc, size_t bytes)
{
    struct rt_texref *t = texref_find(ref);
    size_t offset;
    if (!t) return cudaErrorInvalidTexture;
    if (!desc || !p) return cudaErrorInvalidValue;
    const struct space_alloc *a = rt_find_alloc(g, p);
    cudaError_t e = a ? split_offset(p, offset_out, &offset) : cudaErrorInvalidValue;
    if (e) return e;
    uint64_t room = a->base + a->bytes - rt_key(p); /* "all of it" is a usual way to give the size */
    struct cudaResourceDesc r = {.resType = cudaResourceTypeLinear};
    r.res.linear.devPtr = (void *)(uintptr_t)(rt_key(p) - offset);
    r.res.linear.desc = *desc;
    r.res.linear.sizeInBytes = MIN(bytes, room) + offset;
    return bind(g, t, &r, offset);
}

CUDART(cudaBindTexture, (size_t * offset, const struct textureReference *ref, const void *p,
                         const struct cudaChannelFormatDesc *desc, size_t bytes))
{
    RT_CALL(bind_linear(g, offset, ref, p, desc, bytes));
}

static cudaError_t bind_2d(struct gpu *g, size_t *offset_out, const struct textureReference *ref,
                           const void *p, const struct cudaChannelFormatDesc *desc, size_t width,
                           size_t height, size_t pitch)
{
    struct rt_texref *t = texref_find(ref);
    size_t offset;
    if (!t) return cudaErrorInvalidTexture;
    if (!desc || !p) return cudaErrorInvalidValue;
    cudaError_t e = split_offset(p, offset_out, &offset);
    if (e) return e;
    struct cudaResourceDesc r = {.resType = cudaResourceTypePitch2D};
    r.res.pitch2D.devPtr = (void *)(uintptr_t)(rt_key(p) - offset);
    r.res.pitch2D.desc = *desc;
    r.res.pitch2D.width = width;
    r.res.pitch2D.height = height;
    r.res.pitch2D.pitchInBytes = pitch;
    return bind(g, t, &r, offset);
}
CUDART(cudaBindTexture2D,
       (size_t * offset, const struct textureReference *ref, const void *p,
        const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch))
{
    RT_CALL(bind_2d(g, offset, ref, p, desc, width, height, pitch));
}

static cudaError_t bind_array(struct gpu *g, const struct textureReference *ref, cudaArray_const_t array)
{
    struct rt_texref *t = texref_find(ref);
    if (!t) return cudaErrorInvalidTexture;
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray};
    r.res.array.array = (cudaArray_t)(uintptr_t)array;
    return bind(g, t, &r, 0);
}
CUDART(cudaBindTextureToArray, (const struct textureReference *ref, cudaArray_const_t array,
                                const struct cudaChannelFormatDesc *desc))
{
    RT_CALL(bind_array(g, ref, array));
}

CUDART(cudaUnbindTexture, (const struct textureReference *ref)) { RT_CALL(unbind(g, texref_find(ref))); }

static cudaError_t alignment_offset(size_t *out, const struct textureReference *ref)
{
    const struct rt_texref *t = texref_find(ref);
    if (!t) return cudaErrorInvalidTexture;
    if (!out || !t->handle) return cudaErrorInvalidTextureBinding;
    *out = t->offset_bytes;
    return cudaSuccess;
}
CUDART(cudaGetTextureAlignmentOffset, (size_t * out, const struct textureReference *ref))
{
    RT_CALL(alignment_offset(out, ref));
}

static cudaError_t reference_get(const struct textureReference **out, const void *symbol)
{
    const struct rt_texref *t = texref_find(symbol);
    if (!out || !t) return cudaErrorInvalidTexture;
    *out = t->host;
    return cudaSuccess;
}
CUDART(cudaGetTextureReference, (const struct textureReference **out, const void *symbol))
{
    RT_CALL(reference_get(out, symbol));
}

void rt_texrefs_reset(void)
{
    struct rt_texref *t;
    for (uint32_t i = 0; (t = rt_table_next(&rt_state()->texrefs, &i));) {
        t->handle = 0;
        t->offset_bytes = 0;
    }
}
