/* alu_cvt_pack.c: cvt of pairs: two f32 to f16x2, bf16x2 or two 8-bit floats, 8-bit floats to and from f16x2;
 * tf32; cvt.pack of integers.
 *
 * Semantics: PTX ISA, cvt and cvt.pack; the first source goes to the upper half. e4m3 (bias 7, no infinity,
 * largest value 448 = 0x7e, NaN = 0x7f) and e5m2 (an f16 cut to 8 bits, largest value 57344 = 0x7b, NaN =
 * 0x7f): conversions to them are always .satfinite. tf32 is an f32 with 10 stored bits of significand; its
 * NaN has all of them set, except that .rna knows no NaN, as an H200 has it: it cuts the low bits off, and
 * SATFINITE steps down from all that is not finite. */
#include "emu/alu_cvt.h"

ALU_INLINE void half_pair(struct exec *x, const struct isa_inst *i, uint32_t mask, struct cvt_half_rule rule,
                          bool ftz)
{
    const uint32_t *hi = exec_src(x, i->src[0]), *lo = exec_src(x, i->src[1]);
    ALU_ALIGNED uint32_t o[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) o[l] = cvt_half(ftz ? f32_flush(lo[l]) : lo[l], rule);
    for (int l = 0; l < ISA_LANES; l++) o[l] |= cvt_half(ftz ? f32_flush(hi[l]) : hi[l], rule) << 16;
    alu_put32(x, i->dst[0], o, mask);
}
/* The plain case is separate, so that all of its rule is constant. */
#define HALF_PAIR(OP, bf16)                                                                                  \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const struct cvt_half_rule rule = cvt_half_rule(i, bf16),                                            \
                                   plain = {.is_bf16 = bf16, .round = ISA_RN};                               \
        if (rule.plain && !ALU_HAS(FTZ))                                                                     \
            half_pair(x, i, mask, plain, false);                                                             \
        else                                                                                                 \
            half_pair(x, i, mask, rule, ALU_HAS(FTZ));                                                       \
    }
#define HALF_PAIRS(P) P(CVT_F16X2_F32, false) P(CVT_BF16X2_F32, true)
HALF_PAIRS(HALF_PAIR)

ALU_INLINE uint32_t f8_from_f32(uint32_t b, bool is_e5m2, bool relu)
{
    const uint32_t r = is_e5m2 ? narrow_f32(b, 2, -14, ISA_RN) : narrow_f32(b, 3, -6, ISA_RN);
    const uint32_t bounded = MIN(r, is_e5m2 ? 0x7bu : 0x7eu);
    const uint32_t r8 = alu_if32(relu & (b >> 31), 0, bounded | (b >> 24 & 0x80));
    return alu_if32(f32_is_nan(b), 0x7f, r8);
}
ALU_INLINE uint32_t f16_from_e4m3(uint32_t v)
{
    const uint32_t mag = v & 0x7f, sign = (v & 0x80) << 8;
    const uint32_t tiny = f16_from_f32(f32_bits((float)(int32_t)mag * 0x1p-9f), ISA_RN);
    return alu_if32(mag == 0x7f, F16_NAN, sign | alu_if32(mag < 8, tiny, (mag << 7) + (8u << 10)));
}
ALU_INLINE uint32_t f16_from_e5m2(uint32_t v) { return (v & 0x7f) > 0x7c ? F16_NAN : v << 8; }
ALU_INLINE uint32_t f16_from_f8(uint32_t v, bool is_e5m2, bool relu)
{
    const uint32_t h = is_e5m2 ? f16_from_e5m2(v) : f16_from_e4m3(v);
    return relu ? half_relu(h, 0x7c00) : h;
}

#define RELU                    ALU_HAS(RELU)
#define F8_FROM_F16(h, is_e5m2) f8_from_f32(f32_from_f16(h), is_e5m2, RELU)
#define F8_ROWS(F1, F2)                                                                                      \
    F2(CVT_E4M3X2_F32, r, r, r, f8_from_f32(a, false, RELU) << 8 | f8_from_f32(b, false, RELU))              \
    F2(CVT_E5M2X2_F32, r, r, r, f8_from_f32(a, true, RELU) << 8 | f8_from_f32(b, true, RELU))                \
    F1(CVT_E4M3X2_F16X2, r, r, F8_FROM_F16(a >> 16, false) << 8 | F8_FROM_F16(a & 0xffff, false))            \
    F1(CVT_E5M2X2_F16X2, r, r, F8_FROM_F16(a >> 16, true) << 8 | F8_FROM_F16(a & 0xffff, true))              \
    F1(CVT_F16X2_E4M3X2, r, r,                                                                               \
       f16_from_f8(a >> 8 & 0xff, false, RELU) << 16 | f16_from_f8(a & 0xff, false, RELU))                   \
    F1(CVT_F16X2_E5M2X2, r, r,                                                                               \
       f16_from_f8(a >> 8 & 0xff, true, RELU) << 16 | f16_from_f8(a & 0xff, true, RELU))
F8_ROWS(ALU_FN1, ALU_FN2)

ALU_INLINE uint32_t tf32_from_f32(uint32_t b, int round, bool relu, bool satfinite)
{
    const uint32_t mag = b & 0x7fffffff, low = 0x1fff, sign = b & 0x80000000;
    const uint32_t number = (mag + round_increment(low, mag >> 13 & 1, b >> 31, round)) & ~low;
    const uint32_t r = alu_if32(f32_is_nan(b), mag & ~low, MIN(number, F32_INF));
    const uint32_t finite = r - alu_if32(satfinite & (r >= F32_INF), low + 1, 0);
    const bool other_nan = f32_is_nan(b) & (round != ISA_RNA);
    return alu_if32(other_nan, F32_NAN & ~low, alu_if32(relu & (b >> 31), 0, finite | sign));
}
#define TF32_ROWS(F1) F1(CVT_TF32_F32, r, r, tf32_from_f32(a, i->round, RELU, ALU_HAS(SATFINITE)))
TF32_ROWS(ALU_FN1)

/* Packs two signed words, each bounded to a field of inst.mod bits, into the low bits; the third source, if
 * there is one, gives the bits above. */
ALU_INLINE uint32_t pack_field(uint32_t v, int64_t lo, int64_t hi, uint32_t field)
{
    const int64_t s = (int32_t)v;
    return (uint32_t)(s < lo ? lo : s > hi ? hi : s) & field;
}
ALU_ROW(CVT_PACK)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);
    const bool is_signed = i->type == ISA_S8 || i->type == ISA_S16 || i->type == ISA_S32;
    const bool has_rest = i->src[2] != ISA_NONE && i->mod < 16;
    const uint32_t *pc = has_rest ? exec_src(x, i->src[2]) : pa;
    const int bits = MIN(i->mod, 16);
    const int64_t lo = is_signed ? -(1 << bits >> 1) : 0, hi = (is_signed ? 1 << bits >> 1 : 1 << bits) - 1;
    ALU_ALIGNED uint32_t o[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) {
        const uint32_t field = (1u << bits) - 1;
        const uint32_t pair = pack_field(pa[l], lo, hi, field) << bits | pack_field(pb[l], lo, hi, field);
        o[l] = has_rest ? pair | pc[l] << (2 * bits) : pair;
    }
    alu_put32(x, i->dst[0], o, mask);
}

void ALU_NAME(alu_cvt_pack_rows)(exec_fn **table)
{
    HALF_PAIRS(ALU_SET)
    F8_ROWS(ALU_SET, ALU_SET)
    TF32_ROWS(ALU_SET)
    ALU_ENTER(CVT_PACK);
}
