/* rt_launch.h: the way into gpu_launch that all interfaces for starting a kernel share. */
#ifndef HEDDLE_RT_LAUNCH_H
#define HEDDLE_RT_LAUNCH_H

#include "cuda/rt_module.h"

/* The dynamic shared memory that a launch of k may ask for. */
size_t rt_dynamic_shared_limit(struct gpu *g, const struct rt_kernel *k);

/* Streams: 0, the two special values, or a live one. */
bool rt_stream_valid(cudaStream_t stream);
/* The id that cuda/gpu.h uses. */
uint64_t rt_stream_id(struct gpu *g, cudaStream_t stream);

/* The order of a copy or fill. */
struct rt_order {
    cudaStream_t stream;
    bool async;
};
static inline struct rt_order rt_sync(cudaStream_t s) { return (struct rt_order){.stream = s}; }
static inline struct rt_order rt_async(cudaStream_t s)
{
    return (struct rt_order){.stream = s, .async = true};
}
struct gpu_order rt_gpu_order(struct gpu *g, struct rt_order o);

#endif
