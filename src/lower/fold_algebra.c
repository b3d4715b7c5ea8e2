/* fold_algebra.c: one instruction at a time: constants move to the right, x+0 and the like vanish, a product
 * with a power of two becomes a shift. Only identities that hold for every bit pattern, and none of floating
 * point. */
#include "lower/fold.h"

static bool is_imm(const struct mir_inst *in, uint32_t k, uint64_t value)
{
    return fold_is_imm(&in->src[k]) && fold_imm(in, k) == value;
}

/* An address that is not known yet, plus a constant, is still such an address. */
static bool add_to_address(struct fold *z, struct mir_inst *in)
{
    bool is_add = in->op == ISA_OP_ADD_64 || in->op == ISA_OP_ADD_32;
    bool is_sub = in->op == ISA_OP_SUB_64 || in->op == ISA_OP_SUB_32;
    const struct mir_opnd *a = &in->src[0];
    if ((!is_add && !is_sub) || !fold_is_imm(&in->src[1])) return false;
    if (a->kind != MIR_SLOT && a->kind != MIR_DYNSMEM && a->kind != MIR_SYM) return false;
    bool wide = in->op == ISA_OP_ADD_64 || in->op == ISA_OP_SUB_64;
    if (a->kind == MIR_SYM && !wide) return false;
    int64_t step = wide ? in->src[1].imm : (int64_t)(int32_t)in->src[1].imm;
    struct mir_opnd sum = *a;
    sum.imm = (int64_t)((uint64_t)sum.imm + (is_sub ? 0 - (uint64_t)step : (uint64_t)step));
    fold_to_move(z, in, sum);
    return true;
}

/* Widening and narrowing of frame and shared addresses: small positive numbers. */
static bool resize_address(struct fold *z, struct mir_inst *in)
{
    const struct mir_opnd o = in->src[0];
    if (o.kind != MIR_SLOT && o.kind != MIR_DYNSMEM) return false;
    switch (in->op) {
    case ISA_OP_CVT_U64_U32:
        if (o.imm < 0 || o.imm > INT32_MAX) return false;
        fold_to_move(z, in, o);
        return true;
    case ISA_OP_CVT_U32_U64:
    case ISA_OP_CVT_S32_S64:
    case ISA_OP_CVT_U32_S64:
    case ISA_OP_CVT_S32_U64:
        if (in->flags & ISA_SAT) return false;
        fold_to_move(z, in, o);
        return true;
    default: return false;
    }
}

static bool right_zero_is_copy(uint16_t op)
{
    switch (op) {
    case ISA_OP_ADD_32:
    case ISA_OP_ADD_64:
    case ISA_OP_SUB_32:
    case ISA_OP_SUB_64:
    case ISA_OP_OR_32:
    case ISA_OP_OR_64:
    case ISA_OP_XOR_32:
    case ISA_OP_XOR_64:
    case ISA_OP_SHL_32:
    case ISA_OP_SHL_64:
    case ISA_OP_SHR_U32:
    case ISA_OP_SHR_S32:
    case ISA_OP_SHR_U64:
    case ISA_OP_SHR_S64: return true;
    default: return false;
    }
}

static bool identity(struct fold *z, struct mir_inst *in)
{
    bool and32 = in->op == ISA_OP_AND_32, and64 = in->op == ISA_OP_AND_64;
    bool mul = in->op == ISA_OP_MUL_LO_32 || in->op == ISA_OP_MUL_LO_64;
    if (right_zero_is_copy(in->op) && is_imm(in, 1, 0)) return fold_to_move(z, in, in->src[0]), true;
    if ((and32 && is_imm(in, 1, UINT32_MAX)) || (and64 && is_imm(in, 1, UINT64_MAX)) ||
        (mul && is_imm(in, 1, 1)))
        return fold_to_move(z, in, in->src[0]), true;
    if ((and32 || and64 || mul) && is_imm(in, 1, 0)) return fold_to_move(z, in, mir_imm(0)), true;
    return false;
}

static bool product_to_shift(struct mir_inst *in)
{
    bool wide = in->op == ISA_OP_MUL_LO_64;
    if (!wide && in->op != ISA_OP_MUL_LO_32) return false;
    if (!fold_is_imm(&in->src[1]) || !is_pow2_u64(fold_imm(in, 1))) return false;
    in->src[1] = mir_imm(__builtin_ctzll(fold_imm(in, 1)));
    in->op = wide ? ISA_OP_SHL_64 : ISA_OP_SHL_32;
    return true;
}

/* a*b+c where an operand is known. */
static bool simplify_mad(struct fold *z, struct mir_inst *in)
{
    uint16_t mul, add;
    switch (in->op) {
    case ISA_OP_MAD_LO_32: mul = ISA_OP_MUL_LO_32, add = ISA_OP_ADD_32; break;
    case ISA_OP_MAD_LO_64: mul = ISA_OP_MUL_LO_64, add = ISA_OP_ADD_64; break;
    case ISA_OP_MAD_WIDE_U32: mul = ISA_OP_MUL_WIDE_U32, add = ISA_OP_ADD_64; break;
    case ISA_OP_MAD_WIDE_S32: mul = ISA_OP_MUL_WIDE_S32, add = ISA_OP_ADD_64; break;
    default: return false;
    }
    if (in->flags) return false;
    if (is_imm(in, 2, 0)) {
        in->op = mul;
        fold_set_src(z, in, 2, mir_none());
        return true;
    }
    if (fold_is_imm(&in->src[0]) && fold_is_imm(&in->src[1])) {
        struct mir_inst product = *in;
        product.op = mul;
        uint64_t s[ISA_SRC_MAX] = {fold_imm(in, 0), fold_imm(in, 1)}, value;
        if (!fold_eval(&product, s, &value)) return false;
        in->op = add;
        fold_set_src(z, in, 0, in->src[2]);
        in->src[1] = mir_imm((int64_t)value);
        fold_set_src(z, in, 2, mir_none());
        return true;
    }
    bool narrow = in->op == ISA_OP_MAD_LO_32 || in->op == ISA_OP_MAD_LO_64;
    if (narrow && is_imm(in, 1, 1)) {
        in->op = add;
        fold_set_src(z, in, 1, in->src[2]);
        fold_set_src(z, in, 2, mir_none());
        return true;
    }
    if (narrow && fold_is_imm(&in->src[1]) && is_pow2_u64(fold_imm(in, 1))) {
        in->imm = __builtin_ctzll(fold_imm(in, 1));
        in->op = in->op == ISA_OP_MAD_LO_32 ? ISA_OP_LEA_32 : ISA_OP_LEA_64;
        fold_set_src(z, in, 1, in->src[2]);
        fold_set_src(z, in, 2, mir_none());
        return true;
    }
    return false;
}

static bool same_opnd(const struct mir_opnd *a, const struct mir_opnd *b)
{
    return a->kind == b->kind && a->v == b->v && a->negated == b->negated &&
           (a->kind == MIR_VREG || a->imm == b->imm);
}

static bool simplify_select(struct fold *z, struct mir_inst *in)
{
    if (in->op != ISA_OP_SEL_32 && in->op != ISA_OP_SEL_64) return false;
    if (fold_is_imm(&in->src[2])) return fold_to_move(z, in, in->src[fold_imm(in, 2) ? 0 : 1]), true;
    if (same_opnd(&in->src[0], &in->src[1])) return fold_to_move(z, in, in->src[0]), true;
    return false;
}

/* Conversions between integers of one width are moves. */
static bool plain_conversion(struct fold *z, struct mir_inst *in)
{
    switch (in->op) {
    case ISA_OP_CVT_U32_U32:
    case ISA_OP_CVT_S32_S32:
    case ISA_OP_CVT_U32_S32:
    case ISA_OP_CVT_S32_U32:
    case ISA_OP_CVT_U64_U64:
    case ISA_OP_CVT_S64_S64:
    case ISA_OP_CVT_U64_S64:
    case ISA_OP_CVT_S64_U64:
        if (in->flags & ISA_SAT) return false;
        fold_to_move(z, in, in->src[0]);
        return true;
    default: return false;
    }
}

static bool simplify_pred(struct fold *z, struct mir_inst *in)
{
    if (in->op != ISA_OP_AND_P && in->op != ISA_OP_OR_P && in->op != ISA_OP_XOR_P) return false;
    if (!fold_is_imm(&in->src[1])) return false;
    uint64_t c = fold_imm(in, 1);
    struct mir_opnd a = in->src[0];
    if (in->op == ISA_OP_XOR_P) {
        a.negated ^= c;
        return fold_to_move(z, in, a), true;
    }
    if (c == (in->op == ISA_OP_OR_P)) return fold_to_move(z, in, mir_imm((int64_t)c)), true;
    return fold_to_move(z, in, a), true;
}

/* setp with a constant third operand needs no combination, or is known. */
static bool simplify_setp(struct mir_inst *in)
{
    if (in->op < ISA_OP_SETP_U16 || in->op > ISA_OP_SETP_F64 || in->mod2 == ISA_BOOL_NONE) return false;
    if (!fold_is_imm(&in->src[2])) return false;
    bool c = fold_imm(in, 2) != 0;
    bool neutral = (in->mod2 == ISA_BOOL_AND && c) || (in->mod2 == ISA_BOOL_OR && !c) ||
                   (in->mod2 == ISA_BOOL_XOR && !c);
    if (!neutral) return false;
    in->mod2 = ISA_BOOL_NONE;
    in->src[2] = mir_none();
    return true;
}

/* Constants go right, plain numbers rightmost. */
static bool should_swap(const struct mir_inst *in)
{
    if (!(isa_ops[in->op].flags & ISA_COMM) || isa_ops[in->op].unit != ISA_UNIT_INT) return false;
    if (opnd_is_const(&in->src[0]) && !opnd_is_const(&in->src[1])) return true;
    return fold_is_imm(&in->src[0]) && !fold_is_imm(&in->src[1]) && opnd_is_const(&in->src[1]);
}

bool fold_algebra(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    bool swapped = should_swap(in);
    if (swapped) {
        struct mir_opnd t = in->src[0];
        in->src[0] = in->src[1];
        in->src[1] = t;
    }
    if (in->flags & ISA_SAT) return swapped;
    return add_to_address(z, in) || resize_address(z, in) || identity(z, in) || product_to_shift(in) ||
           simplify_mad(z, in) || simplify_select(z, in) || plain_conversion(z, in) || simplify_pred(z, in) ||
           simplify_setp(in) || swapped;
}
