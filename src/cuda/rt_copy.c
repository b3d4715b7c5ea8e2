/* rt_copy.c: cudaMemcpy, its asynchronous, two-dimensional, peer and symbol forms, and cudaMemset.
 *
 * The direction is checked: a side that it names as device memory must lie in one live allocation. The other
 * side may be either (unified addressing), as on a GPU. gpu_copy.c decides when the copy happens and whether
 * the call waits for it. */
#include "cuda/rt_copy.h"

#include "cuda/rt_api.h"
#include "cuda/rt_launch.h"

bool rt_kind_valid(int kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

static bool side_valid(struct gpu *g, const void *p, size_t bytes, bool must_be_device)
{
    if (!p) return false;
    bool on_device = space_reserved(rt_key(p)) || space_find(rt_space(g), rt_key(p)); /* or registered */
    return on_device ? space_valid(rt_space(g), rt_key(p), bytes) : !must_be_device;
}

cudaError_t rt_copy_check(struct gpu *g, const void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
                          int kind)
{
    if (!rt_kind_valid(kind)) return cudaErrorInvalidMemcpyDirection;
    bool dst_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool src_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return side_valid(g, dst, dst_bytes, dst_device) && side_valid(g, src, src_bytes, src_device)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

cudaError_t rt_copy(struct gpu *g, void *dst, const void *src, size_t bytes, int kind, struct rt_order order)
{
    if (!rt_kind_valid(kind)) return cudaErrorInvalidMemcpyDirection;
    if (!bytes) return cudaSuccess;
    cudaError_t e = rt_copy_check(g, dst, bytes, src, bytes, kind);
    return e ? e : rt_from_status(gpu_copy(g, dst, src, bytes, rt_gpu_order(g, order)));
}

static cudaError_t copy_linear(struct gpu *g, void *dst, const void *src, size_t bytes, int kind,
                               struct rt_order order)
{
    return rt_stream_valid(order.stream) ? rt_copy(g, dst, src, bytes, kind, order)
                                         : cudaErrorInvalidResourceHandle;
}

CUDART_ON_DEFAULT(cudaMemcpy, (void *dst, const void *src, size_t bytes, int kind),
                  rt_copy(g, dst, src, bytes, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpyAsync, (void *dst, const void *src, size_t bytes, int kind, cudaStream_t stream),
                 copy_linear(g, dst, src, bytes, kind, rt_async(stream)))

static cudaError_t copy_peer(struct gpu *g, void *dst, int dst_device, const void *src, int src_device,
                             size_t bytes, struct rt_order order)
{
    if (dst_device != 0 || src_device != 0) return cudaErrorInvalidDevice;
    return copy_linear(g, dst, src, bytes, cudaMemcpyDeviceToDevice, order);
}
CUDART(cudaMemcpyPeer, (void *dst, int dst_device, const void *src, int src_device, size_t bytes))
{
    RT_QUEUE(copy_peer(g, dst, dst_device, src, src_device, bytes, rt_sync(NULL)));
}
CUDART(cudaMemcpyPeerAsync,
       (void *dst, int dst_device, const void *src, int src_device, size_t bytes, cudaStream_t stream))
{
    RT_QUEUE(copy_peer(g, dst, dst_device, src, src_device, bytes, rt_async(stream)));
}

/* ---- rows ---- */

/* Bytes from the first to behind the last of `height` rows; false when that does not fit. */
static bool rows_span(size_t pitch, size_t width, size_t height, size_t *out)
{
    return !__builtin_mul_overflow(pitch, height - 1, out) && !__builtin_add_overflow(*out, width, out);
}

static cudaError_t copy_2d(struct gpu *g, void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                           size_t width, size_t height, int kind, struct rt_order order)
{
    if (!rt_stream_valid(order.stream)) return cudaErrorInvalidResourceHandle;
    if (!rt_kind_valid(kind)) return cudaErrorInvalidMemcpyDirection;
    if (!width || !height) return cudaSuccess;
    size_t dst_bytes, src_bytes;
    if (width > dst_pitch || width > src_pitch) return cudaErrorInvalidPitchValue;
    if (!rows_span(dst_pitch, width, height, &dst_bytes) || !rows_span(src_pitch, width, height, &src_bytes))
        return cudaErrorInvalidValue;
    cudaError_t e = rt_copy_check(g, dst, dst_bytes, src, src_bytes, kind);
    if (e) return e;
    return rt_from_status(
        gpu_copy_2d(g, dst, dst_pitch, src, src_pitch, width, height, rt_gpu_order(g, order)));
}

CUDART_ON_DEFAULT(cudaMemcpy2D,
                  (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                   size_t height, int kind),
                  copy_2d(g, dst, dst_pitch, src, src_pitch, width, height, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpy2DAsync,
                 (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                  int kind, cudaStream_t stream),
                 copy_2d(g, dst, dst_pitch, src, src_pitch, width, height, kind, rt_async(stream)))

/* ---- symbols ---- */

static cudaError_t symbol_range(struct gpu *g, const void *symbol, size_t bytes, size_t offset, void **out)
{
    struct rt_variable *v;
    cudaError_t e = rt_variable_find(g, symbol, &v);
    if (e) return e;
    if (offset > v->bytes || bytes > v->bytes - offset) return cudaErrorInvalidValue;
    *out = (void *)(uintptr_t)(v->address + offset);
    return cudaSuccess;
}

static cudaError_t copy_to_symbol(struct gpu *g, const void *symbol, const void *src, size_t bytes,
                                  size_t offset, int kind, struct rt_order order)
{
    void *dst;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t e = symbol_range(g, symbol, bytes, offset, &dst);
    return e ? e : copy_linear(g, dst, src, bytes, kind, order);
}

static cudaError_t copy_from_symbol(struct gpu *g, void *dst, const void *symbol, size_t bytes, size_t offset,
                                    int kind, struct rt_order order)
{
    void *src;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t e = symbol_range(g, symbol, bytes, offset, &src);
    return e ? e : copy_linear(g, dst, src, bytes, kind, order);
}

CUDART_ON_DEFAULT(cudaMemcpyToSymbol,
                  (const void *symbol, const void *src, size_t bytes, size_t offset, int kind),
                  copy_to_symbol(g, symbol, src, bytes, offset, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpyToSymbolAsync,
                 (const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                  cudaStream_t stream),
                 copy_to_symbol(g, symbol, src, bytes, offset, kind, rt_async(stream)))
CUDART_ON_DEFAULT(cudaMemcpyFromSymbol,
                  (void *dst, const void *symbol, size_t bytes, size_t offset, int kind),
                  copy_from_symbol(g, dst, symbol, bytes, offset, kind, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemcpyFromSymbolAsync,
                 (void *dst, const void *symbol, size_t bytes, size_t offset, int kind, cudaStream_t stream),
                 copy_from_symbol(g, dst, symbol, bytes, offset, kind, rt_async(stream)))

static cudaError_t symbol_address(struct gpu *g, void **out, const void *symbol)
{
    return out ? symbol_range(g, symbol, 0, 0, out) : cudaErrorInvalidValue;
}
CUDART(cudaGetSymbolAddress, (void **out, const void *symbol)) { RT_CALL(symbol_address(g, out, symbol)); }

static cudaError_t symbol_size(struct gpu *g, size_t *out, const void *symbol)
{
    struct rt_variable *v;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t e = rt_variable_find(g, symbol, &v);
    if (!e) *out = v->bytes;
    return e;
}
CUDART(cudaGetSymbolSize, (size_t * out, const void *symbol)) { RT_CALL(symbol_size(g, out, symbol)); }

/* ---- memset ---- */

static cudaError_t fill_2d(struct gpu *g, void *dst, size_t pitch, int value, size_t width, size_t height,
                           struct rt_order order)
{
    if (!rt_stream_valid(order.stream)) return cudaErrorInvalidResourceHandle;
    if (!width || !height) return cudaSuccess;
    size_t bytes;
    if ((height > 1 && width > pitch) || !rows_span(pitch, width, height, &bytes))
        return cudaErrorInvalidValue;
    if (!side_valid(g, dst, bytes, true)) return cudaErrorInvalidValue;
    uint8_t byte = (uint8_t)value;
    return rt_from_status(gpu_fill(g, dst, pitch, &byte, 1, width, height, rt_gpu_order(g, order)));
}

static cudaError_t fill_3d(struct gpu *g, struct cudaPitchedPtr dst, int value, struct cudaExtent e,
                           struct rt_order order)
{
    if (!rt_stream_valid(order.stream)) return cudaErrorInvalidResourceHandle;
    if (!e.width || !e.height || !e.depth) return cudaSuccess;
    if (e.width > dst.pitch || (e.depth > 1 && e.height > dst.ysize)) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    size_t slice;
    if (__builtin_mul_overflow(dst.pitch, dst.ysize, &slice)) return cudaErrorInvalidValue;
    for (size_t z = 0; z < e.depth && !error; z++)
        error = fill_2d(g, (uint8_t *)dst.ptr + z * slice, dst.pitch, value, e.width, e.height, order);
    return error;
}

CUDART_ON_DEFAULT(cudaMemset, (void *dst, int value, size_t bytes),
                  fill_2d(g, dst, bytes, value, bytes, 1, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemsetAsync, (void *dst, int value, size_t bytes, cudaStream_t stream),
                 fill_2d(g, dst, bytes, value, bytes, 1, rt_async(stream)))
CUDART_ON_DEFAULT(cudaMemset2D, (void *dst, size_t pitch, int value, size_t width, size_t height),
                  fill_2d(g, dst, pitch, value, width, height, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemset2DAsync,
                 (void *dst, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
                 fill_2d(g, dst, pitch, value, width, height, rt_async(stream)))
CUDART_ON_DEFAULT(cudaMemset3D, (struct cudaPitchedPtr dst, int value, struct cudaExtent extent),
                  fill_3d(g, dst, value, extent, rt_sync(stream)))
CUDART_ON_STREAM(cudaMemset3DAsync,
                 (struct cudaPitchedPtr dst, int value, struct cudaExtent extent, cudaStream_t stream),
                 fill_3d(g, dst, value, extent, rt_async(stream)))
