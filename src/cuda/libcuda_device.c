/* libcuda_device.c: the one device, described by the machine that is modelled. Attribute numbers and
 * meanings: CUDA Driver API reference, "Device Management". What the machine file does not say is the value
 * that devices of its compute capability report (CUDA C++ Programming Guide, table of technical
 * specifications), or 0 for a feature that Heddle does not have. */
#include "cuda/libcuda.h"

/* ---- attributes ---- */

enum attribute_source {
    FIXED,
    M_U32,
    /* clamped to int */
    M_U64
};
struct attribute {
    int number;
    enum attribute_source source;
    int fixed;
    size_t offset;
};
#define VALUE(n, v)                                                                                          \
    {                                                                                                        \
        n, FIXED, v, 0                                                                                       \
    }
#define FIELD32(n, f)                                                                                        \
    {                                                                                                        \
        n, M_U32, 0, offsetof(struct machine, f)                                                             \
    }
#define FIELD64(n, f)                                                                                        \
    {                                                                                                        \
        n, M_U64, 0, offsetof(struct machine, f)                                                             \
    }

static const struct attribute attributes[] = {
    FIELD32(1, cta_threads),      /* threads per block */
    FIELD32(2, cta_threads),      /* block x */
    FIELD32(3, cta_threads),      /* block y */
    VALUE(4, 64),                 /* block z */
    VALUE(5, 0x7fffffff),         /* grid x */
    VALUE(6, 65535),              /* grid y */
    VALUE(7, 65535),              /* grid z */
    FIELD64(8, cta_shared_bytes), /* shared memory per block */
    VALUE(9, 65536),              /* constant memory */
    VALUE(10, 32),                /* warp size */
    VALUE(11, 0x7fffffff),        /* largest pitch */
    FIELD32(12, sm_registers),    /* registers per block */
    FIELD32(13, core_clock_khz),  /* clock */
    VALUE(14, 512),               /* texture alignment */
    VALUE(15, 0),                 /* copies while a kernel runs: calls execute in order */
    FIELD32(16, sm_count),        /* multiprocessors */
    VALUE(17, 0),                 /* run time limit on kernels */
    VALUE(18, 0),                 /* integrated */
    VALUE(19, 1),                 /* can map host memory */
    VALUE(20, 0),                 /* compute mode: default */
    VALUE(21, 131072),
    VALUE(22, 131072),
    VALUE(23, 65536),
    VALUE(24, 16384),
    VALUE(25, 16384),
    VALUE(26, 16384),
    VALUE(27, 32768),
    VALUE(28, 32768),
    VALUE(29, 2048), /* texture sizes: 1D, 2D, 3D, layered 2D */
    VALUE(30, 512),  /* surface alignment */
    VALUE(31, 0),    /* concurrent kernels */
    VALUE(32, 0),    /* ECC */
    VALUE(33, 1),
    VALUE(34, 0),                  /* PCI bus and device */
    VALUE(35, 0),                  /* TCC driver */
    FIELD32(36, memory_clock_khz), /* memory clock */
    FIELD32(37, memory_bus_bits),  /* memory bus */
    FIELD64(38, l2_bytes),         /* L2 */
    FIELD32(39, sm_threads),       /* threads per multiprocessor */
    VALUE(40, 0),                  /* copy engines */
    VALUE(41, 1),                  /* unified addressing */
    VALUE(42, 32768),
    VALUE(43, 2048), /* layered 1D texture */
    VALUE(44, 0),
    VALUE(45, 0),
    VALUE(46, 0), /* 2D gather */
    VALUE(47, 8192),
    VALUE(48, 8192),
    VALUE(49, 32768), /* alternate 3D texture */
    VALUE(50, 0),     /* PCI domain */
    VALUE(51, 32),    /* texture pitch alignment */
    VALUE(52, 0),
    VALUE(53, 0),
    VALUE(54, 0), /* cube maps */
    VALUE(55, 0),
    VALUE(56, 0),
    VALUE(57, 0),
    VALUE(58, 0),
    VALUE(59, 0),
    VALUE(60, 0),
    VALUE(61, 0),
    VALUE(62, 0),
    VALUE(63, 0),
    VALUE(64, 0),
    VALUE(65, 0),
    VALUE(66, 0),
    VALUE(67, 0),
    VALUE(68, 0), /* surfaces */
    VALUE(69, 268435456),
    VALUE(70, 131072),
    VALUE(71, 65000),
    VALUE(72, 2097120), /* textures of linear memory */
    VALUE(73, 0),
    VALUE(74, 0), /* mipmapped 2D texture */
    FIELD32(75, cc_major),
    FIELD32(76, cc_minor), /* compute capability */
    VALUE(77, 0),          /* mipmapped 1D texture */
    VALUE(78, 1),          /* stream priorities */
    VALUE(79, 1),
    VALUE(80, 1),                 /* L1 caches global and local memory */
    FIELD64(81, sm_shared_bytes), /* shared memory per multiprocessor */
    FIELD32(82, sm_registers),    /* registers per multiprocessor */
    VALUE(83, 1),                 /* managed memory */
    VALUE(84, 0),
    VALUE(85, 0),  /* multi-GPU board */
    VALUE(86, 0),  /* native host atomics */
    VALUE(87, 32), /* single to double throughput */
    VALUE(88, 0),  /* access to pageable memory */
    VALUE(89, 1),  /* host and device may touch managed memory at once */
    VALUE(90, 0),  /* preemption */
    VALUE(91, 1),  /* registered memory keeps its address */
    VALUE(92, 1),
    VALUE(93, 1),
    VALUE(94, 1), /* stream memory operations, old */
    VALUE(95, 1),
    VALUE(96, 0),                        /* cooperative launch; on many devices */
    FIELD64(97, cta_shared_optin_bytes), /* shared memory per block on request */
    VALUE(98, 0),                        /* remote writes */
    VALUE(99, 1),                        /* cuMemHostRegister */
    VALUE(100, 0),
    VALUE(101, 1), /* host page tables; direct managed access from the host */
    VALUE(102, 0),
    VALUE(103, 0),
    VALUE(104, 0),
    VALUE(105, 0),         /* virtual memory management, shareable handles */
    FIELD32(106, sm_ctas), /* blocks per multiprocessor */
    VALUE(107, 0),
    VALUE(108, 0),
    VALUE(109, 0),
    VALUE(110, 0),                           /* compression, persisting L2, access window, RDMA */
    FIELD64(111, cta_shared_reserved_bytes), /* reserved shared memory per block */
    VALUE(112, 0),
    VALUE(113, 1),
    VALUE(114, 0), /* sparse arrays, read-only registration, semaphores */
    VALUE(115, 1), /* memory pools */
    VALUE(116, 0),
    VALUE(117, 0),
    VALUE(118, 0),
    VALUE(119, 0), /* RDMA, shareable pools */
    VALUE(120, 0), /* clusters */
    VALUE(121, 0),
    VALUE(122, 1),
    VALUE(123, 1),
    VALUE(124, 0),
    VALUE(125, 0), /* deferred arrays, mem ops, dma-buf, IPC */
    VALUE(126, 1), /* memory synchronisation domains */
    VALUE(127, 0),
    VALUE(128, 0),
    VALUE(129, 0), /* tensor maps, fabric handles, unified function pointers */
    VALUE(130, 0),
    VALUE(131, -1),
    VALUE(132, 0),
    VALUE(133, 0),
    VALUE(134, -1), /* NUMA, multicast, MPS */
    VALUE(135, 0),
    VALUE(136, 0),
    VALUE(137, 0),
    VALUE(138, 0),
    VALUE(139, 0),
    VALUE(140, 0),
    VALUE(141, 0),
    VALUE(142, 0),
    VALUE(143, 0),
    VALUE(144, 0),
    VALUE(145, 0),
    VALUE(146, 0),
    VALUE(147, 0),
};

int cu_device_attribute(const struct machine *m, int attribute, bool *known)
{
    *known = attribute >= 1 && attribute <= (int)ARRAY_LEN(attributes);
    if (!*known) return 0;
    const struct attribute *a = &attributes[attribute - 1];
    assert(a->number == attribute);
    const char *field = (const char *)m + a->offset;
    if (a->source == FIXED) return a->fixed;
    uint64_t v =
        a->source == M_U32 ? *(const uint32_t *)(const void *)field : *(const uint64_t *)(const void *)field;
    return v > INT32_MAX ? INT32_MAX : (int)v;
}

static CUresult check(CUdevice dev, const void *out)
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice dev))
{
    CUresult r = check(dev, value);
    if (r) return r;
    bool known;
    *value = cu_device_attribute(gpu_machine(cu_gpu()), (int)attribute, &known);
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- the rest ---- */

CU_API(cuDeviceGetCount, (int *count))
{
    CUresult r = check(0, count);
    if (!r) *count = 1;
    return r;
}

CU_API(cuDeviceGet, (CUdevice * device, int ordinal))
{
    CUresult r = check(ordinal, device);
    if (!r) *device = ordinal;
    return r;
}

CU_API(cuDeviceGetName, (char *name, int len, CUdevice dev))
{
    CUresult r = check(dev, name);
    if (r) return r;
    if (len < 1) return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "%s", gpu_machine(cu_gpu())->device_name);
    return CUDA_SUCCESS;
}

void cu_uuid(CUuuid *out) { memcpy(out->bytes, "heddle-simulated", 16); }

CU_API(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice dev))
{
    CUresult r = check(dev, uuid);
    if (!r) cu_uuid(uuid);
    return r;
}
CU_API(cuDeviceGetUuid, (CUuuid * uuid, CUdevice dev)) { return cuDeviceGetUuid_v2(uuid, dev); }

CU_API(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice dev))
{
    CUresult r = check(dev, bytes);
    if (!r) *bytes = gpu_machine(cu_gpu())->memory_bytes;
    return r;
}

CU_API(cuDeviceComputeCapability, (int *major, int *minor, CUdevice dev))
{
    CUresult r = check(dev, major);
    if (r) return r;
    if (!minor) return CUDA_ERROR_INVALID_VALUE;
    *major = (int)gpu_machine(cu_gpu())->cc_major;
    *minor = (int)gpu_machine(cu_gpu())->cc_minor;
    return CUDA_SUCCESS;
}

CU_API(cuDeviceGetProperties, (CUdevprop * p, CUdevice dev))
{
    CUresult r = check(dev, p);
    if (r) return r;
    bool known;
#define ATTRIBUTE(n) cu_device_attribute(gpu_machine(cu_gpu()), n, &known)
    *p = (CUdevprop){.maxThreadsPerBlock = ATTRIBUTE(1),
                     .maxThreadsDim = {ATTRIBUTE(2), ATTRIBUTE(3), ATTRIBUTE(4)},
                     .maxGridSize = {ATTRIBUTE(5), ATTRIBUTE(6), ATTRIBUTE(7)},
                     .sharedMemPerBlock = ATTRIBUTE(8),
                     .totalConstantMemory = ATTRIBUTE(9),
                     .SIMDWidth = ATTRIBUTE(10),
                     .memPitch = ATTRIBUTE(11),
                     .regsPerBlock = ATTRIBUTE(12),
                     .clockRate = ATTRIBUTE(13),
                     .textureAlign = ATTRIBUTE(14)};
#undef ATTRIBUTE
    return CUDA_SUCCESS;
}

static const char pci_bus_id[] = "0000:01:00.0";

CU_API(cuDeviceGetPCIBusId, (char *id, int len, CUdevice dev))
{
    CUresult r = check(dev, id);
    if (r) return r;
    if (len < (int)sizeof pci_bus_id) return CUDA_ERROR_INVALID_VALUE;
    memcpy(id, pci_bus_id, sizeof pci_bus_id);
    return CUDA_SUCCESS;
}

CU_API(cuDeviceGetByPCIBusId, (CUdevice * dev, const char *id))
{
    CUresult r = check(0, dev);
    if (r) return r;
    unsigned domain = 0, bus = 0, device = 0;
    bool ok = id && (sscanf(id, "%x:%x:%x", &domain, &bus, &device) == 3 ||
                     (domain = 0, sscanf(id, "%x:%x", &bus, &device) == 2));
    if (!ok) return CUDA_ERROR_INVALID_VALUE;
    if (domain || bus != 1 || device) return CUDA_ERROR_INVALID_DEVICE;
    *dev = 0;
    return CUDA_SUCCESS;
}

CU_API(cuDeviceGetTexture1DLinearMaxWidth,
       (size_t * width, CUarray_format format, unsigned channels, CUdevice dev))
{
    CUresult r = check(dev, width);
    if (r) return r;
    if (!cu_format_bytes(format) || (channels != 1 && channels != 2 && channels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    *width = 268435456;
    return CUDA_SUCCESS;
}

/* One device has no peers. */
CU_API(cuDeviceCanAccessPeer, (int *can, CUdevice dev, CUdevice peer))
{
    CUresult r = check(dev, can);
    if (r) return r;
    if (!cu_device_ok(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
}

CU_API(cuDeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attribute, CUdevice dev, CUdevice peer))
{
    CUresult r = check(dev, value);
    return r ? r : CUDA_ERROR_INVALID_DEVICE; /* source and destination must differ */
}
