/* select_float.c: arithmetic on f32 and f64 (PTX ISA 9.7.3). Instructions without a rounding mode round to
 * nearest even, as the manual says; mad is fma on every target that is accepted (sm_20 and later). */
#include "lower/select.h"

#define BOTH(OP) [SEL_F32] = ISA_OP_##OP##_F32, [SEL_F64] = ISA_OP_##OP##_F64
#define F32(OP)  [SEL_F32] = ISA_OP_##OP##_F32

struct float_row {
    const char *src;
    sel_ops ops;
};
static const struct float_row float_rows[PTX_OP_COUNT] = {
    [PTX_OP_add] = {"TT", {BOTH(ADD)}},
    [PTX_OP_sub] = {"TT", {BOTH(SUB)}},
    [PTX_OP_mul] = {"TT", {BOTH(MUL)}},
    [PTX_OP_fma] = {"TTT", {BOTH(FMA)}},
    [PTX_OP_mad] = {"TTT", {BOTH(FMA)}},
    [PTX_OP_div] = {"TT", {BOTH(DIV)}},
    [PTX_OP_abs] = {"T", {BOTH(ABS)}},
    [PTX_OP_neg] = {"T", {BOTH(NEG)}},
    [PTX_OP_min] = {"TT", {BOTH(MIN)}},
    [PTX_OP_max] = {"TT", {BOTH(MAX)}},
    [PTX_OP_rcp] = {"T", {BOTH(RCP)}},
    [PTX_OP_sqrt] = {"T", {BOTH(SQRT)}},
    [PTX_OP_rsqrt] = {"T", {BOTH(RSQRT_APPROX)}},
    [PTX_OP_sin] = {"T", {F32(SIN)}},
    [PTX_OP_cos] = {"T", {F32(COS)}},
    [PTX_OP_lg2] = {"T", {F32(LG2)}},
    [PTX_OP_ex2] = {"T", {F32(EX2)}},
    [PTX_OP_tanh] = {"T", {F32(TANH)}},
    [PTX_OP_copysign] = {"TT", {BOTH(COPYSIGN)}},
    [PTX_OP_testp] = {"T", {BOTH(TESTP)}},
};
/* .approx of those that also exist with a rounding mode. */
static const struct float_row approx_rows[PTX_OP_COUNT] = {
    [PTX_OP_div] = {"TT", {F32(DIV_APPROX)}},
    [PTX_OP_rcp] = {"T", {BOTH(RCP_APPROX)}},
    [PTX_OP_sqrt] = {"T", {F32(SQRT_APPROX)}},
};
static const struct float_row div_full = {"TT", {F32(DIV_FULL)}};

static const struct float_row *sel_float_row(const struct sel *s)
{
    const struct ptx_mods *m = &s->in->m;
    if (m->full) return s->in->op == PTX_OP_div ? &div_full : NULL;
    if (m->approx && approx_rows[s->in->op].src) return &approx_rows[s->in->op];
    return &float_rows[s->in->op];
}

static uint8_t sel_testp_class(uint8_t word)
{
    switch (word) {
    case PTX_W_FINITE: return ISA_TESTP_FINITE;
    case PTX_W_INFINITE: return ISA_TESTP_INFINITE;
    case PTX_W_NUMBER: return ISA_TESTP_NUMBER;
    case PTX_W_NOTANUMBER: return ISA_TESTP_NOTANUMBER;
    case PTX_W_NORMAL: return ISA_TESTP_NORMAL;
    default: return ISA_TESTP_SUBNORMAL;
    }
}

void sel_float(struct sel *s)
{
    const struct float_row *row = sel_float_row(s);
    if (!row || !row->src || s->in->op_count != strlen(row->src) + 1 || !sel_by_kind(s, row->ops, row->src)) {
        sel_unsupported(s, NULL);
        return;
    }
    if (s->in->op == PTX_OP_testp)
        s->out->insts.data[s->out->insts.len - 1].mod = sel_testp_class(s->in->m.word[0]);
}
