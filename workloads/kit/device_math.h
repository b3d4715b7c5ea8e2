/* device_math.h: the mathematics of CUDA C for clang, whose libdevice would come with the toolkit. Exact
 * operations are the machine's; exponentials, logarithms and sines of floats are the special-function unit's
 * with a reduced argument (about 1e-6 relative), as nvcc's -use_fast_math makes them; those of doubles are
 * series (about 1e-14). The workloads' checks allow for both. */
#ifndef WORKLOAD_DEVICE_MATH_H
#define WORKLOAD_DEVICE_MATH_H

KIT_INLINE int min(int a, int b) { return a < b ? a : b; }
KIT_INLINE int max(int a, int b) { return a > b ? a : b; }
KIT_INLINE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
KIT_INLINE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
KIT_INLINE int abs(int a) { return a < 0 ? -a : a; }
KIT_INLINE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
KIT_INLINE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
KIT_INLINE float min(float a, float b) { return __nvvm_fmin_f(a, b); }
KIT_INLINE float max(float a, float b) { return __nvvm_fmax_f(a, b); }
KIT_INLINE float fabsf(float a) { return __builtin_fabsf(a); }
KIT_INLINE double fabs(double a) { return __builtin_fabs(a); }
KIT_INLINE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
KIT_INLINE double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
KIT_INLINE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
KIT_INLINE float floorf(float a) { return __nvvm_floor_f(a); }
KIT_INLINE float ceilf(float a) { return __nvvm_ceil_f(a); }
KIT_INLINE float truncf(float a) { return __nvvm_trunc_f(a); }
KIT_INLINE float rintf(float a) { return __nvvm_round_f(a); } /* to nearest, ties to even */
KIT_INLINE float roundf(float a) { return __builtin_copysignf(__nvvm_floor_f(__builtin_fabsf(a) + 0.5f), a); }
KIT_INLINE double floor(double a) { return __nvvm_floor_d(a); }
KIT_INLINE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
KIT_INLINE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
KIT_INLINE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
KIT_INLINE int __umul24(unsigned a, unsigned b) { return (int)((a & 0xffffffu) * (b & 0xffffffu)); }
KIT_INLINE int __float2int_rn(float a) { return __nvvm_f2i_rn(a); }
KIT_INLINE int __float2int_rd(float a) { return __nvvm_f2i_rm(a); }
KIT_INLINE int __float_as_int(float a) { return __nvvm_bitcast_f2i(a); }
KIT_INLINE float __int_as_float(int a) { return __nvvm_bitcast_i2f(a); }
KIT_INLINE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }

KIT_INLINE float exp2f(float a) { return __nvvm_ex2_approx_f(a); }
KIT_INLINE float log2f(float a) { return __nvvm_lg2_approx_f(a); }
KIT_INLINE float __expf(float a) { return exp2f(a * 1.442695041f); }
KIT_INLINE float __logf(float a) { return log2f(a) * 0.693147181f; }
KIT_INLINE float __log2f(float a) { return log2f(a); }
KIT_INLINE float __sinf(float a) { return __nvvm_sin_approx_f(a); }
KIT_INLINE float __cosf(float a) { return __nvvm_cos_approx_f(a); }
KIT_INLINE float __powf(float a, float b) { return exp2f(b * log2f(a)); }

/* 2^a with the part before the point split off exactly: a*log2(e) in two steps keeps the error near 2^-22. */
KIT_INLINE float expf(float a)
{
    float whole = rintf(a * 1.442695041f);
    float rest = fmaf(whole, -0.693145752f, a);
    rest = fmaf(whole, -1.42860677e-6f, rest);
    return exp2f(rest * 1.442695041f) * exp2f(whole);
}
KIT_INLINE float logf(float a)
{
    float near_one = a - 1;
    if (fabsf(near_one) > 0.1f) return log2f(a) * 0.693147181f;
    float s = near_one / (2 + near_one),
          q = s * s; /* the unit loses relative accuracy around 1: log = 2 atanh s */
    return 2 * s * (1 + q * (0.333333333f + q * (0.2f + q * 0.142857143f)));
}
KIT_INLINE float log10f(float a) { return logf(a) * 0.434294482f; }
/* The turns are taken off exactly enough for arguments up to a few thousand. */
KIT_INLINE float kit_turn(float a)
{
    float turns = rintf(a * 0.159154943f);
    return fmaf(turns, 1.74845553e-7f, fmaf(turns, -6.28318548f, a));
}
KIT_INLINE float sinf(float a) { return __sinf(kit_turn(a)); }
KIT_INLINE float cosf(float a) { return __cosf(kit_turn(a)); }
KIT_INLINE void sincosf(float a, float *s, float *c)
{
    *s = sinf(a);
    *c = cosf(a);
}
KIT_INLINE void __sincosf(float a, float *s, float *c)
{
    *s = __sinf(a);
    *c = __cosf(a);
}
KIT_INLINE float powf(float a, float b)
{
    if (b == 0 || a == 1) return 1;
    return a < 0 ? (rintf(b * 0.5f) * 2 == b ? 1.0f : -1.0f) * exp2f(b * log2f(-a)) : exp2f(b * log2f(a));
}
/* atan by one reduction (1/x) and a minimax-like odd series after another (tan of pi/6). */
KIT_INLINE float atanf(float a)
{
    float x = fabsf(a);
    bool inverted = x > 1, shifted;
    if (inverted) x = 1 / x;
    shifted = x > 0.267949192f;
    if (shifted) x = (x * 1.732050808f - 1) / (x + 1.732050808f);
    float q = x * x;
    float r = x * (1 + q * (-0.333333333f + q * (0.2f + q * (-0.142857143f + q * 0.111111111f))));
    if (shifted) r += 0.523598776f;
    if (inverted) r = 1.570796327f - r;
    return __builtin_copysignf(r, a);
}
KIT_INLINE float acosf(float a) { return a <= -1 ? 3.141592654f : 2 * atanf(sqrtf((1 - a) / (1 + a))); }

KIT_INLINE double kit_power_of_two(int e) { return __nvvm_bitcast_ll2d((long long)(e + 1023) << 52); }
KIT_INLINE double exp(double a)
{
    if (a < -700) return 0;
    double whole = __nvvm_round_d(a * 1.4426950408889634);
    double r = fma(whole, -1.9082149292705877e-10, fma(whole, -0.6931471803691238, a)), sum = 1;
    for (int i = 14; i > 0; i--) sum = fma(sum * r, 1.0 / i, 1);
    return sum * kit_power_of_two((int)whole);
}
KIT_INLINE double log(double a)
{
    long long bits = __nvvm_bitcast_d2ll(a);
    int e = (int)(bits >> 52 & 2047) - 1023;
    double m = __nvvm_bitcast_ll2d((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
    if (m > 1.4142135623730951) m *= 0.5, e++;
    double s = (m - 1) / (m + 1), q = s * s, sum = 0;
    for (int i = 21; i > 0; i -= 2) sum = fma(sum, q, 1.0 / i);
    return fma(2 * s, sum, e * 0.6931471805599453);
}
KIT_INLINE double pow(double a, double b) { return b == 0 ? 1 : exp(b * log(a)); }

/* The series of the cosine on half a turn either side; good for arguments up to a few thousand. */
KIT_INLINE double cos(double a)
{
    double turns = __nvvm_round_d(a * 0.15915494309189535);
    double r = fma(turns, -2.4492935982947064e-16, fma(turns, -6.283185307179586, a)), q = r * r, sum = 1;
    for (int i = 28; i > 0; i -= 2) sum = fma(sum * q, -1.0 / (i * (i - 1)), 1);
    return sum;
}

/* Not mathematics, but for clang alone as well: clang 14 holds that its builtin of this name leaves a
 * kernel's own __shared__ variables alone, and moves their loads across it. */
#define __syncthreads() asm volatile("bar.sync 0;" ::: "memory")

#endif
