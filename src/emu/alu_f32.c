/* alu_f32.c: single precision, IEEE 754 arithmetic: add, sub, mul, fma, div, rcp, sqrt in four rounding
 * modes, abs, neg, min, max, copysign.
 *
 * Semantics: PTX ISA, "Floating Point Instructions". A NaN result is always 0x7fffffff, of abs and neg too.
 * FTZ flushes subnormal sources and results; a result is subnormal if it were with an unbounded exponent
 * ("tininess after rounding" of IEEE 754), as an H200 has it: see flush_results. SAT bounds to [0, 1]. The
 * common case (to nearest, no flags) is one loop; everything else goes through the general path, which
 * applies flags before and after the same operation. */
#include <math.h>

#include "emu/alu_fp.h"

typedef void f32_kernel(uint32_t *o, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc);

/* How an operation's sources are scaled so that its result is 2^24 times as large. Sums and roots need no
 * scaling. */
enum scaling { SCALE_NONE, SCALE_PRODUCT, SCALE_QUOTIENT, SCALE_RCP };
ALU_INLINE uint32_t scale_by(uint32_t b, float by) { return f32_bits(f32_of(b) * by); }

static void scale_sources(uint32_t s[3][ISA_LANES], const uint32_t *const *p, enum scaling how)
{
    for (int l = 0; l < ISA_LANES; l++) {
        const uint32_t a = p[0][l], b = p[1][l], c = p[2][l];
        const bool a_small = (a & 0x7fffffff) < (b & 0x7fffffff); /* the smaller factor cannot overflow */
        const bool product = how == SCALE_PRODUCT;
        s[0][l] = how == SCALE_RCP ? scale_by(a, 0x1p-24f) : product && !a_small ? a : scale_by(a, 0x1p24f);
        s[1][l] = product && !a_small ? scale_by(b, 0x1p24f) : b;
        s[2][l] = product ? scale_by(c, 0x1p24f) : c;
    }
}

/* FTZ of results. A result that is the smallest normal number may have been rounded up from the subnormal
 * range, where significands are shorter; computing it again 2^24 times as large shows whether full precision
 * gives it too. */
static ALU_NOINLINE void flush_results(uint32_t *o, const uint32_t *const *p, int round, enum scaling how,
                                       f32_kernel *kernel)
{
    const uint32_t least = 0x00800000, least_scaled = least + (24u << 23);
    ALU_ALIGNED uint32_t s[3][ISA_LANES], wide[ISA_LANES];
    uint32_t doubtful = 0;
    for (int l = 0; l < ISA_LANES; l++) doubtful |= (o[l] & 0x7fffffff) == least;
    for (int l = 0; l < ISA_LANES; l++) o[l] = f32_flush(o[l]);
    if (!doubtful || how == SCALE_NONE) return;
    scale_sources(s, p, how);
    alu_round_begin(round);
    kernel(wide, s[0], s[1], s[2]);
    alu_round_end(round);
    for (int l = 0; l < ISA_LANES; l++)
        if ((o[l] & 0x7fffffff) == least && (wide[l] & 0x7fffffff) < least_scaled) o[l] &= 0x80000000;
}

static ALU_NOINLINE void f32_general(struct exec *x, const struct isa_inst *i, uint32_t mask, int sources,
                                     enum scaling how, f32_kernel *kernel)
{
    const bool ftz = ALU_HAS(FTZ), sat = ALU_HAS(SAT);
    const uint32_t *p[3];
    ALU_ALIGNED uint32_t flushed[3][ISA_LANES], o[ISA_LANES];
    for (int k = 0; k < 3; k++) {
        p[k] = exec_src(x, i->src[k < sources ? k : 0]);
        if (!ftz || k >= sources) continue;
        for (int l = 0; l < ISA_LANES; l++) flushed[k][l] = f32_flush(p[k][l]);
        p[k] = flushed[k];
    }
    alu_round_begin(i->round);
    kernel(o, p[0], p[1], p[2]);
    alu_round_end(i->round);
    if (ftz) flush_results(o, p, i->round, how, kernel);
    if (sat)
        for (int l = 0; l < ISA_LANES; l++) o[l] = f32_sat(o[l]);
    alu_put32(x, i->dst[0], o, mask);
}

#define F32_ROW(OP, N, how, EXPR)                                                                            \
    ALU_INLINE void body_##OP(uint32_t *o, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc)       \
    {                                                                                                        \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const float a = f32_of(pa[l]), b = N > 1 ? f32_of(pb[l]) : 0, c = N > 2 ? f32_of(pc[l]) : 0;     \
            (void)b, (void)c;                                                                                \
            o[l] = f32_canon(f32_bits(EXPR));                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static ALU_NOINLINE void kernel_##OP(uint32_t *o, const uint32_t *pa, const uint32_t *pb,                \
                                         const uint32_t *pc)                                                 \
    {                                                                                                        \
        body_##OP(o, pa, pb, pc);                                                                            \
    }                                                                                                        \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        if (i->round != ISA_RN || i->flags & (ISA_FTZ | ISA_SAT)) {                                          \
            f32_general(x, i, mask, N, how, kernel_##OP);                                                    \
            return;                                                                                          \
        }                                                                                                    \
        const uint32_t *pa = exec_src(x, i->src[0]);                                                         \
        const uint32_t *pb = N > 1 ? exec_src(x, i->src[1]) : pa, *pc = N > 2 ? exec_src(x, i->src[2]) : pa; \
        ALU_ALIGNED uint32_t o[ISA_LANES];                                                                   \
        body_##OP(o, pa, pb, pc);                                                                            \
        alu_put32(x, i->dst[0], o, mask);                                                                    \
    }
#define F32_ROWS(R)                                                                                          \
    R(ADD_F32, 2, SCALE_NONE, a + b)                                                                         \
    R(SUB_F32, 2, SCALE_NONE, a - b)                                                                         \
    R(MUL_F32, 2, SCALE_PRODUCT, (a * b))                                                                    \
    R(FMA_F32, 3, SCALE_PRODUCT, fmaf(a, b, c))                                                              \
    R(DIV_F32, 2, SCALE_QUOTIENT, a / b)                                                                     \
    R(RCP_F32, 1, SCALE_RCP, 1.0f / a)                                                                       \
    R(SQRT_F32, 1, SCALE_NONE, sqrtf(a))
F32_ROWS(F32_ROW)

/* Bits to integers of the same order, -0 below +0. NaNs end outside the infinities. */
ALU_INLINE int32_t f32_order(uint32_t b)
{
    return (int32_t)(b ^ ((uint32_t)((int32_t)b >> 31) & 0x7fffffff));
}

/* One NaN gives the other source, two give NaN, as does one with NANPROP. XORSIGN compares magnitudes and
 * gives the result the product's sign. */
ALU_INLINE uint32_t f32_min_max(uint32_t a, uint32_t b, bool max, bool nan_prop, bool xor_sign)
{
    const bool a_nan = f32_is_nan(a), b_nan = f32_is_nan(b);
    const uint32_t keep = xor_sign ? 0x7fffffff : UINT32_MAX, va = a & keep, vb = b & keep;
    const bool a_wins = max ? f32_order(va) > f32_order(vb) : f32_order(va) < f32_order(vb);
    const uint32_t r = alu_if32((a_wins | b_nan) & !a_nan, va, vb) | ((a ^ b) & ~keep);
    return alu_if32(nan_prop ? a_nan | b_nan : a_nan & b_nan, F32_NAN, r);
}
ALU_INLINE void min_max_row(struct exec *x, const struct isa_inst *i, uint32_t mask, bool max, bool ftz,
                            bool nan_prop, bool xor_sign)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);
    ALU_ALIGNED uint32_t o[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) {
        const uint32_t a = ftz ? f32_flush(pa[l]) : pa[l], b = ftz ? f32_flush(pb[l]) : pb[l];
        o[l] = f32_min_max(a, b, max, nan_prop, xor_sign);
    }
    alu_put32(x, i->dst[0], o, mask);
}
#define MIN_MAX_ROW(OP, max)                                                                                 \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        if (i->flags & (ISA_NANPROP | ISA_XORSIGN))                                                          \
            min_max_row(x, i, mask, max, ALU_HAS(FTZ), ALU_HAS(NANPROP), ALU_HAS(XORSIGN));                  \
        else if (ALU_HAS(FTZ))                                                                               \
            min_max_row(x, i, mask, max, true, false, false);                                                \
        else                                                                                                 \
            min_max_row(x, i, mask, max, false, false, false);                                               \
    }
#define MIN_MAX_ROWS(M) M(MIN_F32, false) M(MAX_F32, true)
MIN_MAX_ROWS(MIN_MAX_ROW)

#define FTZ(v) (ALU_HAS(FTZ) ? f32_flush(v) : (v))
#define SIGN_ROWS(F1, F2)                                                                                    \
    F1(ABS_F32, r, r, f32_canon(FTZ(a) & 0x7fffffff))                                                        \
    F1(NEG_F32, r, r, f32_canon(FTZ(a) ^ 0x80000000))                                                        \
    F2(COPYSIGN_F32, r, r, r, (a & 0x80000000) | (b & 0x7fffffff))
SIGN_ROWS(ALU_FN1, ALU_FN2)

void ALU_NAME(alu_f32_rows)(exec_fn **table)
{
    F32_ROWS(ALU_SET)
    MIN_MAX_ROWS(ALU_SET)
    SIGN_ROWS(ALU_SET, ALU_SET)
}
