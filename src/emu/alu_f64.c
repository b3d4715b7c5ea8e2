/* alu_f64.c: double precision, IEEE 754 arithmetic: add, sub, mul, fma, div, rcp, sqrt in four rounding modes, abs, neg, min, max,
 * copysign.
 *
 * Semantics: PTX ISA, "Floating Point Instructions": subnormals are always kept; there is no FTZ and no SAT. Unlike single
 * precision, NaNs keep their payload: f64_nan below is the one place that says which. */
#include <math.h>

#include "emu/alu_fp.h"

#define F64_QUIET   0x0008000000000000ull
#define F64_INVALID 0xfff8000000000000ull /* of inf - inf, 0 * inf, 0 / 0, sqrt of a negative */

/* A NaN result: the first source that is a NaN, made quiet; else what an invalid operation gives. */
ALU_INLINE uint64_t f64_nan(uint64_t a, uint64_t b, uint64_t c)
{
    return f64_is_nan(a)   ? a | F64_QUIET
           : f64_is_nan(b) ? b | F64_QUIET
           : f64_is_nan(c) ? c | F64_QUIET
                           : F64_INVALID;
}

typedef void f64_kernel(uint64_t *o, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc);

static ALU_NOINLINE void f64_rounded(struct exec *x, const struct isa_inst *i, uint32_t mask, const uint32_t *pa,
                                     const uint32_t *pb, const uint32_t *pc, f64_kernel *kernel)
{
    ALU_ALIGNED uint64_t o[ISA_LANES];
    alu_round_begin(i->round);
    kernel(o, pa, pb, pc);
    alu_round_end(i->round);
    alu_put64(x, i->dst[0], o, mask);
}

/* Replaces the host's NaNs, which depend on how the compiler ordered the sources. */
static ALU_NOINLINE void fix_nans(uint64_t *o, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc)
{
    for (int l = 0; l < ISA_LANES; l++)
        if (f64_is_nan(o[l])) o[l] = f64_nan(alu_lane64(pa, l), alu_lane64(pb, l), alu_lane64(pc, l));
}

/* Absent sources are given as the first one. */
#define F64_ROW(OP, N, EXPR)                                                                                 \
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
        if (nans) fix_nans(o, pa, pb, pc);                                                                   \
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
    R(ADD_F64, 2, a + b)                                                                                     \
    R(SUB_F64, 2, a - b)                                                                                     \
    R(MUL_F64, 2, a *b)                                                                                      \
    R(FMA_F64, 3, fma(a, b, c))                                                                              \
    R(DIV_F64, 2, a / b)                                                                                     \
    R(RCP_F64, 1, 1.0 / a)                                                                                   \
    R(SQRT_F64, 1, sqrt(a))
F64_ROWS(F64_ROW)

/* As in single precision, but without modifiers: one NaN gives the other source. */
ALU_INLINE int64_t f64_order(uint64_t b) { return (int64_t)(b ^ ((uint64_t)((int64_t)b >> 63) & F64_NAN)); }
ALU_INLINE uint64_t f64_min_max(uint64_t a, uint64_t b, bool max)
{
    const bool a_wins = max ? f64_order(a) > f64_order(b) : f64_order(a) < f64_order(b);
    const bool a_nan = f64_is_nan(a), b_nan = f64_is_nan(b);
    const uint64_t number = alu_if64((a_wins | b_nan) & !a_nan, a, b);
    return alu_if64(a_nan & b_nan, a | F64_QUIET, number);
}
#define MIN_MAX_ROWS(F2)                                                                                     \
    F2(MIN_F64, d, d, d, f64_min_max(a, b, false))                                                           \
    F2(MAX_F64, d, d, d, f64_min_max(a, b, true))
MIN_MAX_ROWS(ALU_FN2)

#define SIGN_ROWS(P1, P2)                                                                                    \
    P1(ABS_F64, al, ah & 0x7fffffff)                                                                         \
    P1(NEG_F64, al, ah ^ 0x80000000)                                                                         \
    P2(COPYSIGN_F64, bl, (ah & 0x80000000) | (bh & 0x7fffffff))
SIGN_ROWS(ALU_PAIR1, ALU_PAIR2)

void ALU_NAME(alu_f64_rows)(exec_fn **table)
{
    F64_ROWS(ALU_SET)
    MIN_MAX_ROWS(ALU_SET)
    SIGN_ROWS(ALU_SET, ALU_SET)
}
