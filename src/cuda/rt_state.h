/* rt_state.h: what libcudart keeps for the process and for each host thread.
 *
 * A handle that a program holds is the address of an object here, and it is looked up in the table of live
 * objects before use, so that a stale or invalid handle gives an error code and not a crash. gpu_lock()
 * protects all of it. */
#ifndef HEDDLE_RT_STATE_H
#define HEDDLE_RT_STATE_H

#include "base/vec.h"
#include "cuda/cuda_runtime_types.h"
#include "cuda/gpu.h"
#include "cuda/rt_table.h"

enum rt_kind { RT_STREAM = 1, RT_EVENT, RT_ARRAY, RT_POOL, RT_KERNEL, RT_BINARY };

/* First member of everything that a handle names. */
struct rt_object {
    enum rt_kind kind;
};

struct rt_state {
    /* live handles: address -> struct rt_object */
    struct rt_table objects;
    /* host stub -> struct rt_kernel */
    struct rt_table kernels;
    /* host variable -> struct rt_variable */
    struct rt_table variables;
    /* host texture reference -> struct rt_texref */
    struct rt_table texrefs;
    /* texture object -> struct rt_texture */
    struct rt_table textures;
    /* pinned or registered base -> its flags + 1 */
    struct rt_table host_flags;
    /* device address -> struct rt_pooled */
    struct rt_table pooled;
    /* managed base -> struct rt_advice */
    struct rt_table advised;
    /* in order of registration */
    VEC(struct rt_binary *) binaries;
    struct rt_pool *pool_default, *pool_current;
    /* registered so far, for names in messages */
    uint32_t binary_count;
    uint32_t alloc_count;
    uint32_t device_flags;
    enum cudaFuncCache cache_config;
    /* those that change nothing here, as the program set them */
    size_t limits[cudaLimitCount];
    bool limits_ready;
    /* gpu_generation() when the tables were last valid */
    uint64_t generation;
};

enum {
    RT_CONFIG_DEPTH = 16,
    /* bytes of kernel parameters, since CUDA 12.1 */
    RT_ARGS_MAX = 32764
};

/* One <<<grid, block, shared, stream>>> that waits for its launch. */
struct rt_config {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    /* cudaSetupArgument; NULL where that is not used */
    uint8_t *args;
    size_t arg_bytes;
};
struct rt_thread {
    cudaError_t last_error;
    struct rt_config configs[RT_CONFIG_DEPTH];
    uint32_t config_count;
};

struct rt_state *rt_state(void);
struct rt_thread *rt_thread(void);

void rt_object_add(void *object, enum rt_kind kind);
/* NULL: no such live object */
void *rt_object_find(const void *handle, enum rt_kind kind);
/* forgets it and frees it */
void rt_object_remove(void *object);

static inline struct space *rt_space(struct gpu *g) { return emu_device_space(gpu_device(g)); }

/* Forgets everything after a reset of the device (cudaDeviceReset, or the driver API's). */
void rt_state_refresh(struct gpu *g);
/* Its parts, each in the file that owns the table. */
void rt_modules_reset(struct gpu *g);
void rt_textures_reset(void);
void rt_texrefs_reset(void);
void rt_memory_reset(void);
void rt_pools_reset(void);

#endif
