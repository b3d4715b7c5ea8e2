/* libcuda_copy.c: copies and fills. A copy between any two of host, device and array becomes one box of bytes
 * (gpu_copy_3d), which decides when it happens and whether the call waits for it. */
#include "cuda/libcuda.h"

static bool is_device(uint64_t p, size_t bytes)
{
    return !bytes || space_valid(emu_device_space(gpu_device(cu_gpu())), p, bytes);
}

/* Which sides the function's name says are device memory. */
enum { DST_DEVICE = 1, SRC_DEVICE = 2 };

static CUresult copy(uint64_t dst, uint64_t src, size_t bytes, int sides, CUstream stream, bool async)
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    gpu_lock();
    bool ok =
        (!(sides & DST_DEVICE) || is_device(dst, bytes)) && (!(sides & SRC_DEVICE) || is_device(src, bytes));
    r = ok ? cu_status(gpu_copy(cu_gpu(), (void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes,
                                cu_order(stream, async)))
           : CUDA_ERROR_INVALID_VALUE;
    gpu_unlock();
    return r;
}

#define ADDRESS(p) ((uint64_t)(uintptr_t)(p))

CU_ON_DEFAULT(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void *src, size_t bytes),
              copy(dst, ADDRESS(src), bytes, DST_DEVICE, stream, false))
CU_ON_DEFAULT(cuMemcpyDtoH_v2, (void *dst, CUdeviceptr src, size_t bytes),
              copy(ADDRESS(dst), src, bytes, SRC_DEVICE, stream, false))
CU_ON_DEFAULT(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes),
              copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, stream, false))
CU_ON_DEFAULT(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes),
              copy(dst, src, bytes, 0, stream, false))
CU_ON_STREAM(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream),
             copy(dst, ADDRESS(src), bytes, DST_DEVICE, stream, true))
CU_ON_STREAM(cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t bytes, CUstream stream),
             copy(ADDRESS(dst), src, bytes, SRC_DEVICE, stream, true))
CU_ON_STREAM(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
             copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, stream, true))
CU_ON_STREAM(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
             copy(dst, src, bytes, 0, stream, true))
CU_ON_DEFAULT(cuMemcpyPeer, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes),
              copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, stream, false))
CU_ON_STREAM(cuMemcpyPeerAsync,
             (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes, CUstream stream),
             copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, stream, true))

/* ---- boxes ---- */

/* One end of a copy. */
struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height, x, y, z;
};

/* Where the end is; the limits of an array are checked here, those of linear memory by gpu_copy_3d. */
static CUresult resolve(struct side *s, size_t width, size_t height, size_t depth, const void **base)
{
    switch (s->type) {
    case CU_MEMORYTYPE_HOST: *base = s->host; return CUDA_SUCCESS;
    case CU_MEMORYTYPE_DEVICE: {
        *base = (const void *)(uintptr_t)s->device;
        return is_device(s->device, 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_MEMORYTYPE_UNIFIED: *base = (const void *)(uintptr_t)s->device; return CUDA_SUCCESS;
    case CU_MEMORYTYPE_ARRAY: break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (!handle_is(s->array, HANDLE_ARRAY)) return CUDA_ERROR_INVALID_HANDLE;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &s->array->desc;
    size_t row = d->Width * cu_format_bytes(d->Format) * d->NumChannels, rows = MAX(d->Height, (size_t)1),
           layers = MAX(d->Depth, (size_t)1);
    if (s->x > row || width > row - s->x || s->y > rows || height > rows - s->y || s->z > layers ||
        depth > layers - s->z)
        return CUDA_ERROR_INVALID_VALUE;
    *base = (const void *)(uintptr_t)s->array->base;
    s->pitch = s->array->pitch;
    s->height = rows;
    return CUDA_SUCCESS;
}

static CUresult copy_box(struct side *dst, struct side *src, size_t width, size_t height, size_t depth,
                         CUstream stream, bool async)
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (!width || !height || !depth) return CUDA_SUCCESS;
    const void *to, *from;
    gpu_lock();
    r = resolve(dst, width, height, depth, &to);
    if (!r) r = resolve(src, width, height, depth, &from);
    if (!r) {
        struct gpu_copy3d c = {.dst = (void *)(uintptr_t)to,
                               .dst_pitch = dst->pitch ? dst->pitch : width + dst->x,
                               .dst_height = dst->height,
                               .dst_x = dst->x,
                               .dst_y = dst->y,
                               .dst_z = dst->z,
                               .src = from,
                               .src_pitch = src->pitch ? src->pitch : width + src->x,
                               .src_height = src->height,
                               .src_x = src->x,
                               .src_y = src->y,
                               .src_z = src->z,
                               .width_bytes = width,
                               .height = height,
                               .depth = depth};
        r = cu_status(gpu_copy_3d(cu_gpu(), &c, cu_order(stream, async)));
    }
    gpu_unlock();
    return r;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool async)
{
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    struct side dst = {.type = c->dstMemoryType,
                       .host = c->dstHost,
                       .device = c->dstDevice,
                       .array = c->dstArray,
                       .pitch = c->dstPitch,
                       .x = c->dstXInBytes,
                       .y = c->dstY};
    struct side src = {.type = c->srcMemoryType,
                       .host = c->srcHost,
                       .device = c->srcDevice,
                       .array = c->srcArray,
                       .pitch = c->srcPitch,
                       .x = c->srcXInBytes,
                       .y = c->srcY};
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, 1, stream, async);
}

/* CUDA_MEMCPY3D and its peer form have the same fields here. */
#define SIDE_3D(c, end)                                                                                      \
    {                                                                                                        \
        .type = (c)->end##MemoryType, .host = (c)->end##Host, .device = (c)->end##Device,                    \
        .array = (c)->end##Array, .pitch = (c)->end##Pitch, .height = (c)->end##Height,                      \
        .x = (c)->end##XInBytes, .y = (c)->end##Y, .z = (c)->end##Z                                          \
    }

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool async)
{
    if (!c || c->srcLOD || c->dstLOD) return CUDA_ERROR_INVALID_VALUE;
    struct side dst = SIDE_3D(c, dst), src = SIDE_3D(c, src);
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream, async);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream, bool async)
{
    if (!c || c->srcLOD || c->dstLOD) return CUDA_ERROR_INVALID_VALUE;
    struct side dst = SIDE_3D(c, dst), src = SIDE_3D(c, src);
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream, async);
}

CU_ON_DEFAULT(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *c), copy_2d(c, stream, false))
CU_ON_DEFAULT(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *c), copy_2d(c, stream, false))
CU_ON_STREAM(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *c, CUstream stream), copy_2d(c, stream, true))
CU_ON_DEFAULT(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *c), copy_3d(c, stream, false))
CU_ON_STREAM(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *c, CUstream stream), copy_3d(c, stream, true))
CU_ON_DEFAULT(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *c), copy_3d_peer(c, stream, false))
CU_ON_STREAM(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *c, CUstream stream),
             copy_3d_peer(c, stream, true))

/* ---- copies of one-dimensional arrays ---- */

static CUresult copy_row(struct side dst, struct side src, size_t bytes, CUstream stream, bool async)
{
    return copy_box(&dst, &src, bytes, bytes ? 1 : 0, 1, stream, async);
}
#define HOST_SIDE(p)       ((struct side){.type = CU_MEMORYTYPE_HOST, .host = (p)})
#define DEVICE_SIDE(p)     ((struct side){.type = CU_MEMORYTYPE_DEVICE, .device = (p)})
#define ARRAY_SIDE(a, off) ((struct side){.type = CU_MEMORYTYPE_ARRAY, .array = (a), .x = (off)})

CU_ON_DEFAULT(cuMemcpyDtoA_v2, (CUarray dst, size_t offset, CUdeviceptr src, size_t bytes),
              copy_row(ARRAY_SIDE(dst, offset), DEVICE_SIDE(src), bytes, stream, false))
CU_ON_DEFAULT(cuMemcpyAtoD_v2, (CUdeviceptr dst, CUarray src, size_t offset, size_t bytes),
              copy_row(DEVICE_SIDE(dst), ARRAY_SIDE(src, offset), bytes, stream, false))
CU_ON_DEFAULT(cuMemcpyHtoA_v2, (CUarray dst, size_t offset, const void *src, size_t bytes),
              copy_row(ARRAY_SIDE(dst, offset), HOST_SIDE(src), bytes, stream, false))
CU_ON_DEFAULT(cuMemcpyAtoH_v2, (void *dst, CUarray src, size_t offset, size_t bytes),
              copy_row(HOST_SIDE(dst), ARRAY_SIDE(src, offset), bytes, stream, false))
CU_ON_DEFAULT(cuMemcpyAtoA_v2, (CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes),
              copy_row(ARRAY_SIDE(dst, dst_offset), ARRAY_SIDE(src, src_offset), bytes, stream, false))
CU_ON_STREAM(cuMemcpyHtoAAsync_v2,
             (CUarray dst, size_t offset, const void *src, size_t bytes, CUstream stream),
             copy_row(ARRAY_SIDE(dst, offset), HOST_SIDE(src), bytes, stream, true))
CU_ON_STREAM(cuMemcpyAtoHAsync_v2, (void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream),
             copy_row(HOST_SIDE(dst), ARRAY_SIDE(src, offset), bytes, stream, true))

/* ---- fills ---- */

static CUresult fill(CUdeviceptr p, size_t pitch, const void *value, size_t value_bytes, size_t width,
                     size_t height, CUstream stream, bool async)
{
    CUresult r = cu_enter_launch(NULL);
    if (r) return r;
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (p % value_bytes || (height > 1 && (pitch % value_bytes || pitch / value_bytes < width)))
        return CUDA_ERROR_INVALID_VALUE;
    return cu_status(gpu_fill(cu_gpu(), (void *)(uintptr_t)p, pitch, value, value_bytes, width, height,
                              cu_order(stream, async)));
}

#define FILLS(bits, type)                                                                                    \
    CU_ON_DEFAULT(cuMemsetD##bits##_v2, (CUdeviceptr p, type value, size_t count),                           \
                  fill(p, 0, &value, sizeof value, count, 1, stream, false))                                 \
    CU_ON_STREAM(cuMemsetD##bits##Async, (CUdeviceptr p, type value, size_t count, CUstream stream),         \
                 fill(p, 0, &value, sizeof value, count, 1, stream, true))                                   \
    CU_ON_DEFAULT(cuMemsetD2D##bits##_v2,                                                                    \
                  (CUdeviceptr p, size_t pitch, type value, size_t width, size_t height),                    \
                  fill(p, pitch, &value, sizeof value, width, height, stream, false))                        \
    CU_ON_STREAM(cuMemsetD2D##bits##Async,                                                                   \
                 (CUdeviceptr p, size_t pitch, type value, size_t width, size_t height, CUstream stream),    \
                 fill(p, pitch, &value, sizeof value, width, height, stream, true))
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
