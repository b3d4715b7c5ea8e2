/* select_half.c: arithmetic on f16, f16x2, bf16 and bf16x2 (PTX ISA 9.7.4). Rounding, .ftz, .sat, .relu,
 * .NaN, .xorsign.abs and .oob travel as flags. */
#include "lower/select.h"

#define HALF4(OP)                                                                                            \
    [SEL_F16] = ISA_OP_##OP##_F16, [SEL_F16X2] = ISA_OP_##OP##_F16X2, [SEL_BF16] = ISA_OP_##OP##_BF16,       \
    [SEL_BF16X2] = ISA_OP_##OP##_BF16X2

static const struct {
    const char *src;
    sel_ops ops;
} half_rows[PTX_OP_COUNT] = {
    [PTX_OP_add] = {"TT", {HALF4(ADD)}}, [PTX_OP_sub] = {"TT", {HALF4(SUB)}},
    [PTX_OP_mul] = {"TT", {HALF4(MUL)}}, [PTX_OP_fma] = {"TTT", {HALF4(FMA)}},
    [PTX_OP_neg] = {"T", {HALF4(NEG)}},  [PTX_OP_abs] = {"T", {HALF4(ABS)}},
    [PTX_OP_min] = {"TT", {HALF4(MIN)}}, [PTX_OP_max] = {"TT", {HALF4(MAX)}},
    [PTX_OP_ex2] = {"T", {HALF4(EX2)}},  [PTX_OP_tanh] = {"T", {HALF4(TANH)}},
};

void sel_half(struct sel *s)
{
    const char *src = half_rows[s->in->op].src;
    if (!src || s->in->op_count != strlen(src) + 1 || !sel_by_kind(s, half_rows[s->in->op].ops, src))
        sel_unsupported(s, NULL);
}
