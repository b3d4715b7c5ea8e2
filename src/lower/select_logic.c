/* select_logic.c: logic, shifts, byte permutes, comparisons and selections (PTX ISA 9.7.6 to 9.7.8, prmt).
 *
 * set and slct are a comparison followed by a select; setp's two destinations are one machine instruction. */
#include "lower/select.h"

#define LOGIC(OP)                                                                                            \
    [SEL_U16] = ISA_OP_##OP##_32, [SEL_U32] = ISA_OP_##OP##_32, [SEL_U64] = ISA_OP_##OP##_64,                \
    [SEL_PRED] = ISA_OP_##OP##_P
#define WIDTHS(OP) [SEL_U16] = ISA_OP_##OP##_16, [SEL_U32] = ISA_OP_##OP##_32, [SEL_U64] = ISA_OP_##OP##_64

static const struct {
    const char *src;
    sel_ops ops;
} logic_rows[PTX_OP_COUNT] = {
    [PTX_OP_and] = {"TT", {LOGIC(AND)}},   [PTX_OP_or] = {"TT", {LOGIC(OR)}},
    [PTX_OP_xor] = {"TT", {LOGIC(XOR)}},   [PTX_OP_not] = {"T", {WIDTHS(NOT)}},
    [PTX_OP_cnot] = {"T", {WIDTHS(CNOT)}},
};
static const sel_ops shl_ops = {WIDTHS(SHL)};
static const sel_ops shr_ops = {
    [SEL_U16] = ISA_OP_SHR_U16, [SEL_S16] = ISA_OP_SHR_S16, [SEL_U32] = ISA_OP_SHR_U32,
    [SEL_S32] = ISA_OP_SHR_S32, [SEL_U64] = ISA_OP_SHR_U64, [SEL_S64] = ISA_OP_SHR_S64,
};
static const sel_ops setp_ops = {
    [SEL_U16] = ISA_OP_SETP_U16, [SEL_S16] = ISA_OP_SETP_S16,     [SEL_U32] = ISA_OP_SETP_U32,
    [SEL_S32] = ISA_OP_SETP_S32, [SEL_U64] = ISA_OP_SETP_U64,     [SEL_S64] = ISA_OP_SETP_S64,
    [SEL_F16] = ISA_OP_SETP_F16, [SEL_BF16] = ISA_OP_SETP_BF16,   [SEL_F32] = ISA_OP_SETP_F32,
    [SEL_F64] = ISA_OP_SETP_F64, [SEL_F16X2] = ISA_OP_SETP_F16X2, [SEL_BF16X2] = ISA_OP_SETP_BF16X2,
};
static const uint8_t cmp_codes[] = {
    [PTX_CMP_NONE] = ISA_EQ, [PTX_CMP_EQ] = ISA_EQ,   [PTX_CMP_NE] = ISA_NE,   [PTX_CMP_LT] = ISA_LT,
    [PTX_CMP_LE] = ISA_LE,   [PTX_CMP_GT] = ISA_GT,   [PTX_CMP_GE] = ISA_GE,   [PTX_CMP_LO] = ISA_LT,
    [PTX_CMP_LS] = ISA_LE,   [PTX_CMP_HI] = ISA_GT,   [PTX_CMP_HS] = ISA_GE,   [PTX_CMP_EQU] = ISA_EQU,
    [PTX_CMP_NEU] = ISA_NEU, [PTX_CMP_LTU] = ISA_LTU, [PTX_CMP_LEU] = ISA_LEU, [PTX_CMP_GTU] = ISA_GTU,
    [PTX_CMP_GEU] = ISA_GEU, [PTX_CMP_NUM] = ISA_NUM, [PTX_CMP_NAN] = ISA_NAN,
};

uint8_t sel_cmp(const struct ptx_mods *m) { return cmp_codes[m->cmp]; }

void sel_logic(struct sel *s)
{
    if (s->in->op == PTX_OP_not && sel_type(s) == PTX_PRED) {
        struct mir_opnd a = sel_src(s, &s->in->ops[1], PTX_PRED);
        if (a.kind == MIR_IMM)
            a.imm = !a.imm;
        else
            a.negated = !a.negated;
        sel_move(s, sel_dst(s, &s->in->ops[0], MIR_P), a, MIR_P);
        return;
    }
    if (!sel_by_kind(s, logic_rows[s->in->op].ops, logic_rows[s->in->op].src)) sel_unsupported(s, NULL);
}

void sel_shift(struct sel *s)
{
    if (!sel_by_kind(s, s->in->op == PTX_OP_shl ? shl_ops : shr_ops, "TU")) sel_unsupported(s, NULL);
}

void sel_lop3(struct sel *s)
{
    const struct ptx_operand *ops = s->in->ops;
    struct mir_opnd dst[2], src[4];
    for (int i = 0; i < 3; i++) src[i] = sel_src(s, &ops[i + 1], PTX_B32);
    bool has_pred = s->in->m.boolop != PTX_BOOL_NONE;
    src[3] = has_pred ? sel_src(s, &ops[5], PTX_PRED) : mir_none();
    sel_dst_pair(s, &ops[0], MIR_R, dst);
    struct mir_inst *i =
        has_pred ? sel_emit_n(s, ISA_OP_LOP3_P, dst, 2, src, 4) : sel_emit_n(s, ISA_OP_LOP3, dst, 1, src, 3);
    i->imm = ops[4].imm & 0xff;
    i->mod = sel_bool(&s->in->m);
}

void sel_shf(struct sel *s)
{
    sel_regular(s, sel_has_word(s, PTX_W_L) ? ISA_OP_SHF_L : ISA_OP_SHF_R, "UUU")->mod =
        sel_has_word(s, PTX_W_CLAMP);
}

void sel_prmt(struct sel *s)
{
    uint8_t w = s->in->m.word[0];
    sel_regular(s, ISA_OP_PRMT, "UUU")->mod =
        (uint8_t)(w == PTX_W_NONE ? ISA_PRMT_INDEX : w - PTX_W_F4E + ISA_PRMT_F4E);
}
static_assert(PTX_W_RC16 - PTX_W_F4E == ISA_PRMT_RC16 - ISA_PRMT_F4E, "prmt modes are in the same order");

/* The comparison of set and setp: operands a, b and, with a boolean operation, c follow the destination. */
static bool sel_compare(struct sel *s, enum ptx_type t, const struct mir_opnd dst[2])
{
    const struct ptx_mods *m = &s->in->m;
    uint16_t op = setp_ops[sel_kind_of(t)];
    bool has_c = m->boolop != PTX_BOOL_NONE;
    if (!op || s->in->op_count < (has_c ? 4u : 3u)) return false;
    struct mir_opnd src[3] = {sel_src(s, &s->in->ops[1], t), sel_src(s, &s->in->ops[2], t),
                              has_c ? sel_src(s, &s->in->ops[3], PTX_PRED) : mir_none()};
    struct mir_inst *i = sel_emit_n(s, (enum isa_op)op, dst, 2, src, 3);
    i->mod = sel_cmp(m);
    i->mod2 = sel_bool(m);
    i->flags = m->ftz ? ISA_FTZ : 0;
    return true;
}

void sel_setp(struct sel *s)
{
    struct mir_opnd dst[2];
    sel_dst_pair(s, &s->in->ops[0], MIR_P, dst);
    if (!sel_compare(s, sel_type(s), dst)) sel_unsupported(s, NULL);
}

/* set.f16x2.f16x2 and set.bf16x2.bf16x2: a 1.0 or 0 in each half. */
static void sel_set_packed_float(struct sel *s, enum isa_op op)
{
    enum ptx_type t = (enum ptx_type)s->in->m.type[1];
    bool has_c = s->in->m.boolop != PTX_BOOL_NONE;
    struct mir_opnd src[3] = {sel_src(s, &s->in->ops[1], t), sel_src(s, &s->in->ops[2], t),
                              has_c ? sel_src(s, &s->in->ops[3], PTX_PRED) : mir_none()};
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_R);
    struct mir_inst *i = sel_emit_n(s, op, &dst, 1, src, 3);
    i->mod = sel_cmp(&s->in->m);
    i->mod2 = sel_bool(&s->in->m);
    i->flags = s->in->m.ftz ? ISA_FTZ : 0;
}

/* set.u32.f16x2: all ones or zeros in each half. */
static void sel_set_packed_mask(struct sel *s, const struct mir_opnd p[2], struct mir_opnd dst)
{
    struct mir_opnd low = sel_temp(s, MIR_R), high = sel_temp(s, MIR_R);
    sel_emit(s, ISA_OP_SEL_32, low, mir_imm(0xffff), mir_imm(0), p[0]);
    sel_emit(s, ISA_OP_SEL_32, high, mir_imm(0xffff0000), mir_imm(0), p[1]);
    sel_emit(s, ISA_OP_OR_32, dst, low, high);
}

static int64_t sel_set_true(enum ptx_type t)
{
    switch (t) {
    case PTX_F32: return 0x3f800000;
    case PTX_F16: return 0x3c00;
    case PTX_BF16: return 0x3f80;
    case PTX_U16:
    case PTX_S16: return 0xffff;
    default: return 0xffffffff;
    }
}

void sel_set(struct sel *s)
{
    enum ptx_type to = (enum ptx_type)s->in->m.type[0], from = (enum ptx_type)s->in->m.type[1];
    bool is_packed = from == PTX_F16X2 || from == PTX_BF16X2;
    if (is_packed && to == from) {
        sel_set_packed_float(s, to == PTX_F16X2 ? ISA_OP_SET_F16X2 : ISA_OP_SET_BF16X2);
        return;
    }
    struct mir_opnd p[2] = {sel_temp(s, MIR_P), is_packed ? sel_temp(s, MIR_P) : mir_none()};
    if (!sel_compare(s, from, p)) {
        sel_unsupported(s, NULL);
        return;
    }
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_R);
    if (is_packed)
        sel_set_packed_mask(s, p, dst);
    else
        sel_emit(s, ISA_OP_SEL_32, dst, mir_imm(sel_set_true(to)), mir_imm(0), p[0]);
}

void sel_selp(struct sel *s)
{
    sel_regular(s, sel_class(sel_type(s)) == MIR_D ? ISA_OP_SEL_64 : ISA_OP_SEL_32, "TTP");
}

/* slct: c >= 0 ? a : b, with c of type .s32 or .f32; NaN chooses b. */
void sel_slct(struct sel *s)
{
    const struct ptx_operand *ops = s->in->ops;
    enum ptx_type t = sel_type(s), ct = (enum ptx_type)s->in->m.type[1];
    struct mir_opnd p = sel_temp(s, MIR_P);
    struct mir_inst *i = sel_emit(s, ct == PTX_F32 ? ISA_OP_SETP_F32 : ISA_OP_SETP_S32, p,
                                  sel_src(s, &ops[3], ct), mir_imm(0));
    i->mod = ISA_GE;
    i->flags = s->in->m.ftz ? ISA_FTZ : 0;
    bool is_wide = sel_class(t) == MIR_D;
    sel_emit(s, is_wide ? ISA_OP_SEL_64 : ISA_OP_SEL_32, sel_dst(s, &ops[0], sel_class(t)),
             sel_src(s, &ops[1], t), sel_src(s, &ops[2], t), p);
}
