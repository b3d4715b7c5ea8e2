/* device.h: what device code of the workloads may use, under nvcc and under clang without the CUDA
 * toolkit. nvcc brings its own declarations; for clang the part of CUDA C that the workloads use is
 * declared here, and the mathematics is in device_math.h, since libdevice comes with the toolkit only.
 * Kernels are KERNEL functions (C linkage). */
#ifndef WORKLOAD_DEVICE_H
#define WORKLOAD_DEVICE_H

#ifdef __CUDACC_RTC__
#error "the workloads are compiled by nvcc -ptx or clang, not by NVRTC"
#endif

#if defined(__clang__) && !defined(__NVCC__)

#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __forceinline__        __attribute__((always_inline))
#define __noinline__           __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/* clang-format off */
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct int2 { int x, y; }; struct int3 { int x, y, z; };
struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
struct __attribute__((aligned(8))) uint2 { unsigned x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
struct __attribute__((aligned(8))) float2 { float x, y; }; struct float3 { float x, y, z; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(16))) double2 { double x, y; };
struct uchar4 { unsigned char x, y, z, w; };
/* clang-format on */
#include <__clang_cuda_builtin_vars.h>

#define KIT_INLINE static inline __device__ __forceinline__

KIT_INLINE float2 make_float2(float x, float y) { return {x, y}; }
KIT_INLINE float3 make_float3(float x, float y, float z) { return {x, y, z}; }
KIT_INLINE float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
KIT_INLINE int2 make_int2(int x, int y) { return {x, y}; }
KIT_INLINE int3 make_int3(int x, int y, int z) { return {x, y, z}; }
KIT_INLINE int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
KIT_INLINE uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
KIT_INLINE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
KIT_INLINE double2 make_double2(double x, double y) { return {x, y}; }

KIT_INLINE void __threadfence(void) { __nvvm_membar_gl(); }
KIT_INLINE void __threadfence_block(void) { __nvvm_membar_cta(); }

/* Relaxed, device scope, as CUDA's. */
KIT_INLINE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
KIT_INLINE unsigned atomicAdd(unsigned *p, unsigned v)
{
    return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v);
}
KIT_INLINE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
KIT_INLINE int atomicSub(int *p, int v) { return __nvvm_atom_add_gen_i(p, -v); }
KIT_INLINE unsigned atomicSub(unsigned *p, unsigned v)
{
    return (unsigned)__nvvm_atom_add_gen_i((int *)p, -(int)v);
}
KIT_INLINE int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
KIT_INLINE int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
KIT_INLINE unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
KIT_INLINE unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
KIT_INLINE int atomicOr(int *p, int v) { return __nvvm_atom_or_gen_i(p, v); }
KIT_INLINE unsigned atomicOr(unsigned *p, unsigned v)
{
    return (unsigned)__nvvm_atom_or_gen_i((int *)p, (int)v);
}
KIT_INLINE int atomicAnd(int *p, int v) { return __nvvm_atom_and_gen_i(p, v); }
KIT_INLINE int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
KIT_INLINE unsigned atomicExch(unsigned *p, unsigned v)
{
    return (unsigned)__nvvm_atom_xchg_gen_i((int *)p, (int)v);
}
KIT_INLINE int atomicCAS(int *p, int old, int v) { return __nvvm_atom_cas_gen_i(p, old, v); }
KIT_INLINE unsigned atomicCAS(unsigned *p, unsigned old, unsigned v)
{
    return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)old, (int)v);
}

#include "device_math.h"

#else
#define KIT_INLINE static __device__ __forceinline__ /* nvcc's __forceinline__ says inline */
#endif

#define KERNEL extern "C" __global__ void

/* One element of a texture over linear memory (kit_texture()). */
KIT_INLINE float4 kit_tex1d_float4(unsigned long long texture, int i)
{
    float4 v;
    asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(texture), "r"(i));
    return v;
}
KIT_INLINE float kit_tex1d_float(unsigned long long texture, int i) { return kit_tex1d_float4(texture, i).x; }
KIT_INLINE uint4 kit_tex1d_uint4(unsigned long long texture, int i)
{
    uint4 v;
    asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(texture), "r"(i));
    return v;
}

#endif
