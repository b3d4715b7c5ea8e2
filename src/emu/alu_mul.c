/* alu_mul.c: integer multiplication, multiply-add and dot products.
 *
 * Semantics: PTX ISA, mul, mad, mul24, mad24, dp4a, dp2a. lo and hi are the halves of the full product, wide
 * is all of it. The 24-bit forms use the low 24 bits of their factors and give the low or high 32 bits of the
 * 48-bit product. SAT exists for the two signed 32-bit .hi multiply-adds only, and bounds the sum. */
#include "emu/alu.h"

#define U16(v)    ((v)&0xffff)
#define S16(v)    ((int32_t)(int16_t)(v))
#define S32(v)    ((int32_t)(v))
#define WIDE_U(v) ((uint64_t)(v))
#define WIDE_S(v) ((int64_t)S32(v))
#define U24(v)    ((uint64_t)((v)&0xffffff))
#define S24(v)    ((int64_t)(S32((v) << 8) >> 8))

ALU_INLINE uint64_t hi_u64(uint64_t a, uint64_t b) { return (uint64_t)((alu_u128)a * b >> 64); }
ALU_INLINE uint64_t hi_s64(uint64_t a, uint64_t b)
{
    return (uint64_t)((alu_u128)((alu_s128)(int64_t)a * (int64_t)b) >> 64);
}
ALU_INLINE uint32_t hi_s32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)(WIDE_S(a) * WIDE_S(b)) >> 32);
}
ALU_INLINE uint32_t hi24_s32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)(S24(a) * S24(b)) >> 16); }
ALU_INLINE uint32_t add_sat_s32(uint32_t a, uint32_t b, bool sat)
{
    const int64_t v = WIDE_S(a) + WIDE_S(b);
    const int64_t bounded = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    return (uint32_t)(sat ? bounded : v);
}
#define SAT ALU_HAS(SAT)

/* Byte and halfword k of a word, zero- or sign-extended. */
ALU_INLINE uint32_t field(uint32_t v, int k, int bits, bool is_signed)
{
    const uint32_t up = v << (32 - bits - k * bits);
    return alu_if32(is_signed, (uint32_t)(S32(up) >> (32 - bits)), up >> (32 - bits));
}
ALU_INLINE uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb)
{
    return c + field(a, 0, 8, sa) * field(b, 0, 8, sb) + field(a, 1, 8, sa) * field(b, 1, 8, sb) +
           field(a, 2, 8, sa) * field(b, 2, 8, sb) + field(a, 3, 8, sa) * field(b, 3, 8, sb);
}
ALU_INLINE uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb, int first)
{
    return c + field(a, 0, 16, sa) * field(b, first, 8, sb) +
           field(a, 1, 16, sa) * field(b, first + 1, 8, sb);
}
#define A_SIGNED (i->mod & 1)
#define B_SIGNED (i->mod & 2)

#define MUL_ROWS(F2, F3)                                                                                     \
    F2(MUL_LO_16, r, r, r, U16((a * b)))                                                                     \
    F2(MUL_LO_32, r, r, r, (a * b))                                                                          \
    F2(MUL_LO_64, d, d, d, (a * b))                                                                          \
    F2(MUL_HI_U16, r, r, r, U16(a) * U16(b) >> 16)                                                           \
    F2(MUL_HI_S16, r, r, r, (uint32_t)(S16(a) * S16(b)) >> 16)                                               \
    F2(MUL_HI_U32, r, r, r, WIDE_U(a) * b >> 32)                                                             \
    F2(MUL_HI_S32, r, r, r, hi_s32(a, b))                                                                    \
    F2(MUL_HI_U64, d, d, d, hi_u64(a, b))                                                                    \
    F2(MUL_HI_S64, d, d, d, hi_s64(a, b))                                                                    \
    F2(MUL_WIDE_U16, r, r, r, U16(a) * U16(b))                                                               \
    F2(MUL_WIDE_S16, r, r, r, S16(a) * S16(b))                                                               \
    F2(MUL_WIDE_U32, d, r, r, WIDE_U(a) * b)                                                                 \
    F2(MUL_WIDE_S32, d, r, r, WIDE_S(a) * WIDE_S(b))                                                         \
    F3(MAD_LO_16, r, r, r, r, U16((a * b) + c))                                                              \
    F3(MAD_LO_32, r, r, r, r, (a * b) + c)                                                                   \
    F3(MAD_LO_64, d, d, d, d, (a * b) + c)                                                                   \
    F3(MAD_HI_U16, r, r, r, r, U16((U16(a) * U16(b) >> 16) + c))                                             \
    F3(MAD_HI_S16, r, r, r, r, U16(((uint32_t)(S16(a) * S16(b)) >> 16) + c))                                 \
    F3(MAD_HI_U32, r, r, r, r, (uint32_t)(WIDE_U(a) * b >> 32) + c)                                          \
    F3(MAD_HI_S32, r, r, r, r, add_sat_s32(hi_s32(a, b), c, SAT))                                            \
    F3(MAD_HI_U64, d, d, d, d, hi_u64(a, b) + c)                                                             \
    F3(MAD_HI_S64, d, d, d, d, hi_s64(a, b) + c)                                                             \
    F3(MAD_WIDE_U16, r, r, r, r, U16(a) * U16(b) + c)                                                        \
    F3(MAD_WIDE_S16, r, r, r, r, (uint32_t)(S16(a) * S16(b)) + c)                                            \
    F2(MUL24_LO_U32, r, r, r, U24(a) * U24(b))                                                               \
    F2(MUL24_LO_S32, r, r, r, S24(a) * S24(b))                                                               \
    F2(MUL24_HI_U32, r, r, r, U24(a) * U24(b) >> 16)                                                         \
    F2(MUL24_HI_S32, r, r, r, hi24_s32(a, b))                                                                \
    F3(MAD24_LO_U32, r, r, r, r, U24(a) * U24(b) + c)                                                        \
    F3(MAD24_LO_S32, r, r, r, r, (uint64_t)(S24(a) * S24(b)) + c)                                            \
    F3(MAD24_HI_U32, r, r, r, r, (U24(a) * U24(b) >> 16) + c)                                                \
    F3(MAD24_HI_S32, r, r, r, r, add_sat_s32(hi24_s32(a, b), c, SAT))                                        \
    F3(DP4A, r, r, r, r, dp4a(a, b, c, A_SIGNED, B_SIGNED))                                                  \
    F3(DP2A_LO, r, r, r, r, dp2a(a, b, c, A_SIGNED, B_SIGNED, 0))                                            \
    F3(DP2A_HI, r, r, r, r, dp2a(a, b, c, A_SIGNED, B_SIGNED, 2))
MUL_ROWS(ALU_FN2, ALU_FN3)

/* The commonest address computation, by words. */
#define MAD_WIDE(OP, HI)                                                                                     \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);                           \
        const uint32_t *pc = exec_src(x, i->src[2]);                                                         \
        ALU_ALIGNED uint32_t lo[ISA_LANES], hi[ISA_LANES];                                                   \
        for (int l = 0; l < ISA_LANES; l++) hi[l] = HI(pa[l], pb[l]);                                        \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            lo[l] = pa[l] * pb[l] + pc[l];                                                                   \
            hi[l] += pc[l + ISA_LANES] + (lo[l] < pc[l]);                                                    \
        }                                                                                                    \
        alu_put_pair(x, i->dst[0], lo, hi, mask);                                                            \
    }
ALU_INLINE uint32_t hi_u32(uint32_t a, uint32_t b) { return (uint32_t)(WIDE_U(a) * b >> 32); }
#define MAD_WIDE_ROWS(W) W(MAD_WIDE_U32, hi_u32) W(MAD_WIDE_S32, hi_s32)
MAD_WIDE_ROWS(MAD_WIDE)

void ALU_NAME(alu_mul_rows)(exec_fn **table)
{
    MUL_ROWS(ALU_SET, ALU_SET)
    MAD_WIDE_ROWS(ALU_SET)
}
