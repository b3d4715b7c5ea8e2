/* test_program.h: what the test programs stand on. Each program is one .cu file, written in the common ground
 * of C and C++ and built in two ways:
 *   - by nvcc, as any CUDA program is (kernels and host code, <<<>>> launches, libcudart or the static
 *     runtime);
 *   - by a plain C compiler, host part only: the kernels come from the committed NAME.ptx, which this header
 *     registers with libcudart exactly as nvcc's generated code would (a fatbin in memory,
 *     __cudaRegisterFatBinary, ...).
 * The second way needs no CUDA toolkit. Both check the results against a CPU reference and print
 * "NAME: PASS". */
#ifndef HEDDLE_TEST_PROGRAM_H
#define HEDDLE_TEST_PROGRAM_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __CUDACC__

#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, shared, ...) kernel<<<grid, block, shared>>>(__VA_ARGS__)
#define LAUNCH_STREAM(kernel, grid, block, shared, stream, ...)                                              \
    kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define LAUNCH_COOPERATIVE(kernel, grid, block, shared, ...)                                                 \
    do {                                                                                                     \
        void *launch_args[] = {PROGRAM_ADDRESSES(__VA_ARGS__)};                                              \
        CHECK_CUDA(cudaLaunchCooperativeKernel((const void *)kernel, grid, block, launch_args, shared, 0));  \
    } while (0)
#define GRID(x, y, z) dim3(x, y, z)
#define PROGRAM(list)
#define SYMBOL(name) name

#else /* plain C: the little of the runtime API that the programs use, as its documentation declares it */

/* clang-format off */
typedef int cudaError_t;
typedef struct { unsigned x, y, z; } dim3;
typedef void *cudaStream_t, *cudaEvent_t;
typedef struct cudaArray *cudaArray_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorInvalidConfiguration = 9 };
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum { cudaMemAttachGlobal = 1, cudaHostAllocMapped = 2 };
struct cudaChannelFormatDesc { int x, y, z, w, f; };
enum { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
enum {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
};
enum { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum { cudaFilterModePoint, cudaFilterModeLinear };
enum { cudaReadModeElementType, cudaReadModeNormalizedFloat };
/* clang-format on */

struct cudaResourceDesc {
    int resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned flags;
};
struct cudaTextureDesc {
    int addressMode[3], filterMode, readMode, sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};
enum { cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4 };
cudaError_t cudaMalloc3DArray(cudaArray_t *, const struct cudaChannelFormatDesc *, struct cudaExtent,
                              unsigned);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *, const struct cudaResourceDesc *);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaMallocManaged(void **, size_t, unsigned);
cudaError_t cudaMallocPitch(void **, size_t *, size_t, size_t);
cudaError_t cudaMallocArray(cudaArray_t *, const struct cudaChannelFormatDesc *, size_t, size_t, unsigned);
cudaError_t cudaFree(void *);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaMemcpy(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t,
                                enum cudaMemcpyKind);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaGetLastError(void);
cudaError_t cudaDeviceSynchronize(void);
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *, const struct cudaResourceDesc *,
                                    const struct cudaTextureDesc *, const void *);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
enum { cudaStreamNonBlocking = 1 };
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
                            int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

#define GRID(x, y, z)  ((dim3){x, y, z})
#define PROGRAM_DIM(v) _Generic((v), dim3 : program_dim_same, default : program_dim_int)(v)
static inline dim3 program_dim_same(dim3 d) { return d; }
static inline dim3 program_dim_int(unsigned n) { return (dim3){n, 1, 1}; }
#define LAUNCH_STREAM(kernel, grid, block, shared, stream, ...)                                              \
    do {                                                                                                     \
        void *launch_args[] = {PROGRAM_ADDRESSES(__VA_ARGS__)};                                              \
        CHECK_CUDA(cudaLaunchKernel((const void *)&program_stub_##kernel, PROGRAM_DIM(grid),                 \
                                    PROGRAM_DIM(block), launch_args, shared, stream));                       \
    } while (0)
#define LAUNCH(kernel, grid, block, shared, ...) LAUNCH_STREAM(kernel, grid, block, shared, NULL, __VA_ARGS__)
#define LAUNCH_COOPERATIVE(kernel, grid, block, shared, ...)                                                 \
    do {                                                                                                     \
        void *launch_args[] = {PROGRAM_ADDRESSES(__VA_ARGS__)};                                              \
        CHECK_CUDA(cudaLaunchCooperativeKernel((const void *)&program_stub_##kernel, PROGRAM_DIM(grid),      \
                                               PROGRAM_DIM(block), launch_args, shared, NULL));              \
    } while (0)
#define SYMBOL(name)                  (&program_var_##name)
#define cudaMemcpyToSymbol(s, p, n)   cudaMemcpyToSymbol(s, p, n, 0, cudaMemcpyHostToDevice)
#define cudaMemcpyFromSymbol(p, s, n) cudaMemcpyFromSymbol(p, s, n, 0, cudaMemcpyDeviceToHost)
#define cudaMallocManaged(p, n)       cudaMallocManaged(p, n, cudaMemAttachGlobal)
#define cudaMallocArray(a, d, w, h)   cudaMallocArray(a, d, w, h, 0)
#define PROGRAM_RECORD(e, s, ...)     cudaEventRecord(e, s)
#define cudaEventRecord(...)          PROGRAM_RECORD(__VA_ARGS__, NULL, 0)

/* What nvcc generates for a .cu file, by hand: one fatbin with one uncompressed PTX entry, and
 * registrations. */
struct program_entry {
    const char *name;
    char *stub;
    /* 0: a kernel */
    size_t bytes;
};
static void **program_handle;
static struct {
    unsigned magic, version;
    const void *data;
    void *more;
} program_wrapper;

static void program_unregister(void) { __cudaUnregisterFatBinary(program_handle); }

static void program_register(const struct program_entry *entries)
{
    static const char path[] = PROGRAM_PTX;
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    size_t len = (size_t)ftell(f), padded = (len + 8) / 8 * 8;
    rewind(f);
    unsigned char *fatbin = (unsigned char *)calloc(1, 16 + 0x50 + padded);
    uint32_t head[4] = {0xBA55ED50u, 0x00100001u, (uint32_t)(0x50 + padded), 0};
    uint32_t entry[20] = {0x01010001u, 0x50, (uint32_t)padded, 0, 0, 0x40, 9u << 16, 75, 0, 0, 0x11};
    memcpy(fatbin, head, sizeof head);
    memcpy(fatbin + 16, entry, sizeof entry);
    if (fread(fatbin + 16 + 0x50, 1, len, f) != len) exit(2);
    fclose(f);
    program_wrapper.magic = 0x466243B1u;
    program_wrapper.version = 1;
    program_wrapper.data = fatbin;
    program_handle = __cudaRegisterFatBinary(&program_wrapper);
    for (const struct program_entry *e = entries; e->name; e++) {
        if (e->bytes)
            __cudaRegisterVar(program_handle, e->stub, (char *)e->name, e->name, 0, e->bytes, 0, 0);
        else
            __cudaRegisterFunction(program_handle, e->stub, (char *)e->name, e->name, -1, NULL, NULL, NULL,
                                   NULL, NULL);
    }
    __cudaRegisterFatBinaryEnd(program_handle);
    atexit(program_unregister);
}

/* PROGRAM(LIST) at file scope, with #define LIST(K, V) K(kernel) V(variable, bytes) ..., tells what the PTX
 * holds. */
#define PROGRAM_STUB(kernel)          static char program_stub_##kernel;
#define PROGRAM_VAR(var, bytes)       static char program_var_##var;
#define PROGRAM_STUB_ROW(kernel)      {#kernel, &program_stub_##kernel, 0},
#define PROGRAM_VAR_ROW(var, n)       {#var, &program_var_##var, n},
#define PROGRAM(list)                                                                                        \
    list(PROGRAM_STUB, PROGRAM_VAR) __attribute__((constructor)) static void program_start(void)             \
    {                                                                                                        \
        static const struct program_entry entries[] = {list(PROGRAM_STUB_ROW, PROGRAM_VAR_ROW){0}};          \
        program_register(entries);                                                                           \
    }
#endif

#define CHECK_CUDA(call)                                                                                     \
    do {                                                                                                     \
        cudaError_t check_error = (call);                                                                    \
        if (check_error != cudaSuccess) {                                                                    \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check_error));                      \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* &a, &b, ... for up to ten arguments */
/* clang-format off */
#define PROGRAM_ADDRESSES(...)                                                                           \
    PROGRAM_PICK(__VA_ARGS__, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1)(__VA_ARGS__)
/* clang-format on */
#define PROGRAM_PICK(a, b, c, d, e, f, g, h, i, j, name, ...) PROGRAM_##name
#define PROGRAM_A1(a)                                         (void *)&(a)
#define PROGRAM_A2(a, ...)                                    (void *)&(a), PROGRAM_A1(__VA_ARGS__)
#define PROGRAM_A3(a, ...)                                    (void *)&(a), PROGRAM_A2(__VA_ARGS__)
#define PROGRAM_A4(a, ...)                                    (void *)&(a), PROGRAM_A3(__VA_ARGS__)
#define PROGRAM_A5(a, ...)                                    (void *)&(a), PROGRAM_A4(__VA_ARGS__)
#define PROGRAM_A6(a, ...)                                    (void *)&(a), PROGRAM_A5(__VA_ARGS__)
#define PROGRAM_A7(a, ...)                                    (void *)&(a), PROGRAM_A6(__VA_ARGS__)
#define PROGRAM_A8(a, ...)                                    (void *)&(a), PROGRAM_A7(__VA_ARGS__)
#define PROGRAM_A9(a, ...)                                    (void *)&(a), PROGRAM_A8(__VA_ARGS__)
#define PROGRAM_A10(a, ...)                                   (void *)&(a), PROGRAM_A9(__VA_ARGS__)

/* The same pseudo-random words on both sides. */
static inline uint32_t program_hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}
static inline float program_unit(uint32_t seed, uint32_t i)
{
    return (float)(program_hash(seed * 0x9E3779B9u + i) >> 8) * (1.0f / 16777216.0f);
}

static inline void *program_device(const void *host,
                                   size_t bytes) /* a device buffer, filled from host or with zeros */
{
    void *p = NULL;
    CHECK_CUDA(cudaMalloc(&p, bytes));
    if (host)
        CHECK_CUDA(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice));
    else
        CHECK_CUDA(cudaMemset(p, 0, bytes));
    return p;
}
static inline void *program_fetch(const void *device, size_t bytes) /* a host copy of a device buffer */
{
    void *p = malloc(bytes);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(p, device, bytes, cudaMemcpyDeviceToHost));
    return p;
}
/* An array of one channel of 32 bits, filled from dense host data; read back with to_host. */
static inline void program_copy3d(cudaArray_t array, void *host, struct cudaExtent extent, int to_host)
{
    struct cudaMemcpy3DParms copy;
    struct cudaPitchedPtr dense;
    memset(&copy, 0, sizeof copy);
    if (!extent.height) extent.height = 1;
    if (!extent.depth) extent.depth = 1;
    dense.ptr = host;
    dense.pitch = extent.width * 4;
    dense.xsize = extent.width;
    dense.ysize = extent.height;
    if (to_host)
        copy.srcArray = array, copy.dstPtr = dense;
    else
        copy.dstArray = array, copy.srcPtr = dense;
    copy.extent = extent;
    copy.kind = to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    CHECK_CUDA(cudaMemcpy3D(&copy));
}
static inline cudaArray_t program_array(void *host, size_t width, size_t height, size_t depth, int is_float,
                                        unsigned flags)
{
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent;
    cudaArray_t array;
    memset(&desc, 0, sizeof desc);
    desc.x = 32;
    desc.f = is_float ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned;
    extent.width = width;
    extent.height = height;
    extent.depth = depth;
    CHECK_CUDA(cudaMalloc3DArray(&array, &desc, extent, flags));
    program_copy3d(array, host, extent, 0);
    return array;
}
static inline struct cudaResourceDesc program_resource(cudaArray_t array)
{
    struct cudaResourceDesc res;
    memset(&res, 0, sizeof res);
    res.resType = cudaResourceTypeArray;
    res.res.array.array = array;
    return res;
}
static inline int program_same(const char *what, const void *got, const void *want, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (((const uint32_t *)got)[i] != ((const uint32_t *)want)[i]) {
            printf("%s[%zu]: got 0x%08x, want 0x%08x\n", what, i, ((const uint32_t *)got)[i],
                   ((const uint32_t *)want)[i]);
            return 0;
        }
    return 1;
}
static inline int program_near(const char *what, const float *got, const float *want, size_t n,
                               float tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - want[i]) <= tolerance * (1.0f + fabsf(want[i])))) {
            printf("%s[%zu]: got %.9g, want %.9g\n", what, i, (double)got[i], (double)want[i]);
            return 0;
        }
    return 1;
}
static inline int program_end(const char *name, int ok)
{
    printf("%s: %s\n", name, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}

#endif
