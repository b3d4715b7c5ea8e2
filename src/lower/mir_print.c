/* mir_print.c: MIR as text, one instruction a line:
 *
 *   @!v3 ld.u16 v7, v8 = v2 .global vec=2 imm=16
 *
 * For tests and debugging; nothing reads it back. */
#include "lower/mir.h"

static const char *const spaces[ISA_SPACE_COUNT] = {
    [ISA_GENERIC] = "generic", [ISA_GLOBAL] = "global", [ISA_SHARED] = "shared",
    [ISA_LOCAL] = "local",     [ISA_CONST] = "const",   [ISA_PARAM] = "param",
};

static void print_addend(int64_t imm, struct strbuf *out)
{
    if (imm) strbuf_printf(out, "%+lld", (long long)imm);
}

static void print_operand(const struct mir_prog *prog, const struct mir_opnd *o, struct strbuf *out)
{
    if (o->negated) strbuf_putc(out, '!');
    switch ((enum mir_kind)o->kind) {
    case MIR_NONE: strbuf_putc(out, '_'); break;
    case MIR_VREG: strbuf_printf(out, "v%u", o->v); break;
    case MIR_IMM: strbuf_printf(out, "0x%llx", (unsigned long long)o->imm); break;
    case MIR_PARAM: strbuf_printf(out, "param[%lld]", (long long)o->imm); break;
    case MIR_ENV: strbuf_printf(out, "env%u", o->v); break;
    case MIR_SYM:
        strbuf_puts(out, prog && o->v < prog->syms.len ? prog->syms.data[o->v].name : "?");
        print_addend(o->imm, out);
        break;
    case MIR_DYNSMEM:
        strbuf_puts(out, "dynsmem");
        print_addend(o->imm, out);
        break;
    case MIR_SLOT:
        strbuf_printf(out, "slot%u", o->v);
        print_addend(o->imm, out);
        break;
    }
}

/* Operands up to the last one that is there. */
static void print_list(const struct mir_prog *prog, const struct mir_opnd *list, uint32_t max,
                       struct strbuf *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < max; i++)
        if (list[i].kind != MIR_NONE) count = i + 1;
    for (uint32_t i = 0; i < count; i++) {
        strbuf_puts(out, i ? ", " : " ");
        print_operand(prog, &list[i], out);
    }
}

static void print_flags(uint16_t flags, struct strbuf *out)
{
    static const char *const names[] = {"ftz",       "sat",      "relu", "nan",  "xorsign",
                                        "a32",       "volatile", "uni",  "join", "oob",
                                        "satfinite", "noftz",    "abs",  "nc",   "aligned"};
    for (uint32_t i = 0; i < ARRAY_LEN(names); i++)
        if (flags >> i & 1) strbuf_printf(out, " .%s", names[i]);
}

void mir_print_inst(const struct mir_prog *prog, const struct mir_inst *inst, struct strbuf *out)
{
    if (inst->op == MIR_OP_LABEL) {
        strbuf_printf(out, "L%u:", inst->target);
        return;
    }
    const struct isa_op_info *info = &isa_ops[inst->op];
    if (inst->guard != MIR_NO_VREG) strbuf_printf(out, "@%sv%u ", inst->guard_not ? "!" : "", inst->guard);
    strbuf_puts(out, info->name);
    print_list(prog, inst->dst, ISA_DST_MAX, out);
    strbuf_puts(out, " =");
    print_list(prog, inst->src, ISA_SRC_MAX, out);
    if (inst->array) strbuf_printf(out, " array=v%u", inst->array[0]);
    bool is_memory = info->unit == ISA_UNIT_LSU && inst->mod < ISA_SPACE_COUNT;
    if (is_memory)
        strbuf_printf(out, " .%s", spaces[inst->mod]);
    else if (inst->mod)
        strbuf_printf(out, " mod=%u", inst->mod);
    if (inst->mod2) strbuf_printf(out, " mod2=%u", inst->mod2);
    if (inst->type) strbuf_printf(out, " type=%u", inst->type);
    if (inst->round) strbuf_printf(out, " round=%u", inst->round);
    bool is_tex = inst->op == ISA_OP_TEX; /* vec is a mip mode */
    if (inst->vec != !is_tex) strbuf_printf(out, " %s=%u", is_tex ? "mip" : "vec", inst->vec);
    if (inst->imm) strbuf_printf(out, " imm=%lld", (long long)inst->imm);
    if (info->flags & ISA_BRANCH || inst->op == ISA_OP_CPASYNC)
        strbuf_printf(out, " target=%u", inst->target);
    print_flags(inst->flags, out);
}

void mir_print(const struct mir_prog *prog, const struct mir_func *f, struct strbuf *out)
{
    for (uint32_t i = 0; i < f->slots.len; i++) {
        const struct mir_slot *s = &f->slots.data[i];
        strbuf_printf(out, "    slot%u: %u bytes, %s\n", i, s->bytes, s->name ? s->name : "unnamed");
    }
    for (uint32_t i = 0; i < f->insts.len; i++) {
        if (f->insts.data[i].op != MIR_OP_LABEL) strbuf_puts(out, "    ");
        mir_print_inst(prog, &f->insts.data[i], out);
        strbuf_putc(out, '\n');
    }
}
