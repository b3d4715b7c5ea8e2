/* alu_cvt_float.c: cvt between f16, bf16, f32 and f64: one rounding in four modes, or rounding to an integer
 * in the same format.
 *
 * Semantics: PTX ISA, cvt. FTZ concerns f32 only, as source and as destination. SAT bounds to [0, 1], RELU
 * below by 0, SATFINITE to the largest finite value. f16 and bf16 are widened exactly; narrowing from f64
 * goes through f32 rounded to odd. NaNs, as an H200 has them: to and from f64 they keep sign and the
 * payload's upper bits and become quiet; bf16 to f32 is a plain shift; FTZ makes f32's NaN of them first; in
 * all other pairs they become the destination's NaN. */
#include "emu/alu_cvt.h"

/* ---- reading the source: f16, bf16 and f32 as f32, f64 as it is; rounded to an integer if the mode asks
 * ---- */

#define LANE_F16(p, l)  f32_from_f16((p)[l] & 0xffff)
#define LANE_BF16(p, l) f32_from_bf16((p)[l] & 0xffff)
#define LANE_F32(p, l)  (ftz ? f32_flush((p)[l]) : (p)[l])
#define LOAD_FROM(S)                                                                                         \
    ALU_INLINE void load_##S(uint32_t *v, struct exec *x, const struct isa_inst *i)                          \
    {                                                                                                        \
        const uint32_t *p = exec_src(x, i->src[0]);                                                          \
        const bool ftz = ALU_HAS(FTZ);                                                                       \
        (void)ftz;                                                                                           \
        for (int l = 0; l < ISA_LANES; l++) v[l] = LANE_##S(p, l);                                           \
        if (cvt_is_integral(i->round)) cvt_integral_f32((float *)v, i->round);                               \
    }
LOAD_FROM(F16)
LOAD_FROM(BF16)
LOAD_FROM(F32)
ALU_INLINE void load_F64(uint64_t *v, struct exec *x, const struct isa_inst *i)
{
    const uint32_t *p = exec_src(x, i->src[0]);
    for (int l = 0; l < ISA_LANES; l++) v[l] = alu_lane64(p, l);
    if (cvt_is_integral(i->round)) cvt_integral_f64((double *)v, i->round);
}

/* ---- writing the destination out of f32 or f64 bits ---- */

ALU_INLINE void put_f32(struct exec *x, const struct isa_inst *i, uint32_t mask, uint32_t *v)
{
    if (ALU_HAS(FTZ))
        for (int l = 0; l < ISA_LANES; l++) v[l] = f32_flush(v[l]);
    if (ALU_HAS(SAT))
        for (int l = 0; l < ISA_LANES; l++) v[l] = f32_sat(v[l]);
    alu_put32(x, i->dst[0], v, mask);
}
ALU_INLINE void put_f64(struct exec *x, const struct isa_inst *i, uint32_t mask, uint64_t *v)
{
    if (ALU_HAS(SAT))
        for (int l = 0; l < ISA_LANES; l++) v[l] = f64_sat(v[l]);
    alu_put64(x, i->dst[0], v, mask);
}
static ALU_NOINLINE void put_half(struct exec *x, const struct isa_inst *i, uint32_t mask, const uint32_t *v,
                                  bool is_bf16)
{
    const struct cvt_half_rule rule = cvt_half_rule(i, is_bf16);
    ALU_ALIGNED uint32_t o[ISA_LANES];
    if (rule.plain && is_bf16)
        for (int l = 0; l < ISA_LANES; l++) o[l] = bf16_from_f32(v[l], ISA_RN);
    else if (rule.plain)
        for (int l = 0; l < ISA_LANES; l++) o[l] = f16_from_f32(v[l], ISA_RN);
    else
        for (int l = 0; l < ISA_LANES; l++) o[l] = cvt_half(v[l], rule);
    alu_put32(x, i->dst[0], o, mask);
}

static ALU_NOINLINE void f32_from_f64(uint32_t *o, const uint64_t *v)
{
    for (int l = 0; l < ISA_LANES; l++) o[l] = f32_bits((float)f64_of(v[l]));
}

/* NaNs between f64 and a smaller format: frac = bits of the smaller one's stored significand, bits = its
 * width. */
ALU_INLINE uint32_t nan_from_f64(uint64_t b, int frac, int bits)
{
    const uint32_t all =
        (uint32_t)(((1ull << (bits - 1)) - 1) >> (frac - 1) << (frac - 1)); /* exponent and quiet bit */
    return (uint32_t)(b >> 63) << (bits - 1) | all | (uint32_t)((b & 0xfffffffffffffull) >> (52 - frac));
}
ALU_INLINE uint64_t nan_to_f64(uint32_t b, int frac, int bits)
{
    const uint64_t payload = (uint64_t)(b & ((1u << frac) - 1)) << (52 - frac);
    return (uint64_t)(b >> (bits - 1) & 1) << 63 | 0x7ff8000000000000ull | payload;
}
static ALU_NOINLINE void fix_nans_from_f64(uint32_t *o, const uint64_t *v, int frac, int bits)
{
    for (int l = 0; l < ISA_LANES; l++)
        if (f64_is_nan(v[l])) o[l] = nan_from_f64(v[l], frac, bits);
}

/* ---- rows ---- */

#define CANON_F16(v)   (v) /* canonical already */
#define CANON_BF16(v)  (i->flags & (ISA_FTZ | ISA_SAT) || cvt_is_integral(i->round) ? f32_canon(v) : (v))
#define CANON_F32(v)   f32_canon(v)
#define NAN_F16(p, l)  nan_to_f64((p)[l] & 0xffff, 10, 16)
#define NAN_BF16(p, l) nan_to_f64((p)[l] & 0xffff, 7, 16)
#define NAN_F32(p, l)  nan_to_f64(ALU_HAS(FTZ) ? F32_NAN : (p)[l], 23, 32)
#define FROM_SMALL(S)                                                                                        \
    ALU_ROW(CVT_F32_##S)                                                                                     \
    {                                                                                                        \
        ALU_ALIGNED uint32_t v[ISA_LANES];                                                                   \
        load_##S(v, x, i);                                                                                   \
        for (int l = 0; l < ISA_LANES; l++) v[l] = CANON_##S(v[l]);                                          \
        put_f32(x, i, mask, v);                                                                              \
    }                                                                                                        \
    ALU_ROW(CVT_F64_##S)                                                                                     \
    {                                                                                                        \
        const uint32_t *p = exec_src(x, i->src[0]);                                                          \
        ALU_ALIGNED uint32_t v[ISA_LANES];                                                                   \
        ALU_ALIGNED uint64_t o[ISA_LANES];                                                                   \
        load_##S(v, x, i);                                                                                   \
        for (int l = 0; l < ISA_LANES; l++)                                                                  \
            o[l] = alu_if64(f32_is_nan(v[l]), NAN_##S(p, l), f64_bits((double)f32_of(v[l])));                \
        put_f64(x, i, mask, o);                                                                              \
    }                                                                                                        \
    ALU_ROW(CVT_F16_##S)                                                                                     \
    {                                                                                                        \
        ALU_ALIGNED uint32_t v[ISA_LANES];                                                                   \
        load_##S(v, x, i);                                                                                   \
        put_half(x, i, mask, v, false);                                                                      \
    }                                                                                                        \
    ALU_ROW(CVT_BF16_##S)                                                                                    \
    {                                                                                                        \
        ALU_ALIGNED uint32_t v[ISA_LANES];                                                                   \
        load_##S(v, x, i);                                                                                   \
        put_half(x, i, mask, v, true);                                                                       \
    }
FROM_SMALL(F16)
FROM_SMALL(BF16)
FROM_SMALL(F32)

ALU_ROW(CVT_F64_F64)
{
    ALU_ALIGNED uint64_t v[ISA_LANES];
    load_F64(v, x, i);
    for (int l = 0; l < ISA_LANES; l++) v[l] = v[l] | (f64_is_nan(v[l]) ? F64_QUIET : 0);
    put_f64(x, i, mask, v);
}
ALU_ROW(CVT_F32_F64)
{
    const int round = cvt_is_integral(i->round) ? ISA_RN : i->round;
    ALU_ALIGNED uint64_t v[ISA_LANES];
    ALU_ALIGNED uint32_t o[ISA_LANES];
    load_F64(v, x, i);
    alu_round_begin(round);
    f32_from_f64(o, v);
    alu_round_end(round);
    fix_nans_from_f64(o, v, 23, 32);
    put_f32(x, i, mask, o);
}
static ALU_NOINLINE void half_from_f64(struct exec *x, const struct isa_inst *i, uint32_t mask, bool is_bf16)
{
    const struct cvt_half_rule rule = cvt_half_rule(i, is_bf16);
    ALU_ALIGNED uint64_t v[ISA_LANES];
    ALU_ALIGNED uint32_t o[ISA_LANES];
    load_F64(v, x, i);
    for (int l = 0; l < ISA_LANES; l++) o[l] = cvt_half(f32_odd_from_f64(v[l]), rule);
    if (!rule.sat && !rule.relu) fix_nans_from_f64(o, v, is_bf16 ? 7 : 10, 16);
    alu_put32(x, i->dst[0], o, mask);
}
ALU_ROW(CVT_F16_F64) { half_from_f64(x, i, mask, false); }
ALU_ROW(CVT_BF16_F64) { half_from_f64(x, i, mask, true); }

#define FLOAT_SET(S) CVT_SET(F16, S) CVT_SET(BF16, S) CVT_SET(F32, S) CVT_SET(F64, S)
void ALU_NAME(alu_cvt_float_rows)(exec_fn **table)
{
    FLOAT_SET(F16)
    FLOAT_SET(BF16)
    FLOAT_SET(F32)
    FLOAT_SET(F64)
}
