/* rt_props.h: properties of the device: cudaDeviceProp in the layouts of CUDA 11, 12 and 13, and
 * attributes. */
#ifndef HEDDLE_RT_PROPS_H
#define HEDDLE_RT_PROPS_H

#include "base/base.h"
#include "core/machine.h"
#include "cuda/cuda_runtime_types.h"

#define ALL(type, name, dims, ...) type name dims;
#define OLD(type, name, dims, ...) type name dims;
#define NEW(type, name, dims, ...)
#define ONLY12(type, name, dims, ...)
#define ONLY13(type, name, dims, ...)
struct rt_props_11 {
#include "cuda/rt_props.def"
};
#define ALL(type, name, dims, ...)    type name dims;
#define OLD(type, name, dims, ...)    type name dims;
#define NEW(type, name, dims, ...)    type name dims;
#define ONLY12(type, name, dims, ...) type name dims;
#define ONLY13(type, name, dims, ...)
struct rt_props_12 {
#include "cuda/rt_props.def"
};
#define ALL(type, name, dims, ...) type name dims;
#define OLD(type, name, dims, ...)
#define NEW(type, name, dims, ...) type name dims;
#define ONLY12(type, name, dims, ...)
#define ONLY13(type, name, dims, ...) type name dims;
struct rt_props_13 {
#include "cuda/rt_props.def"
};

struct rt_props_11 rt_props_11(const struct machine *m);
struct rt_props_12 rt_props_12(const struct machine *m);
struct rt_props_13 rt_props_13(const struct machine *m);

/* False for an attribute that does not exist. */
bool rt_device_attribute(const struct machine *m, int attribute, int *out);

enum { RT_PCI_DOMAIN = 0, RT_PCI_BUS = 1, RT_PCI_DEVICE = 0 };

#endif
