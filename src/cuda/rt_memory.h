/* rt_memory.h: allocations of libcudart, for its other files. */
#ifndef HEDDLE_RT_MEMORY_H
#define HEDDLE_RT_MEMORY_H

#include "cuda/rt_state.h"

/* 0 bytes give a NULL pointer and success, as cudaMalloc does. `what` names the call in messages. */
cudaError_t rt_alloc(struct gpu *g, void **out, size_t bytes, enum space_kind kind, const char *what);
/* The live allocation that holds p, or NULL. */
const struct space_alloc *rt_find_alloc(struct gpu *g, const void *p);
/* A holds p. */
bool rt_alloc_is_managed(const struct space_alloc *a, const void *p);
void rt_pointer_info(struct gpu *g, const void *p, struct cudaPointerAttributes *out);
/* rt_pool.c: p is freed, whichever way. */
void rt_pooled_forget(void *p);

/* rt_advice.c; location -1 is the host. Both APIs of prefetch and advice come here (rt_abi.c). */
cudaError_t rt_mem_prefetch(struct gpu *g, const void *p, size_t bytes, struct cudaMemLocation to,
                            cudaStream_t stream);
cudaError_t rt_mem_advise(struct gpu *g, const void *p, size_t bytes, int advice, struct cudaMemLocation at);

#endif
