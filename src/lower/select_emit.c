/* select_emit.c: errors, types and the emission of machine instructions for selection (select.h). */
#include "lower/select.h"

static void sel_fail(struct sel *s, struct diag_list *list, const char *hint, const char *fmt, va_list ap)
{
    int line = s->in ? s->in->line : s->f->line;
    int col = s->in ? s->in->col : 0;
    int len = s->in ? (int)strlen(ptx_op_name(s->in->op)) : 1;
    diag_vadd(list, DIAG_ERROR, &s->prog->ptx->source, line, col, len, hint, fmt, ap);
    s->failed = true;
}

void sel_error(struct sel *s, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sel_fail(s, s->prog->diags, hint, fmt, ap);
    va_end(ap);
}

void sel_lack(struct sel *s, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sel_fail(s, s->prog->lacks, hint, fmt, ap);
    va_end(ap);
}

void sel_unsupported(struct sel *s, const char *hint)
{
    sel_lack(s, hint, "this form of '%s' is not supported", ptx_op_name(s->in->op));
}

enum sel_kind sel_kind_of(enum ptx_type t)
{
    static const uint8_t kinds[PTX_TYPE_COUNT] = {
        [PTX_U8] = SEL_U8,         [PTX_U16] = SEL_U16,
        [PTX_U32] = SEL_U32,       [PTX_U64] = SEL_U64,
        [PTX_S8] = SEL_S8,         [PTX_S16] = SEL_S16,
        [PTX_S32] = SEL_S32,       [PTX_S64] = SEL_S64,
        [PTX_B8] = SEL_U8,         [PTX_B16] = SEL_U16,
        [PTX_B32] = SEL_U32,       [PTX_B64] = SEL_U64,
        [PTX_F16] = SEL_F16,       [PTX_BF16] = SEL_BF16,
        [PTX_F32] = SEL_F32,       [PTX_F64] = SEL_F64,
        [PTX_F16X2] = SEL_F16X2,   [PTX_BF16X2] = SEL_BF16X2,
        [PTX_U16X2] = SEL_U16X2,   [PTX_S16X2] = SEL_S16X2,
        [PTX_PRED] = SEL_PRED,     [PTX_NONE] = SEL_OTHER,
        [PTX_B128] = SEL_OTHER,    [PTX_TF32] = SEL_OTHER,
        [PTX_E4M3X2] = SEL_OTHER,  [PTX_E5M2X2] = SEL_OTHER,
        [PTX_TEXREF] = SEL_OTHER,  [PTX_SAMPLERREF] = SEL_OTHER,
        [PTX_SURFREF] = SEL_OTHER,
    };
    return (enum sel_kind)kinds[t];
}

enum mir_class sel_class(enum ptx_type t)
{
    if (t == PTX_PRED) return MIR_P;
    return ptx_type_bytes(t) >= 8 ? MIR_D : MIR_R;
}

bool sel_is_signed(enum ptx_type t) { return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64; }

uint8_t sel_isa_type(enum ptx_type t)
{
    static const uint8_t types[SEL_KINDS] = {
        [SEL_U8] = ISA_U8,       [SEL_S8] = ISA_S8,         [SEL_U16] = ISA_U16, [SEL_S16] = ISA_S16,
        [SEL_U32] = ISA_U32,     [SEL_S32] = ISA_S32,       [SEL_U64] = ISA_U64, [SEL_S64] = ISA_S64,
        [SEL_F16] = ISA_F16,     [SEL_BF16] = ISA_BF16,     [SEL_F32] = ISA_F32, [SEL_F64] = ISA_F64,
        [SEL_F16X2] = ISA_F16X2, [SEL_BF16X2] = ISA_BF16X2,
    };
    return t == PTX_B128 ? (uint8_t)ISA_B128 : types[sel_kind_of(t)];
}

uint16_t sel_flags(const struct ptx_mods *m)
{
    unsigned f = 0;
    if (m->ftz) f |= ISA_FTZ;
    if (m->sat) f |= ISA_SAT;
    if (m->relu) f |= ISA_RELU;
    if (m->nan) f |= ISA_NANPROP;
    if (m->xorsign) f |= ISA_XORSIGN;
    if (m->abs) f |= ISA_ABS;
    if (m->oob) f |= ISA_OOB;
    if (m->satfinite) f |= ISA_SATFINITE;
    if (m->noftz) f |= ISA_NOFTZ;
    return (uint16_t)f;
}

uint8_t sel_round(const struct ptx_mods *m)
{
    static const uint8_t rounds[] = {
        [PTX_ROUND_NONE] = ISA_RN, [PTX_RN] = ISA_RN,   [PTX_RZ] = ISA_RZ,   [PTX_RM] = ISA_RM,
        [PTX_RP] = ISA_RP,         [PTX_RNA] = ISA_RNA, [PTX_RNI] = ISA_RNI, [PTX_RZI] = ISA_RZI,
        [PTX_RMI] = ISA_RMI,       [PTX_RPI] = ISA_RPI};
    return rounds[m->round];
}

uint8_t sel_bool(const struct ptx_mods *m)
{
    static const uint8_t bools[] = {[PTX_BOOL_NONE] = ISA_BOOL_NONE,
                                    [PTX_BOOL_AND] = ISA_BOOL_AND,
                                    [PTX_BOOL_OR] = ISA_BOOL_OR,
                                    [PTX_BOOL_XOR] = ISA_BOOL_XOR};
    return bools[m->boolop];
}

struct mir_opnd sel_temp(struct sel *s, enum mir_class cls) { return mir_vreg(mir_new_vreg(s->out, cls)); }

/* Whether an instruction does nothing but write its destinations, whatever its operands are. */
static bool sel_is_pure(enum isa_op op, const struct mir_opnd *src, uint32_t src_count)
{
    if (isa_is_arithmetic((uint16_t)op)) return true;
    /* A load from a slot cannot fault. */
    return isa_ops[op].flags & ISA_LOAD && src_count == 1 && src[0].kind == MIR_SLOT;
}

static bool sel_writes_named(const struct sel *s, const struct mir_opnd *dst, uint32_t dst_count)
{
    for (uint32_t i = 0; i < dst_count; i++)
        if (dst[i].kind == MIR_VREG && dst[i].v < s->named_count) return true;
    return false;
}

static struct mir_inst *sel_push(struct sel *s, enum isa_op op)
{
    vec_push(&s->out->insts,
             (struct mir_inst){.op = (uint16_t)op, .guard = MIR_NO_VREG, .vec = 1, .loc = s->loc});
    return &s->out->insts.data[s->out->insts.len - 1];
}

/* Invariant 2: a temporary that a guarded instruction writes gets a value in the other lanes too. */
static void sel_clear(struct sel *s, struct mir_opnd t)
{
    static const uint16_t moves[] = {
        [MIR_R] = ISA_OP_MOV_32, [MIR_D] = ISA_OP_MOV_64, [MIR_P] = ISA_OP_MOV_P};
    struct mir_inst *i = sel_push(s, (enum isa_op)moves[s->out->vregs.data[t.v].cls]);
    i->dst[0] = t;
    i->src[0] = mir_imm(0);
}

struct mir_inst *sel_emit_n(struct sel *s, enum isa_op op, const struct mir_opnd *dst, uint32_t dst_count,
                            const struct mir_opnd *src, uint32_t src_count)
{
    assert(op < ISA_OP_COUNT && dst_count <= ISA_DST_MAX && src_count <= ISA_SRC_MAX);
    bool guarded = s->in && s->in->guard >= 0 &&
                   (sel_writes_named(s, dst, dst_count) || !sel_is_pure(op, src, src_count));
    for (uint32_t i = 0; guarded && i < dst_count; i++)
        if (dst[i].kind == MIR_VREG && dst[i].v >= s->named_count) sel_clear(s, dst[i]);
    struct mir_inst *inst = sel_push(s, op);
    for (uint32_t i = 0; i < dst_count; i++) inst->dst[i] = dst[i];
    for (uint32_t i = 0; i < src_count; i++) inst->src[i] = src[i];
    if (guarded) {
        inst->guard = s->vregs[s->in->guard];
        inst->guard_not = s->in->guard_not;
    }
    return inst;
}

void sel_label(struct sel *s, uint32_t label)
{
    struct mir_inst *i = sel_push(s, (enum isa_op)MIR_OP_LABEL);
    i->target = label;
}

void sel_move(struct sel *s, struct mir_opnd dst, struct mir_opnd src, enum mir_class cls)
{
    static const uint16_t moves[] = {
        [MIR_R] = ISA_OP_MOV_32, [MIR_D] = ISA_OP_MOV_64, [MIR_P] = ISA_OP_MOV_P};
    if (dst.kind != MIR_NONE) sel_emit(s, (enum isa_op)moves[cls], dst, src);
}
