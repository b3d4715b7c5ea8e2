/* alu_sfu.c: the approximate functions: reciprocal, square roots, division, sine, cosine, logarithm,
 * exponential, hyperbolic tangent.
 *
 * The hardware's tables are not public. These functions are evaluated in double precision with the basic
 * operations only, in a fixed order, and rounded once, so that every host gets the same bits; they are far
 * more accurate than the bounds of the PTX ISA require, and follow its tables of special values. Known steps
 * of the hardware are kept: sine and cosine first multiply by 1/2pi in single precision (rounded to zero),
 * which is why they degrade for large arguments; div.approx multiplies by a reciprocal that flushes
 * subnormals, which is why it gives 0 for large divisors. */
#include <math.h>

#include "emu/alu_fp.h"

#define LN2     0x1.62e42fefa39efp-1
#define LOG2_E  0x1.71547652b82fep0
#define TWO_PI  0x1.921fb54442d18p2
#define INV_2PI 0x3e22f983u /* f32 bits */

/* ---- kernels on doubles ---- */

/* Nearest integer of |v| < 2^51: adding 1.5 * 2^52 leaves no room for a fraction. */
ALU_INLINE double nearest(double v)
{
    const double big = 0x1.8p52;
    return (v + big) - big;
}

/* 2^v for |v| <= 1000: 2^n by exponent, n = nearest integer, times the Taylor series of e^(f ln 2), |f| <=
 * 1/2; relative error below 2^-41. */
ALU_INLINE double exp2_core(double v)
{
    const double n = nearest(v), t = (v - n) * LN2;
    double p = 1.0 / 3628800;
    p = p * t + 1.0 / 362880;
    p = p * t + 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    /* n + 1023 sits in the low bits of n + 1.5 * 2^52 + 1023. */
    const uint64_t scale = (f64_bits(n + (0x1.8p52 + 1023)) & 0x7ff) << 52;
    return p * f64_of(scale);
}
ALU_INLINE double bound(double v, double lo, double hi)
{
    const double low = v < lo ? lo : v;
    return low > hi ? hi : low;
}

/* log2 of a positive normal double: exponent plus ln(m) / ln 2, m in [sqrt(1/2), sqrt(2)), with ln(m) = 2
 * artanh((m - 1) / (m + 1)) as a series; relative error below 2^-40. */
ALU_INLINE double log2_core(uint64_t b)
{
    const uint64_t shifted = b - 0x3fe6a09e667f3bcdull; /* bits of sqrt(1/2) */
    const int64_t e = (int64_t)shifted >> 52;
    const double m = f64_of(b - ((uint64_t)e << 52));
    const double s = (m - 1.0) / (m + 1.0), q = s * s;
    double p = 1.0 / 17;
    p = p * q + 1.0 / 15;
    p = p * q + 1.0 / 13;
    p = p * q + 1.0 / 11;
    p = p * q + 1.0 / 9;
    p = p * q + 1.0 / 7;
    p = p * q + 1.0 / 5;
    p = p * q + 1.0 / 3;
    p = p * q + 1.0;
    return (double)(int32_t)e + 2.0 * LOG2_E * s * p;
}

/* sin(2 pi f), |f| <= 1/4, by its Taylor series; error below 2^-37. */
ALU_INLINE double sin_turns(double f)
{
    const double t = f * TWO_PI, q = t * t;
    double p = -1.0 / 1307674368000;
    p = p * q + 1.0 / 6227020800;
    p = p * q - 1.0 / 39916800;
    p = p * q + 1.0 / 362880;
    p = p * q - 1.0 / 5040;
    p = p * q + 1.0 / 120;
    p = p * q - 1.0 / 6;
    p = p * q + 1.0;
    return p * t;
}

/* tanh(v) = (1 - e^-2v) / (1 + e^-2v) on magnitudes; near 0, where that cancels, v - v^3/3 + 2 v^5/15. */
ALU_INLINE double tanh_core(double v)
{
    const double mag = v < 0 ? -v : v;
    const double e = exp2_core(bound(mag * (-2 * LOG2_E), -100, 0));
    const double far = (1.0 - e) / (1.0 + e), q = v * v;
    const double near = v + v * q * (q * (2.0 / 15) - 1.0 / 3);
    const uint64_t sign = f64_bits(v) & ~F64_NAN;
    return f64_of(alu_if64(mag < 0x1p-6, f64_bits(near), f64_bits(far) | sign));
}

/* ---- single precision: f32 bits in, f32 bits out; subnormal results are flushed by the caller ---- */

ALU_INLINE uint32_t rcp_f32(uint32_t a) { return f32_canon(f32_bits(1.0f / f32_of(a))); }
ALU_INLINE uint32_t sqrt_f32(uint32_t a) { return f32_canon(f32_bits(sqrtf(f32_of(a)))); }
ALU_INLINE uint32_t rsqrt_f32(uint32_t a)
{
    return f32_canon(f32_bits((float)(1.0 / sqrt((double)f32_of(a)))));
}
ALU_INLINE uint32_t div_f32(uint32_t a, uint32_t b) { return f32_canon(f32_bits(f32_of(a) / f32_of(b))); }
/* a * (1 / b); a subnormal divisor, which FTZ would have flushed before, is scaled up together with a. */
ALU_INLINE uint32_t div_approx_f32(uint32_t a, uint32_t b)
{
    const float scale = (b & 0x7fffffff) < 0x00800000 ? 0x1p24f : 1.0f;
    const uint32_t r = f32_flush(rcp_f32(f32_bits(f32_of(b) * scale)));
    return f32_canon(f32_bits(f32_of(a) * scale * f32_of(r)));
}

/* Argument in turns, as the hardware makes it: a * (1 / 2pi), single precision, rounded to zero; its distance
 * from the nearest whole turn, exactly. */
ALU_INLINE double turns(uint32_t a)
{
    const double exact = (double)f32_of(a) * (double)f32_of(INV_2PI); /* 48 bits fit */
    const uint32_t near = f32_bits((float)exact);
    const double mag = exact < 0 ? -exact : exact;
    const bool over = (double)f32_of(near & 0x7fffffff) > mag;
    const bool whole = (near & 0x7fffffff) >= 0x4b000000; /* 2^23 and more have no fraction */
    const double t = (double)f32_of(alu_if32(whole, 0, near - (uint32_t)over));
    return t - nearest(t);
}
ALU_INLINE uint32_t sin_f32(uint32_t a)
{
    const double f = turns(a), mag = f < 0 ? -f : f;
    const double folded = mag > 0.25 ? 0.5 - mag : mag;
    const uint32_t r = f32_bits((float)sin_turns(folded)), sign = (uint32_t)(f64_bits(f) >> 32) & 0x80000000;
    return alu_if32((a & 0x7fffffff) >= F32_INF, F32_NAN, alu_if32(a & 0x7fffffff, r | sign, a));
}
ALU_INLINE uint32_t cos_f32(uint32_t a)
{
    const double f = turns(a), mag = f < 0 ? -f : f;
    const uint32_t r = f32_bits((float)sin_turns(0.25 - mag));
    return alu_if32((a & 0x7fffffff) >= F32_INF, F32_NAN, r);
}
ALU_INLINE uint32_t lg2_f32(uint32_t a)
{
    const bool finite = ((int32_t)a > 0) & ((int32_t)a < (int32_t)F32_INF);
    const uint32_t r = f32_bits((float)log2_core(f64_bits((double)f32_of(alu_if32(finite, a, F32_ONE)))));
    const uint32_t special = alu_if32(a == F32_INF, F32_INF, F32_NAN);
    return alu_if32(finite, r, alu_if32(a & 0x7fffffff, special, 0xff800000));
}
ALU_INLINE uint32_t ex2_f32(uint32_t a)
{
    const double v = bound((double)f32_of(a), -200, 200); /* a NaN passes, and is replaced below */
    return alu_if32(f32_is_nan(a), F32_NAN, f32_bits((float)exp2_core(v)));
}
ALU_INLINE uint32_t tanh_f32(uint32_t a)
{
    const uint32_t r = f32_bits((float)tanh_core((double)f32_of(a)));
    return alu_if32(f32_is_nan(a), F32_NAN, alu_if32(a & 0x7fffffff, r, a));
}

/* FTZ is a pass before and a pass after, so that the function's own loop stays free of it. */
ALU_INLINE const uint32_t *flushed(uint32_t *to, const uint32_t *from, bool ftz)
{
    if (!ftz) return from;
    for (int l = 0; l < ISA_LANES; l++) to[l] = f32_flush(from[l]);
    return to;
}
#define F32_ROW(OP, N, CALL)                                                                                 \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const bool ftz = ALU_HAS(FTZ);                                                                       \
        ALU_ALIGNED uint32_t va[ISA_LANES], vb[ISA_LANES], o[ISA_LANES];                                     \
        const uint32_t *pa = flushed(va, exec_src(x, i->src[0]), ftz);                                       \
        const uint32_t *pb = N > 1 ? flushed(vb, exec_src(x, i->src[1]), ftz) : pa;                          \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const uint32_t a = pa[l], b = pb[l];                                                             \
            (void)b;                                                                                         \
            o[l] = CALL;                                                                                     \
        }                                                                                                    \
        alu_put32(x, i->dst[0], flushed(va, o, ftz), mask);                                                  \
    }
#define F32_ROWS(R)                                                                                          \
    R(DIV_APPROX_F32, 2, div_approx_f32(a, b))                                                               \
    R(DIV_FULL_F32, 2, div_f32(a, b))                                                                        \
    R(RCP_APPROX_F32, 1, rcp_f32(a))                                                                         \
    R(SQRT_APPROX_F32, 1, sqrt_f32(a))                                                                       \
    R(RSQRT_APPROX_F32, 1, rsqrt_f32(a))                                                                     \
    R(SIN_F32, 1, sin_f32(a))                                                                                \
    R(COS_F32, 1, cos_f32(a))                                                                                \
    R(LG2_F32, 1, lg2_f32(a))                                                                                \
    R(EX2_F32, 1, ex2_f32(a))                                                                                \
    R(TANH_F32, 1, tanh_f32(a))
F32_ROWS(F32_ROW)

/* ---- double precision ---- */

/* The .ftz forms see and give the upper words only: 20 bits of significand. */
#define UPPER(v) ((v)&0xffffffff00000000ull)
ALU_INLINE uint64_t upper_rounded(uint64_t b) { return UPPER(f64_is_nan(b) ? F64_NAN : b + 0x80000000); }
ALU_INLINE uint64_t f64_flush(uint64_t b) { return b & F64_INF ? b : b & ~F64_NAN; }
ALU_INLINE uint64_t rcp_approx_f64(uint64_t a)
{
    return f64_flush(upper_rounded(f64_bits(1.0 / f64_of(f64_flush(UPPER(a))))));
}
ALU_INLINE uint64_t rsqrt_f64(uint64_t a) { return f64_bits(1.0 / sqrt(f64_of(a))); }
ALU_INLINE uint64_t rsqrt_approx_f64(uint64_t a, bool ftz)
{
    const uint64_t full = rsqrt_f64(a),
                   nan = f64_is_nan(a) ? a | F64_QUIET : F64_INVALID; /* NaNs as in alu_f64.c */
    return ftz ? upper_rounded(rsqrt_f64(f64_flush(UPPER(a)))) : f64_is_nan(full) ? nan : full;
}
#define F64_ROWS(F1)                                                                                         \
    F1(RCP_APPROX_F64, d, d, rcp_approx_f64(a))                                                              \
    F1(RSQRT_APPROX_F64, d, d, rsqrt_approx_f64(a, ALU_HAS(FTZ)))
F64_ROWS(ALU_FN1)

/* ---- halves: widened, evaluated, rounded once (through f32 rounded to odd) ---- */

ALU_INLINE uint32_t half_from_f64(double v, bool is_bf16)
{
    const uint32_t odd = f32_odd_from_f64(f64_bits(v));
    return is_bf16 ? bf16_from_f32(odd, ISA_RN) : f16_from_f32(odd, ISA_RN);
}
ALU_INLINE uint32_t half_ex2(uint32_t h, bool is_bf16, bool ftz)
{
    const uint32_t b = is_bf16 ? f32_from_bf16(h) : f32_from_f16(h), a = ftz && is_bf16 ? f32_flush(b) : b;
    const uint32_t r = half_from_f64(exp2_core(bound((double)f32_of(a), -200, 200)), is_bf16);
    const bool flush = ftz & !(r & (is_bf16 ? 0x7f80 : 0x7c00));
    return alu_if32(f32_is_nan(a), F16_NAN, alu_if32(flush, 0, r));
}
ALU_INLINE uint32_t half_tanh(uint32_t h, bool is_bf16, bool ftz)
{
    const uint32_t a = is_bf16 ? f32_from_bf16(h) : f32_from_f16(h);
    const uint32_t r = half_from_f64(tanh_core((double)f32_of(a)), is_bf16);
    return alu_if32(f32_is_nan(a), F16_NAN, alu_if32(h & 0x7fff, r, h));
}
#define HALF_ONE(FN, is_bf16) FN(a & 0xffff, is_bf16, ALU_HAS(FTZ))
#define HALF_TWO(FN, is_bf16) (HALF_ONE(FN, is_bf16) | FN(a >> 16, is_bf16, ALU_HAS(FTZ)) << 16)
#define HALF_ROWS(F1)                                                                                        \
    F1(EX2_F16, r, r, HALF_ONE(half_ex2, false))                                                             \
    F1(EX2_F16X2, r, r, HALF_TWO(half_ex2, false))                                                           \
    F1(EX2_BF16, r, r, HALF_ONE(half_ex2, true))                                                             \
    F1(EX2_BF16X2, r, r, HALF_TWO(half_ex2, true))                                                           \
    F1(TANH_F16, r, r, HALF_ONE(half_tanh, false))                                                           \
    F1(TANH_F16X2, r, r, HALF_TWO(half_tanh, false))                                                         \
    F1(TANH_BF16, r, r, HALF_ONE(half_tanh, true))                                                           \
    F1(TANH_BF16X2, r, r, HALF_TWO(half_tanh, true))
HALF_ROWS(ALU_FN1)

void ALU_NAME(alu_sfu_rows)(exec_fn **table)
{
    F32_ROWS(ALU_SET)
    F64_ROWS(ALU_SET)
    HALF_ROWS(ALU_SET)
}
