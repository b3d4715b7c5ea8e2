/* driver.h: the little of the CUDA driver API that the workloads use, declared as its documentation does, so
 * that no CUDA toolkit is needed. Link with -lcuda: NVIDIA's driver runs a workload on a real GPU, Heddle's
 * library on a modelled one. */
#ifndef WORKLOAD_DRIVER_H
#define WORKLOAD_DRIVER_H

#include <stddef.h>

typedef unsigned long long CUdeviceptr, CUtexObject;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
/* CUresult is an enum of the size of int; 0 = success */
typedef int CUdevice, CUresult;

CUresult cuInit(unsigned flags);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxSynchronize(void);
CUresult cuGetErrorString(CUresult error, const char **text);
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, int *options, void **values);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name);
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t n);
CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned value, size_t n);
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **args, void **extra);

enum {
    CU_RESOURCE_TYPE_LINEAR = 2,
    CU_AD_FORMAT_UNSIGNED_INT32 = 3,
    CU_AD_FORMAT_SIGNED_INT32 = 10,
    CU_AD_FORMAT_FLOAT = 32
};
struct CUresource {
    int type;
    union {
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        int reserved[32];
    } of;
    unsigned flags;
};
struct CUtexture {
    int address_mode[3], filter_mode;
    /* 1: integers are read as integers */
    unsigned flags;
    unsigned max_anisotropy;
    int mipmap_filter_mode;
    float mipmap_bias, mipmap_min, mipmap_max, border[4];
    int reserved[12];
};
CUresult cuTexObjectCreate(CUtexObject *object, const struct CUresource *resource,
                           const struct CUtexture *texture, const void *view);
CUresult cuTexObjectDestroy(CUtexObject object);

#endif
