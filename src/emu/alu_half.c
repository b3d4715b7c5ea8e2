/* alu_half.c: f16 and bf16, single and packed in pairs: add, sub, mul, fma, neg, abs, min, max.
 *
 * Semantics: PTX ISA, "Half Precision Floating Point Instructions": one rounding, to nearest even. The
 * operations run in a wider format, and rounding twice must be shown harmless in each case. With p bits of
 * significand (f16: 11, bf16: 8, f32: 24): f16 and bf16 add and sub in f32: 24 >= 2p + 2 (Figueroa), and a
 * sum in the subnormal range is exact. f16 mul in f32: the product has 22 bits and is exact. bf16 mul in f64:
 * exact (16 bits, exponent from -266 on); then to f32 rounded to odd. f16 fma in f32, bf16 fma in f64: the
 * product is exact, the sum's error comes from Knuth's TwoSum, which cannot overflow here, and turns it into
 * the sum rounded to odd. FTZ exists for f16 only, and judges results as in single precision: by their size
 * before the exponent is bounded. SAT bounds to [0, 1], RELU below by 0. NaN results are 0x7fff, of neg and
 * abs too. */
#include "emu/alu_fp.h"

enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA, HALF_NEG, HALF_ABS, HALF_MIN, HALF_MAX };
struct half_flags {
    bool ftz, sat, relu, oob, nan_prop, xor_sign;
};

/* The NaN with which out-of-bounds elements of a tensor are filled, of either sign; fma.oob gives 0 where a
 * factor is one. PTX ISA leaves its bits open; these are an H200's, in both formats. */
#define HALF_OOB_NAN 0x7ff7u

ALU_INLINE uint32_t half_inf(bool is_bf16) { return is_bf16 ? 0x7f80 : 0x7c00; }
ALU_INLINE bool half_is_nan(uint32_t h, bool is_bf16) { return (h & 0x7fff) > half_inf(is_bf16); }

/* Sum, product and fma as f32 bits: exact, or with enough bits more than the format that rounding again is
 * right. */
ALU_INLINE uint32_t half_sum(uint32_t a, uint32_t b, bool is_bf16)
{
    if (is_bf16) return f32_bits(f32_of(f32_from_bf16(a)) + f32_of(f32_from_bf16(b)));
    return f32_bits(f32_of(f32_from_f16(a)) + f32_of(f32_from_f16(b)));
}
ALU_INLINE uint32_t half_product(uint32_t a, uint32_t b, bool is_bf16)
{
    if (is_bf16)
        return f32_odd_from_f64(
            f64_bits((double)f32_of(f32_from_bf16(a)) * (double)f32_of(f32_from_bf16(b))));
    return f32_bits(f32_of(f32_from_f16(a)) * f32_of(f32_from_f16(b)));
}
ALU_INLINE uint32_t f16_fma(uint32_t a, uint32_t b, uint32_t c)
{
    const float p = f32_of(f32_from_f16(a)) * f32_of(f32_from_f16(b)), q = f32_of(f32_from_f16(c));
    const float s = p + q, t = s - p, error = (p - (s - t)) + (q - t);
    return f32_make_odd(s, error);
}
ALU_INLINE uint32_t bf16_fma(uint32_t a, uint32_t b, uint32_t c)
{
    const double p = (double)f32_of(f32_from_bf16(a)) * (double)f32_of(f32_from_bf16(b));
    const double q = (double)f32_of(f32_from_bf16(c));
    const double s = p + q, t = s - p, error = (p - (s - t)) + (q - t);
    return f32_odd_from_f64(f64_make_odd(s, error));
}

/* The last rounding. With FTZ, what would stay below 2^-14 when rounded to 11 bits is flushed: all below the
 * point halfway between 2^-14 and its predecessor of 11 bits. */
ALU_INLINE uint32_t half_rounded(uint32_t b, bool is_bf16, bool flush)
{
    const uint32_t h = is_bf16 ? bf16_from_f32(b, ISA_RN) : f16_from_f32(b, ISA_RN);
    return alu_if32(flush & ((b & 0x7fffffff) < 0x387ff000), h & 0x8000, h);
}

/* Bits to integers of the same order, -0 below +0. */
ALU_INLINE int32_t half_order(uint32_t h)
{
    const int32_t s = (int16_t)h;
    return s ^ (s >> 31 & 0x7fff);
}
/* As f32_min_max of alu_f32.c. */
ALU_INLINE uint32_t half_min_max(uint32_t a, uint32_t b, bool max, bool is_bf16, struct half_flags f)
{
    const bool a_nan = half_is_nan(a, is_bf16), b_nan = half_is_nan(b, is_bf16);
    const uint32_t keep = f.xor_sign ? 0x7fff : 0xffff, va = a & keep, vb = b & keep;
    const int32_t ka = half_order(va), kb = half_order(vb);
    const bool a_wins = max ? ka > kb : ka < kb;
    const uint32_t r = alu_if32((a_wins | b_nan) & !a_nan, va, vb) | ((a ^ b) & ~keep & 0x8000);
    return alu_if32(f.nan_prop ? a_nan | b_nan : a_nan & b_nan, F16_NAN, r);
}

ALU_INLINE uint32_t half_operation(enum half_op op, uint32_t a, uint32_t b, uint32_t c, bool is_bf16,
                                   bool flush, struct half_flags f)
{
    switch (op) {
    case HALF_ADD: return half_rounded(half_sum(a, b, is_bf16), is_bf16, flush);
    case HALF_SUB: return half_rounded(half_sum(a, b ^ 0x8000, is_bf16), is_bf16, flush);
    case HALF_MUL: return half_rounded(half_product(a, b, is_bf16), is_bf16, flush);
    case HALF_FMA: return half_rounded(is_bf16 ? bf16_fma(a, b, c) : f16_fma(a, b, c), is_bf16, flush);
    case HALF_NEG: return alu_if32(half_is_nan(a, is_bf16), F16_NAN, a ^ 0x8000);
    case HALF_ABS: return alu_if32(half_is_nan(a, is_bf16), F16_NAN, a & 0x7fff);
    case HALF_MIN: return half_min_max(a, b, false, is_bf16, f);
    default: return half_min_max(a, b, true, is_bf16, f); /* HALF_MAX */
    }
}

ALU_INLINE uint32_t half_lane(enum half_op op, uint32_t a, uint32_t b, uint32_t c, bool is_bf16,
                              struct half_flags f)
{
    const bool flush = f.ftz && !is_bf16;
    const uint32_t fa = flush ? f16_flush(a) : a, fb = flush ? f16_flush(b) : b,
                   fc = flush ? f16_flush(c) : c;
    uint32_t r = half_operation(op, fa, fb, fc, is_bf16, flush, f);
    if (op >= HALF_NEG) return r;
    r = f.sat ? half_sat(r, half_inf(is_bf16), is_bf16 ? 0x3f80 : 0x3c00) : r;
    r = f.relu ? half_relu(r, half_inf(is_bf16)) : r;
    return alu_if32(f.oob & (((a & 0x7fff) == HALF_OOB_NAN) | ((b & 0x7fff) == HALF_OOB_NAN)), 0, r);
}

/* A whole row: its low halves, or both of each lane. The caller's constants make one loop for each opcode. */
ALU_INLINE void half_row(struct exec *x, const struct isa_inst *i, uint32_t mask, enum half_op op,
                         int sources, bool is_bf16, bool packed, struct half_flags f)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = sources > 1 ? exec_src(x, i->src[1]) : pa;
    const uint32_t *pc = sources > 2 ? exec_src(x, i->src[2]) : pa;
    ALU_ALIGNED uint32_t o[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++)
        o[l] = half_lane(op, pa[l] & 0xffff, pb[l] & 0xffff, pc[l] & 0xffff, is_bf16, f);
    if (packed)
        for (int l = 0; l < ISA_LANES; l++)
            o[l] |= half_lane(op, pa[l] >> 16, pb[l] >> 16, pc[l] >> 16, is_bf16, f) << 16;
    alu_put32(x, i->dst[0], o, mask);
}

/* The plain case is separate, so that flags cost nothing where there are none. */
#define HALF_ROW(OP, op, N, is_bf16, packed)                                                                 \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const struct half_flags none = {0};                                                                  \
        const struct half_flags f = {ALU_HAS(FTZ), ALU_HAS(SAT),     ALU_HAS(RELU),                          \
                                     ALU_HAS(OOB), ALU_HAS(NANPROP), ALU_HAS(XORSIGN)};                      \
        if (i->flags & (ISA_FTZ | ISA_SAT | ISA_RELU | ISA_OOB | ISA_NANPROP | ISA_XORSIGN))                 \
            half_row(x, i, mask, op, N, is_bf16, packed, f);                                                 \
        else                                                                                                 \
            half_row(x, i, mask, op, N, is_bf16, packed, none);                                              \
    }
#define HALF_FOUR(R, OP, N)                                                                                  \
    R(OP##_F16, HALF_##OP, N, false, false)                                                                  \
    R(OP##_F16X2, HALF_##OP, N, false, true)                                                                 \
    R(OP##_BF16, HALF_##OP, N, true, false)                                                                  \
    R(OP##_BF16X2, HALF_##OP, N, true, true)
#define HALF_ROWS(R)                                                                                         \
    HALF_FOUR(R, ADD, 2)                                                                                     \
    HALF_FOUR(R, SUB, 2)                                                                                     \
    HALF_FOUR(R, MUL, 2)                                                                                     \
    HALF_FOUR(R, FMA, 3)                                                                                     \
    HALF_FOUR(R, NEG, 1)                                                                                     \
    HALF_FOUR(R, ABS, 1)                                                                                     \
    HALF_FOUR(R, MIN, 2)                                                                                     \
    HALF_FOUR(R, MAX, 2)
HALF_ROWS(HALF_ROW)

void ALU_NAME(alu_half_rows)(exec_fn **table) { HALF_ROWS(ALU_SET) }
