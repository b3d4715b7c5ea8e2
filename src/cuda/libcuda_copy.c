/* libcuda_copy.c: copies and fills. A copy between any two of host, device and array becomes one box of bytes
 * (gpu_copy_3d); the asynchronous forms do the same at once. */
#include "cuda/libcuda.h"

static bool is_device(uint64_t p, size_t bytes)
{
    return !bytes || space_valid(emu_device_space(gpu_device(cu_gpu())), p, bytes);
}

/* Which sides the function's name says are device memory. */
enum { DST_DEVICE = 1, SRC_DEVICE = 2 };

static CUresult copy(uint64_t dst, uint64_t src, size_t bytes, int sides, CUstream stream)
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    gpu_lock();
    bool ok =
        (!(sides & DST_DEVICE) || is_device(dst, bytes)) && (!(sides & SRC_DEVICE) || is_device(src, bytes));
    r = ok ? cu_status(gpu_copy(cu_gpu(), (void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes))
           : CUDA_ERROR_INVALID_VALUE;
    gpu_unlock();
    return r;
}

#define ADDRESS(p) ((uint64_t)(uintptr_t)(p))

CU_API_PT(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr dst, const void *src, size_t bytes))
{
    return copy(dst, ADDRESS(src), bytes, DST_DEVICE, NULL);
}
CU_API_PT(cuMemcpyDtoH_v2, _ptds, (void *dst, CUdeviceptr src, size_t bytes))
{
    return copy(ADDRESS(dst), src, bytes, SRC_DEVICE, NULL);
}
CU_API_PT(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t bytes))
{
    return copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, NULL);
}
CU_API_PT(cuMemcpy, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t bytes))
{
    return copy(dst, src, bytes, 0, NULL);
}
CU_API_PT(cuMemcpyHtoDAsync_v2, _ptsz, (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream))
{
    return copy(dst, ADDRESS(src), bytes, DST_DEVICE, stream);
}
CU_API_PT(cuMemcpyDtoHAsync_v2, _ptsz, (void *dst, CUdeviceptr src, size_t bytes, CUstream stream))
{
    return copy(ADDRESS(dst), src, bytes, SRC_DEVICE, stream);
}
CU_API_PT(cuMemcpyDtoDAsync_v2, _ptsz, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))
{
    return copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, stream);
}
CU_API_PT(cuMemcpyAsync, _ptsz, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))
{
    return copy(dst, src, bytes, 0, stream);
}
CU_API_PT(cuMemcpyPeer, _ptds, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes))
{
    return copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, NULL);
}
CU_API_PT(cuMemcpyPeerAsync, _ptsz,
          (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes, CUstream stream))
{
    return copy(dst, src, bytes, DST_DEVICE | SRC_DEVICE, stream);
}

/* ---- boxes ---- */

struct side { /* one end of a copy */
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
                         CUstream stream)
{
    CUresult r = cu_enter(NULL);
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
        r = cu_status(gpu_copy_3d(cu_gpu(), &c));
    }
    gpu_unlock();
    return r;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream)
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
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, 1, stream);
}

/* CUDA_MEMCPY3D and its peer form have the same fields here. */
#define SIDE_3D(c, end)                                                                                      \
    {                                                                                                        \
        .type = (c)->end##MemoryType, .host = (c)->end##Host, .device = (c)->end##Device,                    \
        .array = (c)->end##Array, .pitch = (c)->end##Pitch, .height = (c)->end##Height,                      \
        .x = (c)->end##XInBytes, .y = (c)->end##Y, .z = (c)->end##Z                                          \
    }

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream)
{
    if (!c || c->srcLOD || c->dstLOD) return CUDA_ERROR_INVALID_VALUE;
    struct side dst = SIDE_3D(c, dst), src = SIDE_3D(c, src);
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream)
{
    if (!c || c->srcLOD || c->dstLOD) return CUDA_ERROR_INVALID_VALUE;
    struct side dst = SIDE_3D(c, dst), src = SIDE_3D(c, src);
    return copy_box(&dst, &src, c->WidthInBytes, c->Height, c->Depth, stream);
}

CU_API_PT(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *c)) { return copy_2d(c, NULL); }
CU_API_PT(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *c)) { return copy_2d(c, NULL); }
CU_API_PT(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *c, CUstream stream)) { return copy_2d(c, stream); }
CU_API_PT(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *c)) { return copy_3d(c, NULL); }
CU_API_PT(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *c, CUstream stream)) { return copy_3d(c, stream); }
CU_API_PT(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *c)) { return copy_3d_peer(c, NULL); }
CU_API_PT(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER *c, CUstream stream))
{
    return copy_3d_peer(c, stream);
}

/* ---- copies of one-dimensional arrays ---- */

static CUresult copy_row(struct side dst, struct side src, size_t bytes, CUstream stream)
{
    return copy_box(&dst, &src, bytes, bytes ? 1 : 0, 1, stream);
}
#define HOST_SIDE(p)       ((struct side){.type = CU_MEMORYTYPE_HOST, .host = (p)})
#define DEVICE_SIDE(p)     ((struct side){.type = CU_MEMORYTYPE_DEVICE, .device = (p)})
#define ARRAY_SIDE(a, off) ((struct side){.type = CU_MEMORYTYPE_ARRAY, .array = (a), .x = (off)})

CU_API_PT(cuMemcpyDtoA_v2, _ptds, (CUarray dst, size_t offset, CUdeviceptr src, size_t bytes))
{
    return copy_row(ARRAY_SIDE(dst, offset), DEVICE_SIDE(src), bytes, NULL);
}
CU_API_PT(cuMemcpyAtoD_v2, _ptds, (CUdeviceptr dst, CUarray src, size_t offset, size_t bytes))
{
    return copy_row(DEVICE_SIDE(dst), ARRAY_SIDE(src, offset), bytes, NULL);
}
CU_API_PT(cuMemcpyHtoA_v2, _ptds, (CUarray dst, size_t offset, const void *src, size_t bytes))
{
    return copy_row(ARRAY_SIDE(dst, offset), HOST_SIDE(src), bytes, NULL);
}
CU_API_PT(cuMemcpyAtoH_v2, _ptds, (void *dst, CUarray src, size_t offset, size_t bytes))
{
    return copy_row(HOST_SIDE(dst), ARRAY_SIDE(src, offset), bytes, NULL);
}
CU_API_PT(cuMemcpyAtoA_v2, _ptds,
          (CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes))
{
    return copy_row(ARRAY_SIDE(dst, dst_offset), ARRAY_SIDE(src, src_offset), bytes, NULL);
}
CU_API_PT(cuMemcpyHtoAAsync_v2, _ptsz,
          (CUarray dst, size_t offset, const void *src, size_t bytes, CUstream stream))
{
    return copy_row(ARRAY_SIDE(dst, offset), HOST_SIDE(src), bytes, stream);
}
CU_API_PT(cuMemcpyAtoHAsync_v2, _ptsz, (void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream))
{
    return copy_row(HOST_SIDE(dst), ARRAY_SIDE(src, offset), bytes, stream);
}

/* ---- fills ---- */

static CUresult fill(CUdeviceptr p, size_t pitch, const void *value, size_t value_bytes, size_t width,
                     size_t height, CUstream stream)
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (p % value_bytes || (height > 1 && (pitch % value_bytes || pitch / value_bytes < width)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; y < height && !r && width; y++)
        r = cu_status(gpu_fill(cu_gpu(), (void *)(uintptr_t)(p + y * pitch), value, value_bytes, width));
    return r;
}

#define FILLS(bits, type)                                                                                    \
    CU_API_PT(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr p, type value, size_t count))                        \
    {                                                                                                        \
        return fill(p, 0, &value, sizeof value, count, 1, NULL);                                             \
    }                                                                                                        \
    CU_API_PT(cuMemsetD##bits##Async, _ptsz, (CUdeviceptr p, type value, size_t count, CUstream stream))     \
    {                                                                                                        \
        return fill(p, 0, &value, sizeof value, count, 1, stream);                                           \
    }                                                                                                        \
    CU_API_PT(cuMemsetD2D##bits##_v2, _ptds,                                                                 \
              (CUdeviceptr p, size_t pitch, type value, size_t width, size_t height))                        \
    {                                                                                                        \
        return fill(p, pitch, &value, sizeof value, width, height, NULL);                                    \
    }                                                                                                        \
    CU_API_PT(cuMemsetD2D##bits##Async, _ptsz,                                                               \
              (CUdeviceptr p, size_t pitch, type value, size_t width, size_t height, CUstream stream))       \
    {                                                                                                        \
        return fill(p, pitch, &value, sizeof value, width, height, stream);                                  \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
