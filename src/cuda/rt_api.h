/* rt_api.h: how an exported function of libcudart is written.
 *
 *   CUDART(cudaEventDestroy, (cudaEvent_t event)) { RT_CALL(event_destroy(event)); }
 *
 * Every entry does the same: find the GPU and refuse a context that a fault has ended (rt_enter), do the work
 * under the one lock, note the error for cudaGetLastError (rt_done). `g` is the GPU inside RT_CALL. Before
 * RT_CALL all that is queued has run; a function that only queues work, or waits for a part of it, uses
 * RT_QUEUE. */
#ifndef HEDDLE_RT_API_H
#define HEDDLE_RT_API_H

#include "cuda/cuda_runtime_types.h"
#include "cuda/gpu.h"

#define RT_EXPORT __attribute__((visibility("default")))

#define CUDART_RETURNS(type, name, args)                                                                     \
    RT_EXPORT type name args;                                                                                \
    type name args
#define CUDART(name, args) CUDART_RETURNS(cudaError_t, name, args)

/* Exports a function of this file under another name: its older names, and the per-thread-default-stream
 * version (_ptsz) of a function for which it does not matter what stream 0 means. */
#define CUDART_ALIAS(name, other)                                                                            \
    extern __typeof__(name) other __attribute__((alias(#name), visibility("default")))

#define RT_CALL(call)  RT_ENTER(rt_enter, call)
#define RT_QUEUE(call) RT_ENTER(rt_enter_launch, call)
#define RT_ENTER(enter, call)                                                                                \
    struct gpu *g;                                                                                           \
    cudaError_t rt_error_ = enter(&g);                                                                       \
    if (!rt_error_) {                                                                                        \
        gpu_lock();                                                                                          \
        rt_error_ = (call);                                                                                  \
        gpu_unlock();                                                                                        \
    }                                                                                                        \
    return rt_done(rt_error_)

/* A function with a parameter `stream`, and its second version (_ptsz) in which stream 0 is the thread's
 * own. */
#define CUDART_ON_STREAM(name, args, call)                                                                   \
    CUDART(name, args) { RT_QUEUE(call); }                                                                   \
    CUDART(name##_ptsz, args)                                                                                \
    {                                                                                                        \
        if (!stream) stream = cudaStreamPerThread;                                                           \
        RT_QUEUE(call);                                                                                      \
    }
/* A function without such a parameter: in the call, `stream` is the default stream of the program's choice
 * (_ptds: the thread's own). */
#define CUDART_ON_DEFAULT(name, args, call)                                                                  \
    CUDART(name, args)                                                                                       \
    {                                                                                                        \
        cudaStream_t stream = NULL;                                                                          \
        RT_QUEUE(call);                                                                                      \
    }                                                                                                        \
    CUDART(name##_ptds, args)                                                                                \
    {                                                                                                        \
        cudaStream_t stream = cudaStreamPerThread;                                                           \
        RT_QUEUE(call);                                                                                      \
    }

/* For questions about the device and not the context: also answered after a fault. */
#define RT_QUERY(call)                                                                                       \
    struct gpu *g;                                                                                           \
    cudaError_t rt_error_ = rt_find_gpu(&g);                                                                 \
    if (!rt_error_) rt_error_ = (call);                                                                      \
    return rt_done(rt_error_)

/* rt_error.c */

/* cudaErrorNoDevice when the configuration is wrong. */
cudaError_t rt_find_gpu(struct gpu **out);
/* The same, and the fault that ended the context; runs what is queued. */
cudaError_t rt_enter(struct gpu **out);
/* rt_enter, but what is queued stays queued. */
cudaError_t rt_enter_launch(struct gpu **out);
/* Notes e for cudaGetLastError; returns it. */
cudaError_t rt_done(cudaError_t e);
cudaError_t rt_from_status(enum gpu_status s);

#endif
