/* rt_module.h: the device code of a program: what it registered, loaded when first used. */
#ifndef HEDDLE_RT_MODULE_H
#define HEDDLE_RT_MODULE_H

#include "cuda/rt_state.h"

/* A __global__ function; cudaKernel_t and cudaFunction_t point here. */
struct rt_kernel {
    struct rt_object object;
    struct rt_binary *binary;
    /* its stub in the program; NULL for one of a library */
    const void *host;
    /* in the PTX */
    char *name;
    /* NULL until the binary is loaded */
    const struct isa_kernel *isa;
    /* cudaFuncAttributeMaxDynamicSharedMemorySize; -1 = not set */
    int dynamic_shared_max;
    /* percent of shared memory preferred; -1 = no wish */
    int carveout;
    /* enum cudaFuncCache */
    int cache_config;
};

/* A __device__, __constant__ or __managed__ variable. */
struct rt_variable {
    struct rt_binary *binary;
    const void *host;
    char *name;
    size_t bytes;
    /* where the program keeps its pointer to a __managed__ one; NULL for others */
    void **managed;
    /* 0 until the binary is loaded */
    uint64_t address;
};

/* A texture reference of a CUDA 11 or older program. */
struct rt_texref {
    struct rt_binary *binary;
    const struct textureReference *host;
    char *name;
    bool normalized_read;
    /* emulator texture that it is bound to; 0 = unbound */
    uint64_t handle;
    size_t offset_bytes;
};

/* One registered fat binary, or one loaded library (cudaLibrary_t). */
struct rt_binary {
    struct rt_object object;
    /* as registered; NULL for a library */
    const void *wrapper;
    /* a library's image, given by the program or `owned`; NULL for a registered one */
    const void *code;
    size_t code_bytes;
    void *owned;
    /* as messages call it */
    char *name;
    /* NULL until first use and after cudaDeviceReset */
    struct gpu_module *module;
    /* why loading failed; tried once */
    cudaError_t error;
    VEC(struct rt_kernel *) kernels;
    VEC(struct rt_variable *) variables;
    VEC(struct rt_texref *) texrefs;
};

cudaError_t rt_binary_load(struct gpu *g, struct rt_binary *b);
struct rt_kernel *rt_binary_add_kernel(struct rt_binary *b, const void *host, const char *name);
/* G may be NULL: then nothing of the device is touched. */
void rt_binary_free(struct gpu *g, struct rt_binary *b);

/* func: a host stub or a cudaKernel_t. Loads its binary. */
cudaError_t rt_kernel_find(struct gpu *g, const void *func, struct rt_kernel **out);
/* symbol: the host's variable. Loads its binary. */
cudaError_t rt_variable_find(struct gpu *g, const void *symbol, struct rt_variable **out);
/* Whether a __managed__ variable lies there. */
bool rt_managed_variable_at(uint64_t address);

#endif
