/* test_alu_int.c: integer rows against references written from the PTX manual's text, bit by bit or in 128
 * bits, and not in the way of the code. */
#include "test_alu.h"

__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

struct args {
    uint64_t a, b, c, e;
    int mod;
    uint16_t flags;
    int64_t imm;
};
typedef uint64_t ref_fn(const struct args *v);
#define REF(name, expr)                                                                                      \
    static uint64_t name(const struct args *v)                                                               \
    {                                                                                                        \
        (void)v;                                                                                             \
        return (uint64_t)(expr);                                                                             \
    }
#define HAS(flag) ((v->flags & ISA_##flag) != 0)
#define A32       ((uint32_t)v->a)
#define B32       ((uint32_t)v->b)
#define C32       ((uint32_t)v->c)
#define E32       ((uint32_t)v->e)
#define AS        ((int32_t)v->a)
#define BS        ((int32_t)v->b)
#define CS        ((int32_t)v->c)
#define AH        ((uint16_t)v->a)
#define BH        ((uint16_t)v->b)
#define CH        ((uint16_t)v->c)
#define AHS       ((int16_t)v->a)
#define BHS       ((int16_t)v->b)

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }
static int64_t low24(int64_t v) { return (v & 0x7fffff) - (v & 0x800000); }
static bool bit(u128 v, uint32_t n) { return v >> n & 1; }

REF(add_16, (uint16_t)(AH + BH))
REF(add_32, (uint32_t)(A32 + B32))
REF(add_64, v->a + v->b)
REF(add_16x2, (uint16_t)(AH + BH) | (uint64_t)(uint16_t)((A32 >> 16) + (B32 >> 16)) << 16)
REF(adds, (uint32_t)clamp((int64_t)AS + BS, INT32_MIN, INT32_MAX))
REF(subs, (uint32_t)clamp((int64_t)AS - BS, INT32_MIN, INT32_MAX))
REF(sub_16, (uint16_t)(AH - BH))
REF(sub_32, (uint32_t)(A32 - B32))
REF(sub_64, v->a - v->b)
REF(mul_lo_16, (uint16_t)((uint32_t)AH *BH))
REF(mul_lo_32, (uint32_t)((uint64_t)A32 *B32))
REF(mul_lo_64, (u128)v->a * v->b)
REF(mul_hi_u16, (uint32_t)AH *BH >> 16)
REF(mul_hi_s16, (uint16_t)(AHS *BHS >> 16))
REF(mul_hi_u32, (u128)A32 *B32 >> 32)
REF(mul_hi_s32, (uint32_t)((s128)AS *BS >> 32))
REF(mul_hi_u64, (u128)v->a * v->b >> 64)
REF(mul_hi_s64, (s128)(int64_t)v->a *(int64_t)v->b >> 64)
REF(mul_wide_s32, (int64_t)AS *BS)
REF(mul_wide_u32, (uint64_t)A32 *B32)
REF(mul_wide_s16, (uint32_t)(AHS *BHS))
REF(mad_lo_32, (uint32_t)((uint64_t)A32 *B32 + C32))
REF(mad_wide_s32, (int64_t)AS *BS + (s128)v->c)
REF(mad_wide_u32, (u128)A32 *B32 + v->c)
REF(mad_hi_s32, (uint32_t)(HAS(SAT) ? clamp((int64_t)((s128)AS *BS >> 32) + CS, INT32_MIN, INT32_MAX)
                                    : (int64_t)((s128)AS *BS >> 32) + CS))
REF(mad_hi_s64, ((s128)(int64_t)v->a * (int64_t)v->b >> 64) + (int64_t)v->c)
REF(mul24_lo_s32, (uint32_t)(low24(AS) * low24(BS)))
REF(mul24_hi_s32, (uint32_t)(low24(AS) * low24(BS) >> 16))
REF(mul24_hi_u32, (uint32_t)((uint64_t)(A32 & 0xffffff) * (B32 & 0xffffff) >> 16))
REF(mad24_hi_s32, (uint32_t)(HAS(SAT) ? clamp((low24(AS) * low24(BS) >> 16) + CS, INT32_MIN, INT32_MAX)
                                      : (low24(AS) * low24(BS) >> 16) + CS))
REF(sad_s32, (uint32_t)((AS > BS ? (int64_t)AS - BS : (int64_t)BS - AS) + C32))
REF(sad_u16, (uint16_t)((AH > BH ? AH - BH : BH - AH) + CH))
REF(sad_s64, (u128)((int64_t)v->a > (int64_t)v->b ? (s128)(int64_t)v->a - (int64_t)v->b
                                                  : (s128)(int64_t)v->b - (int64_t)v->a) +
                 v->c)
REF(div_u32, B32 ? A32 / B32 : UINT32_MAX)
REF(div_s32, (uint32_t)(BS ? (int64_t)AS / BS : -1))
REF(rem_s32, (uint32_t)(BS ? (int64_t)AS % BS : -1))
REF(div_s64, v->b ? (s128)(int64_t)v->a / (int64_t)v->b : -1)
REF(rem_s64, v->b ? (s128)(int64_t)v->a % (int64_t)v->b : -1)
REF(lea_32, (uint32_t)((uint64_t)A32 *(1ull << (v->imm & 31)) + B32))
REF(lea_64, (u128)v->a *((u128)1 << (v->imm & 63)) + v->b)
REF(popc_64, __builtin_popcountll(v->a))
REF(abs_s16, (uint16_t)(AHS < 0 ? -AHS : AHS))
REF(neg_64, -(u128)v->a)

/* Position and length are the low bytes of their operands in 32 bits, all of them in 64. */
static uint64_t bfe(uint64_t a, uint64_t pos, uint64_t len, bool is_signed, uint32_t msb)
{
    if (msb == 31) pos &= 0xff, len &= 0xff;
    const bool sbit = is_signed && len && bit(a, (uint32_t)MIN(pos + len - 1, msb));
    uint64_t d = 0;
    for (uint32_t k = 0; k <= msb; k++)
        d |= (uint64_t)(k < len && pos + k <= msb ? bit(a, (uint32_t)pos + k) : sbit) << k;
    return d;
}
REF(bfe_u32, bfe(A32, B32, C32, false, 31))
REF(bfe_s32, bfe(A32, B32, C32, true, 31))
REF(bfe_u64, bfe(v->a, B32, C32, false, 63))
REF(bfe_s64, bfe(v->a, B32, C32, true, 63))
static uint64_t bfi(uint64_t a, uint64_t f, uint64_t pos, uint64_t len, uint32_t msb)
{
    if (msb == 31) pos &= 0xff, len &= 0xff;
    for (uint32_t k = 0; k < len && pos + k <= msb; k++)
        f = (f & ~(1ull << (pos + k))) | (uint64_t)bit(a, k) << (pos + k);
    return f;
}
REF(bfi_32, bfi(A32, B32, C32, E32, 31))
REF(bfi_64, bfi(v->a, v->b, C32, E32, 63))
static uint64_t bfind(uint64_t a, bool is_signed, int msb, bool shift_amount)
{
    if (is_signed && bit(a, (uint32_t)msb)) a = ~a;
    for (int k = msb; k >= 0; k--)
        if (bit(a, (uint32_t)k)) return (uint32_t)(shift_amount ? msb - k : k);
    return UINT32_MAX;
}
REF(bfind_u32, bfind(A32, false, 31, v->mod))
REF(bfind_s32, bfind(A32, true, 31, v->mod))
REF(bfind_u64, bfind(v->a, false, 63, v->mod))
REF(bfind_s64, bfind(v->a, true, 63, v->mod))
static uint64_t brev_64(const struct args *v)
{
    uint64_t d = 0;
    for (uint32_t k = 0; k < 64; k++) d |= (uint64_t)bit(v->a, k) << (63 - k);
    return d;
}
static uint64_t bmsk(const struct args *v)
{
    const uint32_t pos = A32 & 31, width = B32 & 31;
    uint32_t mask0 = UINT32_MAX << pos, mask1 = pos + width >= 32 ? 0 : UINT32_MAX << (pos + width);
    if (v->mod && A32 >= 32) mask0 = 0;
    if (v->mod && (A32 >= 32 || B32 >= 32)) mask1 = 0;
    return mask0 & ~mask1;
}
static uint64_t szext_s32(const struct args *v)
{
    const uint32_t b = B32 & 31;
    const bool too_large = v->mod && B32 >= 32;
    const uint32_t mask = too_large ? 0 : UINT32_MAX << b;
    const bool sign = b && !too_large && bit(A32, b - 1);
    return (A32 & ~mask) | (sign ? mask : 0);
}
static uint64_t fns(const struct args *v)
{
    if (B32 > 31) return UINT32_MAX;
    if (!CS) return bit(A32, B32) ? B32 : UINT32_MAX;
    int64_t pos = B32, count = (CS < 0 ? -(int64_t)CS : CS) - 1, inc = CS > 0 ? 1 : -1;
    for (; pos >= 0 && pos < 32; pos += inc)
        if (bit(A32, (uint32_t)pos) && count-- == 0) return (uint64_t)pos;
    return UINT32_MAX;
}
static uint64_t dp4a(const struct args *v)
{
    uint32_t d = C32;
    for (int k = 0; k < 4; k++) {
        const int x = v->mod & 1 ? (int8_t)(A32 >> 8 * k) : (uint8_t)(A32 >> 8 * k);
        const int y = v->mod & 2 ? (int8_t)(B32 >> 8 * k) : (uint8_t)(B32 >> 8 * k);
        d += (uint32_t)(x * y);
    }
    return d;
}
static uint64_t dp2a_hi(const struct args *v)
{
    uint32_t d = C32;
    for (int k = 0; k < 2; k++) {
        const int64_t x = v->mod & 1 ? (int16_t)(A32 >> 16 * k) : (uint16_t)(A32 >> 16 * k);
        const int64_t y = v->mod & 2 ? (int8_t)(B32 >> (16 + 8 * k)) : (uint8_t)(B32 >> (16 + 8 * k));
        d += (uint32_t)(x * y);
    }
    return d;
}
static uint64_t lop3(const struct args *v)
{
    uint32_t d = 0;
    for (uint32_t k = 0; k < 32; k++)
        d |= (uint32_t)(v->imm >> (bit(A32, k) * 4 + bit(B32, k) * 2 + bit(C32, k)) & 1) << k;
    return d;
}
static uint64_t prmt(const struct args *v)
{
    static const uint8_t named[][4][4] = {{{0}}, /* by the manual's table, least significant byte first */
                                          {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
                                          {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
                                          {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
                                          {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
                                          {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
                                          {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};
    uint32_t d = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t s = v->mod ? named[v->mod][C32 & 3][k] : C32 >> 4 * k & 15;
        const uint8_t byte = (uint8_t)((s & 4 ? B32 : A32) >> 8 * (s & 3));
        d |= (uint32_t)(s & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
    }
    return d;
}
#define AMOUNT(n) (v->mod ? MIN(n, 32u) : (n)&31)
REF(shf_l, (uint32_t)((((u128)B32 << 32 | A32) << AMOUNT(C32)) >> 32))
REF(shf_r, (uint32_t)(((u128)B32 << 32 | A32) >> AMOUNT(C32)))
REF(shl_16, B32 > 15 ? 0 : (uint16_t)(AH << B32))
REF(shl_32, B32 > 31 ? 0 : (uint32_t)(A32 << B32))
REF(shl_64, B32 > 63 ? 0 : v->a << B32)
REF(shr_s16, (uint16_t)(AHS >> MIN(B32, 15u)))
REF(shr_u16, B32 > 15 ? 0 : AH >> B32)
REF(shr_s32, (uint32_t)(AS >> MIN(B32, 31u)))
REF(shr_s64, (int64_t)v->a >> MIN(B32, 63u))
REF(shr_u64, B32 > 63 ? 0 : v->a >> B32)
static uint64_t min_s16x2(const struct args *v)
{
    uint32_t d = 0;
    for (int k = 0; k < 32; k += 16) {
        const int x = (int16_t)(A32 >> k), y = (int16_t)(B32 >> k), m = x < y ? x : y;
        d |= (uint32_t)(uint16_t)(HAS(RELU) && m < 0 ? 0 : m) << k;
    }
    return d;
}
REF(max_s32, (uint32_t)(HAS(RELU) ? MAX(MAX(AS, BS), 0) : MAX(AS, BS)))
REF(cvt_s8_s64, (uint8_t)(HAS(SAT) ? clamp((int64_t)v->a, -128, 127) : (int64_t)v->a))
REF(cvt_u16_s32, (uint16_t)(HAS(SAT) ? clamp(AS, 0, 65535) : AS))
REF(cvt_u64_s16, HAS(SAT) ? (uint64_t)MAX(AHS, 0) : (uint64_t)(int64_t)AHS)
REF(cvt_s64_u64, HAS(SAT) ? MIN(v->a, (uint64_t)INT64_MAX) : v->a)
REF(cvt_s32_u64, (uint32_t)(HAS(SAT) ? MIN(v->a, (uint64_t)INT32_MAX) : v->a))
REF(cvt_s16_s8, (uint16_t)(int8_t)v->a)
static uint64_t cvt_pack_s4(const struct args *v)
{
    return (uint32_t)(C32 << 8 | ((uint32_t)clamp(AS, -8, 7) & 15) << 4 | ((uint32_t)clamp(BS, -8, 7) & 15));
}

#define R(OP, fn)                                                                                            \
    {                                                                                                        \
        ISA_OP_##OP, fn, #OP                                                                                 \
    }
static const struct {
    enum isa_op op;
    ref_fn *fn;
    const char *name;
} refs[] = {
    R(ADD_16, add_16),
    R(ADD_32, add_32),
    R(ADD_64, add_64),
    R(ADD_16X2, add_16x2),
    R(ADDS_S32, adds),
    R(SUBS_S32, subs),
    R(SUB_16, sub_16),
    R(SUB_32, sub_32),
    R(SUB_64, sub_64),
    R(MUL_LO_16, mul_lo_16),
    R(MUL_LO_32, mul_lo_32),
    R(MUL_LO_64, mul_lo_64),
    R(MUL_HI_U16, mul_hi_u16),
    R(MUL_HI_S16, mul_hi_s16),
    R(MUL_HI_U32, mul_hi_u32),
    R(MUL_HI_S32, mul_hi_s32),
    R(MUL_HI_U64, mul_hi_u64),
    R(MUL_HI_S64, mul_hi_s64),
    R(MUL_WIDE_S32, mul_wide_s32),
    R(MUL_WIDE_U32, mul_wide_u32),
    R(MUL_WIDE_S16, mul_wide_s16),
    R(MAD_LO_32, mad_lo_32),
    R(MAD_WIDE_S32, mad_wide_s32),
    R(MAD_WIDE_U32, mad_wide_u32),
    R(MAD_HI_S32, mad_hi_s32),
    R(MAD_HI_S64, mad_hi_s64),
    R(MUL24_LO_S32, mul24_lo_s32),
    R(MUL24_HI_S32, mul24_hi_s32),
    R(MUL24_HI_U32, mul24_hi_u32),
    R(MAD24_HI_S32, mad24_hi_s32),
    R(SAD_S32, sad_s32),
    R(SAD_U16, sad_u16),
    R(SAD_S64, sad_s64),
    R(DIV_U32, div_u32),
    R(DIV_S32, div_s32),
    R(REM_S32, rem_s32),
    R(DIV_S64, div_s64),
    R(REM_S64, rem_s64),
    R(LEA_32, lea_32),
    R(LEA_64, lea_64),
    R(POPC_64, popc_64),
    R(ABS_S16, abs_s16),
    R(NEG_64, neg_64),
    R(BFE_U32, bfe_u32),
    R(BFE_S32, bfe_s32),
    R(BFE_U64, bfe_u64),
    R(BFE_S64, bfe_s64),
    R(BFI_32, bfi_32),
    R(BFI_64, bfi_64),
    R(BFIND_U32, bfind_u32),
    R(BFIND_S32, bfind_s32),
    R(BFIND_U64, bfind_u64),
    R(BFIND_S64, bfind_s64),
    R(BREV_64, brev_64),
    R(BMSK, bmsk),
    R(SZEXT_S32, szext_s32),
    R(FNS, fns),
    R(DP4A, dp4a),
    R(DP2A_HI, dp2a_hi),
    R(LOP3, lop3),
    R(PRMT, prmt),
    R(SHF_L, shf_l),
    R(SHF_R, shf_r),
    R(SHL_16, shl_16),
    R(SHL_32, shl_32),
    R(SHL_64, shl_64),
    R(SHR_S16, shr_s16),
    R(SHR_U16, shr_u16),
    R(SHR_S32, shr_s32),
    R(SHR_S64, shr_s64),
    R(SHR_U64, shr_u64),
    R(MIN_S16X2, min_s16x2),
    R(MAX_S32, max_s32),
    R(CVT_S8_S64, cvt_s8_s64),
    R(CVT_U16_S32, cvt_u16_s32),
    R(CVT_U64_S16, cvt_u64_s16),
    R(CVT_S64_U64, cvt_s64_u64),
    R(CVT_S32_U64, cvt_s32_u64),
    R(CVT_S16_S8, cvt_s16_s8),
    R(CVT_PACK, cvt_pack_s4),
};

static void rows_match_the_manual(void **state)
{
    (void)state;
    static const uint16_t flags[] = {0, ISA_SAT, ISA_RELU};
    struct rng r = {11};
    for (size_t n = 0; n < ARRAY_LEN(refs); n++) {
        struct alu_case *c = alu_case_new(refs[n].op);
        for (int round = 0; round < 300; round++) {
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < ISA_LANES; l++) c->src[k][l] = alu_operand(&r);
            c->inst.flags = flags[rng_below(&r, ARRAY_LEN(flags))];
            c->inst.imm = (int64_t)rng_below(&r, 256);
            c->inst.mod = (uint8_t)rng_below(&r, refs[n].op == ISA_OP_PRMT ? 7 : 4);
            if (refs[n].op == ISA_OP_CVT_PACK) c->inst.mod = 4, c->inst.type = ISA_S8;
            alu_case_run(c, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++) {
                const struct args v = {c->src[0][l], c->src[1][l],  c->src[2][l], c->src[3][l],
                                       c->inst.mod,  c->inst.flags, c->inst.imm};
                if (c->out[0][l] != refs[n].fn(&v))
                    fail_msg("%s mod %d flags %x: %llx %llx %llx %llx gives %llx, not %llx", refs[n].name,
                             v.mod, v.flags, (unsigned long long)v.a, (unsigned long long)v.b,
                             (unsigned long long)v.c, (unsigned long long)v.e,
                             (unsigned long long)c->out[0][l], (unsigned long long)refs[n].fn(&v));
            }
        }
        free(c);
    }
}

/* A carry chain of two rows is one row of twice the width. */
static void carries_make_wide_sums(void **state)
{
    (void)state;
    static const struct {
        enum isa_op op;
        int bits;
        bool sub, mad, hi, is_signed;
    } rows[] = {
        {ISA_OP_ADDC_32, 32, false, false, false, false},
        {ISA_OP_ADDC_64, 64, false, false, false, false},
        {ISA_OP_SUBC_32, 32, true, false, false, false},
        {ISA_OP_SUBC_64, 64, true, false, false, false},
        {ISA_OP_MADC_LO_32, 32, false, true, false, false},
        {ISA_OP_MADC_HI_U32, 32, false, true, true, false},
        {ISA_OP_MADC_HI_S32, 32, false, true, true, true},
        {ISA_OP_MADC_LO_64, 64, false, true, false, false},
        {ISA_OP_MADC_HI_U64, 64, false, true, true, false},
        {ISA_OP_MADC_HI_S64, 64, false, true, true, true},
    };
    struct rng r = {12};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        struct alu_case *c = alu_case_new(rows[n].op);
        for (int round = 0; round < 200; round++) {
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < ISA_LANES; l++) c->src[k][l] = alu_operand(&r);
            alu_case_run(c, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++) {
                const u128 top = (u128)1 << rows[n].bits, m = top - 1;
                const u128 a = c->src[0][l] & m, b = c->src[1][l] & m;
                u128 x = a, y = b, k = c->src[rows[n].mad ? 3 : 2][l] & 1;
                if (rows[n].mad) {
                    s128 sa = (s128)a, sb = (s128)b;
                    if (rows[n].is_signed && a >> (rows[n].bits - 1)) sa -= (s128)top;
                    if (rows[n].is_signed && b >> (rows[n].bits - 1)) sb -= (s128)top;
                    const u128 p = (u128)sa * (u128)sb;
                    x = (rows[n].hi ? p >> rows[n].bits : p) & m;
                    y = c->src[2][l] & m;
                }
                const u128 sum = rows[n].sub ? x - y - k : x + y + k;
                const bool carry = rows[n].sub ? x < y + k : sum > m;
                assert_true(c->out[0][l] == (uint64_t)(sum & m));
                assert_true(c->out[1][l] == carry);
            }
        }
        free(c);
    }
}

static void comparisons_and_their_complements(void **state)
{
    (void)state;
    static const struct {
        enum isa_op op;
        int bits;
        bool is_signed;
    } rows[] = {{ISA_OP_SETP_U16, 16, false}, {ISA_OP_SETP_S16, 16, true},  {ISA_OP_SETP_U32, 32, false},
                {ISA_OP_SETP_S32, 32, true},  {ISA_OP_SETP_U64, 64, false}, {ISA_OP_SETP_S64, 64, true}};
    struct rng r = {13};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        struct alu_case *c = alu_case_new(rows[n].op);
        for (int round = 0; round < 300; round++) {
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < ISA_LANES; l++)
                    c->src[k][l] = k == 1 && rng_below(&r, 3) == 0 ? c->src[0][l] : alu_operand(&r);
            c->inst.mod = (uint8_t)(round % 6);
            c->inst.mod2 = (uint8_t)rng_below(&r, 4);
            alu_case_run(c, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++) {
                const int drop = 64 - rows[n].bits;
                const s128 a = rows[n].is_signed ? (int64_t)(c->src[0][l] << drop) >> drop
                                                 : (s128)(c->src[0][l] << drop >> drop);
                const s128 b = rows[n].is_signed ? (int64_t)(c->src[1][l] << drop) >> drop
                                                 : (s128)(c->src[1][l] << drop >> drop);
                const bool all[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
                const bool p = all[c->inst.mod], q = c->src[2][l] & 1;
                const bool with[][2] = {{p, !p}, {p && q, !p && q}, {p || q, !p || q}, {p != q, p == q}};
                assert_true(c->out[0][l] == with[c->inst.mod2][0]);
                assert_true(c->out[1][l] == with[c->inst.mod2][1]);
            }
        }
        free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_match_the_manual),
        cmocka_unit_test(carries_make_wide_sums),
        cmocka_unit_test(comparisons_and_their_complements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
