/* alu_f64.c: double precision, IEEE 754 arithmetic: add, sub, mul, fma, div, rcp, sqrt in four rounding
 * modes, abs, neg, min, max, copysign.
 *
 * Semantics: PTX ISA, "Floating Point Instructions": subnormals are always kept; there is no FTZ and no SAT.
 * Unlike single precision, NaNs keep their payload: f64_nan below is the one place that says which. */
#include <math.h>

#include "emu/alu_fp.h"

/* A NaN result is the first source that is a NaN in the operation's order, made quiet; else what an invalid
 * operation gives. Orders as an H200 has them: the second source, the third, the first; in division, the
 * first, the second. */
ALU_INLINE uint64_t f64_nan(uint64_t first, uint64_t second, uint64_t third)
{
    return f64_is_nan(first)    ? first | F64_QUIET
           : f64_is_nan(second) ? second | F64_QUIET
           : f64_is_nan(third)  ? third | F64_QUIET
                                : F64_INVALID;
}

typedef void f64_kernel(uint64_t *o, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc);

static ALU_NOINLINE void f64_rounded(struct exec *x, const struct isa_inst *i, uint32_t mask,
                                     const uint32_t *pa, const uint32_t *pb, const uint32_t *pc,
                                     f64_kernel *kernel)
{
    ALU_ALIGNED uint64_t o[ISA_LANES];
    alu_round_begin(i->round);
    kernel(o, pa, pb, pc);
    alu_round_end(i->round);
    alu_put64(x, i->dst[0], o, mask);
}

/* Replaces the host's NaNs, which depend on how the compiler ordered the sources. */
static ALU_NOINLINE void fix_nans(uint64_t *o, const uint32_t *first, const uint32_t *second,
                                  const uint32_t *third)
{
    for (int l = 0; l < ISA_LANES; l++)
        if (f64_is_nan(o[l]))
            o[l] = f64_nan(alu_lane64(first, l), alu_lane64(second, l), alu_lane64(third, l));
}
#define NANS_BCA pb, pc, pa
#define NANS_AB  pa, pb, pa

/* Absent sources are given as the first one. */
#define F64_ROW(OP, N, NANS, EXPR)                                                                           \
    ALU_INLINE void body_##OP(uint64_t *o, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc)       \
    {                                                                                                        \
        uint64_t nans = 0;                                                                                   \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const double a = f64_of(alu_lane64(pa, l)), b = N > 1 ? f64_of(alu_lane64(pb, l)) : 0;           \
            const double c = N > 2 ? f64_of(alu_lane64(pc, l)) : 0;                                          \
            (void)b, (void)c;                                                                                \
            const double r = (EXPR);                                                                         \
            o[l] = f64_bits(r);                                                                              \
            nans |= r != r ? 1 : 0;                                                                          \
        }                                                                                                    \
        if (nans) fix_nans(o, NANS);                                                                         \
    }                                                                                                        \
    static ALU_NOINLINE void kernel_##OP(uint64_t *o, const uint32_t *pa, const uint32_t *pb,                \
                                         const uint32_t *pc)                                                 \
    {                                                                                                        \
        body_##OP(o, pa, pb, pc);                                                                            \
    }                                                                                                        \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]);                                                         \
        const uint32_t *pb = N > 1 ? exec_src(x, i->src[1]) : pa, *pc = N > 2 ? exec_src(x, i->src[2]) : pa; \
        if (i->round != ISA_RN) {                                                                            \
            f64_rounded(x, i, mask, pa, pb, pc, kernel_##OP);                                                \
            return;                                                                                          \
        }                                                                                                    \
        ALU_ALIGNED uint64_t o[ISA_LANES];                                                                   \
        body_##OP(o, pa, pb, pc);                                                                            \
        alu_put64(x, i->dst[0], o, mask);                                                                    \
    }
#define F64_ROWS(R)                                                                                          \
    R(ADD_F64, 2, NANS_BCA, a + b)                                                                           \
    R(SUB_F64, 2, NANS_BCA, a - b)                                                                           \
    R(MUL_F64, 2, NANS_BCA, (a * b))                                                                         \
    R(FMA_F64, 3, NANS_BCA, fma(a, b, c))                                                                    \
    R(DIV_F64, 2, NANS_AB, a / b)                                                                            \
    R(RCP_F64, 1, NANS_AB, 1.0 / a)                                                                          \
    R(SQRT_F64, 1, NANS_AB, sqrt(a))
F64_ROWS(F64_ROW)

/* As in single precision, but without modifiers: one NaN gives the other source. */
ALU_INLINE int64_t f64_order(uint64_t b) { return (int64_t)(b ^ ((uint64_t)((int64_t)b >> 63) & F64_NAN)); }
ALU_INLINE uint64_t f64_min_max(uint64_t a, uint64_t b, bool max)
{
    const bool a_wins = max ? f64_order(a) > f64_order(b) : f64_order(a) < f64_order(b);
    const bool a_nan = f64_is_nan(a), b_nan = f64_is_nan(b);
    const uint64_t number = alu_if64((a_wins | b_nan) & !a_nan, a, b);
    return alu_if64(a_nan & b_nan, b | F64_QUIET, number);
}
#define MIN_MAX_ROWS(F2)                                                                                     \
    F2(MIN_F64, d, d, d, f64_min_max(a, b, false))                                                           \
    F2(MAX_F64, d, d, d, f64_min_max(a, b, true))
MIN_MAX_ROWS(ALU_FN2)

/* abs and neg leave a NaN's sign alone and make it quiet; copysign moves bits. */
ALU_INLINE uint64_t f64_sign(uint64_t a, uint64_t with_sign)
{
    return alu_if64(f64_is_nan(a), a | F64_QUIET, with_sign);
}
#define SIGN_ROWS(F1, P2)                                                                                    \
    F1(ABS_F64, d, d, f64_sign(a, (a & F64_NAN)))                                                            \
    F1(NEG_F64, d, d, f64_sign(a, a ^ ~F64_NAN))                                                             \
    P2(COPYSIGN_F64, bl, (ah & 0x80000000) | (bh & 0x7fffffff))
SIGN_ROWS(ALU_FN1, ALU_PAIR2)

void ALU_NAME(alu_f64_rows)(exec_fn **table)
{
    F64_ROWS(ALU_SET)
    MIN_MAX_ROWS(ALU_SET)
    SIGN_ROWS(ALU_SET, ALU_SET)
}
