/* alu_cvt.h: types of cvt, as macros that the conversion files put together: how a source lane is read, how a
 * result is bounded and stored. */
#ifndef HEDDLE_ALU_CVT_H
#define HEDDLE_ALU_CVT_H

#include <math.h>

#include "emu/alu_fp.h"

/* Value of lane l of an integer source. */
#define CVT_INT_U8(p, l)  ((p)[l] & 0xff)
#define CVT_INT_S8(p, l)  ((int32_t)(int8_t)(p)[l])
#define CVT_INT_U16(p, l) ((p)[l] & 0xffff)
#define CVT_INT_S16(p, l) ((int32_t)(int16_t)(p)[l])
#define CVT_INT_U32(p, l) ((p)[l])
#define CVT_INT_S32(p, l) ((int32_t)(p)[l])
#define CVT_INT_U64(p, l) alu_lane64(p, l)
#define CVT_INT_S64(p, l) ((int64_t)alu_lane64(p, l))

/* Bounds of an integer destination. */
#define CVT_MIN_U8  0
#define CVT_MIN_S8  INT8_MIN
#define CVT_MIN_U16 0
#define CVT_MIN_S16 INT16_MIN
#define CVT_MIN_U32 0
#define CVT_MIN_S32 INT32_MIN
#define CVT_MIN_U64 0
#define CVT_MIN_S64 INT64_MIN
#define CVT_MAX_U8  ((uint64_t)UINT8_MAX)
#define CVT_MAX_S8  ((uint64_t)INT8_MAX)
#define CVT_MAX_U16 ((uint64_t)UINT16_MAX)
#define CVT_MAX_S16 ((uint64_t)INT16_MAX)
#define CVT_MAX_U32 ((uint64_t)UINT32_MAX)
#define CVT_MAX_S32 ((uint64_t)INT32_MAX)
#define CVT_MAX_U64 UINT64_MAX
#define CVT_MAX_S64 ((uint64_t)INT64_MAX)

/* Word of a destination row, and a result cut to the destination's bits in it. */
#define CVT_ROW_U8     uint32_t
#define CVT_ROW_S8     uint32_t
#define CVT_ROW_U16    uint32_t
#define CVT_ROW_S16    uint32_t
#define CVT_ROW_U32    uint32_t
#define CVT_ROW_S32    uint32_t
#define CVT_ROW_U64    uint64_t
#define CVT_ROW_S64    uint64_t
#define CVT_CUT_U8(v)  ((v)&0xff)
#define CVT_CUT_S8(v)  ((v)&0xff)
#define CVT_CUT_U16(v) ((v)&0xffff)
#define CVT_CUT_S16(v) ((v)&0xffff)
#define CVT_CUT_U32(v) (v)
#define CVT_CUT_S32(v) (v)
#define CVT_CUT_U64(v) (v)
#define CVT_CUT_S64(v) (v)
#define CVT_PUT_U8     alu_put32
#define CVT_PUT_S8     alu_put32
#define CVT_PUT_U16    alu_put32
#define CVT_PUT_S16    alu_put32
#define CVT_PUT_U32    alu_put32
#define CVT_PUT_S32    alu_put32
#define CVT_PUT_U64    alu_put64
#define CVT_PUT_S64    alu_put64

#define CVT_SET(T, S) table[ISA_OP_CVT_##T##_##S] = exec_CVT_##T##_##S;

/* ---- rounding to an integer that stays a float ---- */

/* Float-to-float conversions ask for it with the integer modes. */
ALU_INLINE bool cvt_is_integral(int round) { return round >= ISA_RNI; }
/* The four modes, by the low bits of either family of enum isa_round. */
ALU_INLINE int cvt_integral_mode(int round) { return round >= ISA_RNI ? round - ISA_RNI + ISA_RN : round; }

static ALU_NOINLINE __attribute__((unused)) void cvt_integral_f32(float *v, int round)
{
    switch (cvt_integral_mode(round)) {
    case ISA_RN:
        for (int l = 0; l < ISA_LANES; l++) v[l] = rintf(v[l]);
        break;
    case ISA_RM:
        for (int l = 0; l < ISA_LANES; l++) v[l] = floorf(v[l]);
        break;
    case ISA_RP:
        for (int l = 0; l < ISA_LANES; l++) v[l] = ceilf(v[l]);
        break;
    default:
        for (int l = 0; l < ISA_LANES; l++) v[l] = truncf(v[l]);
    }
}
static ALU_NOINLINE __attribute__((unused)) void cvt_integral_f64(double *v, int round)
{
    switch (cvt_integral_mode(round)) {
    case ISA_RN:
        for (int l = 0; l < ISA_LANES; l++) v[l] = rint(v[l]);
        break;
    case ISA_RM:
        for (int l = 0; l < ISA_LANES; l++) v[l] = floor(v[l]);
        break;
    case ISA_RP:
        for (int l = 0; l < ISA_LANES; l++) v[l] = ceil(v[l]);
        break;
    default:
        for (int l = 0; l < ISA_LANES; l++) v[l] = trunc(v[l]);
    }
}

/* ---- f32 to f16 or bf16 with all that cvt may ask for ---- */

struct cvt_half_rule {
    bool is_bf16, sat, relu, satfinite, plain;
    int round;
};
ALU_INLINE struct cvt_half_rule cvt_half_rule(const struct isa_inst *i, bool is_bf16)
{
    struct cvt_half_rule r = {is_bf16,       ALU_HAS(SAT),
                              ALU_HAS(RELU), ALU_HAS(SATFINITE),
                              false,         cvt_is_integral(i->round) ? ISA_RN : i->round};
    r.plain = !r.sat && !r.relu && !r.satfinite && r.round == ISA_RN;
    return r;
}
ALU_INLINE uint32_t cvt_half(uint32_t b, struct cvt_half_rule rule)
{
    const uint32_t inf = rule.is_bf16 ? 0x7f80 : 0x7c00, one = rule.is_bf16 ? 0x3f80 : 0x3c00;
    const uint32_t h = rule.is_bf16 ? bf16_from_f32(b, rule.round) : f16_from_f32(b, rule.round);
    const uint32_t finite = h - (uint32_t)(rule.satfinite & ((h & 0x7fff) == inf));
    const uint32_t low = rule.relu ? half_relu(finite, inf) : finite;
    return rule.sat ? half_sat(low, inf, one) : low;
}

#endif
