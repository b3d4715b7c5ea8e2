/* select_cvt.c: cvt and cvt.pack (PTX ISA 9.7.9).
 *
 * Integer to integer without saturation is extension or truncation, done with the cheapest instruction: the
 * zero-extended form of small values (select.h, invariant 3) makes many of them plain moves. The rest has a
 * row for each pair of types. A destination register wider than the destination type is filled by extending
 * the result by that type. */
#include "lower/select.h"

/* CVT rows lie in isa.def as a square over the first twelve kinds: to, then from. */
enum { CVT_KINDS = SEL_F64 + 1 };
static_assert(ISA_OP_CVT_U8_S8 == ISA_OP_CVT_U8_U8 + SEL_S8, "order of the CVT rows");
static_assert(ISA_OP_CVT_S16_BF16 == ISA_OP_CVT_U8_U8 + SEL_S16 * CVT_KINDS + SEL_BF16,
              "order of the CVT rows");
static_assert(ISA_OP_CVT_U64_F16 == ISA_OP_CVT_U8_U8 + SEL_U64 * CVT_KINDS + SEL_F16,
              "order of the CVT rows");
static_assert(ISA_OP_CVT_F64_F64 == ISA_OP_CVT_U8_U8 + CVT_KINDS * CVT_KINDS - 1, "order of the CVT rows");

static enum isa_op sel_cvt_op(enum sel_kind to, enum sel_kind from)
{
    return (enum isa_op)(ISA_OP_CVT_U8_U8 + to * CVT_KINDS + from);
}

static enum sel_kind sel_int_kind(uint32_t bits, bool is_signed)
{
    enum sel_kind k = bits == 8 ? SEL_U8 : bits == 16 ? SEL_U16 : bits == 32 ? SEL_U32 : SEL_U64;
    return (enum sel_kind)(k + is_signed);
}

static struct mir_opnd sel_low_word(struct sel *s, struct mir_opnd v)
{
    if (v.kind == MIR_IMM) return mir_imm(v.imm & 0xffffffff);
    if (v.kind == MIR_ENV) return v; /* low word first */
    struct mir_opnd t = sel_temp(s, MIR_R);
    sel_emit(s, ISA_OP_UNPACK_64_32, t, v);
    return t;
}

static struct mir_opnd sel_extend_imm(int64_t v, uint32_t bits, bool is_signed, uint32_t to_bits)
{
    uint64_t u = (uint64_t)v;
    if (bits < 64) {
        u &= (1ull << bits) - 1;
        if (is_signed && u >> (bits - 1)) u |= ~0ull << bits;
    }
    if (to_bits < 64) u &= (1ull << to_bits) - 1;
    return mir_imm((int64_t)u);
}

struct mir_opnd sel_extend(struct sel *s, struct mir_opnd value, uint32_t value_bits, uint32_t bits,
                           bool is_signed, uint32_t to_bits)
{
    if (value.kind == MIR_IMM) return sel_extend_imm(value.imm, bits, is_signed, to_bits);
    if (value_bits == 64 && (bits < 64 || to_bits < 64)) {
        value = sel_low_word(s, value);
        value_bits = 32;
        bits = MIN(bits, 32u);
    }
    if (to_bits < bits) bits = to_bits;
    if (is_signed && to_bits > bits) {
        struct mir_opnd t = sel_temp(s, to_bits == 64 ? MIR_D : MIR_R);
        sel_emit(s, sel_cvt_op(sel_int_kind(to_bits, true), sel_int_kind(bits, true)), t, value);
        return t;
    }
    if (bits < value_bits && bits < 32) {
        struct mir_opnd t = sel_temp(s, MIR_R);
        sel_emit(s, ISA_OP_AND_32, t, value, mir_imm(bits == 8 ? 0xff : 0xffff));
        value = t;
    }
    if (to_bits == 64 && value_bits < 64) {
        struct mir_opnd t = sel_temp(s, MIR_D);
        sel_emit(s, ISA_OP_PACK_64_32, t, value, mir_imm(0));
        value = t;
    }
    return value;
}

/* Writes a value of type t (zero-extended, as a row of its class) to a register that may be wider. */
static void sel_cvt_finish(struct sel *s, struct mir_opnd value, enum ptx_type t)
{
    const struct ptx_operand *d = &s->in->ops[0];
    uint32_t bits = 8 * ptx_type_bytes(t), reg_bits = 8 * sel_reg_bytes(s, d);
    if (d->kind == PTX_O_SINK) return;
    if (reg_bits > bits) value = sel_extend(s, value, bits, bits, sel_is_signed(t), reg_bits);
    enum mir_class cls = MAX(reg_bits, bits) == 64 ? MIR_D : MIR_R;
    struct mir_opnd dst = sel_dst(s, d, cls);
    /* The value may be the temporary that the last instruction wrote: write the register instead. */
    struct mir_inst *last = s->out->insts.len ? &s->out->insts.data[s->out->insts.len - 1] : NULL;
    bool is_last = last && value.kind == MIR_VREG && value.v >= s->named_count &&
                   last->dst[0].kind == MIR_VREG && last->dst[0].v == value.v && last->guard == MIR_NO_VREG &&
                   dst.kind == MIR_VREG;
    if (!is_last) {
        sel_move(s, dst, value, cls);
        return;
    }
    last->dst[0] = dst;
    if (s->in->guard < 0) return;
    last->guard = s->vregs[s->in->guard];
    last->guard_not = s->in->guard_not;
}

static void sel_cvt_int(struct sel *s, enum ptx_type to, enum ptx_type from)
{
    const struct ptx_operand *a = &s->in->ops[1];
    uint32_t to_bits = 8 * ptx_type_bytes(to), from_bits = 8 * ptx_type_bytes(from);
    uint32_t have_bits =
        a->kind == PTX_O_REG ? MIN(8 * sel_reg_bytes(s, a), from_bits == 64 ? 64u : 32u) : from_bits;
    struct mir_opnd v = sel_src(s, a, from);
    sel_cvt_finish(s, sel_extend(s, v, have_bits, from_bits, sel_is_signed(from), to_bits), to);
}

static bool sel_is_int(enum ptx_type t)
{
    enum sel_kind k = sel_kind_of(t);
    return k <= SEL_S64;
}

/* Packed and narrow formats: pairs with an opcode of their own. */
static const struct {
    uint8_t to, from;
    uint8_t sources;
    uint16_t op;
} cvt_packed[] = {
    {PTX_F16X2, PTX_F32, 2, ISA_OP_CVT_F16X2_F32},       {PTX_BF16X2, PTX_F32, 2, ISA_OP_CVT_BF16X2_F32},
    {PTX_E4M3X2, PTX_F32, 2, ISA_OP_CVT_E4M3X2_F32},     {PTX_E5M2X2, PTX_F32, 2, ISA_OP_CVT_E5M2X2_F32},
    {PTX_E4M3X2, PTX_F16X2, 1, ISA_OP_CVT_E4M3X2_F16X2}, {PTX_E5M2X2, PTX_F16X2, 1, ISA_OP_CVT_E5M2X2_F16X2},
    {PTX_F16X2, PTX_E4M3X2, 1, ISA_OP_CVT_F16X2_E4M3X2}, {PTX_F16X2, PTX_E5M2X2, 1, ISA_OP_CVT_F16X2_E5M2X2},
    {PTX_TF32, PTX_F32, 1, ISA_OP_CVT_TF32_F32},
};

static bool sel_cvt_packed(struct sel *s, enum ptx_type to, enum ptx_type from)
{
    for (size_t i = 0; i < ARRAY_LEN(cvt_packed); i++) {
        if (cvt_packed[i].to != to || cvt_packed[i].from != from) continue;
        uint32_t n = cvt_packed[i].sources;
        if (s->in->op_count != n + 1) return false;
        struct mir_opnd src[2], dst = sel_dst(s, &s->in->ops[0], MIR_R);
        for (uint32_t k = 0; k < n; k++) src[k] = sel_src(s, &s->in->ops[k + 1], from);
        struct mir_inst *inst = sel_emit_n(s, (enum isa_op)cvt_packed[i].op, &dst, 1, src, n);
        inst->flags = sel_flags(&s->in->m);
        inst->round = sel_round(&s->in->m);
        return true;
    }
    return false;
}

static bool sel_cvt_one(struct sel *s, enum ptx_type to, enum ptx_type from)
{
    if (sel_is_int(to) && sel_is_int(from) && !s->in->m.sat) {
        sel_cvt_int(s, to, from);
        return true;
    }
    enum sel_kind kt = sel_kind_of(to), kf = sel_kind_of(from);
    if (kt > SEL_F64 || kf > SEL_F64 || s->in->op_count != 2) return false;
    struct mir_opnd v = sel_src(s, &s->in->ops[1], from), t = sel_temp(s, sel_class(to));
    struct mir_inst *i = sel_emit(s, sel_cvt_op(kt, kf), t, v);
    i->flags = sel_flags(&s->in->m);
    i->round = sel_round(&s->in->m);
    sel_cvt_finish(s, t, to);
    return true;
}

/* cvt.pack.sat.<type>.s32{.b32} d, a, b{, c}. The type of a field is the first type, .s32 the next; types
 * narrower than a byte are words. */
static void sel_pack_field(const struct sel *s, struct mir_inst *i)
{
    bool is_s = sel_has_word(s, PTX_W_S4) || sel_has_word(s, PTX_W_S2);
    bool is_4 = sel_has_word(s, PTX_W_U4) || sel_has_word(s, PTX_W_S4);
    bool is_2 = sel_has_word(s, PTX_W_U2) || sel_has_word(s, PTX_W_S2);
    i->type = is_4 || is_2 ? (is_s ? ISA_S8 : ISA_U8) : sel_isa_type(sel_type(s));
    i->mod = (uint8_t)(is_4 ? 4 : is_2 ? 2 : 8 * ptx_type_bytes(sel_type(s)));
}

static bool sel_cvt_pack(struct sel *s)
{
    struct mir_opnd src[3] = {sel_src(s, &s->in->ops[1], PTX_S32), sel_src(s, &s->in->ops[2], PTX_S32),
                              sel_has_op(s, 3) ? sel_src(s, &s->in->ops[3], PTX_B32) : mir_none()};
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_R);
    struct mir_inst *i = sel_emit_n(s, ISA_OP_CVT_PACK, &dst, 1, src, 3);
    sel_pack_field(s, i);
    i->flags = ISA_SAT;
    return true;
}

void sel_cvt(struct sel *s)
{
    enum ptx_type to = (enum ptx_type)s->in->m.type[0], from = (enum ptx_type)s->in->m.type[1];
    bool is_pack =
        s->in->op_count >= 3 && (from == PTX_S32 || to == PTX_S32); /* the only form with such operands */
    if (!(is_pack ? sel_cvt_pack(s) : sel_cvt_packed(s, to, from) || sel_cvt_one(s, to, from)))
        sel_unsupported(s, NULL);
}
