/* rt_props.c: device properties and attributes, from the machine. */
#include "cuda/rt_props.h"

#include "base/hash.h"
#include "isa/isa.h"

/* The last one of CUDA 13.0. */
enum { ATTRIBUTE_MAX = 147 };

_Static_assert(sizeof(struct rt_props_11) == 728, "cudaDeviceProp of CUDA 11");
_Static_assert(sizeof(struct rt_props_12) == 1032, "cudaDeviceProp of CUDA 12");
_Static_assert(sizeof(struct rt_props_13) == 1008, "cudaDeviceProp of CUDA 13");

/* Throughput of 32-bit over 64-bit arithmetic: half-rate double precision is what the data-centre chips have,
 * whose compute capability ends in 0 (CUDA Programming Guide, arithmetic instructions). */
static int single_to_double(const struct machine *m) { return m->cc_major >= 6 && m->cc_minor == 0 ? 2 : 32; }

/* The name, and an identity that is the same in every run. */
static void set_identity(const struct machine *m, char name[256], cudaUUID_t *uuid)
{
    snprintf(name, 256, "%s", m->device_name);
    uint64_t halves[2] = {hash_mix(hash_text(m->name)), hash_mix(hash_text(m->device_name))};
    memcpy(uuid->bytes, halves, sizeof(halves));
}

#define ALL(type, name, dims, ...) .name = __VA_ARGS__,
#define OLD(type, name, dims, ...) .name = __VA_ARGS__,
#define NEW(type, name, dims, ...)
#define ONLY12(type, name, dims, ...)
#define ONLY13(type, name, dims, ...)
struct rt_props_11 rt_props_11(const struct machine *m)
{
    struct rt_props_11 p = {
#include "cuda/rt_props.def"
    };
    set_identity(m, p.name, &p.uuid);
    return p;
}

#define ALL(type, name, dims, ...)    .name = __VA_ARGS__,
#define OLD(type, name, dims, ...)    .name = __VA_ARGS__,
#define NEW(type, name, dims, ...)    .name = __VA_ARGS__,
#define ONLY12(type, name, dims, ...) .name = __VA_ARGS__,
#define ONLY13(type, name, dims, ...)
struct rt_props_12 rt_props_12(const struct machine *m)
{
    struct rt_props_12 p = {
#include "cuda/rt_props.def"
    };
    set_identity(m, p.name, &p.uuid);
    return p;
}

#define ALL(type, name, dims, ...) .name = __VA_ARGS__,
#define OLD(type, name, dims, ...)
#define NEW(type, name, dims, ...) .name = __VA_ARGS__,
#define ONLY12(type, name, dims, ...)
#define ONLY13(type, name, dims, ...) .name = __VA_ARGS__,
struct rt_props_13 rt_props_13(const struct machine *m)
{
    struct rt_props_13 p = {
#include "cuda/rt_props.def"
    };
    set_identity(m, p.name, &p.uuid);
    return p;
}

bool rt_device_attribute(const struct machine *m, int attribute, int *out)
{
    const int64_t values[ATTRIBUTE_MAX + 1] = {
#define ATTRIBUTE(number, name, value) [number] = (int64_t)(value),
#include "cuda/rt_attributes.def"
    };
    if (attribute < 1 || attribute > ATTRIBUTE_MAX) return false;
    *out = (int)MIN(values[attribute], (int64_t)INT32_MAX);
    return true;
}
