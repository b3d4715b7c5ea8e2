/* rt_device.c: the one device: choosing it, its limits and settings, synchronising and resetting it.
 *
 * There is device 0, the machine. Settings that steer a real GPU's caches or host threads are checked,
 * remembered and without effect. The limits of the stack and of the device heap reach the emulator. */
#include "cuda/rt_abi.h"
#include "cuda/rt_api.h"
#include "cuda/rt_props.h"
#include "cuda/rt_state.h"

enum { DRIVER_VERSION = 13000, STACK_MAX = 512 << 10 };

static cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

static cudaError_t put_int(int *out, int value)
{
    if (!out) return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
}

CUDART(cudaGetDeviceCount, (int *out))
{
    struct gpu *g;
    if (!out) return rt_done(cudaErrorInvalidValue);
    cudaError_t e = rt_find_gpu(&g);
    *out = e ? 0 : 1;
    return rt_done(e);
}
CUDART(cudaSetDevice, (int device)) { RT_QUERY(check_device(device)); }
CUDART(cudaGetDevice, (int *out)) { RT_QUERY(put_int(out, 0)); }
CUDART(cudaInitDevice, (int device, unsigned device_flags, unsigned flags)) { RT_CALL(check_device(device)); }
CUDART(cudaChooseDevice, (int *out, const void *props))
{
    RT_QUERY(props ? put_int(out, 0) : cudaErrorInvalidValue);
}
CUDART_ALIAS(cudaChooseDevice, cudaChooseDevice_v2);

static cudaError_t valid_devices(const int *list, int count)
{
    if (count < 0 || count > 1 || (count && !list)) return cudaErrorInvalidValue;
    return count ? check_device(list[0]) : cudaSuccess;
}
CUDART(cudaSetValidDevices, (int *list, int count)) { RT_QUERY(valid_devices(list, count)); }

static cudaError_t device_attribute(const struct gpu *g, int *out, int attribute, int device)
{
    if (!out) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    return rt_device_attribute(gpu_machine(g), attribute, out) ? cudaSuccess : cudaErrorInvalidValue;
}
CUDART(cudaDeviceGetAttribute, (int *out, int attribute, int device))
{
    RT_QUERY(device_attribute(g, out, attribute, device));
}

CUDART(cudaDriverGetVersion, (int *out)) { return rt_done(put_int(out, DRIVER_VERSION)); }
CUDART(cudaRuntimeGetVersion, (int *out)) { return rt_done(put_int(out, rt_abi_version())); }

/* ---- the context ---- */

CUDART(cudaDeviceSynchronize, (void)) { RT_CALL(cudaSuccess); }
CUDART_ALIAS(cudaDeviceSynchronize, cudaThreadSynchronize);

static cudaError_t device_reset(struct gpu *g)
{
    gpu_lock();
    gpu_reset(g);
    rt_state_refresh(g);
    gpu_unlock();
    return cudaSuccess;
}
CUDART(cudaDeviceReset, (void)) { RT_QUERY(device_reset(g)); }
CUDART_ALIAS(cudaDeviceReset, cudaThreadExit);

/* Profiler control has no effect. */
CUDART(cudaProfilerStart, (void)) { RT_CALL(cudaSuccess); }
CUDART(cudaProfilerStop, (void)) { RT_CALL(cudaSuccess); }
CUDART(cudaProfilerInitialize, (const char *config, const char *output, int mode)) { RT_CALL(cudaSuccess); }
CUDART(cudaCtxResetPersistingL2Cache, (void)) { RT_CALL(cudaSuccess); }

static cudaError_t set_flags(unsigned flags)
{
    if (flags & ~(unsigned)cudaDeviceMask) return cudaErrorInvalidValue;
    rt_state()->device_flags = flags;
    return cudaSuccess;
}
CUDART(cudaSetDeviceFlags, (unsigned flags)) { RT_QUERY(set_flags(flags)); }
CUDART(cudaGetDeviceFlags, (unsigned *out))
{
    RT_QUERY(put_int((int *)out, (int)(rt_state()->device_flags | cudaDeviceMapHost)));
}

/* ---- limits ---- */

static size_t *limit_of(struct gpu *g, int limit)
{
    struct rt_state *s = rt_state();
    if (!s->limits_ready) { /* the values of an H200 with CUDA 13.0, but for what the emulator knows */
        const struct emu_limits *l = emu_device_limits(gpu_device(g));
        size_t defaults[cudaLimitCount] = {[cudaLimitStackSize] = l->stack_bytes,
                                           [cudaLimitPrintfFifoSize] = 8650752,
                                           [cudaLimitMallocHeapSize] = l->heap_bytes,
                                           [cudaLimitDevRuntimePendingLaunchCount] = 2048,
                                           [cudaLimitMaxL2FetchGranularity] = 64};
        memcpy(s->limits, defaults, sizeof(defaults));
        s->limits_ready = true;
    }
    return &s->limits[limit];
}

static cudaError_t limit_check(int limit)
{
    if (limit < 0 || limit >= cudaLimitCount) return cudaErrorInvalidValue;
    return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaSuccess;
}

static cudaError_t limit_get(struct gpu *g, size_t *out, int limit)
{
    if (!out) return cudaErrorInvalidValue;
    cudaError_t e = limit_check(limit);
    if (!e) *out = *limit_of(g, limit);
    return e;
}
CUDART(cudaDeviceGetLimit, (size_t * out, int limit)) { RT_CALL(limit_get(g, out, limit)); }
CUDART_ALIAS(cudaDeviceGetLimit, cudaThreadGetLimit);

static cudaError_t limit_set(struct gpu *g, int limit, size_t value)
{
    cudaError_t e = limit_check(limit);
    if (e) return e;
    struct emu_limits *l = emu_device_limits(gpu_device(g));
    if (limit == cudaLimitStackSize) {
        if (value > STACK_MAX) return cudaErrorInvalidValue;
        value = round_up_u64(value, 16);
        l->stack_bytes = (uint32_t)value;
    } else if (limit == cudaLimitMallocHeapSize) {
        if (value > gpu_machine(g)->memory_bytes) return cudaErrorMemoryAllocation;
        l->heap_bytes = value;
    }
    *limit_of(g, limit) = value;
    return cudaSuccess;
}
CUDART(cudaDeviceSetLimit, (int limit, size_t value)) { RT_CALL(limit_set(g, limit, value)); }
CUDART_ALIAS(cudaDeviceSetLimit, cudaThreadSetLimit);

/* ---- caches and banks ---- */

static cudaError_t cache_set(int config)
{
    if (config < 0 || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    rt_state()->cache_config = (enum cudaFuncCache)config;
    return cudaSuccess;
}
CUDART(cudaDeviceSetCacheConfig, (int config)) { RT_CALL(cache_set(config)); }
CUDART_ALIAS(cudaDeviceSetCacheConfig, cudaThreadSetCacheConfig);
CUDART(cudaDeviceGetCacheConfig, (int *out)) { RT_CALL(put_int(out, (int)rt_state()->cache_config)); }
CUDART_ALIAS(cudaDeviceGetCacheConfig, cudaThreadGetCacheConfig);

/* Banks are four bytes wide; a setting of eight is accepted without effect, as on devices since Maxwell. */
CUDART(cudaDeviceSetSharedMemConfig, (int config))
{
    RT_CALL(config < 0 || config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess);
}
CUDART(cudaDeviceGetSharedMemConfig, (int *out)) { RT_CALL(put_int(out, cudaSharedMemBankSizeFourByte)); }

/* ---- the bus; there are no peers ---- */

static cudaError_t pci_id(char *out, int len, int device)
{
    if (device != 0) return cudaErrorInvalidDevice;
    char text[32];
    int need = snprintf(text, sizeof(text), "%04x:%02x:%02x.0", RT_PCI_DOMAIN, RT_PCI_BUS, RT_PCI_DEVICE);
    if (!out || len <= need) return cudaErrorInvalidValue;
    memcpy(out, text, (size_t)need + 1);
    return cudaSuccess;
}
CUDART(cudaDeviceGetPCIBusId, (char *out, int len, int device)) { RT_QUERY(pci_id(out, len, device)); }

/* domain:bus:device.function; domain and function may be missing. */
static cudaError_t pci_find(int *out, const char *text)
{
    unsigned domain = 0, bus, device, function = 0;
    if (!out || !text) return cudaErrorInvalidValue;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3) {
        domain = 0;
        if (sscanf(text, "%x:%x.%x", &bus, &device, &function) < 2) return cudaErrorInvalidValue;
    }
    if (domain != RT_PCI_DOMAIN || bus != RT_PCI_BUS || device != RT_PCI_DEVICE || function)
        return cudaErrorInvalidDevice;
    *out = 0;
    return cudaSuccess;
}
CUDART(cudaDeviceGetByPCIBusId, (int *out, const char *text)) { RT_QUERY(pci_find(out, text)); }

static cudaError_t can_access(int *out, int device, int peer)
{
    return device == 0 && peer == 0 ? put_int(out, 0) : cudaErrorInvalidDevice;
}
CUDART(cudaDeviceCanAccessPeer, (int *out, int device, int peer)) { RT_QUERY(can_access(out, device, peer)); }
CUDART(cudaDeviceEnablePeerAccess, (int peer, unsigned flags))
{
    RT_CALL(flags       ? cudaErrorInvalidValue
            : peer == 0 ? cudaErrorPeerAccessUnsupported
                        : cudaErrorInvalidDevice);
}
CUDART(cudaDeviceDisablePeerAccess, (int peer))
{
    RT_CALL(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}
CUDART(cudaDeviceGetP2PAttribute, (int *out, int attribute, int source, int target))
{
    RT_QUERY(cudaErrorInvalidDevice); /* needs two devices */
}

static cudaError_t linear_width(size_t *out, const struct cudaChannelFormatDesc *desc, int device)
{
    if (!out || !desc) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *out = 1 << 28;
    return cudaSuccess;
}
CUDART(cudaDeviceGetTexture1DLinearMaxWidth,
       (size_t * out, const struct cudaChannelFormatDesc *desc, int device))
{
    RT_QUERY(linear_width(out, desc, device));
}
