/* libcuda_array.c: arrays, texture and surface objects. An array is plain rows in device memory: the
 * layout that real arrays have is not visible to programs. */
#include "cuda/libcuda.h"

enum { ARRAY_ALIGN_BYTES = 512, ROW_ALIGN_BYTES = 32 };

uint32_t cu_format_bytes(CUarray_format f)
{
    switch (f) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

enum { CUBE_FACES = 6 };

static bool is_cube(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool depth_fits =
        d->Flags & CUDA_ARRAY3D_LAYERED ? d->Depth && d->Depth % CUBE_FACES == 0 : d->Depth == CUBE_FACES;
    return d->Width == d->Height && depth_fits;
}

static CUresult array_create(const CUDA_ARRAY3D_DESCRIPTOR *d, CUarray *out)
{
    uint64_t element = (uint64_t)cu_format_bytes(d->Format) * d->NumChannels, pitch, slice, bytes, base = 0;
    if (!out || !element || (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    if (!d->Width || (d->Depth && !d->Height && !(d->Flags & CUDA_ARRAY3D_LAYERED)))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP && !is_cube(d)) return CUDA_ERROR_INVALID_VALUE;
    if (d->Width > 1 << 28 || d->Height > 1 << 20 || d->Depth > 1 << 20) return CUDA_ERROR_INVALID_VALUE;
    pitch = round_up_u64(d->Width * element, ROW_ALIGN_BYTES);
    slice = pitch * MAX(d->Height, (size_t)1);
    if (__builtin_mul_overflow(slice, MAX(d->Depth, (size_t)1), &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = cu_alloc(bytes, ARRAY_ALIGN_BYTES, SPACE_DEVICE, "cuArrayCreate", &base);
    if (r) return r;
    CUarray a = handle_new(HANDLE_ARRAY, sizeof *a);
    a->desc = *d;
    a->base = base;
    a->pitch = pitch;
    a->slice = slice;
    *out = a;
    return CUDA_SUCCESS;
}

CU_API(cuArray3DCreate_v2, (CUarray * out, const CUDA_ARRAY3D_DESCRIPTOR *d))
{
    return d ? array_create(d, out) : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuArrayCreate_v2, (CUarray * out, const CUDA_ARRAY_DESCRIPTOR *d))
{
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR full = {
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return array_create(&full, out);
}

CU_API(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * out, CUarray a))
{
    if (!handle_is(a, HANDLE_ARRAY)) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = a->desc;
    return CUDA_SUCCESS;
}

CU_API(cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * out, CUarray a))
{
    if (!handle_is(a, HANDLE_ARRAY)) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = (CUDA_ARRAY_DESCRIPTOR){.Width = a->desc.Width,
                                   .Height = a->desc.Height,
                                   .Format = a->desc.Format,
                                   .NumChannels = a->desc.NumChannels};
    return CUDA_SUCCESS;
}

CU_API(cuArrayDestroy, (CUarray a))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!handle_is(a, HANDLE_ARRAY)) return CUDA_ERROR_INVALID_HANDLE;
    gpu_lock();
    if (cu_context_drop_alloc(a->base)) space_free(emu_device_space(gpu_device(cu_gpu())), a->base);
    handle_free(a);
    gpu_unlock();
    return CUDA_SUCCESS;
}

/* ---- texture objects ---- */

/* What cuTexObjectGet* returns. */
struct texture {
    CUtexObject object;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUDA_RESOURCE_VIEW_DESC view;
};
static VEC(struct texture) textures;

static bool set_format(struct emu_texture *t, CUarray_format format, unsigned channels)
{
    bool is_signed = format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 ||
                     format == CU_AD_FORMAT_SIGNED_INT32;
    bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
    t->channels = (uint8_t)channels;
    t->channel_bits = (uint8_t)(cu_format_bytes(format) * 8);
    t->channel_kind = is_float ? EMU_CHAN_FLOAT : is_signed ? EMU_CHAN_SIGNED : EMU_CHAN_UNSIGNED;
    return t->channel_bits && (channels == 1 || channels == 2 || channels == 4);
}

static CUresult set_resource(struct emu_texture *t, const CUDA_RESOURCE_DESC *r)
{
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        CUarray a = r->res.array.hArray;
        if (!handle_is(a, HANDLE_ARRAY)) return CUDA_ERROR_INVALID_HANDLE;
        t->address = a->base;
        t->width = (uint32_t)a->desc.Width;
        t->height = (uint32_t)a->desc.Height;
        t->is_cube = a->desc.Flags & CUDA_ARRAY3D_CUBEMAP;
        if (a->desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP))
            t->layers = (uint32_t)a->desc.Depth;
        else
            t->depth = (uint32_t)a->desc.Depth;
        t->pitch_bytes = a->pitch;
        t->slice_bytes = a->slice;
        return set_format(t, a->desc.Format, a->desc.NumChannels) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_RESOURCE_TYPE_LINEAR: {
        if (!set_format(t, r->res.linear.format, r->res.linear.numChannels)) return CUDA_ERROR_INVALID_VALUE;
        uint64_t texel = (uint64_t)t->channels * t->channel_bits / 8, bytes = r->res.linear.sizeInBytes;
        t->address = r->res.linear.devPtr;
        t->width = (uint32_t)MIN(bytes / texel, (uint64_t)UINT32_MAX);
        t->pitch_bytes = t->slice_bytes = bytes;
        t->is_linear_memory = true;
        break;
    }
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!set_format(t, r->res.pitch2D.format, r->res.pitch2D.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        t->address = r->res.pitch2D.devPtr;
        t->width = (uint32_t)r->res.pitch2D.width;
        t->height = (uint32_t)r->res.pitch2D.height;
        t->pitch_bytes = r->res.pitch2D.pitchInBytes;
        t->slice_bytes = t->pitch_bytes * t->height;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    bool ok =
        t->slice_bytes && space_valid(emu_device_space(gpu_device(cu_gpu())), t->address, t->slice_bytes);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_sampling(struct emu_texture *t, const CUDA_TEXTURE_DESC *d)
{
    static const uint8_t modes[] = {EMU_TEX_WRAP, EMU_TEX_CLAMP, EMU_TEX_MIRROR, EMU_TEX_BORDER};
    if (d->flags & CU_TRSF_SEAMLESS_CUBEMAP) return CUDA_ERROR_NOT_SUPPORTED;
    for (int i = 0; i < 3; i++) {
        if ((unsigned)d->addressMode[i] >= ARRAY_LEN(modes)) return CUDA_ERROR_INVALID_VALUE;
        t->addr_mode[i] = modes[d->addressMode[i]];
    }
    t->linear_filter = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
    t->normalized_coords = d->flags & CU_TRSF_NORMALIZED_COORDINATES;
    t->srgb = d->flags & CU_TRSF_SRGB;
    t->read_normalized =
        t->channel_kind != EMU_CHAN_FLOAT && t->channel_bits < 32 && !(d->flags & CU_TRSF_READ_AS_INTEGER);
    memcpy(t->border, d->borderColor, sizeof t->border);
    return CUDA_SUCCESS;
}

CU_API(cuTexObjectCreate, (CUtexObject * out, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *desc, const CUDA_RESOURCE_VIEW_DESC *view))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!out || !resource || !desc) return CUDA_ERROR_INVALID_VALUE;
    if (view && view->format != CU_RES_VIEW_FORMAT_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    struct emu_texture t = {0};
    gpu_lock();
    r = set_resource(&t, resource);
    if (!r) r = set_sampling(&t, desc);
    if (!r) {
        struct texture record = {.resource = *resource, .desc = *desc};
        if (view) record.view = *view;
        *out = record.object = emu_texture_create(gpu_device(cu_gpu()), &t);
        vec_push(&textures, record);
    }
    gpu_unlock();
    return r;
}

CU_API(cuTexObjectDestroy, (CUtexObject object))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    gpu_lock();
    bool ok = emu_texture_destroy(gpu_device(cu_gpu()), object);
    for (uint32_t i = 0; i < textures.len; i++)
        if (textures.data[i].object == object) textures.data[i] = textures.data[--textures.len];
    gpu_unlock();
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

#define TEXTURE_GET(name, type, field)                                                                       \
    CU_API(name, (type * out, CUtexObject object))                                                           \
    {                                                                                                        \
        CUresult r = cu_enter(NULL);                                                                         \
        if (r) return r;                                                                                     \
        r = CUDA_ERROR_INVALID_VALUE;                                                                        \
        gpu_lock();                                                                                          \
        for (uint32_t i = 0; out && i < textures.len; i++) {                                                 \
            if (textures.data[i].object != object) continue;                                                 \
            *out = textures.data[i].field;                                                                   \
            r = CUDA_SUCCESS;                                                                                \
        }                                                                                                    \
        gpu_unlock();                                                                                        \
        return r;                                                                                            \
    }
TEXTURE_GET(cuTexObjectGetResourceDesc, CUDA_RESOURCE_DESC, resource)
TEXTURE_GET(cuTexObjectGetTextureDesc, CUDA_TEXTURE_DESC, desc)
TEXTURE_GET(cuTexObjectGetResourceViewDesc, CUDA_RESOURCE_VIEW_DESC, view)

/* ---- surface objects ---- */

struct surface {
    CUsurfObject object;
    CUDA_RESOURCE_DESC resource;
};
static VEC(struct surface) surfaces;

static CUresult surface_create(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
    struct emu_texture t = {.is_surface = true};
    CUresult r = set_resource(&t, resource);
    if (r) return r;
    if (!(resource->res.array.hArray->desc.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return CUDA_ERROR_INVALID_VALUE;
    *out = emu_texture_create(gpu_device(cu_gpu()), &t);
    vec_push(&surfaces, ((struct surface){.object = *out, .resource = *resource}));
    return CUDA_SUCCESS;
}

CU_API(cuSurfObjectCreate, (CUsurfObject * out, const CUDA_RESOURCE_DESC *resource))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!out || !resource || resource->resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    gpu_lock();
    r = surface_create(out, resource);
    gpu_unlock();
    return r;
}

static struct surface *surface_find(CUsurfObject object)
{
    for (uint32_t i = 0; i < surfaces.len; i++)
        if (surfaces.data[i].object == object) return &surfaces.data[i];
    return NULL;
}

CU_API(cuSurfObjectDestroy, (CUsurfObject object))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    gpu_lock();
    struct surface *s = surface_find(object);
    if (s) {
        emu_texture_destroy(gpu_device(cu_gpu()), object);
        *s = surfaces.data[--surfaces.len];
    }
    gpu_unlock();
    return s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC * out, CUsurfObject object))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    gpu_lock();
    const struct surface *s = surface_find(object);
    if (s && out) *out = s->resource;
    gpu_unlock();
    return s && out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
