/* alu_int.c: integer addition, subtraction, carry chains, sums of differences, division, minimum and maximum.
 *
 * Semantics: PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic
 * Instructions". Values are kept unsigned, so that overflow wraps; the signed view is taken where it matters.
 * Division by zero, which PTX leaves to the machine, gives what NVIDIA hardware gives: see div_* below. */
#include "emu/alu.h"

#define S16(v) ((int32_t)(int16_t)(v))
#define S32(v) ((int32_t)(v))
#define S64(v) ((int64_t)(v))
#define U16(v) ((v)&0xffff)

ALU_INLINE uint32_t clamp_s32(int64_t v)
{
    return (uint32_t)(int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* Quotient and remainder, with a divisor of zero (quotient and remainder all ones) and INT_MIN / -1 (the
 * quotient wraps, the remainder is 0) made safe. */
ALU_INLINE uint32_t div_u32(uint32_t a, uint32_t b) { return b ? a / b : UINT32_MAX; }
ALU_INLINE uint32_t rem_u32(uint32_t a, uint32_t b) { return b ? a % b : UINT32_MAX; }
ALU_INLINE uint32_t div_s32(int32_t a, int32_t b)
{
    return !b ? UINT32_MAX : b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}
ALU_INLINE uint32_t rem_s32(int32_t a, int32_t b)
{
    return !b ? UINT32_MAX : b == -1 ? 0 : (uint32_t)(a % b);
}
ALU_INLINE uint64_t div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
ALU_INLINE uint64_t rem_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
ALU_INLINE uint64_t div_s64(int64_t a, int64_t b)
{
    return !b ? UINT64_MAX : b == -1 ? 0u - (uint64_t)a : (uint64_t)(a / b);
}
ALU_INLINE uint64_t rem_s64(int64_t a, int64_t b)
{
    return !b ? UINT64_MAX : b == -1 ? 0 : (uint64_t)(a % b);
}

/* Each half of a row is computed separately; RELU sets negative results to 0. */
ALU_INLINE uint32_t s16_relu(int32_t v, bool relu) { return U16((uint32_t)(relu && v < 0 ? 0 : v)); }
#define HALVES(lo, hi) ((lo) | (hi) << 16)
#define RELU           ALU_HAS(RELU)

#define INT_ROWS(F1, F2, F3)                                                                                 \
    F2(ADD_16, r, r, r, U16(a + b))                                                                          \
    F2(ADD_32, r, r, r, a + b)                                                                               \
    F2(ADD_16X2, r, r, r, ((a & 0xffff0000) + (b & 0xffff0000)) | U16(a + b))                                \
    F2(ADDS_S32, r, r, r, clamp_s32((int64_t)S32(a) + S32(b)))                                               \
    F2(SUB_16, r, r, r, U16(a - b))                                                                          \
    F2(SUB_32, r, r, r, a - b)                                                                               \
    F2(SUBS_S32, r, r, r, clamp_s32((int64_t)S32(a) - S32(b)))                                               \
    F2(LEA_32, r, r, r, (a << (i->imm & 31)) + b)                                                            \
    F3(SAD_U16, r, r, r, r, U16((U16(a) < U16(b) ? b - a : a - b) + c))                                      \
    F3(SAD_S16, r, r, r, r, U16((S16(a) < S16(b) ? b - a : a - b) + c))                                      \
    F3(SAD_U32, r, r, r, r, (a < b ? b - a : a - b) + c)                                                     \
    F3(SAD_S32, r, r, r, r, (S32(a) < S32(b) ? b - a : a - b) + c)                                           \
    F3(SAD_U64, d, d, d, d, (a < b ? b - a : a - b) + c)                                                     \
    F3(SAD_S64, d, d, d, d, (S64(a) < S64(b) ? b - a : a - b) + c)                                           \
    F2(DIV_U16, r, r, r, U16(div_u32(U16(a), U16(b))))                                                       \
    F2(DIV_S16, r, r, r, U16(div_s32(S16(a), S16(b))))                                                       \
    F2(DIV_U32, r, r, r, div_u32(a, b))                                                                      \
    F2(DIV_S32, r, r, r, div_s32(S32(a), S32(b)))                                                            \
    F2(DIV_U64, d, d, d, div_u64(a, b))                                                                      \
    F2(DIV_S64, d, d, d, div_s64(S64(a), S64(b)))                                                            \
    F2(REM_U16, r, r, r, U16(rem_u32(U16(a), U16(b))))                                                       \
    F2(REM_S16, r, r, r, U16(rem_s32(S16(a), S16(b))))                                                       \
    F2(REM_U32, r, r, r, rem_u32(a, b))                                                                      \
    F2(REM_S32, r, r, r, rem_s32(S32(a), S32(b)))                                                            \
    F2(REM_U64, d, d, d, rem_u64(a, b))                                                                      \
    F2(REM_S64, d, d, d, rem_s64(S64(a), S64(b)))                                                            \
    F2(MIN_U16, r, r, r, MIN(U16(a), U16(b)))                                                                \
    F2(MIN_S16, r, r, r, U16((uint32_t)MIN(S16(a), S16(b))))                                                 \
    F2(MIN_U32, r, r, r, MIN(a, b))                                                                          \
    F2(MIN_S32, r, r, r, RELU ? MAX(MIN(S32(a), S32(b)), 0) : MIN(S32(a), S32(b)))                           \
    F2(MIN_U64, d, d, d, MIN(a, b))                                                                          \
    F2(MIN_S64, d, d, d, MIN(S64(a), S64(b)))                                                                \
    F2(MIN_U16X2, r, r, r, HALVES(MIN(U16(a), U16(b)), MIN(a >> 16, b >> 16)))                               \
    F2(MIN_S16X2, r, r, r,                                                                                   \
       HALVES(s16_relu(MIN(S16(a), S16(b)), RELU), s16_relu(MIN(S16(a >> 16), S16(b >> 16)), RELU)))         \
    F2(MAX_U16, r, r, r, MAX(U16(a), U16(b)))                                                                \
    F2(MAX_S16, r, r, r, U16((uint32_t)MAX(S16(a), S16(b))))                                                 \
    F2(MAX_U32, r, r, r, MAX(a, b))                                                                          \
    F2(MAX_S32, r, r, r, RELU ? MAX(MAX(S32(a), S32(b)), 0) : MAX(S32(a), S32(b)))                           \
    F2(MAX_U64, d, d, d, MAX(a, b))                                                                          \
    F2(MAX_S64, d, d, d, MAX(S64(a), S64(b)))                                                                \
    F2(MAX_U16X2, r, r, r, HALVES(MAX(U16(a), U16(b)), MAX(a >> 16, b >> 16)))                               \
    F2(MAX_S16X2, r, r, r,                                                                                   \
       HALVES(s16_relu(MAX(S16(a), S16(b)), RELU), s16_relu(MAX(S16(a >> 16), S16(b >> 16)), RELU)))         \
    F1(ABS_S16, r, r, U16(S16(a) < 0 ? 0u - a : a))                                                          \
    F1(ABS_S32, r, r, S32(a) < 0 ? 0u - a : a)                                                               \
    F1(ABS_S64, d, d, S64(a) < 0 ? 0u - a : a)                                                               \
    F1(NEG_16, r, r, U16(0u - a))                                                                            \
    F1(NEG_32, r, r, 0u - a)
INT_ROWS(ALU_FN1, ALU_FN2, ALU_FN3)

#define PAIR_ROWS(P1, P2)                                                                                    \
    P1(NEG_64, 0u - al, 0u - ah - (al != 0))                                                                 \
    P2(ADD_64, al + bl, ah + bh + (lo < al))                                                                 \
    P2(SUB_64, al - bl, ah - bh - (al < bl))
PAIR_ROWS(ALU_PAIR1, ALU_PAIR2)

/* Shift and add, by words: the bits that leave the low word enter the high one. */
ALU_ROW(LEA_64)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);
    const int by = i->imm & 31;
    const uint32_t swap = 0u - (uint32_t)(i->imm >> 5 & 1); /* 32 and more: the low word moves up */
    ALU_ALIGNED uint32_t lo[ISA_LANES], hi[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) {
        const uint32_t al = pa[l], ah = pa[l + ISA_LANES];
        const uint32_t sl = al << by & ~swap;
        const uint32_t sh = (al << by & swap) | ((ah << by | al >> 1 >> (31 - by)) & ~swap);
        lo[l] = sl + pb[l];
        hi[l] = sh + pb[l + ISA_LANES] + (lo[l] < sl);
    }
    alu_put_pair(x, i->dst[0], lo, hi, mask);
}

/* Carry chains: the last source is the carry (borrow) in, a lane mask; absent, it reads as no lane. The
 * second destination gets the carry (borrow) out. T is twice as wide as the values, so that the carry is its
 * next bit. */
#define CARRY_ROW(OP, D, T, bits, N, EXPR)                                                                   \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);                           \
        const uint32_t *pc = N == 3 ? exec_src(x, i->src[2]) : pa;                                           \
        const uint32_t in = exec_pred(x, i->src[N]);                                                         \
        ALU_ALIGNED ALU_T_##D o[ISA_LANES];                                                                  \
        ALU_ALIGNED uint32_t out[ISA_LANES];                                                                 \
        for (int l = 0; l < ISA_LANES; l++) {                                                                \
            const T a = ALU_AT_##D(pa, l), b = ALU_AT_##D(pb, l), c = ALU_AT_##D(pc, l);                     \
            const T k = in >> l & 1, sum = (EXPR);                                                           \
            (void)c;                                                                                         \
            o[l] = (ALU_T_##D)sum;                                                                           \
            out[l] = 0u - (uint32_t)(sum >> bits & 1);                                                       \
        }                                                                                                    \
        ALU_PUT_##D(x, i->dst[0], o, mask);                                                                  \
        exec_set_pred(x, i->dst[1], alu_pack_mask(out), mask);                                               \
    }
#define HI_U32(a, b) ((a) * (b) >> 32)
#define HI_S32(a, b) ((uint64_t)(uint32_t)((uint64_t)((int64_t)S32(a) * S32(b)) >> 32))
#define LO_64(a, b)  ((alu_u128)((uint64_t)(a) * (uint64_t)(b)))
#define HI_U64(a, b) ((a) * (b) >> 64)
#define HI_S64(a, b) ((alu_u128)(uint64_t)((alu_u128)((alu_s128)S64(a) * S64(b)) >> 64))
#define CARRY_ROWS(C)                                                                                        \
    C(ADDC_32, r, uint64_t, 32, 2, a + b + k)                                                                \
    C(ADDC_64, d, alu_u128, 64, 2, a + b + k)                                                                \
    C(SUBC_32, r, uint64_t, 32, 2, a - b - k)                                                                \
    C(SUBC_64, d, alu_u128, 64, 2, a - b - k)                                                                \
    C(MADC_LO_32, r, uint64_t, 32, 3, (uint64_t)(uint32_t)(a * b) + c + k)                                   \
    C(MADC_HI_U32, r, uint64_t, 32, 3, HI_U32(a, b) + c + k)                                                 \
    C(MADC_HI_S32, r, uint64_t, 32, 3, HI_S32(a, b) + c + k)                                                 \
    C(MADC_LO_64, d, alu_u128, 64, 3, LO_64(a, b) + c + k)                                                   \
    C(MADC_HI_U64, d, alu_u128, 64, 3, HI_U64(a, b) + c + k)                                                 \
    C(MADC_HI_S64, d, alu_u128, 64, 3, HI_S64(a, b) + c + k)
CARRY_ROWS(CARRY_ROW)

void ALU_NAME(alu_int_rows)(exec_fn **table)
{
    INT_ROWS(ALU_SET, ALU_SET, ALU_SET)
    PAIR_ROWS(ALU_SET, ALU_SET)
    CARRY_ROWS(ALU_SET)
    ALU_ENTER(LEA_64);
}
