/* rt_kit.h: what the tests of libcudart share: prototypes, and a program's fat binary made in memory, so that
 * neither nvcc nor its headers are needed. */
#ifndef HEDDLE_RT_KIT_H
#define HEDDLE_RT_KIT_H

#include "base/base.h"
#include "cuda/cuda_runtime_types.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *tid, void *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes,
                       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                              size_t bytes, int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream);
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *f, void **args);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t cudaSetupArgument(const void *arg, size_t bytes, size_t offset);
cudaError_t cudaLaunch(const void *f);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *user);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t e);
const char *cudaGetErrorString(cudaError_t e);
cudaError_t cudaMalloc(void **out, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocHost(void **out, size_t bytes);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *p);
cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags);
cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(void *out, const void *p);
cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, int kind);
cudaError_t cudaMemcpy2D(void *dst, size_t dp, const void *src, size_t sp, size_t width, size_t height,
                         int kind);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
cudaError_t cudaMemset(void *dst, int value, size_t bytes);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind);
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind);
cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol);
cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d, size_t w, size_t h,
                            unsigned flags);
cudaError_t cudaFreeArray(cudaArray_t a);
cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                                size_t width, size_t height, int kind);
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes, int kind);
cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t bytes, int kind);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                    const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, cudaTextureObject_t t);
cudaError_t cudaStreamCreate(cudaStream_t *out);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaEventCreate(cudaEvent_t *out);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventQuery(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *out, int attribute, int device);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *f);
cudaError_t cudaFuncSetAttribute(const void *f, int attribute, int value);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *f, int threads,
                                                          size_t shared);
cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, void *o, void **v, unsigned n, void *lo,
                                void **lv, unsigned ln);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t l, const char *name);
cudaError_t cudaLibraryUnload(cudaLibrary_t l);
cudaError_t cudaGraphCreate(void *graph, unsigned flags);

struct rt_kit_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *more;
};

static inline void rt_kit_put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

/* A fat binary with one uncompressed PTX text for sm_52; the caller frees it. */
static inline uint8_t *rt_kit_fatbin(const char *ptx)
{
    enum { HEAD = 16, ENTRY = 80 };
    size_t len = strlen(ptx) + 1, padded = round_up_u64(len, 8);
    uint8_t *f = mem_zalloc(HEAD + ENTRY + padded), *e = f + HEAD;
    rt_kit_put(f, 0xba55ed50, 4);
    rt_kit_put(f + 4, 1, 2);
    rt_kit_put(f + 6, HEAD, 2);
    rt_kit_put(f + 8, ENTRY + padded, 8);
    rt_kit_put(e, 1, 2);
    rt_kit_put(e + 2, 0x101, 2);
    rt_kit_put(e + 4, ENTRY, 4);
    rt_kit_put(e + 8, padded, 8);
    rt_kit_put(e + 20, 0x40, 4);
    rt_kit_put(e + 26, 6, 2);
    rt_kit_put(e + 28, 52, 4);
    rt_kit_put(e + 40, 0x11, 8);
    rt_kit_put(e + 64, 0x48, 4);
    memcpy(e + ENTRY, ptx, len);
    return f;
}

#endif
