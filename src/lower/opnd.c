/* opnd.c: the operand letters of isa.def, unrolled for one instruction. */
#include "lower/opnd.h"

static uint8_t class_of(char letter, const struct mir_inst *in, uint32_t i)
{
    switch (letter) {
    case 'n':
    case 'r': return MIR_R;
    case 'd': return MIR_D;
    case 'p': return MIR_P;
    case 'a':
        /* cp.async: the flag speaks of the shared address; the global one is always 64 bits wide. */
        if (in->op == ISA_OP_CPASYNC && i == 1) return MIR_D;
        return in->flags & ISA_A32 ? MIR_R : MIR_D;
    default: UNREACHABLE("operand letter");
    }
}

static uint8_t nth_class(const char *letters, const struct mir_inst *in, uint32_t n)
{
    uint32_t at = 0;
    for (const char *c = letters; *c; c++) {
        uint32_t times = 1;
        if (c[1] == '*') times = in->vec ? in->vec : 1;
        if (n < at + times) return class_of(*c, in, n);
        at += times;
        if (c[1] == '*') c++;
    }
    return OPND_ABSENT;
}

uint8_t opnd_dst_class(const struct mir_inst *in, uint32_t i)
{
    return in->op < ISA_OP_COUNT ? nth_class(isa_ops[in->op].dst, in, i) : OPND_ABSENT;
}

uint8_t opnd_src_class(const struct mir_inst *in, uint32_t i)
{
    return in->op < ISA_OP_COUNT ? nth_class(isa_ops[in->op].src, in, i) : OPND_ABSENT;
}

uint32_t opnd_uses(const struct mir_inst *in, uint32_t uses[OPND_USES_MAX])
{
    uint32_t n = 0;
    if (in->guard != MIR_NO_VREG) uses[n++] = in->guard;
    for (uint32_t i = 0; i < ISA_SRC_MAX; i++)
        if (in->src[i].kind == MIR_VREG) uses[n++] = in->src[i].v;
    for (int64_t i = 0; in->array && i < in->imm; i++) uses[n++] = in->array[i];
    return n;
}

uint32_t opnd_defs(const struct mir_inst *in, uint32_t defs[ISA_DST_MAX])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ISA_DST_MAX; i++)
        if (in->dst[i].kind == MIR_VREG) defs[n++] = in->dst[i].v;
    return n;
}

static bool sreg_is_fixed(uint8_t sreg)
{
    return sreg == ISA_SREG_TID || sreg == ISA_SREG_CTAID || sreg == ISA_SREG_LANEID ||
           (sreg >= ISA_SREG_LANEMASK_EQ && sreg <= ISA_SREG_LANEMASK_GT);
}

bool opnd_is_pure(const struct mir_inst *in)
{
    if (in->op >= ISA_OP_COUNT || in->array) return false; /* its array is written again and again */
    if (in->op == ISA_OP_S2R_32 || in->op == ISA_OP_S2R_64) return sreg_is_fixed(in->mod);
    return isa_ops[in->op].unit <= ISA_UNIT_SFU;
}

bool opnd_has_effect(const struct mir_inst *in)
{
    if (in->op == MIR_OP_LABEL) return true;
    if (in->op == ISA_OP_NOP) return false;
    const struct isa_op_info *row = &isa_ops[in->op];
    if (row->unit <= ISA_UNIT_SFU)
        return in->flags & ISA_VOLATILE; /* "mov.u32 %r, %clock" in an asm volatile */
    if (in->op == ISA_OP_TEX || in->op == ISA_OP_TXQ || in->op == ISA_OP_ACTIVEMASK) return false;
    if (opnd_is_load(in)) return in->flags & ISA_VOLATILE;
    return true;
}

bool opnd_ends_block(const struct mir_inst *in)
{
    return in->op == ISA_OP_BRA || in->op == ISA_OP_BRX || in->op == ISA_OP_EXIT || in->op == ISA_OP_RET;
}

bool opnd_never_falls(const struct mir_inst *in) { return opnd_ends_block(in) && !opnd_is_guarded(in); }

uint32_t opnd_access_bytes(const struct mir_inst *in)
{
    switch (in->op) {
    case ISA_OP_LD_U8:
    case ISA_OP_LD_S8:
    case ISA_OP_ST_8: return 1;
    case ISA_OP_LD_U16:
    case ISA_OP_LD_S16:
    case ISA_OP_ST_16: return 2;
    case ISA_OP_LD_32:
    case ISA_OP_ST_32: return 4;
    case ISA_OP_LD_64:
    case ISA_OP_ST_64: return 8;
    default: return 0;
    }
}

bool opnd_is_address(const struct mir_inst *in, uint32_t i)
{
    if (in->op >= ISA_OP_COUNT || i > 1) return false;
    return isa_ops[in->op].src[i] == 'a';
}

struct mir_inst opnd_inst(uint16_t op, uint32_t loc)
{
    struct mir_inst in = {.op = op, .guard = MIR_NO_VREG, .loc = loc};
    return in;
}
