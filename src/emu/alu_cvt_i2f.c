/* alu_cvt_i2f.c: cvt from integers to floats, one rounding, in four modes; SAT bounds to [0, 1].
 *
 * Semantics: PTX ISA, cvt. To f32 and f64 the host's conversion rounds in the mode asked for. To f16 and bf16
 * the integer first becomes an f32 rounded to odd, which a second rounding to at most 11 bits cannot tell
 * from the integer itself. */
#include "emu/alu_cvt.h"

typedef void i2f32_kernel(uint32_t *o, const uint32_t *p);
typedef void i2f64_kernel(uint64_t *o, const uint32_t *p);

/* u32 in two exact halves whose sum rounds once: hosts without unsigned conversions vectorise it. */
ALU_INLINE float f32_from_u32(uint32_t v)
{
    return (float)(int32_t)(v >> 16) * 65536.0f + (float)(int32_t)(v & 0xffff);
}
#define TO_F32_U8(v)  ((float)(int32_t)(v))
#define TO_F32_S8(v)  ((float)(v))
#define TO_F32_U16(v) ((float)(int32_t)(v))
#define TO_F32_S16(v) ((float)(v))
#define TO_F32_U32(v) f32_from_u32(v)
#define TO_F32_S32(v) ((float)(v))
#define TO_F32_U64(v) ((float)(v))
#define TO_F32_S64(v) ((float)(v))

/* Magnitude cut to its top 24 bits, the last of them set if anything was lost: exact as f32. */
ALU_INLINE uint32_t f32_odd_from_magnitude(uint64_t mag, bool negative)
{
    const int drop = mag >> 24 ? 40 - __builtin_clzll(mag) : 0;
    const uint64_t low = (1ull << drop) - 1;
    const uint32_t top = (uint32_t)(mag >> drop) | ((mag & low) != 0);
    return (f32_bits((float)(int32_t)top) + ((uint32_t)drop << 23)) | (negative ? 0x80000000 : 0);
}
ALU_INLINE uint32_t f32_odd_from_signed(int64_t v)
{
    return f32_odd_from_magnitude(v < 0 ? 0u - (uint64_t)v : (uint64_t)v, v < 0);
}
#define TO_ODD_U8(v)  f32_odd_from_magnitude(v, false)
#define TO_ODD_S8(v)  f32_odd_from_signed(v)
#define TO_ODD_U16(v) f32_odd_from_magnitude(v, false)
#define TO_ODD_S16(v) f32_odd_from_signed(v)
#define TO_ODD_U32(v) f32_odd_from_magnitude(v, false)
#define TO_ODD_S32(v) f32_odd_from_signed(v)
#define TO_ODD_U64(v) f32_odd_from_magnitude(v, false)
#define TO_ODD_S64(v) f32_odd_from_signed(v)

static ALU_NOINLINE void put_f32(struct exec *x, const struct isa_inst *i, uint32_t mask,
                                 i2f32_kernel *kernel)
{
    ALU_ALIGNED uint32_t o[ISA_LANES];
    alu_round_begin(i->round);
    kernel(o, exec_src(x, i->src[0]));
    alu_round_end(i->round);
    if (ALU_HAS(SAT))
        for (int l = 0; l < ISA_LANES; l++) o[l] = f32_sat(o[l]);
    alu_put32(x, i->dst[0], o, mask);
}

static ALU_NOINLINE void put_f64(struct exec *x, const struct isa_inst *i, uint32_t mask,
                                 i2f64_kernel *kernel)
{
    ALU_ALIGNED uint64_t o[ISA_LANES];
    alu_round_begin(i->round);
    kernel(o, exec_src(x, i->src[0]));
    alu_round_end(i->round);
    if (ALU_HAS(SAT))
        for (int l = 0; l < ISA_LANES; l++) o[l] = f64_sat(o[l]);
    alu_put64(x, i->dst[0], o, mask);
}

/* o holds f32 bits and becomes half bits. */
static ALU_NOINLINE void put_half(struct exec *x, const struct isa_inst *i, uint32_t mask,
                                  i2f32_kernel *odd_kernel, bool is_bf16)
{
    const bool sat = ALU_HAS(SAT);
    ALU_ALIGNED uint32_t o[ISA_LANES];
    odd_kernel(o, exec_src(x, i->src[0]));
    for (int l = 0; l < ISA_LANES; l++) {
        const uint32_t b = sat ? f32_sat(o[l]) : o[l]; /* its bounds are exact in either format */
        o[l] = is_bf16 ? bf16_from_f32(b, i->round) : f16_from_f32(b, i->round);
    }
    alu_put32(x, i->dst[0], o, mask);
}

/* Hosts without unsigned conversions may subtract to make them, which gives -0 for 0 when rounding down. */
#define KEEP_SIGN(S) (CVT_MIN_##S ? UINT64_MAX : F64_NAN)
#define I2F_FROM(S)                                                                                          \
    static ALU_NOINLINE void to_f32_##S(uint32_t *o, const uint32_t *p)                                      \
    {                                                                                                        \
        for (int l = 0; l < ISA_LANES; l++)                                                                  \
            o[l] = f32_bits(TO_F32_##S(CVT_INT_##S(p, l))) & (uint32_t)(KEEP_SIGN(S) >> 32);                 \
    }                                                                                                        \
    static ALU_NOINLINE void to_f64_##S(uint64_t *o, const uint32_t *p)                                      \
    {                                                                                                        \
        for (int l = 0; l < ISA_LANES; l++) o[l] = f64_bits((double)CVT_INT_##S(p, l)) & KEEP_SIGN(S);       \
    }                                                                                                        \
    static ALU_NOINLINE void to_odd_##S(uint32_t *o, const uint32_t *p)                                      \
    {                                                                                                        \
        for (int l = 0; l < ISA_LANES; l++) o[l] = TO_ODD_##S(CVT_INT_##S(p, l));                            \
    }                                                                                                        \
    ALU_ROW(CVT_F32_##S) { put_f32(x, i, mask, to_f32_##S); }                                                \
    ALU_ROW(CVT_F64_##S) { put_f64(x, i, mask, to_f64_##S); }                                                \
    ALU_ROW(CVT_F16_##S) { put_half(x, i, mask, to_odd_##S, false); }                                        \
    ALU_ROW(CVT_BF16_##S) { put_half(x, i, mask, to_odd_##S, true); }
#define I2F_SET(S) CVT_SET(F32, S) CVT_SET(F64, S) CVT_SET(F16, S) CVT_SET(BF16, S)
#define I2F_ALL(X) X(U8) X(S8) X(U16) X(S16) X(U32) X(S32) X(U64) X(S64)
I2F_ALL(I2F_FROM)

void ALU_NAME(alu_cvt_i2f_rows)(exec_fn **table) { I2F_ALL(I2F_SET) }
