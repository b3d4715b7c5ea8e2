/* alu_bits.c: counting, finding, reversing and moving bits; shifts.
 *
 * Semantics: PTX ISA, popc, clz, bfind, fns, brev, bfe, bfi, bmsk, szext, shl, shr, shf. Shift amounts are
 * clamped to the width; bit fields may reach beyond it. */
#include "emu/alu.h"

#define S32(v) ((int32_t)(v))
#define S64(v) ((int64_t)(v))

ALU_INLINE uint32_t clz32(uint32_t v) { return v ? (uint32_t)__builtin_clz(v) : 32; }
ALU_INLINE uint32_t clz64(uint64_t v) { return v ? (uint32_t)__builtin_clzll(v) : 64; }
ALU_INLINE uint32_t popc32(uint32_t v)
{
    v -= v >> 1 & 0x55555555;
    v = (v & 0x33333333) + (v >> 2 & 0x33333333);
    return ((v + (v >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/* Position of the highest bit that is not a copy of the sign (the highest 1 of a non-negative value); all
 * ones if there is none. As a shift amount: how far to shift left to bring it to the top. */
ALU_INLINE uint32_t bfind32(uint32_t v, bool shift_amount)
{
    return !v ? UINT32_MAX : shift_amount ? clz32(v) : 31 - clz32(v);
}
ALU_INLINE uint32_t bfind64(uint64_t v, bool shift_amount)
{
    return !v ? UINT32_MAX : shift_amount ? clz64(v) : 63 - clz64(v);
}

/* The position of the offset-th set bit from base on, upwards or downwards; offset 0 asks for base itself. */
ALU_INLINE uint32_t find_nth_set(uint32_t bits, uint32_t base, int32_t offset)
{
    if (base > 31) return UINT32_MAX;
    if (!offset) return bits >> base & 1 ? base : UINT32_MAX;
    uint32_t left = offset < 0 ? 0u - (uint32_t)offset : (uint32_t)offset;
    for (int32_t p = (int32_t)base; p >= 0 && p < 32; p += offset < 0 ? -1 : 1)
        if (bits >> p & 1 && !--left) return (uint32_t)p;
    return UINT32_MAX;
}

ALU_INLINE uint32_t brev32(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return v >> 24 | (v >> 8 & 0xff00) | (v & 0xff00) << 8 | v << 24;
}

ALU_INLINE uint32_t low_mask32(uint32_t bits) { return bits > 31 ? UINT32_MAX : (1u << (bits & 31)) - 1; }
ALU_INLINE uint64_t low_mask64(uint32_t bits) { return bits > 63 ? UINT64_MAX : (1ull << (bits & 63)) - 1; }
ALU_INLINE uint32_t shl32(uint32_t v, uint32_t n) { return n > 31 ? 0 : v << (n & 31); }
ALU_INLINE uint32_t shr32(uint32_t v, uint32_t n) { return n > 31 ? 0 : v >> (n & 31); }
ALU_INLINE uint64_t shl64(uint64_t v, uint32_t n) { return n > 63 ? 0 : v << (n & 63); }
ALU_INLINE uint64_t shr64(uint64_t v, uint32_t n) { return n > 63 ? 0 : v >> (n & 63); }

/* Bit fields: of 32-bit fields position and length are the low bytes of their operands, as PTX ISA says; of
 * 64-bit fields (which are sequences on real machines) they are the whole operands, as an H200 has it. A
 * field that reaches beyond the top is filled with the sign: the field's top bit, or the value's when the
 * field's lies beyond it. */
ALU_INLINE uint32_t bfe32(uint32_t v, uint32_t pos, uint32_t len, bool is_signed)
{
    pos &= 0xff;
    len &= 0xff;
    const uint32_t f = shr32(v, pos) & low_mask32(len), top = MIN(pos + len - 1, 31u);
    const bool negative = is_signed && len && v >> (top & 31) & 1;
    return negative ? f | ~low_mask32(MIN(len, 32 - MIN(pos, 32u))) : f;
}
ALU_INLINE uint64_t bfe64(uint64_t v, uint32_t pos, uint32_t len, bool is_signed)
{
    pos = MIN(pos, 64u);
    len = MIN(len, 64u);
    const uint64_t f = shr64(v, pos) & low_mask64(len);
    const uint32_t top = MIN(pos + len - 1, 63u);
    const bool negative = is_signed && len && v >> (top & 63) & 1;
    return negative ? f | ~low_mask64(MIN(len, 64 - pos)) : f;
}
ALU_INLINE uint32_t bfi32(uint32_t field, uint32_t base, uint32_t pos, uint32_t len)
{
    const uint32_t m = shl32(low_mask32(len & 0xff), pos & 0xff);
    return (shl32(field, pos & 0xff) & m) | (base & ~m);
}
ALU_INLINE uint64_t bfi64(uint64_t field, uint64_t base, uint32_t pos, uint32_t len)
{
    const uint64_t m = shl64(low_mask64(len), pos);
    return (shl64(field, pos) & m) | (base & ~m);
}

/* Amounts beyond 31 are clamped to 32 or wrap around, as inst.mod says. */
#define CLAMP i->mod
ALU_INLINE uint32_t amount(uint32_t n, bool clamp) { return clamp ? MIN(n, 32u) : n & 31; }
ALU_INLINE uint32_t bmsk(uint32_t pos, uint32_t width, bool clamp)
{
    return shl32(low_mask32(amount(width, clamp)), amount(pos, clamp));
}
ALU_INLINE uint32_t szext(uint32_t v, uint32_t width, bool clamp, bool is_signed)
{
    const uint32_t n = amount(width, clamp), m = low_mask32(n);
    const bool negative = is_signed && n && n < 32 && v >> ((n - 1) & 31) & 1;
    return (v & m) | (negative ? ~m : 0);
}
ALU_INLINE uint64_t both(uint32_t lo, uint32_t hi) { return lo | (uint64_t)hi << 32; }

#define BITS_ROWS(F1, F2, F3, F4)                                                                            \
    F1(POPC_32, r, r, popc32(a))                                                                             \
    F1(POPC_64, r, d, popc32((uint32_t)a) + popc32((uint32_t)(a >> 32)))                                     \
    F1(CLZ_32, r, r, clz32(a))                                                                               \
    F1(CLZ_64, r, d, clz64(a))                                                                               \
    F1(BFIND_U32, r, r, bfind32(a, i->mod))                                                                  \
    F1(BFIND_S32, r, r, bfind32(a ^ (uint32_t)(S32(a) >> 31), i->mod))                                       \
    F1(BFIND_U64, r, d, bfind64(a, i->mod))                                                                  \
    F1(BFIND_S64, r, d, bfind64(a ^ (uint64_t)(S64(a) >> 63), i->mod))                                       \
    F3(FNS, r, r, r, r, find_nth_set(a, b, S32(c)))                                                          \
    F1(BREV_32, r, r, brev32(a))                                                                             \
    F1(BREV_64, d, d, both(brev32((uint32_t)(a >> 32)), brev32((uint32_t)a)))                                \
    F3(BFE_U32, r, r, r, r, bfe32(a, b, c, false))                                                           \
    F3(BFE_S32, r, r, r, r, bfe32(a, b, c, true))                                                            \
    F3(BFE_U64, d, d, r, r, bfe64(a, b, c, false))                                                           \
    F3(BFE_S64, d, d, r, r, bfe64(a, b, c, true))                                                            \
    F4(BFI_32, r, r, r, r, r, bfi32(a, b, c, e))                                                             \
    F4(BFI_64, d, d, d, r, r, bfi64(a, b, c, e))                                                             \
    F2(BMSK, r, r, r, bmsk(a, b, CLAMP))                                                                     \
    F2(SZEXT_U32, r, r, r, szext(a, b, CLAMP, false))                                                        \
    F2(SZEXT_S32, r, r, r, szext(a, b, CLAMP, true))                                                         \
    F2(SHL_16, r, r, r, shl32(a, b) & 0xffff)                                                                \
    F2(SHL_32, r, r, r, shl32(a, b))                                                                         \
    F2(SHL_64, d, d, r, shl64(a, b))                                                                         \
    F2(SHR_U16, r, r, r, shr32(a & 0xffff, b))                                                               \
    F2(SHR_S16, r, r, r, (uint32_t)((int16_t)a >> MIN(b, 31u)) & 0xffff)                                     \
    F2(SHR_U32, r, r, r, shr32(a, b))                                                                        \
    F2(SHR_S32, r, r, r, S32(a) >> MIN(b, 31u))                                                              \
    F2(SHR_U64, d, d, r, shr64(a, b))                                                                        \
    F2(SHR_S64, d, d, r, S64(a) >> MIN(b, 63u))                                                              \
    F3(SHF_L, r, r, r, r, both(a, b) << amount(c, CLAMP) >> 32)                                              \
    F3(SHF_R, r, r, r, r, both(a, b) >> amount(c, CLAMP))
BITS_ROWS(ALU_FN1, ALU_FN2, ALU_FN3, ALU_FN4)

void ALU_NAME(alu_bits_rows)(exec_fn **table) { BITS_ROWS(ALU_SET, ALU_SET, ALU_SET, ALU_SET) }
