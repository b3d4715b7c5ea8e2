/* rt_array.c: CUDA arrays, and the copies that have one on a side or that are three-dimensional.
 *
 * A GPU keeps an array in a layout of its own; here it is rows at a pitch, which no program can see. Layered
 * arrays are slices, cube maps six of them for each cube. Sparse arrays and mipmaps are refused. */
#include "cuda/rt_array.h"

#include "cuda/rt_api.h"
#include "cuda/rt_copy.h"
#include "cuda/rt_launch.h"

enum { ARRAY_ALIGN = 512, ROW_ALIGN = 32 };
/* Limits of compute capability 6.0 and later. */
enum {
    SIZE_1D = 131072,
    WIDTH_2D = 131072,
    HEIGHT_2D = 65536,
    SIZE_3D = 16384,
    LAYERS = 2048,
    CUBE_FACES = 6
};

bool rt_format_read(const struct cudaChannelFormatDesc *d, struct rt_format *out)
{
    int bits[4] = {d->x, d->y, d->z, d->w}, count = 0;
    while (count < 4 && bits[count]) count++;
    for (int i = 0; i < 4; i++)
        if (bits[i] != (i < count ? bits[0] : 0)) return false;
    if ((count != 1 && count != 2 && count != 4) || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32))
        return false;
    *out = (struct rt_format){.channels = (uint32_t)count, .channel_bits = (uint32_t)bits[0]};
    if (d->f == cudaChannelFormatKindSigned)
        out->kind = EMU_CHAN_SIGNED;
    else if (d->f == cudaChannelFormatKindUnsigned)
        out->kind = EMU_CHAN_UNSIGNED;
    else if (d->f == cudaChannelFormatKindFloat && bits[0] != 8)
        out->kind = EMU_CHAN_FLOAT;
    else if (d->f >= cudaChannelFormatKindUnsignedNormalized8X1 &&
             d->f <= cudaChannelFormatKindSignedNormalized16X4) {
        bool is_signed = d->f >= cudaChannelFormatKindSignedNormalized8X1;
        out->kind = is_signed ? EMU_CHAN_SIGNED : EMU_CHAN_UNSIGNED;
        out->normalized = true;
        return bits[0] != 32;
    } else
        return false;
    return true;
}

static bool extent_valid(struct cudaExtent e, unsigned flags)
{
    if (!e.width) return false;
    if (flags & cudaArrayCubemap) {
        bool depth_fits =
            flags & cudaArrayLayered ? e.depth && e.depth % CUBE_FACES == 0 : e.depth == CUBE_FACES;
        if (e.width != e.height || !depth_fits) return false;
        flags |= cudaArrayLayered;
    }
    if (flags & cudaArrayLayered)
        return e.depth && e.depth <= LAYERS && e.width <= WIDTH_2D && e.height <= HEIGHT_2D;
    if (e.depth) return e.height && e.width <= SIZE_3D && e.height <= SIZE_3D && e.depth <= SIZE_3D;
    if (e.height) return e.width <= WIDTH_2D && e.height <= HEIGHT_2D;
    return e.width <= SIZE_1D;
}

static cudaError_t array_create(struct gpu *g, cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                                struct cudaExtent e, unsigned flags)
{
    struct rt_format format;
    if (!out || !desc) return cudaErrorInvalidValue;
    if (!rt_format_read(desc, &format)) return cudaErrorInvalidChannelDescriptor;
    if (!extent_valid(e, flags)) return cudaErrorInvalidValue;
    if (flags & (cudaArraySparse | cudaArrayDeferredMapping)) return cudaErrorNotSupported;
    struct rt_array a = {.desc = *desc,
                         .extent = e,
                         .flags = flags,
                         .texel_bytes = rt_format_bytes(&format),
                         .rows = MAX(e.height, (size_t)1),
                         .slices = MAX(e.depth, (size_t)1)};
    a.pitch = round_up_u64(e.width * a.texel_bytes, ROW_ALIGN);
    char label[64];
    snprintf(label, sizeof(label), "cudaArray #%u", ++rt_state()->alloc_count);
    a.address = space_alloc(rt_space(g), a.pitch * a.rows * a.slices, ARRAY_ALIGN, SPACE_DEVICE, label);
    if (!a.address) return cudaErrorMemoryAllocation;
    *out = mem_alloc(sizeof(a));
    **out = a;
    rt_object_add(*out, RT_ARRAY);
    return cudaSuccess;
}

CUDART(cudaMallocArray, (cudaArray_t * out, const struct cudaChannelFormatDesc *desc, size_t width,
                         size_t height, unsigned flags))
{
    RT_CALL(array_create(g, out, desc, (struct cudaExtent){width, height, 0}, flags));
}
CUDART(cudaMalloc3DArray, (cudaArray_t * out, const struct cudaChannelFormatDesc *desc,
                           struct cudaExtent extent, unsigned flags))
{
    RT_CALL(array_create(g, out, desc, extent, flags));
}

static cudaError_t array_free(struct gpu *g, cudaArray_t array)
{
    if (!array) return cudaSuccess;
    struct rt_array *a = rt_object_find(array, RT_ARRAY);
    if (!a) return cudaErrorInvalidResourceHandle;
    space_free(rt_space(g), a->address);
    rt_object_remove(a);
    return cudaSuccess;
}
CUDART(cudaFreeArray, (cudaArray_t array)) { RT_CALL(array_free(g, array)); }

static cudaError_t array_info(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                              cudaArray_const_t array)
{
    const struct rt_array *a = rt_object_find(array, RT_ARRAY);
    if (!a) return cudaErrorInvalidResourceHandle;
    if (desc) *desc = a->desc;
    if (extent) *extent = a->extent;
    if (flags) *flags = a->flags;
    return cudaSuccess;
}
CUDART(cudaArrayGetInfo,
       (struct cudaChannelFormatDesc * desc, struct cudaExtent *extent, unsigned *flags, cudaArray_t array))
{
    RT_CALL(array_info(desc, extent, flags, array));
}
CUDART(cudaGetChannelDesc, (struct cudaChannelFormatDesc * desc, cudaArray_const_t array))
{
    RT_CALL(desc ? array_info(desc, NULL, NULL, array) : cudaErrorInvalidValue);
}

CUDART_RETURNS(struct cudaChannelFormatDesc, cudaCreateChannelDesc, (int x, int y, int z, int w, int f))
{
    return (struct cudaChannelFormatDesc){x, y, z, w, (enum cudaChannelFormatKind)f};
}

/* ---- boxes: the general copy ---- */

struct side {
    /* NULL: pointer */
    const struct rt_array *array;
    struct cudaPitchedPtr pointer;
    /* x in bytes, y in rows, z in slices */
    struct cudaPos pos;
};
struct box {
    size_t width_bytes, height, depth;
};

static bool box_in_array(const struct side *s, struct box b)
{
    const struct rt_array *a = s->array;
    size_t row_bytes = a->extent.width * a->texel_bytes;
    return s->pos.x <= row_bytes && b.width_bytes <= row_bytes - s->pos.x && s->pos.y <= a->rows &&
           b.height <= a->rows - s->pos.y && s->pos.z <= a->slices && b.depth <= a->slices - s->pos.z;
}

/* First byte of the box and the bytes to behind its last; false when that does not fit. */
static bool pointer_span(const struct side *s, struct box b, const void **first, size_t *bytes)
{
    size_t slice_rows = MAX(s->pointer.ysize, b.height), pitch = s->pointer.pitch, row, at, last;
    if (b.width_bytes > pitch && (b.height > 1 || b.depth > 1 || s->pos.y || s->pos.z)) return false;
    if (__builtin_mul_overflow(s->pos.z, slice_rows, &row) || __builtin_add_overflow(row, s->pos.y, &row))
        return false;
    if (__builtin_mul_overflow(row, pitch, &at) || __builtin_add_overflow(at, s->pos.x, &at)) return false;
    if (__builtin_mul_overflow(b.depth - 1, slice_rows, &row) ||
        __builtin_add_overflow(row, b.height - 1, &row))
        return false;
    if (__builtin_mul_overflow(row, pitch, &last) || __builtin_add_overflow(last, b.width_bytes, bytes))
        return false;
    *first = (const uint8_t *)s->pointer.ptr + at;
    return true;
}

static bool side_resolve(const struct side *s, struct box b, const void **first, size_t *bytes)
{
    if (!s->array) return s->pointer.ptr && pointer_span(s, b, first, bytes);
    if (!box_in_array(s, b)) return false;
    *first = (const void *)(uintptr_t)s->array->address;
    *bytes = s->array->pitch * s->array->rows * s->array->slices;
    return true;
}

static void *side_base(const struct side *s)
{
    return s->array ? (void *)(uintptr_t)s->array->address : s->pointer.ptr;
}

static cudaError_t copy_box(struct gpu *g, const struct side *dst, const struct side *src, struct box b,
                            int kind, struct rt_order order)
{
    if (!rt_stream_valid(order.stream)) return cudaErrorInvalidResourceHandle;
    if (!rt_kind_valid(kind)) return cudaErrorInvalidMemcpyDirection;
    if (!b.width_bytes || !b.height || !b.depth) return cudaSuccess;
    const void *dst_first, *src_first;
    size_t dst_bytes, src_bytes;
    if (!side_resolve(dst, b, &dst_first, &dst_bytes) || !side_resolve(src, b, &src_first, &src_bytes))
        return cudaErrorInvalidValue;
    cudaError_t e = rt_copy_check(g, dst_first, dst_bytes, src_first, src_bytes, kind);
    if (e) return e;
    struct gpu_copy3d c = {
        .dst = side_base(dst),
        .dst_pitch = dst->array ? dst->array->pitch : dst->pointer.pitch,
        .dst_height = dst->array ? dst->array->rows : MAX(dst->pointer.ysize, b.height),
        .dst_x = dst->pos.x,
        .dst_y = dst->pos.y,
        .dst_z = dst->pos.z,
        .src = side_base(src),
        .src_pitch = src->array ? src->array->pitch : src->pointer.pitch,
        .src_height = src->array ? src->array->rows : MAX(src->pointer.ysize, b.height),
        .src_x = src->pos.x,
        .src_y = src->pos.y,
        .src_z = src->pos.z,
        .width_bytes = b.width_bytes,
        .height = b.height,
        .depth = b.depth,
    };
    return rt_from_status(gpu_copy_3d(g, &c, rt_gpu_order(g, order)));
}

/* One of array and pointer must be there, not both. Positions in arrays come in texels. */
static cudaError_t side_read(struct side *out, cudaArray_const_t array, struct cudaPitchedPtr pointer,
                             struct cudaPos pos)
{
    if (!array == !pointer.ptr) return cudaErrorInvalidValue;
    *out = (struct side){.pointer = pointer, .pos = pos};
    if (!array) return cudaSuccess;
    out->array = rt_object_find(array, RT_ARRAY);
    if (!out->array) return cudaErrorInvalidResourceHandle;
    return __builtin_mul_overflow(pos.x, out->array->texel_bytes, &out->pos.x) ? cudaErrorInvalidValue
                                                                               : cudaSuccess;
}

static cudaError_t copy_3d(struct gpu *g, const struct cudaMemcpy3DParms *p, struct rt_order order)
{
    struct side dst, src;
    if (!p) return cudaErrorInvalidValue;
    if (!p->extent.width || !p->extent.height || !p->extent.depth) return cudaSuccess;
    cudaError_t e = side_read(&dst, p->dstArray, p->dstPtr, p->dstPos);
    if (!e) e = side_read(&src, p->srcArray, p->srcPtr, p->srcPos);
    if (e) return e;
    uint32_t texel = dst.array ? dst.array->texel_bytes : src.array ? src.array->texel_bytes : 1;
    if (src.array && src.array->texel_bytes != texel) return cudaErrorInvalidValue;
    struct box b = {.height = p->extent.height, .depth = p->extent.depth};
    if (__builtin_mul_overflow(p->extent.width, texel, &b.width_bytes)) return cudaErrorInvalidValue;
    return copy_box(g, &dst, &src, b, p->kind, order);
}

CUDART_ON_DEFAULT(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), copy_3d(g, p, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
                 copy_3d(g, p, rt_async(stream)))

static cudaError_t copy_3d_peer(struct gpu *g, const struct cudaMemcpy3DPeerParms *p, struct rt_order order)
{
    if (!p) return cudaErrorInvalidValue;
    if (p->srcDevice != 0 || p->dstDevice != 0) return cudaErrorInvalidDevice;
    struct cudaMemcpy3DParms plain = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                      p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
    return copy_3d(g, &plain, order);
}
CUDART_ON_DEFAULT(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p),
                  copy_3d_peer(g, p, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream),
                 copy_3d_peer(g, p, rt_async(stream)))

/* ---- two-dimensional, with an array ---- */

static struct side array_side(cudaArray_const_t array, size_t x, size_t y)
{
    return (struct side){.array = rt_object_find(array, RT_ARRAY), .pos = {x, y, 0}};
}
static struct side rows_side(const void *p, size_t pitch)
{
    return (struct side){.pointer = {.ptr = (void *)(uintptr_t)p, .pitch = pitch}};
}

static cudaError_t copy_rows(struct gpu *g, const struct side *dst, const struct side *src, size_t width,
                             size_t height, int kind, struct rt_order order)
{
    return copy_box(g, dst, src, (struct box){width, height, 1}, kind, order);
}

static cudaError_t rows_to_array(struct gpu *g, cudaArray_t dst, size_t x, size_t y, const void *src,
                                 size_t pitch, size_t width, size_t height, int kind, struct rt_order order)
{
    struct side to = array_side(dst, x, y), from = rows_side(src, pitch);
    if (!to.array) return cudaErrorInvalidResourceHandle;
    if (width > pitch) return cudaErrorInvalidPitchValue;
    return copy_rows(g, &to, &from, width, height, kind, order);
}

static cudaError_t array_to_rows(struct gpu *g, void *dst, size_t pitch, cudaArray_const_t src, size_t x,
                                 size_t y, size_t width, size_t height, int kind, struct rt_order order)
{
    struct side to = rows_side(dst, pitch), from = array_side(src, x, y);
    if (!from.array) return cudaErrorInvalidResourceHandle;
    if (width > pitch) return cudaErrorInvalidPitchValue;
    return copy_rows(g, &to, &from, width, height, kind, order);
}

CUDART_ON_DEFAULT(cudaMemcpy2DToArray,
                  (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                   size_t height, int kind),
                  rows_to_array(g, dst, x, y, src, pitch, width, height, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpy2DToArrayAsync,
                 (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                  size_t height, int kind, cudaStream_t stream),
                 rows_to_array(g, dst, x, y, src, pitch, width, height, kind, rt_async(stream)))
CUDART_ON_DEFAULT(cudaMemcpy2DFromArray,
                  (void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                   size_t height, int kind),
                  array_to_rows(g, dst, pitch, src, x, y, width, height, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpy2DFromArrayAsync,
                 (void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                  size_t height, int kind, cudaStream_t stream),
                 array_to_rows(g, dst, pitch, src, x, y, width, height, kind, rt_async(stream)))

static cudaError_t array_to_array(struct gpu *g, cudaArray_t dst, size_t dst_x, size_t dst_y,
                                  cudaArray_const_t src, size_t src_x, size_t src_y, size_t width,
                                  size_t height, int kind, struct rt_order order)
{
    struct side to = array_side(dst, dst_x, dst_y), from = array_side(src, src_x, src_y);
    if (!to.array || !from.array) return cudaErrorInvalidResourceHandle;
    return copy_rows(g, &to, &from, width, height, kind, order);
}
CUDART_ON_DEFAULT(cudaMemcpy2DArrayToArray,
                  (cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x,
                   size_t src_y, size_t width, size_t height, int kind),
                  array_to_array(g, dst, dst_x, dst_y, src, src_x, src_y, width, height, kind,
                                 rt_sync(stream)))

/* ---- running on from row to row (deprecated since CUDA 10) ---- */

/* Copies `bytes` between memory and the texels that follow (x, y) row by row. */
static cudaError_t copy_run(struct gpu *g, cudaArray_const_t array, size_t x, size_t y, void *memory,
                            size_t bytes, bool to_array, int kind, struct rt_order order)
{
    const struct rt_array *a = rt_object_find(array, RT_ARRAY);
    if (!a) return cudaErrorInvalidResourceHandle;
    size_t row_bytes = a->extent.width * a->texel_bytes;
    if (x > row_bytes || y > a->rows ||
        bytes > row_bytes * a->rows - MIN(row_bytes * y + x, row_bytes * a->rows))
        return cudaErrorInvalidValue;
    cudaError_t e = cudaSuccess;
    for (uint8_t *at = memory; bytes && !e; y++, x = 0) {
        size_t piece = MIN(bytes, row_bytes - x);
        e = to_array ? rows_to_array(g, (cudaArray_t)array, x, y, at, piece, piece, 1, kind, order)
                     : array_to_rows(g, at, piece, array, x, y, piece, 1, kind, order);
        at += piece;
        bytes -= piece;
    }
    return e;
}

CUDART_ON_DEFAULT(cudaMemcpyToArray,
                  (cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes, int kind),
                  copy_run(g, dst, x, y, (void *)(uintptr_t)src, bytes, true, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpyToArrayAsync,
                 (cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes, int kind,
                  cudaStream_t stream),
                 copy_run(g, dst, x, y, (void *)(uintptr_t)src, bytes, true, kind, rt_async(stream)))
CUDART_ON_DEFAULT(cudaMemcpyFromArray,
                  (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t bytes, int kind),
                  copy_run(g, src, x, y, dst, bytes, false, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpyFromArrayAsync,
                 (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t bytes, int kind,
                  cudaStream_t stream),
                 copy_run(g, src, x, y, dst, bytes, false, kind, rt_async(stream)))

/* Both sides run on: by way of a buffer, since their rows may differ in length. */
static cudaError_t run_to_run(struct gpu *g, cudaArray_t dst, size_t dst_x, size_t dst_y,
                              cudaArray_const_t src, size_t src_x, size_t src_y, size_t bytes, int kind,
                              struct rt_order order)
{
    const struct rt_array *a = rt_object_find(src, RT_ARRAY);
    if (!a) return cudaErrorInvalidResourceHandle;
    if (bytes > a->pitch * a->rows) return cudaErrorInvalidValue;
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    uint8_t *buffer = mem_alloc(MAX(bytes, (size_t)1));
    cudaError_t e = copy_run(g, src, src_x, src_y, buffer, bytes, false, cudaMemcpyDeviceToHost, order);
    if (!e) e = copy_run(g, dst, dst_x, dst_y, buffer, bytes, true, cudaMemcpyHostToDevice, order);
    free(buffer);
    return e;
}
CUDART_ON_DEFAULT(cudaMemcpyArrayToArray,
                  (cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x,
                   size_t src_y, size_t bytes, int kind),
                  run_to_run(g, dst, dst_x, dst_y, src, src_x, src_y, bytes, kind, rt_sync(stream)))
