/* alu.h: what the files of the arithmetic share: how a row of isa.def becomes a function over 32 lanes.
 *
 * Every alu_*.c is compiled once for each variant of the host's vector unit (ALU_VARIANT), so each exports
 * one function, named with the variant, that fills its rows of a table; all else is static. A row's function
 * computes all 32 lanes into a local array, whatever the mask: that is plain code that the compiler
 * vectorises, and reading all sources before the first write makes aliasing of sources and destinations
 * harmless. The mask is applied when the array is stored. Invariants: (1) no lane traps: divisors, shift
 * amounts and conversions are made safe before the operation, since lanes outside the mask hold anything; (2)
 * the thread runs in the default floating-point environment (round to nearest, no flushing), and has it again
 * when a function returns; (3) no result depends on the variant: no libm function but fma, sqrt and rounding
 * to integral, no contraction, NaNs chosen by rule and never by the host. */
#ifndef HEDDLE_ALU_H
#define HEDDLE_ALU_H

#include <string.h>

#include "emu/exec.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

#ifndef ALU_VARIANT
#define ALU_VARIANT baseline
#endif
#define ALU_CAT_(a, b) a##_##b
#define ALU_CAT(a, b)  ALU_CAT_(a, b)
#define ALU_NAME(x)    ALU_CAT(x, ALU_VARIANT)

#define ALU_NOINLINE __attribute__((noinline))
#define ALU_INLINE   static inline __attribute__((always_inline))
#define ALU_ALIGNED  __attribute__((aligned(32)))

__extension__ typedef unsigned __int128 alu_u128;
__extension__ typedef __int128 alu_s128;

/* ---- selection without branches: loops with nested conditions vectorise when these spell them out ---- */

ALU_INLINE uint32_t alu_if32(bool cond, uint32_t yes, uint32_t no)
{
    const uint32_t m = 0u - (uint32_t)cond;
    return (yes & m) | (no & ~m);
}
ALU_INLINE uint64_t alu_if64(bool cond, uint64_t yes, uint64_t no)
{
    const uint64_t m = 0u - (uint64_t)cond;
    return (yes & m) | (no & ~m);
}

/* ---- rows ---- */

/* The 64-bit value of a lane: low word in the row, high word in the next one. */
ALU_INLINE uint64_t alu_lane64(const uint32_t *row, int l)
{
    return (uint64_t)row[l] | (uint64_t)row[l + ISA_LANES] << 32;
}

static ALU_NOINLINE __attribute__((unused)) void alu_blend(uint32_t *d, const uint32_t *v, uint32_t mask)
{
    for (int l = 0; l < ISA_LANES; l++) d[l] = mask & 1u << l ? v[l] : d[l];
}

ALU_INLINE void alu_put32(const struct exec *x, uint16_t dst, const uint32_t *v, uint32_t mask)
{
    if (dst == ISA_NONE) return;
    if (mask == UINT32_MAX)
        memcpy(exec_dst(x, dst), v, ISA_LANES * sizeof *v);
    else
        alu_blend(exec_dst(x, dst), v, mask);
}

ALU_INLINE void alu_put_pair(const struct exec *x, uint16_t dst, const uint32_t *lo, const uint32_t *hi,
                             uint32_t mask)
{
    if (dst == ISA_NONE) return;
    uint32_t *d = exec_dst(x, dst);
    if (mask == UINT32_MAX) {
        memcpy(d, lo, ISA_LANES * sizeof *lo);
        memcpy(d + ISA_LANES, hi, ISA_LANES * sizeof *hi);
    } else {
        alu_blend(d, lo, mask);
        alu_blend(d + ISA_LANES, hi, mask);
    }
}

ALU_INLINE void alu_put64(const struct exec *x, uint16_t dst, const uint64_t *v, uint32_t mask)
{
    ALU_ALIGNED uint32_t lo[ISA_LANES], hi[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) {
        lo[l] = (uint32_t)v[l];
        hi[l] = (uint32_t)(v[l] >> 32);
    }
    alu_put_pair(x, dst, lo, hi, mask);
}

/* Lane flags, each 0 or all ones, packed into a lane mask. Compilers do not turn a loop over bits into a mask
 * move, hence the intrinsics. */
ALU_INLINE uint32_t alu_pack_mask(const uint32_t *flags)
{
    uint32_t m = 0;
#if defined(__AVX2__)
    for (int l = 0; l < ISA_LANES; l += 8)
        m |= (uint32_t)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(flags + l))) << l;
#elif defined(__SSE2__)
    for (int l = 0; l < ISA_LANES; l += 4)
        m |= (uint32_t)_mm_movemask_ps(_mm_loadu_ps((const float *)(flags + l))) << l;
#else
    for (int l = 0; l < ISA_LANES; l++) m |= flags[l] & 1u << l;
#endif
    return m;
}

/* ---- functions out of one expression ----
 *
 * ALU_FN<n>(OP, D, A, ..., EXPR) makes exec_OP: D, A, ... are operand letters of isa.def (r or d); in EXPR
 * the sources are a, b, c, e (uint32_t or uint64_t), i is the instruction, l the lane. */
#define ALU_HAS(flag)  ((i->flags & ISA_##flag) != 0)
#define ALU_ROW(OP)    static void exec_##OP(struct exec *x, const struct isa_inst *i, uint32_t mask)
#define ALU_T_r        uint32_t
#define ALU_T_d        uint64_t
#define ALU_AT_r(p, l) (p)[l]
#define ALU_AT_d(p, l) alu_lane64(p, l)
#define ALU_PUT_r      alu_put32
#define ALU_PUT_d      alu_put64

#define ALU_FN1(OP, D, A, EXPR)                                                                              \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]);                                                         \
        ALU_ALIGNED ALU_T_##D o[ISA_LANES];                                                                  \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const ALU_T_##A a = ALU_AT_##A(pa, l);                                                           \
            o[l] = (ALU_T_##D)(EXPR);                                                                        \
        }                                                                                                    \
        ALU_PUT_##D(x, i->dst[0], o, mask);                                                                  \
    }
#define ALU_FN2(OP, D, A, B, EXPR)                                                                           \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);                           \
        ALU_ALIGNED ALU_T_##D o[ISA_LANES];                                                                  \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const ALU_T_##A a = ALU_AT_##A(pa, l);                                                           \
            const ALU_T_##B b = ALU_AT_##B(pb, l);                                                           \
            o[l] = (ALU_T_##D)(EXPR);                                                                        \
        }                                                                                                    \
        ALU_PUT_##D(x, i->dst[0], o, mask);                                                                  \
    }
#define ALU_FN3(OP, D, A, B, C, EXPR)                                                                        \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);                           \
        const uint32_t *pc = exec_src(x, i->src[2]);                                                         \
        ALU_ALIGNED ALU_T_##D o[ISA_LANES];                                                                  \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const ALU_T_##A a = ALU_AT_##A(pa, l);                                                           \
            const ALU_T_##B b = ALU_AT_##B(pb, l);                                                           \
            const ALU_T_##C c = ALU_AT_##C(pc, l);                                                           \
            o[l] = (ALU_T_##D)(EXPR);                                                                        \
        }                                                                                                    \
        ALU_PUT_##D(x, i->dst[0], o, mask);                                                                  \
    }
#define ALU_FN4(OP, D, A, B, C, E, EXPR)                                                                     \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);                           \
        const uint32_t *pc = exec_src(x, i->src[2]), *pe = exec_src(x, i->src[3]);                           \
        ALU_ALIGNED ALU_T_##D o[ISA_LANES];                                                                  \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const ALU_T_##A a = ALU_AT_##A(pa, l);                                                           \
            const ALU_T_##B b = ALU_AT_##B(pb, l);                                                           \
            const ALU_T_##C c = ALU_AT_##C(pc, l);                                                           \
            const ALU_T_##E e = ALU_AT_##E(pe, l);                                                           \
            o[l] = (ALU_T_##D)(EXPR);                                                                        \
        }                                                                                                    \
        ALU_PUT_##D(x, i->dst[0], o, mask);                                                                  \
    }

/* ALU_FN for 64-bit rows whose words can be computed separately, which is faster than joining and splitting
 * them: LO and HI in al, ah, bl, bh; HI may use the result lo. */
#define ALU_PAIR1(OP, LO, HI)                                                                                \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]);                                                         \
        ALU_ALIGNED uint32_t o[2][ISA_LANES];                                                                \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const uint32_t al = pa[l], ah = pa[l + ISA_LANES], lo = (LO);                                    \
            (void)al;                                                                                        \
            o[0][l] = lo;                                                                                    \
            o[1][l] = (HI);                                                                                  \
        }                                                                                                    \
        alu_put_pair(x, i->dst[0], o[0], o[1], mask);                                                        \
    }
#define ALU_PAIR2(OP, LO, HI)                                                                                \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);                           \
        ALU_ALIGNED uint32_t o[2][ISA_LANES];                                                                \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const uint32_t al = pa[l], ah = pa[l + ISA_LANES], bl = pb[l], bh = pb[l + ISA_LANES];           \
            const uint32_t lo = (LO);                                                                        \
            (void)al, (void)bl;                                                                              \
            o[0][l] = lo;                                                                                    \
            o[1][l] = (HI);                                                                                  \
        }                                                                                                    \
        alu_put_pair(x, i->dst[0], o[0], o[1], mask);                                                        \
    }

/* Puts a row into a table; takes and ignores what the function macros take. */
#define ALU_SET(OP, ...) ALU_ENTER(OP);
#define ALU_ENTER(OP)    table[ISA_OP_##OP] = exec_##OP

/* The files of the arithmetic, in the order of isa.def. */
/* clang-format off */
#define ALU_FILES(X)                                                                                         \
    X(alu_move_rows) X(alu_int_rows) X(alu_mul_rows) X(alu_bits_rows) X(alu_logic_rows)                      \
    X(alu_setp_rows) X(alu_f32_rows) X(alu_f64_rows) X(alu_half_rows) X(alu_sfu_rows)                        \
    X(alu_cvt_int_rows) X(alu_cvt_i2f_rows) X(alu_cvt_f2i_rows) X(alu_cvt_float_rows) X(alu_cvt_pack_rows)  \
    X(alu_video_rows)
/* clang-format on */
#define ALU_DECLARE(f) void ALU_NAME(f)(exec_fn **);
ALU_FILES(ALU_DECLARE)

#endif
