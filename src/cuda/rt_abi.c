/* rt_abi.c: the functions whose arguments differ between CUDA 11, 12 and 13. Compiled once for each library,
 * with RT_ABI = 11, 12 or 13; everything else of libcudart is the same code.
 *
 * Changed in 12: cudaGetDeviceProperties_v2 is what the headers call, with a longer struct; the old name
 * keeps the old one. cudaFuncAttributes grew. cudaGetDriverEntryPoint gained a result argument. Changed in
 * 13: cudaGetDeviceProperties, cudaPointerAttributes and cudaResourceDesc have new layouts; prefetch and
 * advice take a location instead of a device number; cudaStreamGetCaptureInfo has an argument more. */
#include "cuda/rt_abi.h"

#include "cuda/rt_api.h"
#include "cuda/rt_driver.h"
#include "cuda/rt_launch.h"
#include "cuda/rt_memory.h"
#include "cuda/rt_props.h"

#ifndef RT_ABI
#define RT_ABI 13
#endif

int rt_abi_version(void) { return RT_ABI == 13 ? 13000 : RT_ABI == 12 ? 12090 : 11080; }

/* ---- structs that grew ---- */

enum {
    /* the union of 11 and 12 is 48 bytes */
    RESOURCE_DESC_OLD_BYTES = 64,
    TEXTURE_DESC_OLD_BYTES = offsetof(struct cudaTextureDesc, disableTrilinearOptimization),
};

size_t rt_abi_resource_desc_bytes(void)
{
    return RT_ABI >= 13 ? sizeof(struct cudaResourceDesc) : RESOURCE_DESC_OLD_BYTES;
}
size_t rt_abi_texture_desc_bytes(void)
{
    return RT_ABI >= 12 ? sizeof(struct cudaTextureDesc) : TEXTURE_DESC_OLD_BYTES;
}
size_t rt_abi_view_desc_bytes(void)
{
    return RT_ABI >= 13 ? sizeof(struct cudaResourceViewDesc)
                        : offsetof(struct cudaResourceViewDesc, reserved);
}
size_t rt_abi_func_attributes_bytes(void)
{
    return RT_ABI >= 12 ? sizeof(struct cudaFuncAttributes)
                        : offsetof(struct cudaFuncAttributes, clusterDimMustBeSet);
}
size_t rt_abi_pointer_attributes_bytes(void)
{
    return RT_ABI >= 13 ? sizeof(struct cudaPointerAttributes)
                        : offsetof(struct cudaPointerAttributes, reserved);
}

static cudaError_t pointer_attributes(struct gpu *g, void *out, const void *p)
{
    struct cudaPointerAttributes a;
    if (!out) return cudaErrorInvalidValue;
    rt_pointer_info(g, p, &a);
    memcpy(out, &a, rt_abi_pointer_attributes_bytes());
    return cudaSuccess;
}
CUDART(cudaPointerGetAttributes, (void *out, const void *p)) { RT_QUEUE(pointer_attributes(g, out, p)); }

/* ---- device properties ---- */

#define PROPS_GETTER(function, version)                                                                      \
    static cudaError_t get_props_##version(const struct gpu *g, struct rt_props_##version *out, int device)  \
    {                                                                                                        \
        if (!out) return cudaErrorInvalidValue;                                                              \
        if (device != 0) return cudaErrorInvalidDevice;                                                      \
        *out = rt_props_##version(gpu_machine(g));                                                           \
        return cudaSuccess;                                                                                  \
    }                                                                                                        \
    CUDART(function, (struct rt_props_##version * out, int device))                                          \
    {                                                                                                        \
        RT_QUERY(get_props_##version(g, out, device));                                                       \
    }

#if RT_ABI >= 13
PROPS_GETTER(cudaGetDeviceProperties, 13)
#else
PROPS_GETTER(cudaGetDeviceProperties, 11)
#endif
#if RT_ABI == 12
PROPS_GETTER(cudaGetDeviceProperties_v2, 12)
#endif

/* ---- managed memory ---- */

#if RT_ABI >= 13
#define ADVISE   cudaMemAdvise
#define PREFETCH cudaMemPrefetchAsync
#else
#define ADVISE   cudaMemAdvise_v2 /* since 12.2 */
#define PREFETCH cudaMemPrefetchAsync_v2

static struct cudaMemLocation device_location(int device)
{
    enum cudaMemLocationType type =
        device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    return (struct cudaMemLocation){type, device};
}
CUDART(cudaMemAdvise, (const void *p, size_t bytes, int advice, int device))
{
    RT_QUEUE(rt_mem_advise(g, p, bytes, advice, device_location(device)));
}
CUDART(cudaMemPrefetchAsync, (const void *p, size_t bytes, int device, cudaStream_t stream))
{
    RT_QUEUE(rt_mem_prefetch(g, p, bytes, device_location(device), stream));
}
CUDART_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);
#endif

CUDART(ADVISE, (const void *p, size_t bytes, int advice, struct cudaMemLocation at))
{
    RT_QUEUE(rt_mem_advise(g, p, bytes, advice, at));
}
CUDART(PREFETCH,
       (const void *p, size_t bytes, struct cudaMemLocation to, unsigned flags, cudaStream_t stream))
{
    RT_QUEUE(flags ? cudaErrorInvalidValue : rt_mem_prefetch(g, p, bytes, to, stream));
}
#if RT_ABI >= 13
CUDART_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);
#endif

/* ---- capture ----
 * No stream ever captures, so only status and stream are used; the other outputs stay untouched. */

static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status) return cudaErrorInvalidValue;
    if (!rt_stream_valid(stream)) return cudaErrorInvalidResourceHandle;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
CUDART(cudaStreamGetCaptureInfo,
       (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id))
{
    RT_QUEUE(capture_info(stream, status));
}
CUDART_ALIAS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz);
CUDART_ALIAS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_v2);
CUDART_ALIAS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_v2_ptsz);
CUDART_ALIAS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_v3);
CUDART_ALIAS(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_v3_ptsz);

/* ---- functions of the driver API ---- */

#if RT_ABI >= 12
CUDART(cudaGetDriverEntryPoint, (const char *symbol, void **out, unsigned long long flags,
                                 enum cudaDriverEntryPointQueryResult *result))
{
    return rt_done(rt_driver_find(symbol, rt_abi_version(), flags, out, result));
}
#else
CUDART(cudaGetDriverEntryPoint, (const char *symbol, void **out, unsigned long long flags))
{
    return rt_done(rt_driver_find(symbol, rt_abi_version(), flags, out, NULL));
}
#endif
CUDART_ALIAS(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz);
