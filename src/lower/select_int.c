/* select_int.c: integer arithmetic: add to dp2a, extended precision included (PTX ISA 9.7.1, 9.7.2).
 *
 * The condition code is a predicate vreg of the function: .cc writes it, addc, subc and madc read it; add.cc
 * reads a constant false instead. */
#include "lower/select.h"

#define INT32_64(OP) [SEL_U32] = OP##_32, [SEL_S32] = OP##_32, [SEL_U64] = OP##_64, [SEL_S64] = OP##_64
#define INT_SAME(OP) [SEL_U16] = OP##_16, [SEL_S16] = OP##_16, INT32_64(OP)
#define INT_SIGNED(OP)                                                                                       \
    [SEL_U16] = OP##_U16, [SEL_S16] = OP##_S16, [SEL_U32] = OP##_U32, [SEL_S32] = OP##_S32,                  \
    [SEL_U64] = OP##_U64, [SEL_S64] = OP##_S64
#define INT_SIGNED32(OP)    [SEL_U32] = OP##_U32, [SEL_S32] = OP##_S32
#define INT_SIGNED32_64(OP) INT_SIGNED32(OP), [SEL_U64] = OP##_U64, [SEL_S64] = OP##_S64

/* Opcodes that need no more than their type: one row each. */
struct int_row {
    const char *src;
    sel_ops ops;
};
static const struct int_row int_rows[PTX_OP_COUNT] = {
    [PTX_OP_add] = {"TT",
                    {INT_SAME(ISA_OP_ADD), [SEL_U16X2] = ISA_OP_ADD_16X2, [SEL_S16X2] = ISA_OP_ADD_16X2}},
    [PTX_OP_sub] = {"TT", {INT_SAME(ISA_OP_SUB)}},
    [PTX_OP_sad] = {"TTT", {INT_SIGNED(ISA_OP_SAD)}},
    [PTX_OP_div] = {"TT", {INT_SIGNED(ISA_OP_DIV)}},
    [PTX_OP_rem] = {"TT", {INT_SIGNED(ISA_OP_REM)}},
    [PTX_OP_abs] = {"T",
                    {[SEL_S16] = ISA_OP_ABS_S16, [SEL_S32] = ISA_OP_ABS_S32, [SEL_S64] = ISA_OP_ABS_S64}},
    [PTX_OP_neg] = {"T", {INT_SAME(ISA_OP_NEG)}},
    [PTX_OP_min] = {"TT",
                    {INT_SIGNED(ISA_OP_MIN), [SEL_U16X2] = ISA_OP_MIN_U16X2, [SEL_S16X2] = ISA_OP_MIN_S16X2}},
    [PTX_OP_max] = {"TT",
                    {INT_SIGNED(ISA_OP_MAX), [SEL_U16X2] = ISA_OP_MAX_U16X2, [SEL_S16X2] = ISA_OP_MAX_S16X2}},
    [PTX_OP_popc] = {"T", {INT32_64(ISA_OP_POPC)}},
    [PTX_OP_clz] = {"T", {INT32_64(ISA_OP_CLZ)}},
    [PTX_OP_bfind] = {"T", {INT_SIGNED32_64(ISA_OP_BFIND)}},
    [PTX_OP_fns] = {"UUS", {[SEL_U32] = ISA_OP_FNS}},
    [PTX_OP_brev] = {"T", {INT32_64(ISA_OP_BREV)}},
    [PTX_OP_bfe] = {"TUU", {INT_SIGNED32_64(ISA_OP_BFE)}},
    [PTX_OP_bfi] = {"TTUU", {INT32_64(ISA_OP_BFI)}},
    [PTX_OP_bmsk] = {"UU", {[SEL_U32] = ISA_OP_BMSK}},
    [PTX_OP_szext] = {"TU", {INT_SIGNED32(ISA_OP_SZEXT)}},
};

static const sel_ops mul_ops[] = {
    [PTX_LO] = {INT_SAME(ISA_OP_MUL_LO)},
    [PTX_HI] = {INT_SIGNED(ISA_OP_MUL_HI)},
    [PTX_WIDE] =
        {[SEL_U16] = ISA_OP_MUL_WIDE_U16, [SEL_S16] = ISA_OP_MUL_WIDE_S16, INT_SIGNED32(ISA_OP_MUL_WIDE)},
};
static const sel_ops mad_ops[] = {
    [PTX_LO] = {INT_SAME(ISA_OP_MAD_LO)},
    [PTX_HI] = {INT_SIGNED(ISA_OP_MAD_HI)},
    [PTX_WIDE] =
        {[SEL_U16] = ISA_OP_MAD_WIDE_U16, [SEL_S16] = ISA_OP_MAD_WIDE_S16, INT_SIGNED32(ISA_OP_MAD_WIDE)},
};
static const sel_ops madc_ops[] = {
    [PTX_LO] = {INT32_64(ISA_OP_MADC_LO)},
    [PTX_HI] = {INT_SIGNED32_64(ISA_OP_MADC_HI)},
    [PTX_WIDE] = {0},
};
static const sel_ops mul24_ops[] = {
    [PTX_LO] = {INT_SIGNED32(ISA_OP_MUL24_LO)},
    [PTX_HI] = {INT_SIGNED32(ISA_OP_MUL24_HI)},
    [PTX_WIDE] = {0},
};
static const sel_ops mad24_ops[] = {
    [PTX_LO] = {INT_SIGNED32(ISA_OP_MAD24_LO)},
    [PTX_HI] = {INT_SIGNED32(ISA_OP_MAD24_HI)},
    [PTX_WIDE] = {0},
};
static const sel_ops addc_ops = {INT32_64(ISA_OP_ADDC)};
static const sel_ops subc_ops = {INT32_64(ISA_OP_SUBC)};

static bool sel_by_half(struct sel *s, const sel_ops *ops, const char *src, const char *src_wide)
{
    uint8_t half = s->in->m.half;
    if (half == PTX_HALF_NONE) return false;
    return sel_by_kind(s, ops[half], half == PTX_WIDE ? src_wide : src);
}

/* `count` operands, then the carry or borrow: a chain begins without one. */
static bool sel_carry(struct sel *s, const uint16_t *ops, uint32_t count, bool reads_cc)
{
    enum ptx_type t = sel_type(s);
    uint16_t op = ops[sel_kind_of(t)];
    if (!op || s->in->op_count < count + 1) return false;
    struct mir_opnd src[4];
    for (uint32_t i = 0; i < count; i++) src[i] = sel_src(s, &s->in->ops[i + 1], t);
    src[count] = reads_cc ? mir_vreg(s->cc) : mir_imm(0);
    struct mir_opnd dst[2] = {sel_dst(s, &s->in->ops[0], sel_class(t)),
                              s->in->m.cc ? mir_vreg(s->cc) : mir_none()};
    sel_emit_n(s, (enum isa_op)op, dst, 2, src, count + 1);
    return true;
}

/* add.sat and sub.sat of .s32 have opcodes of their own. */
static bool sel_add_sub(struct sel *s)
{
    bool is_add = s->in->op == PTX_OP_add;
    if (s->in->m.cc) return sel_carry(s, is_add ? addc_ops : subc_ops, 2, false);
    if (!s->in->m.sat) return sel_by_kind(s, int_rows[s->in->op].ops, "TT");
    if (sel_type(s) != PTX_S32) return false;
    sel_regular(s, is_add ? ISA_OP_ADDS_S32 : ISA_OP_SUBS_S32, "TT")->flags = 0;
    return true;
}

static bool sel_mad(struct sel *s)
{
    uint8_t half = s->in->m.half;
    if (s->in->op == PTX_OP_madc || s->in->m.cc)
        return half != PTX_HALF_NONE && sel_carry(s, madc_ops[half], 3, s->in->op == PTX_OP_madc);
    return sel_by_half(s, mad_ops, "TTT", "TTW");
}

static bool sel_dot(struct sel *s)
{
    enum isa_op op = s->in->op == PTX_OP_dp4a  ? ISA_OP_DP4A
                     : s->in->m.half == PTX_HI ? ISA_OP_DP2A_HI
                                               : ISA_OP_DP2A_LO;
    struct mir_inst *i = sel_regular(s, op, "UUU");
    i->mod = (uint8_t)((s->in->m.type[0] == PTX_S32) | (s->in->m.type[1] == PTX_S32) << 1);
    return true;
}

static bool sel_int_row(struct sel *s)
{
    const struct int_row *row = &int_rows[s->in->op];
    if (!row->src || !sel_by_kind(s, row->ops, row->src)) return false;
    struct mir_inst *i = &s->out->insts.data[s->out->insts.len - 1];
    const struct ptx_mods *m = &s->in->m;
    if (s->in->op == PTX_OP_bfind) i->mod = m->shiftamt;
    if (s->in->op == PTX_OP_bmsk || s->in->op == PTX_OP_szext) i->mod = m->word[0] == PTX_W_CLAMP;
    return true;
}

static bool sel_int_op(struct sel *s)
{
    switch (s->in->op) {
    case PTX_OP_add:
    case PTX_OP_sub: return sel_add_sub(s);
    case PTX_OP_addc: return sel_carry(s, addc_ops, 2, true);
    case PTX_OP_subc: return sel_carry(s, subc_ops, 2, true);
    case PTX_OP_mul: return sel_by_half(s, mul_ops, "TT", "TT");
    case PTX_OP_mad:
    case PTX_OP_madc: return sel_mad(s);
    case PTX_OP_mul24: return sel_by_half(s, mul24_ops, "TT", "");
    case PTX_OP_mad24: return sel_by_half(s, mad24_ops, "TTT", "");
    case PTX_OP_dp4a:
    case PTX_OP_dp2a: return sel_dot(s);
    default: return sel_int_row(s);
    }
}

void sel_int(struct sel *s)
{
    if (!sel_int_op(s)) sel_unsupported(s, NULL);
}
