/* check.c: do the operands of an instruction fit the form that its spelling chose?
 *
 * The rules of types are those of PTX ISA 9.4 (operand type checking): sizes must agree; .bN goes with every
 * type of its size; signed and unsigned integers with each other; floating point only with itself and .bN.
 * Where a form says so (ld, st, cvt) a register may be wider than the type (9.4.1), but a floating-point
 * register never. .bf16, .tf32, packed and 8-bit formats live in .bN registers only; .f16 and .f16x2 also in
 * their own. Checks that need more than one operand (mov, cvta, tex, call) are in check_special.c. */
#include "ptx/check.h"

bool check_fault(struct checker *c, const struct ptx_operand *o, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->message, sizeof c->message, fmt, ap);
    va_end(ap);
    c->hint = hint;
    c->at = operand_token(o);
    return false;
}

/* ---- types ---- */

enum kind { KIND_BITS, KIND_INT, KIND_FLOAT, KIND_OTHER };

static enum kind kind_of(enum ptx_type t)
{
    if (t >= PTX_U8 && t <= PTX_S64) return KIND_INT;
    if (t >= PTX_B8 && t <= PTX_B128) return KIND_BITS;
    if (t == PTX_F16 || t == PTX_F16X2 || t == PTX_F32 || t == PTX_F64) return KIND_FLOAT;
    return KIND_OTHER;
}

bool check_type_fits(enum ptx_type reg, enum ptx_type want, bool wider_ok)
{
    if (want == PTX_PRED || reg == PTX_PRED) return reg == want;
    uint32_t have = ptx_type_bytes(reg), need = ptx_type_bytes(want);
    if (have != need && !(wider_ok && have > need)) return false;
    enum kind r = kind_of(reg), w = kind_of(want);
    if (r == KIND_BITS || w == KIND_BITS) return true;
    if (r == KIND_FLOAT || w == KIND_FLOAT) return reg == want;
    return r == KIND_INT && w == KIND_INT;
}

static bool check_reg(struct checker *c, const struct ptx_operand *o, enum ptx_type want, bool wider_ok)
{
    const struct ptx_reg *reg = &c->p->regs.data[o->reg];
    enum ptx_type have = (enum ptx_type)reg->type;
    if (check_type_fits(have, want, wider_ok)) return true;
    if (want == PTX_PRED)
        return check_fault(c, o, NULL, "'%.60s' is %s; a predicate is wanted here", reg->name,
                           ptx_type_name(have));
    return check_fault(c, o, NULL, "register '%.60s' is %s, which does not go with %s", reg->name,
                       ptx_type_name(have), ptx_type_name(want));
}

static void warn_if_cut(struct checker *c, const struct ptx_operand *o, enum ptx_type want)
{
    uint32_t bits = 8 * ptx_type_bytes(want);
    if (bits >= 64 || !bits || o->imm >> bits == 0 || o->imm >> (bits - 1) == -1) return;
    struct token at = operand_token(o);
    parse_warning(c->p, &at, "the constant is cut to %u bits", bits);
}

bool check_constant(struct checker *c, const struct ptx_operand *o, enum ptx_type want)
{
    enum kind k = kind_of(want);
    bool is_int = o->kind == PTX_O_INT, is_f32 = o->kind == PTX_O_F32BITS;
    if (want == PTX_F32 || want == PTX_F64) {
        if (!is_int) return true;
        return check_fault(c, o, "write it with a decimal point, or as 0f or 0d bits",
                           "an integer does not go with %s", ptx_type_name(want));
    }
    if (want == PTX_B128 || (k != KIND_BITS && k != KIND_INT))
        return check_fault(c, o, "move it into a register first", "%s takes no constants",
                           ptx_type_name(want));
    if (is_int) {
        warn_if_cut(c, o, want);
        return true;
    }
    if ((want == PTX_B32 && is_f32) || (want == PTX_B64 && !is_f32)) return true;
    return check_fault(c, o, NULL, "a floating-point constant does not go with %s", ptx_type_name(want));
}

/* ---- roles ---- */

static bool check_dest(struct checker *c, const struct ptx_operand *o, const struct operand_rule *r,
                       bool sink_ok)
{
    if (o->kind == PTX_O_SINK && sink_ok) return true;
    if (o->kind == PTX_O_VECTOR)
        return check_fault(c, o, NULL, "the instruction has no .v2 or .v4: one register is wanted here");
    if (o->kind != PTX_O_REG) return check_fault(c, o, NULL, "the destination must be a register");
    return check_reg(c, o, (enum ptx_type)r->type, r->role == 'D');
}

static bool check_source(struct checker *c, const struct ptx_operand *o, const struct operand_rule *r)
{
    switch (o->kind) {
    case PTX_O_REG: return check_reg(c, o, (enum ptx_type)r->type, r->role != 's');
    case PTX_O_INT:
    case PTX_O_FLOAT:
    case PTX_O_F32BITS: return check_constant(c, o, (enum ptx_type)r->type);
    case PTX_O_SREG:
        if (r->role != 'X')
            return check_fault(c, o, "read it with mov first",
                               "a special register cannot be an operand here");
        if (ptx_type_bytes((enum ptx_type)ptx_sreg_rows[o->index].type) ==
            ptx_type_bytes((enum ptx_type)r->type))
            return true;
        return check_fault(c, o, NULL, "%%%s has %u bits", ptx_sreg_rows[o->index].name,
                           8 * ptx_type_bytes((enum ptx_type)ptx_sreg_rows[o->index].type));
    case PTX_O_VAR:
    case PTX_O_FUNC:
        return check_fault(c, o, "take its address with mov first", "an address cannot be an operand here");
    default: return check_fault(c, o, NULL, "a register or a constant is wanted here");
    }
}

static bool check_vector(struct checker *c, const struct ptx_operand *o, const struct operand_rule *r)
{
    uint32_t n = c->inst->m.vec;
    if (o->kind != PTX_O_VECTOR) return check_fault(c, o, NULL, "a vector of %u is wanted here", n);
    if (o->sub_count != n)
        return check_fault(c, o, NULL, "the vector has %u elements, .v%u wants %u", o->sub_count, n, n);
    bool is_dest = r->role == 'd' || r->role == 'D' || r->role == 'o';
    for (uint32_t i = 0; i < n; i++)
        if (is_dest ? !check_dest(c, &o->sub[i], r, true) : !check_source(c, &o->sub[i], r)) return false;
    return true;
}

static bool check_pair(struct checker *c, const struct ptx_operand *o, const struct operand_rule *r)
{
    static const struct operand_rule predicate = {.role = 'd', .type = PTX_PRED};
    if (o->kind != PTX_O_PAIR) {
        if (r->pair_needed)
            return check_fault(c, o, "write it as d|p", "the instruction has two destinations");
        return check_dest(c, o, r, r->role == 'o');
    }
    if (!r->pair_allowed) return check_fault(c, o, NULL, "the instruction has no second destination");
    return check_dest(c, &o->sub[0], r, true) && check_dest(c, &o->sub[1], &predicate, true);
}

bool check_predicate(struct checker *c, const struct ptx_operand *o)
{
    if (o->kind == PTX_O_INT) return true;
    if (o->kind != PTX_O_REG) return check_fault(c, o, NULL, "a predicate is wanted here");
    return check_reg(c, o, PTX_PRED, false);
}

static const char *space_name(uint8_t space)
{
    switch ((enum ptx_space)space) {
    case PTX_SPACE_CONST: return ".const";
    case PTX_SPACE_GLOBAL: return ".global";
    case PTX_SPACE_LOCAL: return ".local";
    case PTX_SPACE_PARAM: return ".param";
    case PTX_SPACE_SHARED: return ".shared";
    default: return "generic";
    }
}

static bool check_address(struct checker *c, const struct ptx_operand *o, uint8_t space)
{
    if (o->kind != PTX_O_ADDR)
        return check_fault(c, o, "write it in brackets: [...]", "an address is wanted here");
    const struct ptx_operand *base = &o->sub[0];
    if (base->kind == PTX_O_REG) {
        bool narrow = ptx_type_bytes((enum ptx_type)c->p->regs.data[base->reg].type) == 4;
        if (!narrow || (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_GENERIC)) return true;
        return check_fault(c, o, NULL, "a %s address has 64 bits", space_name(space));
    }
    if (base->kind != PTX_O_VAR || base->var->space == space) return true;
    if (space == PTX_SPACE_GENERIC && base->var->space != PTX_SPACE_PARAM) return true;
    return check_fault(c, base, NULL, "'%.60s' lies in %s, the instruction accesses %s", base->var->name,
                       space_name(base->var->space), space_name(space));
}

static bool check_barrier(struct checker *c, const struct ptx_operand *o)
{
    static const struct operand_rule number = {.role = 's', .type = PTX_U32};
    if (o->kind == PTX_O_INT && (o->imm < 0 || o->imm > 15))
        return check_fault(c, o, NULL, "barriers are numbered 0 to 15");
    return check_source(c, o, &number);
}

static bool check_copy_size(struct checker *c, const struct ptx_operand *o)
{
    bool l2_only = c->inst->m.cache == PTX_CG;
    bool ok = o->kind == PTX_O_INT && (o->imm == 16 || (!l2_only && (o->imm == 4 || o->imm == 8)));
    return ok || check_fault(c, o, NULL, "the size must be %s", l2_only ? "16" : "4, 8 or 16");
}

static bool check_integer(struct checker *c, const struct ptx_operand *o)
{
    return o->kind == PTX_O_INT || check_fault(c, o, NULL, "an integer constant is wanted here");
}

static bool check_target_list(struct checker *c, const struct ptx_operand *o)
{
    bool ok = o->kind == PTX_O_TABLE && c->p->tables.data[o->index].kind == PTX_TABLE_BRANCH;
    return ok || check_fault(c, o, NULL, "a .branchtargets list is wanted here");
}

static bool check_texture_address(struct checker *c, const struct ptx_operand *o, enum ptx_type kind)
{
    if (o->kind != PTX_O_ADDR || o->imm)
        return check_fault(c, o, NULL, "a %s is wanted here",
                           kind == PTX_TEXREF ? "texture [tex]" : "surface [surf]");
    return check_texture(c, &o->sub[0], kind);
}

static bool check_operand(struct checker *c, const struct ptx_operand *o, const struct operand_rule *r)
{
    static const struct operand_rule policy = {.role = 's', .type = PTX_B64};
    if (r->is_vector) return check_vector(c, o, r);
    switch (r->role) {
    case 'd':
    case 'D':
    case 'o': return check_pair(c, o, r);
    case 's':
    case 'S':
    case 'X': return check_source(c, o, r);
    case 'q':
    case 'Q': return check_predicate(c, o);
    case 'a': return check_address(c, o, c->inst->m.space);
    case 'A': return check_address(c, o, c->inst->m.space2);
    case 'm': return check_address(c, o, PTX_SPACE_SHARED);
    case 'i': return check_integer(c, o);
    case 'b': return check_barrier(c, o);
    case 'z': return check_copy_size(c, o);
    case 'L': return o->kind == PTX_O_LABEL || check_fault(c, o, NULL, "a label is wanted here");
    case 'T': return check_target_list(c, o);
    case 'c': return check_source(c, o, &policy);
    case 't': return check_texture_address(c, o, PTX_TEXREF);
    case 'u': return check_texture_address(c, o, PTX_SURFREF);
    default: UNREACHABLE("instr.def has an unknown operand role");
    }
}

/* ---- a whole instruction ---- */

static bool check_choice(struct checker *c, const struct operand_rules *rules)
{
    const struct ptx_inst *inst = c->inst;
    bool skip_optional = inst->op_count == rules->needed;
    uint32_t at = 0;
    for (uint32_t i = 0; i < rules->count; i++) {
        if (rules->rule[i].is_optional && skip_optional) continue;
        if (!check_operand(c, &inst->ops[at++], &rules->rule[i])) return false;
    }
    return true;
}

/* The cache policy is the last operand; the model does not use it. */
static void drop_policy(struct ptx_inst *inst, const struct operand_rules *rules)
{
    if (rules->count && rules->rule[rules->count - 1].role == 'c') inst->op_count--;
}

static bool wrong_count(struct parser *p, const struct inst_shape *shape, const struct ptx_inst *inst,
                        const struct token *op)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < shape->choice_count; i++) {
        least = MIN(least, shape->choices[i].needed);
        most = MAX(most, shape->choices[i].count);
    }
    if (least == most)
        return parse_error(p, op, NULL, "'%s' takes %u operand%s here, %u given", ptx_op_name(inst->op),
                           least, least == 1 ? "" : "s", inst->op_count);
    return parse_error(p, op, NULL, "'%s' takes %u to %u operands here, %u given", ptx_op_name(inst->op),
                       least, most, inst->op_count);
}

bool check_operands(struct parser *p, const struct inst_shape *shape, struct ptx_inst *inst,
                    const struct token *op)
{
    struct checker c = {.p = p, .inst = inst, .at = *op}, first;
    bool any = false;
    for (uint32_t i = 0; i < shape->choice_count; i++) {
        const struct operand_rules *rules = &shape->choices[i];
        bool special = rules->count && rules->rule[0].role == '@';
        if (!special && (inst->op_count < rules->needed || inst->op_count > rules->count)) continue;
        if (special ? check_special(&c) : check_choice(&c, rules)) {
            drop_policy(inst, rules);
            return true;
        }
        if (!any) first = c;
        any = true;
    }
    if (!any) return wrong_count(p, shape, inst, op);
    return parse_error(p, &first.at, first.hint, "%s", first.message);
}
