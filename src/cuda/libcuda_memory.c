/* libcuda_memory.c: allocations of every kind, pools, and questions about addresses. All of it comes out of
 * one space (emu/space.h) in which host and device use the same addresses. */
#include "cuda/libcuda.h"

enum { ALIGN_BYTES = 256, PITCH_BYTES = 512 };

CUresult cu_alloc(uint64_t bytes, uint64_t align, enum space_kind kind, const char *label, uint64_t *out)
{
    CUcontext ctx;
    CUresult r = cu_enter(&ctx);
    if (r) return r;
    if (!bytes || !out) return CUDA_ERROR_INVALID_VALUE;
    static uint32_t serial; /* names an allocation in the explanation of a fault */
    char name[64];
    gpu_lock();
    snprintf(name, sizeof name, "%s #%u", label, ++serial);
    *out = space_alloc(emu_device_space(gpu_device(cu_gpu())), bytes, align, kind, name);
    if (*out) cu_context_add_alloc(ctx, *out);
    gpu_unlock();
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(uint64_t base, bool host)
{
    CUresult r = cu_enter(NULL);
    if (r || !base) return r; /* freeing address 0 is allowed */
    gpu_lock();
    struct space *s = emu_device_space(gpu_device(cu_gpu()));
    const struct space_alloc *a = space_find(s, base);
    bool is_host = a && a->kind == SPACE_HOST;
    bool ours = a && a->base == base && (is_host || a->kind == SPACE_DEVICE || a->kind == SPACE_MANAGED);
    bool ok = ours && is_host == host && space_free(s, base);
    if (ok) cu_context_drop_alloc(base);
    gpu_unlock();
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static const struct space_alloc *find(uint64_t address)
{
    return space_find(emu_device_space(gpu_device(cu_gpu())), address);
}

/* ---- device memory ---- */

CU_API(cuMemAlloc_v2, (CUdeviceptr * out, size_t bytes))
{
    uint64_t base = 0;
    CUresult r =
        out ? cu_alloc(bytes, ALIGN_BYTES, SPACE_DEVICE, "cuMemAlloc", &base) : CUDA_ERROR_INVALID_VALUE;
    if (!r) *out = base;
    return r;
}

CU_API(cuMemAllocPitch_v2, (CUdeviceptr * out, size_t *pitch, size_t width, size_t height, unsigned element))
{
    uint64_t base = 0;
    if (!out || !pitch || !width || !height) return CUDA_ERROR_INVALID_VALUE;
    if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
    size_t row = round_up_u64(width, PITCH_BYTES), bytes;
    if (row < width || __builtin_mul_overflow(row, height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = cu_alloc(bytes, PITCH_BYTES, SPACE_DEVICE, "cuMemAllocPitch", &base);
    if (r) return r;
    *out = base;
    *pitch = row;
    return CUDA_SUCCESS;
}

CU_API(cuMemFree_v2, (CUdeviceptr p)) { return release(p, false); }

CU_API(cuMemAllocManaged, (CUdeviceptr * out, size_t bytes, unsigned flags))
{
    uint64_t base = 0;
    if (!out || (flags != 1 && flags != 2)) return CUDA_ERROR_INVALID_VALUE; /* global or host */
    CUresult r = cu_alloc(bytes, ALIGN_BYTES, SPACE_MANAGED, "cuMemAllocManaged", &base);
    if (!r) *out = base;
    return r;
}

CU_API(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    struct space *s = emu_device_space(gpu_device(cu_gpu()));
    uint64_t used = space_bytes_used(s), max = space_bytes_max(s);
    if (free_bytes) *free_bytes = max > used ? max - used : 0;
    if (total) *total = max;
    return CUDA_SUCCESS;
}

CU_API(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *bytes, CUdeviceptr p))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    gpu_lock();
    const struct space_alloc *a = find(p);
    if (a && base) *base = a->base;
    if (a && bytes) *bytes = a->bytes;
    gpu_unlock();
    return a ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ---- host memory ---- */

CU_API(cuMemHostAlloc, (void **out, size_t bytes, unsigned flags))
{
    uint64_t base = 0;
    if (!out || flags > 7) return CUDA_ERROR_INVALID_VALUE; /* portable, device map, write combined */
    CUresult r = cu_alloc(bytes, ALIGN_BYTES, SPACE_HOST, "cuMemHostAlloc", &base);
    if (!r) *out = (void *)(uintptr_t)base;
    return r;
}
CU_API(cuMemAllocHost_v2, (void **out, size_t bytes)) { return cuMemHostAlloc(out, bytes, 0); }
CU_API(cuMemFreeHost, (void *p)) { return release((uint64_t)(uintptr_t)p, true); }

CU_API(cuMemHostGetDevicePointer_v2, (CUdeviceptr * out, void *p, unsigned flags))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    gpu_lock();
    const struct space_alloc *a = find((uint64_t)(uintptr_t)p);
    bool ok = a && (a->kind == SPACE_HOST || a->kind == SPACE_REGISTERED);
    gpu_unlock();
    if (ok) *out = (CUdeviceptr)(uintptr_t)p;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuMemHostGetFlags, (unsigned *flags, void *p))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    gpu_lock();
    const struct space_alloc *a = find((uint64_t)(uintptr_t)p);
    bool ok = flags && a && a->kind == SPACE_HOST;
    gpu_unlock();
    if (ok) *flags = 2; /* mapped, as all pinned memory is with unified addresses */
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuMemHostRegister_v2, (void *p, size_t bytes, unsigned flags))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!p || !bytes || flags > 15) return CUDA_ERROR_INVALID_VALUE;
    gpu_lock();
    bool ok = space_register(emu_device_space(gpu_device(cu_gpu())), p, bytes, "cuMemHostRegister");
    gpu_unlock();
    return ok ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}
CU_API(cuMemHostRegister, (void *p, size_t bytes, unsigned flags))
{
    return cuMemHostRegister_v2(p, bytes, flags);
}

CU_API(cuMemHostUnregister, (void *p))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    gpu_lock();
    bool ok = space_unregister(emu_device_space(gpu_device(cu_gpu())), p);
    gpu_unlock();
    return ok ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

/* ---- managed memory: it is everywhere already, so advice and prefetches change nothing ---- */

static CUresult check_range(CUdeviceptr p, size_t bytes)
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    gpu_lock();
    bool ok = bytes && space_valid(emu_device_space(gpu_device(cu_gpu())), p, bytes);
    gpu_unlock();
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuMemAdvise, (CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice dev))
{
    return check_range(p, bytes);
}
CU_API(cuMemAdvise_v2, (CUdeviceptr p, size_t bytes, CUmem_advise advice, CUmemLocation location))
{
    return check_range(p, bytes);
}
CU_API_PT(cuMemPrefetchAsync, _ptsz, (CUdeviceptr p, size_t bytes, CUdevice dev, CUstream stream))
{
    return cu_stream_ok(stream) ? check_range(p, bytes) : CUDA_ERROR_INVALID_HANDLE;
}
CU_API_PT(cuMemPrefetchAsync_v2, _ptsz,
          (CUdeviceptr p, size_t bytes, CUmemLocation location, unsigned flags, CUstream stream))
{
    return cu_stream_ok(stream) ? check_range(p, bytes) : CUDA_ERROR_INVALID_HANDLE;
}
CU_API_PT(cuStreamAttachMemAsync, _ptsz, (CUstream stream, CUdeviceptr p, size_t bytes, unsigned flags))
{
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    return check_range(p, bytes ? bytes : 1);
}

/* ---- attributes of a pointer ---- */

/* Each has its own type; *bytes says how many of it to write (a truth value takes four, as drivers do). */
static CUresult pointer_attribute(CUdeviceptr p, CUpointer_attribute attribute, const struct space_alloc *a,
                                  uint64_t *value, size_t *bytes)
{
    bool host = a && (a->kind == SPACE_HOST || a->kind == SPACE_REGISTERED);
    *value = 0;
    *bytes = sizeof(unsigned);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *bytes = sizeof(void *);
        *value = a ? (uint64_t)(uintptr_t)cu_context_of_alloc(a->base) : 0;
        if (a && !*value) *value = (uint64_t)(uintptr_t)cu_current();
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *value = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *bytes = sizeof(CUdeviceptr), *value = p; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *bytes = sizeof(void *), *value = p;
        if (a && !host && a->kind != SPACE_MANAGED) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *bytes = 8, *value = a ? a->serial + 1 : 0; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *value = a && a->kind == SPACE_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *bytes = sizeof(int); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *bytes = sizeof(void *), *value = a ? a->base : 0; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *bytes = sizeof(size_t), *value = a ? a->bytes : 0; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *value = a != NULL; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *bytes = 8; break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: *value = CU_MEM_ACCESS_FLAGS_PROT_READWRITE; break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *bytes = sizeof(void *); break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

CU_API(cuPointerGetAttribute, (void *data, CUpointer_attribute attribute, CUdeviceptr p))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!data) return CUDA_ERROR_INVALID_VALUE;
    uint64_t value;
    size_t bytes;
    gpu_lock();
    const struct space_alloc *a = find(p);
    r = a ? pointer_attribute(p, attribute, a, &value, &bytes) : CUDA_ERROR_INVALID_VALUE;
    if (!r) memcpy(data, &value, bytes);
    gpu_unlock();
    return r;
}

/* Unlike above, an unknown address is not an error here: its attributes are zero. */
CU_API(cuPointerGetAttributes, (unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr p))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
    gpu_lock();
    const struct space_alloc *a = find(p);
    for (unsigned i = 0; i < count; i++) {
        uint64_t value;
        size_t bytes;
        bool bad = pointer_attribute(p, attributes[i], a, &value, &bytes) != CUDA_SUCCESS;
        if (!a || bad) value = 0;
        if (!a && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) value = (uint64_t)-2;
        memcpy(data[i], &value, bytes);
    }
    gpu_unlock();
    return CUDA_SUCCESS;
}

CU_API(cuPointerSetAttribute, (const void *value, CUpointer_attribute attribute, CUdeviceptr p))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    /* Copies are always synchronous here: the one attribute that can be set holds already. */
    return value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && find(p) ? CUDA_SUCCESS
                                                                             : CUDA_ERROR_INVALID_VALUE;
}

/* ---- pools: names only; memory goes back to the space at once ---- */

static CUmemoryPool default_pool, current_pool;

static CUmemoryPool get_default_pool(void)
{
    gpu_lock();
    if (!default_pool) {
        default_pool = handle_new(HANDLE_POOL, sizeof *default_pool);
        default_pool->is_default = true;
        for (int i = 1; i <= 3; i++) default_pool->attributes[i] = 1;
    }
    gpu_unlock();
    return default_pool;
}

static CUresult get_pool(CUmemoryPool *out, CUdevice dev, bool current)
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = current && current_pool ? current_pool : get_default_pool();
    return CUDA_SUCCESS;
}
CU_API(cuDeviceGetDefaultMemPool, (CUmemoryPool * out, CUdevice dev)) { return get_pool(out, dev, false); }
CU_API(cuDeviceGetMemPool, (CUmemoryPool * out, CUdevice dev)) { return get_pool(out, dev, true); }
CU_API(cuDeviceSetMemPool, (CUdevice dev, CUmemoryPool pool))
{
    if (!cu_device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
    if (!handle_is(pool, HANDLE_POOL)) return CUDA_ERROR_INVALID_VALUE;
    current_pool = pool;
    return CUDA_SUCCESS;
}

CU_API(cuMemPoolCreate, (CUmemoryPool * out, const CUmemPoolProps *props))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    *out = handle_new(HANDLE_POOL, sizeof **out);
    for (int i = 1; i <= 3; i++) (*out)->attributes[i] = 1;
    return CUDA_SUCCESS;
}

CU_API(cuMemPoolDestroy, (CUmemoryPool pool))
{
    if (!handle_is(pool, HANDLE_POOL) || pool->is_default) return CUDA_ERROR_INVALID_VALUE;
    if (current_pool == pool) current_pool = NULL;
    handle_free(pool);
    return CUDA_SUCCESS;
}

static bool attribute_is_int(CUmemPool_attribute a)
{
    return a <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CU_API(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value))
{
    if (!handle_is(pool, HANDLE_POOL) || !value) return CUDA_ERROR_INVALID_VALUE;
    if ((int)attribute < 1 || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH) return CUDA_ERROR_INVALID_VALUE;
    uint64_t v = pool->attributes[attribute];
    memcpy(value, &v, attribute_is_int(attribute) ? sizeof(int) : sizeof v);
    return CUDA_SUCCESS;
}

CU_API(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value))
{
    if (!handle_is(pool, HANDLE_POOL) || !value) return CUDA_ERROR_INVALID_VALUE;
    if ((int)attribute < 1 || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH) return CUDA_ERROR_INVALID_VALUE;
    uint64_t v = 0;
    memcpy(&v, value, attribute_is_int(attribute) ? sizeof(int) : sizeof v);
    bool is_mark =
        attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    if (is_mark && v) return CUDA_ERROR_INVALID_VALUE; /* a high-water mark can only be cleared */
    pool->attributes[attribute] = v;
    return CUDA_SUCCESS;
}

CU_API(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes))
{
    return handle_is(pool, HANDLE_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CU_API(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count))
{
    return handle_is(pool, HANDLE_POOL) && (map || !count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CU_API(cuMemPoolGetAccess, (CUmemAccess_flags * flags, CUmemoryPool pool, CUmemLocation *location))
{
    if (!handle_is(pool, HANDLE_POOL) || !flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

CU_API_PT(cuMemAllocFromPoolAsync, _ptsz,
          (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream))
{
    uint64_t base = 0;
    if (!out || !handle_is(pool, HANDLE_POOL)) return CUDA_ERROR_INVALID_VALUE;
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    CUresult r = cu_alloc(bytes, ALIGN_BYTES, SPACE_DEVICE, "cuMemAllocAsync", &base);
    if (!r) *out = base;
    return r;
}
CU_API_PT(cuMemAllocAsync, _ptsz, (CUdeviceptr * out, size_t bytes, CUstream stream))
{
    return cuMemAllocFromPoolAsync(out, bytes, current_pool ? current_pool : get_default_pool(), stream);
}
CU_API_PT(cuMemFreeAsync, _ptsz, (CUdeviceptr p, CUstream stream))
{
    if (!cu_stream_ok(stream)) return CUDA_ERROR_INVALID_HANDLE;
    return p ? release(p, false) : CUDA_ERROR_INVALID_VALUE;
}
