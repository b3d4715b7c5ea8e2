/* alu_fp.h: floating-point formats as bit patterns, lane by lane: classes, flushing, bounding, widening and
 * narrowing.
 *
 * Formats: f32, f64, f16, bf16 (the upper half of an f32), the two 8-bit formats, tf32. Narrowing rounds
 * once: what does not fit into an f32 comes there rounded to odd (truncated, and the last bit set if anything
 * was lost), which keeps all that a later rounding to at most 22 bits needs to know (Boldo and Melquiond,
 * "Emulation of FMA and correctly rounded sums", IEEE TC 2008). The NaN that NVIDIA hardware makes has all
 * bits set but the sign (PTX ISA, "Floating Point Instructions"). Everything here is straight-line, so that
 * loops over it vectorise. */
#ifndef HEDDLE_ALU_FP_H
#define HEDDLE_ALU_FP_H

#include <fenv.h>

#include "base/bits.h"
#include "emu/alu.h"

#define F32_NAN     0x7fffffffu
#define F32_INF     0x7f800000u
#define F32_ONE     0x3f800000u
#define F64_INF     0x7ff0000000000000ull
#define F64_NAN     0x7fffffffffffffffull
#define F64_QUIET   0x0008000000000000ull
#define F64_INVALID 0xfff8000000000000ull /* result of inf - inf, 0 * inf, 0 / 0, sqrt of a negative */
#define F64_ONE     0x3ff0000000000000ull
#define F16_NAN     0x7fffu /* also for bf16 */

ALU_INLINE bool f32_is_nan(uint32_t b) { return (int32_t)(b & 0x7fffffff) > (int32_t)F32_INF; }
ALU_INLINE bool f64_is_nan(uint64_t b) { return (int64_t)(b & F64_NAN) > (int64_t)F64_INF; }
ALU_INLINE uint32_t f32_canon(uint32_t b) { return f32_is_nan(b) ? F32_NAN : b; }
/* FTZ: a subnormal becomes the zero of its sign. */
ALU_INLINE uint32_t f32_flush(uint32_t b) { return b & alu_if32(b & F32_INF, UINT32_MAX, 0x80000000); }
ALU_INLINE uint32_t f16_flush(uint32_t b) { return b & alu_if32(b & 0x7c00, UINT32_MAX, 0x8000); }
/* SAT: into [0, 1]; NaN and -0 become +0. */
ALU_INLINE uint32_t f32_sat(uint32_t b)
{
    const int32_t s = (int32_t)b;
    return alu_if32((s > 0) & (s <= (int32_t)F32_INF), (uint32_t)MIN(s, (int32_t)F32_ONE), 0);
}
ALU_INLINE uint64_t f64_sat(uint64_t b)
{
    const int64_t s = (int64_t)b;
    return alu_if64((s > 0) & (s <= (int64_t)F64_INF), (uint64_t)MIN(s, (int64_t)F64_ONE), 0);
}
/* SAT and RELU on the 16-bit formats, whose order is that of their bits: inf and one are the format's. RELU
 * keeps NaN. */
ALU_INLINE uint32_t half_sat(uint32_t h, uint32_t inf, uint32_t one)
{
    return alu_if32(h <= inf, MIN(h, one), 0);
}
ALU_INLINE uint32_t half_relu(uint32_t h, uint32_t inf)
{
    return alu_if32((h & 0x7fff) > inf, F16_NAN, alu_if32(h & 0x8000, 0, h));
}

/* f16 to f32, exactly; NaN becomes f32's. Subnormals go through an integer, which spares hosts their slow
 * path. */
ALU_INLINE uint32_t f32_from_f16(uint32_t h)
{
    const uint32_t m = h & 0x7fff, sign = (h & 0x8000) << 16;
    const uint32_t normal = (m << 13) + (112u << 23);
    const uint32_t tiny = f32_bits((float)(int32_t)m * 0x1p-24f);
    const uint32_t finite = alu_if32(m < 0x400, tiny, normal);
    return alu_if32(m > 0x7c00, F32_NAN, sign | alu_if32(m == 0x7c00, F32_INF, finite));
}
ALU_INLINE uint32_t f32_from_bf16(uint32_t h) { return h << 16; }

/* The value to add to a magnitude before its low bits are cut off: low = a mask of these bits, lsb = the last
 * bit that stays. */
ALU_INLINE uint32_t round_increment(uint32_t low, uint32_t lsb, bool negative, int round)
{
    switch (round) {
    case ISA_RN: return (low >> 1) + lsb;
    case ISA_RNA: return (low >> 1) + 1;
    case ISA_RM: return low & (0u - (uint32_t)negative);
    case ISA_RP: return low & ((uint32_t)negative - 1);
    default: return 0; /* ISA_RZ */
    }
}
/* What a magnitude beyond the largest finite one becomes: that one, or infinity. */
ALU_INLINE bool round_stays_finite(bool negative, int round)
{
    return (round == ISA_RZ) | ((round == ISA_RM) & !negative) | ((round == ISA_RP) & negative);
}

/* f32 to a format of mant_bits stored bits of significand and normal exponents from exp_min on: the magnitude
 * as the format's bits, not yet bounded (an infinity or NaN gives something above all finite values). */
ALU_INLINE uint32_t narrow_f32(uint32_t b, int mant_bits, int exp_min, int round)
{
    const uint32_t mag = b & 0x7fffffff, exp = mag >> 23, first = (uint32_t)(127 + exp_min);
    const uint32_t drop = (uint32_t)(23 - mant_bits);
    const uint32_t sig =
        alu_if32(exp, (mag & 0x7fffff) | 0x800000, mag); /* below exp_min the leading bit is explicit */
    const bool tiny = exp < first;
    const uint32_t deep = drop + first - exp;
    const uint32_t shift = alu_if32(tiny, MIN(deep, 25u), drop);
    const uint32_t v = alu_if32(tiny, sig, mag - ((first - 1) << 23));
    const uint32_t low = (1u << shift) - 1;
    return (v + round_increment(low, v >> shift & 1, b >> 31, round)) >> shift;
}

ALU_INLINE uint32_t f16_from_f32(uint32_t b, int round)
{
    const uint32_t sign = b >> 16 & 0x8000, mag = b & 0x7fffffff;
    const uint32_t r = narrow_f32(b, 10, -14, round);
    const uint32_t beyond = 0x7c00 - (uint32_t)((mag != F32_INF) & round_stays_finite(sign, round));
    return alu_if32(f32_is_nan(b), F16_NAN, sign | MIN(r, beyond));
}
ALU_INLINE uint32_t bf16_from_f32(uint32_t b, int round)
{
    const uint32_t sign = b >> 16 & 0x8000, mag = b & 0x7fffffff;
    const uint32_t r = (mag + round_increment(0xffff, mag >> 16 & 1, sign, round)) >> 16;
    const uint32_t beyond = 0x7f80 - (uint32_t)((mag != F32_INF) & round_stays_finite(sign, round));
    return alu_if32(f32_is_nan(b), F16_NAN, sign | MIN(r, beyond));
}

/* Correction of s, a sum rounded to nearest, to the sum rounded to odd: error = true sum - s. */
ALU_INLINE uint32_t f32_make_odd(float s, float error)
{
    const bool away = (s > 0) != (error > 0), inexact = (error < 0) | (error > 0);
    const uint32_t b = f32_bits(s);
    return alu_if32(inexact, (b - (uint32_t)away) | 1, b);
}
ALU_INLINE uint64_t f64_make_odd(double s, double error)
{
    const bool away = (s > 0) != (error > 0), inexact = (error < 0) | (error > 0);
    const uint64_t b = f64_bits(s);
    return alu_if64(inexact, (b - (uint64_t)away) | 1, b);
}
/* f64 to f32, rounded to odd; finite values stay finite, NaN becomes f32's. */
ALU_INLINE uint32_t f32_odd_from_f64(uint64_t b)
{
    const double v = f64_of(b);
    const float f = (float)v;
    const double mag = f64_of(b & F64_NAN), got = (double)f32_of(f32_bits(f) & 0x7fffffff);
    const uint32_t r = f32_bits(f);
    const uint32_t odd = alu_if32(mag != got, (r - (uint32_t)(got > mag)) | 1, r);
    return alu_if32(f64_is_nan(b), F32_NAN, odd);
}

/* ---- rounding modes of the host ---- */

/* Runs of host arithmetic in another rounding mode are calls of functions that are not inlined, between
 * alu_round_begin and alu_round_end: the compiler can then neither move operations out nor fold them. */
ALU_INLINE void alu_round_begin(int round)
{
    if (round == ISA_RZ) fesetround(FE_TOWARDZERO);
    if (round == ISA_RM) fesetround(FE_DOWNWARD);
    if (round == ISA_RP) fesetround(FE_UPWARD);
}
ALU_INLINE void alu_round_end(int round)
{
    if (round != ISA_RN) fesetround(FE_TONEAREST);
}

#endif
