/* rt_launch.h: one way into gpu_launch for all ways of starting a kernel. */
#ifndef HEDDLE_RT_LAUNCH_H
#define HEDDLE_RT_LAUNCH_H

#include "cuda/rt_module.h"

/* The dynamic shared memory that a launch of k may ask for. */
size_t rt_dynamic_shared_limit(struct gpu *g, const struct rt_kernel *k);

/* Streams: 0, the two special values, or a live one. */
bool rt_stream_valid(cudaStream_t stream);
uint64_t rt_stream_id(cudaStream_t stream);

#endif
