/* rt_api.h: how an exported function of libcudart is written.
 *
 *   CUDART(cudaEventDestroy, (cudaEvent_t event)) { RT_CALL(event_destroy(event)); }
 *
 * Every entry goes the same way: find the GPU and refuse a context that a fault has ended (rt_enter), do the
 * work under the one lock, note the error for cudaGetLastError (rt_done). `g` is the GPU inside RT_CALL. */
#ifndef HEDDLE_RT_API_H
#define HEDDLE_RT_API_H

#include "cuda/cuda_runtime_types.h"
#include "cuda/gpu.h"

#define RT_EXPORT __attribute__((visibility("default")))

#define CUDART_RETURNS(type, name, args)                                                                     \
    RT_EXPORT type name args;                                                                                \
    type name args
#define CUDART(name, args) CUDART_RETURNS(cudaError_t, name, args)

/* The same code under another name: the per-thread-default-stream twins (_ptsz, _ptds), which differ only in
 * what stream 0 means, and here a stream is only a name; and the older names of a function. `name` is of this
 * file. */
#define CUDART_ALIAS(name, other)                                                                            \
    extern __typeof__(name) other __attribute__((alias(#name), visibility("default")))

#define RT_CALL(call)                                                                                        \
    struct gpu *g;                                                                                           \
    cudaError_t rt_error_ = rt_enter(&g);                                                                    \
    if (!rt_error_) {                                                                                        \
        gpu_lock();                                                                                          \
        rt_error_ = (call);                                                                                  \
        gpu_unlock();                                                                                        \
    }                                                                                                        \
    return rt_done(rt_error_)

/* For what asks about the device and not the context: also answered after a fault. */
#define RT_QUERY(call)                                                                                       \
    struct gpu *g;                                                                                           \
    cudaError_t rt_error_ = rt_find_gpu(&g);                                                                 \
    if (!rt_error_) rt_error_ = (call);                                                                      \
    return rt_done(rt_error_)

/* rt_error.c */
cudaError_t rt_find_gpu(struct gpu **out);     /* cudaErrorNoDevice when the configuration is wrong */
cudaError_t rt_enter(struct gpu **out);        /* and the fault that ended the context */
cudaError_t rt_enter_launch(struct gpu **out); /* the same for a launch: what is queued stays queued */
cudaError_t rt_done(cudaError_t e);            /* notes e for cudaGetLastError; returns it */
cudaError_t rt_from_status(enum gpu_status s);

#endif
