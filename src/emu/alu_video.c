/* alu_video.c: the video instructions: parts of a and b are extended, combined, perhaps saturated, and
 * joined with c (PTX ISA 9.7.17, 9.7.18: the pseudo-code there).
 *
 * Numbers are 128 bits wide, which holds every intermediate result: vmad's product with its addend, and a
 * word shifted by 32. A result that is not saturated keeps its low bits. */
#include "emu/alu.h"

typedef alu_s128 number;

enum { SIGNED_DST = 1, SIGNED_A = 2, SIGNED_B = 4 };

/* The low bits of a value. */
static number extend(uint64_t v, uint32_t bits, bool is_signed)
{
    uint64_t up = v << (64 - bits);
    return is_signed ? (number)((int64_t)up >> (64 - bits)) : (number)(up >> (64 - bits));
}

static number saturate(number x, uint32_t bits, bool is_signed)
{
    const number one = 1, low = is_signed ? -(one << (bits - 1)) : 0;
    const number high = is_signed ? (one << (bits - 1)) - 1 : (one << bits) - 1;
    return x < low ? low : x > high ? high : x;
}

static bool compare(uint32_t cmp, number a, number b)
{
    switch ((enum isa_cmp)cmp) {
    case ISA_EQ: return a == b;
    case ISA_NE: return a != b;
    case ISA_LT: return a < b;
    case ISA_LE: return a <= b;
    case ISA_GT: return a > b;
    default: return a >= b;
    }
}

static number shift_amount(const struct isa_inst *i, number b)
{
    return i->mod2 & ISA_CLAMP ? (b < 32 ? b : 32) : (b & 31);
}

static number combine(const struct isa_inst *i, number a, number b)
{
    switch ((enum isa_video)i->mod) {
    case ISA_VIDEO_ADD: return a + b;
    case ISA_VIDEO_SUB: return a - b;
    case ISA_VIDEO_ABSDIFF: return a > b ? a - b : b - a;
    case ISA_VIDEO_MIN: return a < b ? a : b;
    case ISA_VIDEO_MAX: return a > b ? a : b;
    case ISA_VIDEO_AVRG: return (a + b + (a + b >= 0)) >> 1;
    case ISA_VIDEO_SET: return compare(isa_selected_cmp(i), a, b);
    case ISA_VIDEO_SHL: return a * ((number)1 << shift_amount(i, b));
    case ISA_VIDEO_SHR: return a >> shift_amount(i, b);
    }
    UNREACHABLE("video operation");
}

/* ---- scalar ---- */

static uint32_t part_bits(uint32_t part) { return part < ISA_PART_H0 ? 8 : part < ISA_PART_ALL ? 16 : 32; }

static uint32_t part_shift(uint32_t part)
{
    return part < ISA_PART_H0 ? 8 * part : part < ISA_PART_ALL ? 16 * (part - ISA_PART_H0) : 0;
}

static number select_part(uint32_t v, uint32_t part, bool is_signed)
{
    return extend(v >> part_shift(part), part_bits(part), is_signed);
}

static uint32_t join(const struct isa_inst *i, uint32_t x, uint32_t c)
{
    const bool is_signed = i->type & SIGNED_DST;
    const bool less = is_signed ? (int32_t)x < (int32_t)c : x < c;
    const uint32_t part = isa_selected_dst(i), shift = part_shift(part);
    const uint32_t mask = (uint32_t)((1ull << part_bits(part)) - 1) << shift;
    switch ((enum isa_second)(i->mod2 & ~ISA_CLAMP)) {
    case ISA_SECOND_NONE: return x;
    case ISA_SECOND_ADD: return x + c;
    case ISA_SECOND_MIN: return less ? x : c;
    case ISA_SECOND_MAX: return less ? c : x;
    case ISA_SECOND_MERGE: return (c & ~mask) | (x << shift & mask);
    }
    UNREACHABLE("second operation of a video instruction");
}

static uint32_t scalar_lane(const struct isa_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
    number x = combine(i, select_part(a, isa_selected_a(i), i->type & SIGNED_A),
                       select_part(b, isa_selected_b(i), i->type & SIGNED_B));
    if (i->flags & ISA_SAT) x = saturate(x, part_bits(isa_selected_dst(i)), i->type & SIGNED_DST);
    return join(i, (uint32_t)x, c);
}

static uint32_t vmad_lane(const struct isa_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
    const bool is_signed =
        i->type & (SIGNED_A | SIGNED_B) || i->mod & (ISA_VMAD_MINUS_PRODUCT | ISA_VMAD_MINUS_C);
    number x = select_part(a, isa_selected_a(i), i->type & SIGNED_A) *
               select_part(b, isa_selected_b(i), i->type & SIGNED_B);
    number addend = extend(c, 32, is_signed);
    if (i->mod & ISA_VMAD_MINUS_PRODUCT) x = -x;
    if (i->mod & ISA_VMAD_MINUS_C) addend = -addend;
    x = (x + addend + !!(i->mod & ISA_VMAD_PLUS_ONE)) >> i->mod2;
    return (uint32_t)(i->flags & ISA_SAT ? saturate(x, 32, is_signed) : x);
}

/* ---- SIMD ---- */

static uint32_t simd_lane(const struct isa_inst *i, uint32_t count, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t bits = 32 / count, ones = (1u << bits) - 1, mask = isa_selected_dst(i);
    const uint64_t both = (uint64_t)b << 32 | a;
    const bool adds = i->mod2 == ISA_SECOND_ADD;
    uint32_t out = c;
    for (uint32_t k = 0; k < count; k++) {
        if (!(mask >> k & 1)) continue;
        const uint32_t from_a = isa_selected_a(i) >> 4 * k & 7, from_b = isa_selected_b(i) >> 4 * k & 7;
        number x = combine(i, extend(both >> from_a * bits, bits, i->type & SIGNED_A),
                           extend(both >> from_b * bits, bits, i->type & SIGNED_B));
        if (i->flags & ISA_SAT) x = saturate(x, bits, i->type & SIGNED_DST);
        out = adds ? out + (uint32_t)x : (out & ~(ones << k * bits)) | ((uint32_t)x & ones) << k * bits;
    }
    return out;
}

#define VIDEO_ROWS(F3)                                                                                       \
    F3(VIDEO, r, r, r, r, scalar_lane(i, a, b, c))                                                           \
    F3(VIDEO_2, r, r, r, r, simd_lane(i, 2, a, b, c))                                                        \
    F3(VIDEO_4, r, r, r, r, simd_lane(i, 4, a, b, c))                                                        \
    F3(VMAD, r, r, r, r, vmad_lane(i, a, b, c))
VIDEO_ROWS(ALU_FN3)

void ALU_NAME(alu_video_rows)(exec_fn **table) { VIDEO_ROWS(ALU_SET) }
