/* rt_texture.c: texture objects, over linear memory, pitched rows and arrays; surface objects over arrays.
 *
 * The emulator samples (emu.h: emu_texture); here descriptions are checked and kept, so that programs can
 * query them. Wrap and mirror need normalized coordinates: without these they mean clamp (CUDA Programming
 * Guide, texture memory). Left out: mipmaps, seamless cube maps, resource views that reinterpret, block-
 * compressed formats; each is refused. Error codes as measured on an H200 with CUDA 13.0. */
#include "cuda/rt_texture.h"

#include "cuda/rt_abi.h"
#include "cuda/rt_api.h"
#include "cuda/rt_memory.h"

enum { TEXTURE_ALIGN = 512, TEXTURE_PITCH_ALIGN = 32 };
/* cudaDevAttrMaxTexture1DLinearWidth. */
enum { LINEAR_TEXELS_MAX = 1 << 28 };

struct rt_texture {
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
    /* zeros: none was given */
    struct cudaResourceViewDesc view;
};

static cudaError_t build_linear(struct gpu *g, const struct cudaResourceDesc *r, uint32_t texel,
                                struct emu_texture *out)
{
    uint64_t address = rt_key(r->res.linear.devPtr);
    if (!rt_find_alloc(g, r->res.linear.devPtr) || address % TEXTURE_ALIGN) return cudaErrorInvalidValue;
    if (r->res.linear.sizeInBytes / texel > LINEAR_TEXELS_MAX) return cudaErrorInvalidValue;
    out->address = address;
    out->width = (uint32_t)(r->res.linear.sizeInBytes / texel);
    out->pitch_bytes = out->slice_bytes = r->res.linear.sizeInBytes;
    out->is_linear_memory = true;
    return cudaSuccess;
}

static cudaError_t build_pitched(struct gpu *g, const struct cudaResourceDesc *r, uint32_t texel,
                                 struct emu_texture *out)
{
    uint64_t address = rt_key(r->res.pitch2D.devPtr);
    size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height, pitch = r->res.pitch2D.pitchInBytes;
    if (!rt_find_alloc(g, r->res.pitch2D.devPtr) || address % TEXTURE_ALIGN) return cudaErrorInvalidValue;
    if (!width || !height || width > 131072 || height > 65000) return cudaErrorInvalidValue;
    if (pitch % TEXTURE_PITCH_ALIGN || pitch < width * texel) return cudaErrorInvalidValue;
    out->address = address;
    out->width = (uint32_t)width;
    out->height = (uint32_t)height;
    out->pitch_bytes = pitch;
    out->slice_bytes = pitch * height;
    return cudaSuccess;
}

static cudaError_t build_array(const struct rt_array *a, struct emu_texture *out)
{
    out->address = a->address;
    out->width = (uint32_t)a->extent.width;
    out->height = (uint32_t)a->extent.height;
    out->is_cube = a->flags & cudaArrayCubemap;
    if (a->flags & (cudaArrayLayered | cudaArrayCubemap))
        out->layers = (uint32_t)a->extent.depth;
    else
        out->depth = (uint32_t)a->extent.depth;
    out->pitch_bytes = a->pitch;
    out->slice_bytes = a->pitch * a->rows;
    return cudaSuccess;
}

static cudaError_t build_sampler(const struct cudaTextureDesc *t, const struct rt_format *f,
                                 struct emu_texture *out)
{
    bool gives_float =
        f->kind == EMU_CHAN_FLOAT || f->normalized || t->readMode == cudaReadModeNormalizedFloat;
    if (t->readMode == cudaReadModeNormalizedFloat && f->kind != EMU_CHAN_FLOAT && f->channel_bits == 32)
        return cudaErrorInvalidNormSetting;
    if (t->filterMode == cudaFilterModeLinear && !gives_float) return cudaErrorInvalidFilterSetting;
    for (int i = 0; i < 3; i++) {
        unsigned mode = t->addressMode[i];
        if (mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
        bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
        out->addr_mode[i] = (uint8_t)(repeats && !t->normalizedCoords ? cudaAddressModeClamp : mode);
    }
    out->linear_filter = t->filterMode == cudaFilterModeLinear;
    out->normalized_coords = t->normalizedCoords != 0;
    out->read_normalized =
        f->kind != EMU_CHAN_FLOAT && (f->normalized || t->readMode == cudaReadModeNormalizedFloat);
    out->srgb = t->sRGB != 0;
    memcpy(out->border, t->borderColor, sizeof(out->border));
    return cudaSuccess;
}

static const struct cudaChannelFormatDesc *resource_format(const struct cudaResourceDesc *r)
{
    if (r->resType == cudaResourceTypeLinear) return &r->res.linear.desc;
    if (r->resType == cudaResourceTypePitch2D) return &r->res.pitch2D.desc;
    const struct rt_array *a = rt_object_find(r->res.array.array, RT_ARRAY);
    return a ? &a->desc : NULL;
}

cudaError_t rt_texture_build(struct gpu *g, const struct cudaResourceDesc *r, const struct cudaTextureDesc *t,
                             struct emu_texture *out)
{
    struct rt_format f;
    if ((unsigned)r->resType > cudaResourceTypePitch2D) return cudaErrorInvalidValue;
    if (r->resType == cudaResourceTypeMipmappedArray) return cudaErrorNotSupported;
    const struct cudaChannelFormatDesc *desc = resource_format(r);
    if (!desc) return cudaErrorInvalidResourceHandle;
    if (!rt_format_read(desc, &f)) return cudaErrorInvalidChannelDescriptor;
    *out = (struct emu_texture){
        .channels = (uint8_t)f.channels, .channel_bits = (uint8_t)f.channel_bits, .channel_kind = f.kind};
    cudaError_t e = build_sampler(t, &f, out);
    if (e) return e;
    uint32_t texel = rt_format_bytes(&f);
    switch (r->resType) {
    case cudaResourceTypeLinear: return build_linear(g, r, texel, out);
    case cudaResourceTypePitch2D: return build_pitched(g, r, texel, out);
    default: return build_array(r->res.array.array, out);
    }
}

/* CUDA 11's description ends before the field. */
static bool asks_seamless(const struct cudaTextureDesc *t)
{
    return rt_abi_texture_desc_bytes() > offsetof(struct cudaTextureDesc, seamlessCubemap) &&
           t->seamlessCubemap;
}

static cudaError_t texture_create(struct gpu *g, cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                  const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *view)
{
    struct emu_texture texture;
    if (!out || !r || !t) return cudaErrorInvalidValue;
    if (view && view->format) return cudaErrorNotSupported;
    if (asks_seamless(t)) return cudaErrorNotSupported;
    cudaError_t e = rt_texture_build(g, r, t, &texture);
    if (e) return e;
    uint64_t handle = emu_texture_create(gpu_device(g), &texture);
    if (!handle) return cudaErrorMemoryAllocation;
    struct rt_texture *kept = mem_zalloc(sizeof(*kept));
    memcpy(&kept->resource, r, rt_abi_resource_desc_bytes());
    memcpy(&kept->texture, t, rt_abi_texture_desc_bytes());
    if (view) memcpy(&kept->view, view, rt_abi_view_desc_bytes());
    rt_table_put(&rt_state()->textures, handle, kept);
    *out = handle;
    return cudaSuccess;
}

CUDART(cudaCreateTextureObject,
       (cudaTextureObject_t * out, const struct cudaResourceDesc *resource,
        const struct cudaTextureDesc *texture, const struct cudaResourceViewDesc *view))
{
    RT_CALL(texture_create(g, out, resource, texture, view));
}
CUDART_ALIAS(cudaCreateTextureObject, cudaCreateTextureObject_v2);

static cudaError_t texture_destroy(struct gpu *g, cudaTextureObject_t object)
{
    struct rt_texture *kept = rt_table_remove(&rt_state()->textures, object);
    if (kept) emu_texture_destroy(gpu_device(g), object);
    free(kept);
    return cudaSuccess; /* also where it is not a texture object, as CUDA does */
}
CUDART(cudaDestroyTextureObject, (cudaTextureObject_t object)) { RT_CALL(texture_destroy(g, object)); }

/* ---- surface objects: kept in the same table ---- */

static cudaError_t surface_create(struct gpu *g, cudaSurfaceObject_t *out, const struct cudaResourceDesc *r)
{
    struct emu_texture surface = {.is_surface = true};
    struct rt_format f;
    if (!out || !r || r->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
    const struct rt_array *a = rt_object_find(r->res.array.array, RT_ARRAY);
    if (!a) return cudaErrorInvalidResourceHandle;
    if (!(a->flags & cudaArraySurfaceLoadStore) || !rt_format_read(&a->desc, &f))
        return cudaErrorInvalidValue;
    surface.channels = (uint8_t)f.channels;
    surface.channel_bits = (uint8_t)f.channel_bits;
    surface.channel_kind = f.kind;
    build_array(a, &surface);
    uint64_t handle = emu_texture_create(gpu_device(g), &surface);
    struct rt_texture *kept = mem_zalloc(sizeof(*kept));
    memcpy(&kept->resource, r, rt_abi_resource_desc_bytes());
    rt_table_put(&rt_state()->textures, handle, kept);
    *out = handle;
    return cudaSuccess;
}
CUDART(cudaCreateSurfaceObject, (cudaSurfaceObject_t * out, const struct cudaResourceDesc *resource))
{
    RT_CALL(surface_create(g, out, resource));
}
CUDART(cudaDestroySurfaceObject, (cudaSurfaceObject_t object)) { RT_CALL(texture_destroy(g, object)); }

void rt_textures_reset(void)
{
    struct rt_table *t = &rt_state()->textures;
    void *kept;
    for (uint32_t i = 0; (kept = rt_table_next(t, &i));) free(kept);
    rt_table_free(t);
}

/* ---- queries ---- */

#define TEXTURE_GETTER(function, type, field, bytes)                                                         \
    static cudaError_t get_##field(type *out, cudaTextureObject_t object)                                    \
    {                                                                                                        \
        const struct rt_texture *kept = rt_table_get(&rt_state()->textures, object);                         \
        if (!out || !kept) return cudaErrorInvalidValue;                                                     \
        memcpy(out, &kept->field, bytes);                                                                    \
        return cudaSuccess;                                                                                  \
    }                                                                                                        \
    CUDART(function, (type * out, cudaTextureObject_t object)) { RT_CALL(get_##field(out, object)); }

TEXTURE_GETTER(cudaGetTextureObjectResourceDesc, struct cudaResourceDesc, resource,
               rt_abi_resource_desc_bytes())
CUDART(cudaGetSurfaceObjectResourceDesc, (struct cudaResourceDesc * out, cudaSurfaceObject_t object))
{
    RT_CALL(get_resource(out, object));
}
TEXTURE_GETTER(cudaGetTextureObjectTextureDesc, struct cudaTextureDesc, texture, rt_abi_texture_desc_bytes())
TEXTURE_GETTER(cudaGetTextureObjectResourceViewDesc, struct cudaResourceViewDesc, view,
               rt_abi_view_desc_bytes())
CUDART_ALIAS(cudaGetTextureObjectTextureDesc, cudaGetTextureObjectTextureDesc_v2);
