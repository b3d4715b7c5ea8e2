/* alu_cvt_f2i.c: cvt from floats to integers: rounded to an integer in one of four modes, then bounded to the
 * destination's range.
 *
 * Semantics: PTX ISA, cvt: conversions to integers are always bounded. What NaN gives depends on the widths:
 * NAN_ZERO and NAN_TOP. f16 and bf16 are widened to f32, which is exact; 64-bit destinations are reached from
 * f64 only. */
#include "emu/alu_cvt.h"

/* NaN: 0 for conversions of at most 32 bits on both sides, else the destination's top bit alone (as an H200
 * has it). */
#define NAN_TO_64   0x8000000000000000ull
#define NAN_ZERO(T) 0
#define NAN_TOP(T)  ((uint32_t)((CVT_MAX_##T >> (CVT_MIN_##T ? 0 : 1)) + 1))

/* Integral value to 32 bits, bounded by [lo, hi] (exact in the source type or, for hi, the next value above
 * it). A value of 2^31 or more goes through its distance from there, since hosts convert to signed only. */
#define TO_32(F)                                                                                             \
    ALU_INLINE uint32_t to_32_##F(F v, int64_t lo, int64_t hi, uint32_t nan)                                 \
    {                                                                                                        \
        const bool inside = (v > (F)lo) & (v < (F)hi), high = hi > INT32_MAX ? v >= (F)0x1p31 : false;       \
        const F near = v - (high ? (F)0x1p31 : 0), safe = inside ? near : 0;                                 \
        const uint32_t r = (uint32_t)(int32_t)safe ^ alu_if32(high, 0x80000000, 0);                          \
        const uint32_t bounded = alu_if32(inside, r, alu_if32(v >= (F)hi, (uint32_t)hi, (uint32_t)lo));      \
        return alu_if32(v != v, nan, bounded);                                                               \
    }
TO_32(float)
TO_32(double)

ALU_INLINE uint64_t to_u64(double v)
{
    return v != v ? NAN_TO_64 : v >= 0x1p64 ? UINT64_MAX : v > 0 ? (uint64_t)v : 0;
}
ALU_INLINE uint64_t to_s64(double v)
{
    return v != v        ? NAN_TO_64
           : v >= 0x1p63 ? (uint64_t)INT64_MAX
           : v > -0x1p63 ? (uint64_t)(int64_t)v
                         : (uint64_t)INT64_MIN;
}
#define TO_64_U64(v) to_u64(v)
#define TO_64_S64(v) to_s64(v)

/* Source lanes as f32, after FTZ. */
#define LANE_F16(p, l)  f32_from_f16((p)[l] & 0xffff)
#define LANE_BF16(p, l) f32_from_bf16((p)[l] & 0xffff)
#define LANE_F32(p, l)  (ftz ? f32_flush((p)[l]) : (p)[l])

#define LOAD_FROM(S)                                                                                         \
    static ALU_NOINLINE void load_##S(float *v, struct exec *x, const struct isa_inst *i)                    \
    {                                                                                                        \
        const uint32_t *p = exec_src(x, i->src[0]);                                                          \
        const bool ftz = ALU_HAS(FTZ);                                                                       \
        (void)ftz;                                                                                           \
        for (int l = 0; l < ISA_LANES; l++) v[l] = f32_of(LANE_##S(p, l));                                   \
        cvt_integral_f32(v, i->round);                                                                       \
    }
LOAD_FROM(F16)
LOAD_FROM(BF16)
LOAD_FROM(F32)
static ALU_NOINLINE void load_F64(double *v, struct exec *x, const struct isa_inst *i)
{
    const uint32_t *p = exec_src(x, i->src[0]);
    for (int l = 0; l < ISA_LANES; l++) v[l] = f64_of(alu_lane64(p, l));
    cvt_integral_f64(v, i->round);
}

#define F2I_32(T, S, F, NAN)                                                                                 \
    ALU_ROW(CVT_##T##_##S)                                                                                   \
    {                                                                                                        \
        ALU_ALIGNED F v[ISA_LANES];                                                                          \
        ALU_ALIGNED uint32_t o[ISA_LANES];                                                                   \
        load_##S(v, x, i);                                                                                   \
        for (int l = 0; l < ISA_LANES; l++)                                                                  \
            o[l] = CVT_CUT_##T(to_32_##F(v[l], CVT_MIN_##T, (int64_t)CVT_MAX_##T, NAN(T)));                  \
        alu_put32(x, i->dst[0], o, mask);                                                                    \
    }
#define F2I_64(T, S, F)                                                                                      \
    ALU_ROW(CVT_##T##_##S)                                                                                   \
    {                                                                                                        \
        ALU_ALIGNED F v[ISA_LANES];                                                                          \
        ALU_ALIGNED uint64_t o[ISA_LANES];                                                                   \
        load_##S(v, x, i);                                                                                   \
        for (int l = 0; l < ISA_LANES; l++) o[l] = TO_64_##T((double)v[l]);                                  \
        alu_put64(x, i->dst[0], o, mask);                                                                    \
    }
#define F2I_TO_32(R, T)                                                                                      \
    R(T, F16, float, NAN_ZERO)                                                                               \
    R(T, BF16, float, NAN_ZERO)                                                                              \
    R(T, F32, float, NAN_ZERO)                                                                               \
    R(T, F64, double, NAN_TOP)
#define F2I_TO_64(R, T) R(T, F16, float) R(T, BF16, float) R(T, F32, float) R(T, F64, double)
#define F2I_ALL(R32, R64)                                                                                    \
    F2I_TO_32(R32, U8)                                                                                       \
    F2I_TO_32(R32, S8)                                                                                       \
    F2I_TO_32(R32, U16)                                                                                      \
    F2I_TO_32(R32, S16)                                                                                      \
    F2I_TO_32(R32, U32)                                                                                      \
    F2I_TO_32(R32, S32)                                                                                      \
    F2I_TO_64(R64, U64)                                                                                      \
    F2I_TO_64(R64, S64)
F2I_ALL(F2I_32, F2I_64)

#define F2I_SET(T, S, ...) CVT_SET(T, S)
void ALU_NAME(alu_cvt_f2i_rows)(exec_fn **table) { F2I_ALL(F2I_SET, F2I_SET) }
