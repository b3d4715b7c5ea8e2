/* rt_copy.h: checked copies, for the files of libcudart that move data. */
#ifndef HEDDLE_RT_COPY_H
#define HEDDLE_RT_COPY_H

#include "cuda/rt_launch.h"
#include "cuda/rt_memory.h"
#include "cuda/rt_module.h"

/* kind says which sides must be device memory; a side that is not declared so may be either. */
bool rt_kind_valid(int kind);
cudaError_t rt_copy_check(struct gpu *g, const void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
                          int kind);
cudaError_t rt_copy(struct gpu *g, void *dst, const void *src, size_t bytes, int kind, struct rt_order order);

#endif
