/* libcuda.h: inside libcuda.so.1: the objects behind the handles, and what every API function begins with.
 *
 * The library is thin: memory, modules, launches and streams are cuda/gpu.h's. Invariants: (1) a handle
 * starts with its kind; memory that once was a handle stays readable, so that a stale handle is
 * recognised. (2) All state is touched under gpu_lock(). */
#ifndef HEDDLE_LIBCUDA_H
#define HEDDLE_LIBCUDA_H

#include "cuda/cuda_driver_types.h"
#include "cuda/gpu.h"

/* Definition of an exported function, with its prototype. Programs built with per-thread default streams call
 * a second version of many functions. CU_API_PT exports the same function under both names, where it does not
 * matter what stream 0 is. CU_ON_STREAM defines a function with a parameter `stream`; in its second version
 * stream 0 is the thread's own. CU_ON_DEFAULT defines a function without such a parameter, in which `stream`
 * is the default stream of the program's choice. */
#define CU_EXPORT __attribute__((visibility("default")))
#define CU_API(name, args)                                                                                   \
    CU_EXPORT CUresult name args;                                                                            \
    CUresult name args
#define CU_API_PT(name, suffix, args)                                                                        \
    CU_EXPORT CUresult name args;                                                                            \
    CU_EXPORT CUresult name##suffix args __attribute__((alias(#name)));                                      \
    CUresult name args
#define CU_ON_STREAM(name, args, call)                                                                       \
    CU_API(name, args) { return call; }                                                                      \
    CU_API(name##_ptsz, args)                                                                                \
    {                                                                                                        \
        if (!stream) stream = CU_STREAM_PER_THREAD;                                                          \
        return call;                                                                                         \
    }
#define CU_ON_DEFAULT(name, args, call)                                                                      \
    CU_API(name, args)                                                                                       \
    {                                                                                                        \
        CUstream stream = NULL;                                                                              \
        return call;                                                                                         \
    }                                                                                                        \
    CU_API(name##_ptds, args)                                                                                \
    {                                                                                                        \
        CUstream stream = CU_STREAM_PER_THREAD;                                                              \
        return call;                                                                                         \
    }

enum { CU_VERSION = 13000 };

enum handle_kind {
    HANDLE_DEAD = 0x48647800,
    HANDLE_CONTEXT,
    HANDLE_MODULE,
    HANDLE_FUNCTION,
    HANDLE_LIBRARY,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_ARRAY,
    HANDLE_POOL,
    HANDLE_LINK
};
struct handle {
    uint32_t kind;
    uint32_t bytes;
    struct handle *next;
};

/* zeroed; begins with a struct handle. */
void *handle_new(enum handle_kind kind, size_t bytes);
void handle_free(void *h);
static inline bool handle_is(const void *h, enum handle_kind kind)
{
    return (uintptr_t)h >= 4096 && !((uintptr_t)h & 7) && ((const struct handle *)h)->kind == (uint32_t)kind;
}

struct CUctx_st {
    struct handle head;
    uint64_t id;
    unsigned flags, refs;
    bool primary;
    int cache_config, shared_config;
    VEC(CUmodule) modules;
    /* bases of what this context allocated */
    VEC(uint64_t) allocs;
};

struct CUfunc_st {
    struct handle head;
    CUmodule module;
    char *name;
    const struct isa_kernel *kernel;
    /* opted in to */
    int dynamic_shared_max;
    int carveout, cache_config, cluster_policy, non_portable;
    /* The launch interface of CUDA 2 and 3, set piece by piece. */
    uint32_t old_block[3], old_shared;
    uint8_t old_params[4096];
};

struct CUmod_st {
    struct handle head;
    /* NULL: it belongs to a library */
    CUcontext context;
    /* NULL: it belongs to a context */
    CUlibrary library;
    struct gpu_module *gpu;
    uint64_t generation;
    VEC(CUfunction) functions;
};

/* A library outlives contexts and resets: it is loaded again when its module is gone. */
struct CUlib_st {
    struct handle head;
    CUmodule module;
    char *name;
    const void *image;
    /* 0 = the image says */
    size_t len;
    /* the copy that image points to, or NULL */
    void *owned;
};

struct CUstream_st {
    struct handle head;
    CUcontext context;
    unsigned flags;
    int priority;
    uint64_t id;
};
struct CUevent_st {
    struct handle head;
    unsigned flags;
    struct gpu_event gpu;
};
struct CUarray_st {
    struct handle head;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    /* bytes from row to row, from layer to layer */
    uint64_t base, pitch, slice;
};
struct CUmemPoolHandle_st {
    struct handle head;
    bool is_default;
    uint64_t attributes[9];
};

/* ---- the start of every call ---- */
CUresult cu_status(enum gpu_status s);
/* Never NULL once cu_ready() said CUDA_SUCCESS. */
struct gpu *cu_gpu(void);
/* cuInit was called and there is a GPU. */
CUresult cu_ready(void);
/* cu_ready, and a context is current and no fault is pending; runs what is queued. ctx may be NULL. */
CUresult cu_enter(CUcontext *ctx);
/* cu_enter, but what is queued stays queued. */
CUresult cu_enter_launch(CUcontext *ctx);
CUcontext cu_current(void);
bool cu_device_ok(CUdevice dev);
bool cu_stream_ok(CUstream s);
/* The id that cuda/gpu.h uses. */
uint64_t cu_stream_id(CUstream s);
struct gpu_order cu_order(CUstream s, bool async);

/* ---- shared between the files ---- */
void cu_context_add_alloc(CUcontext ctx, uint64_t base);
/* In whichever context it is. */
bool cu_context_drop_alloc(uint64_t base);
CUcontext cu_context_of_alloc(uint64_t base);
void cu_module_destroy(CUmodule m);
CUresult cu_module_from(CUcontext ctx, const char *name, const void *image, size_t len,
                        const struct gpu_load_options *options, CUmodule *out);
CUresult cu_find_function(CUmodule m, const char *name, CUfunction *out);
/* H: a CUfunction or a CUkernel; NULL when it is neither. */
CUfunction cu_function(const void *h);
CUresult cu_alloc(uint64_t bytes, uint64_t align, enum space_kind kind, const char *label, uint64_t *out);
/* 0 = not a format that can be used. */
uint32_t cu_format_bytes(CUarray_format f);
/* A CUDA runtime inside of the program uses this library. */
bool cu_runtime_linked(void);
/* Tells the runtime to forget what it keeps for a context. */
void cu_storage_end(CUcontext ctx);
int cu_device_attribute(const struct machine *m, int attribute, bool *known);
void cu_uuid(CUuuid *out);

#endif
