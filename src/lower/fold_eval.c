/* fold_eval.c: integer instructions on constants. Floating point is left to the emulator, so that only one
 * part decides its bits. */
#include "lower/fold.h"

static int64_t sext(uint64_t v, uint32_t bits) { return (int64_t)(v << (64 - bits)) >> (64 - bits); }
static uint64_t zext(uint64_t v, uint32_t bits) { return bits == 64 ? v : v & ((1ull << bits) - 1); }
static uint64_t shl(uint64_t v, uint64_t n, uint32_t bits) { return n >= bits ? 0 : zext(v << n, bits); }
static uint64_t shr_u(uint64_t v, uint64_t n, uint32_t bits) { return n >= bits ? 0 : zext(v, bits) >> n; }
static uint64_t shr_s(uint64_t v, uint64_t n, uint32_t bits)
{
    return zext((uint64_t)(sext(v, bits) >> MIN(n, (uint64_t)bits - 1)), bits);
}

static bool compare(uint8_t cmp, uint64_t a, uint64_t b, uint32_t bits, bool is_signed, bool *result)
{
    int64_t sa = sext(a, bits), sb = sext(b, bits);
    uint64_t ua = zext(a, bits), ub = zext(b, bits);
    switch (cmp) {
    case ISA_EQ: *result = ua == ub; return true;
    case ISA_NE: *result = ua != ub; return true;
    case ISA_LT: *result = is_signed ? sa < sb : ua < ub; return true;
    case ISA_LE: *result = is_signed ? sa <= sb : ua <= ub; return true;
    case ISA_GT: *result = is_signed ? sa > sb : ua > ub; return true;
    case ISA_GE: *result = is_signed ? sa >= sb : ua >= ub; return true;
    default: return false;
    }
}

static bool eval_setp(const struct mir_inst *in, const uint64_t *s, uint64_t *result)
{
    static const struct {
        uint16_t op;
        uint8_t bits;
        bool is_signed;
    } kinds[] = {{ISA_OP_SETP_U16, 16, false}, {ISA_OP_SETP_S16, 16, true},  {ISA_OP_SETP_U32, 32, false},
                 {ISA_OP_SETP_S32, 32, true},  {ISA_OP_SETP_U64, 64, false}, {ISA_OP_SETP_S64, 64, true}};
    for (uint32_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].op != in->op) continue;
        bool p;
        if (!compare(in->mod, s[0], s[1], kinds[i].bits, kinds[i].is_signed, &p)) return false;
        switch (in->mod2) {
        case ISA_BOOL_NONE: *result = p; return true;
        case ISA_BOOL_AND: *result = p & s[2]; return true;
        case ISA_BOOL_OR: *result = p | s[2]; return true;
        case ISA_BOOL_XOR: *result = p ^ s[2]; return true;
        default: return false;
        }
    }
    return false;
}

/* Between integers of any width: take the low `from` bits, extend, keep the low `to` bits as rows keep them.
 */
static bool eval_cvt(const struct mir_inst *in, uint64_t v, uint64_t *result)
{
    static const struct {
        uint16_t op;
        uint8_t to, from;
        bool is_signed;
    } kinds[] = {{ISA_OP_CVT_U32_U8, 32, 8, false},   {ISA_OP_CVT_U32_S8, 32, 8, true},
                 {ISA_OP_CVT_U32_U16, 32, 16, false}, {ISA_OP_CVT_U32_S16, 32, 16, true},
                 {ISA_OP_CVT_S32_U8, 32, 8, false},   {ISA_OP_CVT_S32_S8, 32, 8, true},
                 {ISA_OP_CVT_S32_U16, 32, 16, false}, {ISA_OP_CVT_S32_S16, 32, 16, true},
                 {ISA_OP_CVT_U32_U32, 32, 32, false}, {ISA_OP_CVT_U32_S32, 32, 32, true},
                 {ISA_OP_CVT_S32_U32, 32, 32, false}, {ISA_OP_CVT_S32_S32, 32, 32, true},
                 {ISA_OP_CVT_U32_U64, 32, 64, false}, {ISA_OP_CVT_U32_S64, 32, 64, true},
                 {ISA_OP_CVT_S32_U64, 32, 64, false}, {ISA_OP_CVT_S32_S64, 32, 64, true},
                 {ISA_OP_CVT_U64_U32, 64, 32, false}, {ISA_OP_CVT_U64_S32, 64, 32, true},
                 {ISA_OP_CVT_S64_U32, 64, 32, false}, {ISA_OP_CVT_S64_S32, 64, 32, true},
                 {ISA_OP_CVT_U64_U64, 64, 64, false}, {ISA_OP_CVT_U64_S64, 64, 64, true},
                 {ISA_OP_CVT_S64_U64, 64, 64, false}, {ISA_OP_CVT_S64_S64, 64, 64, true},
                 {ISA_OP_CVT_U64_U16, 64, 16, false}, {ISA_OP_CVT_S64_S16, 64, 16, true},
                 {ISA_OP_CVT_U16_U32, 16, 32, false}, {ISA_OP_CVT_U16_U64, 16, 64, false},
                 {ISA_OP_CVT_U16_U16, 16, 16, false}, {ISA_OP_CVT_U16_U8, 16, 8, false},
                 {ISA_OP_CVT_S16_S8, 16, 8, true},    {ISA_OP_CVT_S16_S32, 16, 32, true},
                 {ISA_OP_CVT_U8_U32, 8, 32, false}};
    if (in->flags & ISA_SAT) return false;
    for (uint32_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].op != in->op) continue;
        uint64_t wide = kinds[i].is_signed ? (uint64_t)sext(v, kinds[i].from) : zext(v, kinds[i].from);
        *result = zext(wide, kinds[i].to);
        return true;
    }
    return false;
}

bool fold_eval(const struct mir_inst *in, const uint64_t s[ISA_SRC_MAX], uint64_t *r)
{
    switch (in->op) {
    case ISA_OP_ADD_32: *r = (uint32_t)(s[0] + s[1]); return true;
    case ISA_OP_ADD_64: *r = s[0] + s[1]; return true;
    case ISA_OP_SUB_32: *r = (uint32_t)(s[0] - s[1]); return true;
    case ISA_OP_SUB_64: *r = s[0] - s[1]; return true;
    case ISA_OP_MUL_LO_32: *r = (uint32_t)(s[0] * s[1]); return true;
    case ISA_OP_MUL_LO_64: *r = s[0] * s[1]; return true;
    case ISA_OP_MAD_LO_32: *r = (uint32_t)(s[0] * s[1] + s[2]); return true;
    case ISA_OP_MAD_LO_64: *r = s[0] * s[1] + s[2]; return true;
    case ISA_OP_MUL_WIDE_U32: *r = s[0] * s[1]; return true;
    case ISA_OP_MUL_WIDE_S32: *r = (uint64_t)(sext(s[0], 32) * sext(s[1], 32)); return true;
    case ISA_OP_MAD_WIDE_U32: *r = s[0] * s[1] + s[2]; return true;
    case ISA_OP_MAD_WIDE_S32: *r = (uint64_t)(sext(s[0], 32) * sext(s[1], 32)) + s[2]; return true;
    case ISA_OP_LEA_32: *r = (uint32_t)((s[0] << in->imm) + s[1]); return true;
    case ISA_OP_LEA_64: *r = (s[0] << in->imm) + s[1]; return true;
    case ISA_OP_AND_32:
    case ISA_OP_AND_64: *r = s[0] & s[1]; return true;
    case ISA_OP_OR_32:
    case ISA_OP_OR_64: *r = s[0] | s[1]; return true;
    case ISA_OP_XOR_32:
    case ISA_OP_XOR_64: *r = s[0] ^ s[1]; return true;
    case ISA_OP_NOT_32: *r = (uint32_t)~s[0]; return true;
    case ISA_OP_NOT_64: *r = ~s[0]; return true;
    case ISA_OP_NEG_32: *r = (uint32_t)(0 - s[0]); return true;
    case ISA_OP_NEG_64: *r = 0 - s[0]; return true;
    case ISA_OP_SHL_32: *r = shl(s[0], s[1], 32); return true;
    case ISA_OP_SHL_64: *r = shl(s[0], s[1], 64); return true;
    case ISA_OP_SHR_U32: *r = shr_u(s[0], s[1], 32); return true;
    case ISA_OP_SHR_S32: *r = shr_s(s[0], s[1], 32); return true;
    case ISA_OP_SHR_U64: *r = shr_u(s[0], s[1], 64); return true;
    case ISA_OP_SHR_S64: *r = shr_s(s[0], s[1], 64); return true;
    case ISA_OP_PACK_64_32: *r = s[0] | s[1] << 32; return true;
    case ISA_OP_AND_P: *r = s[0] & s[1]; return true;
    case ISA_OP_OR_P: *r = s[0] | s[1]; return true;
    case ISA_OP_XOR_P: *r = s[0] ^ s[1]; return true;
    case ISA_OP_P2R: *r = s[0]; return true;
    case ISA_OP_R2P: *r = s[0] != 0; return true;
    case ISA_OP_SEL_32:
    case ISA_OP_SEL_64: *r = s[2] ? s[0] : s[1]; return true;
    default: return eval_setp(in, s, r) || eval_cvt(in, s[0], r);
    }
}
