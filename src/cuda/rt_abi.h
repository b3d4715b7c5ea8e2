/* rt_abi.h: what differs between the three libraries: the CUDA version that each of them is. */
#ifndef HEDDLE_RT_ABI_H
#define HEDDLE_RT_ABI_H

#include "cuda/cuda_runtime_types.h"

/* 13000, 12090, 11080. */
int rt_abi_version(void);
/* How much of these structs the program has. */
size_t rt_abi_resource_desc_bytes(void);
size_t rt_abi_texture_desc_bytes(void);
size_t rt_abi_view_desc_bytes(void);
size_t rt_abi_func_attributes_bytes(void);
size_t rt_abi_pointer_attributes_bytes(void);

#endif
