/* check_special.c: operands of mov, imov, cvta, tex, surfaces and call, whose rules tie operands to each
 * other. */
#include "ptx/check.h"

static enum ptx_type reg_type(const struct checker *c, const struct ptx_operand *o)
{
    return (enum ptx_type)c->p->regs.data[o->reg].type;
}

bool check_count(struct checker *c, uint32_t want)
{
    if (c->inst->op_count == want) return true;
    struct token at = c->at;
    check_fault(c, &c->inst->ops[0], NULL, "'%s' takes %u operands here, %u given", ptx_op_name(c->inst->op),
                want, c->inst->op_count);
    c->at = at;
    return false;
}

bool check_register(struct checker *c, const struct ptx_operand *o, enum ptx_type want)
{
    if (o->kind != PTX_O_REG) return check_fault(c, o, NULL, "a register is wanted here");
    if (check_type_fits(reg_type(c, o), want, false)) return true;
    return check_fault(c, o, NULL, "register '%.60s' is %s, which does not go with %s",
                       c->p->regs.data[o->reg].name, ptx_type_name(reg_type(c, o)), ptx_type_name(want));
}

/* ---- mov ---- */

/* mov.b64 {a, b}, c and mov.b64 c, {a, b}: the elements share the bits evenly. */
static bool check_mov_vector(struct checker *c, const struct ptx_operand *v, enum ptx_type t, bool is_dest)
{
    if (t != PTX_B16 && t != PTX_B32 && t != PTX_B64 && t != PTX_B128)
        return check_fault(c, v, "use mov.b16, .b32, .b64 or .b128",
                           "vectors are packed and unpacked by .b types only");
    uint32_t bytes = v->sub_count ? ptx_type_bytes(t) / v->sub_count : 0;
    if ((v->sub_count != 2 && v->sub_count != 4) || !bytes)
        return check_fault(c, v, NULL, "the vector must have 2 or 4 elements");
    for (uint32_t i = 0; i < v->sub_count; i++) {
        const struct ptx_operand *o = &v->sub[i];
        if (is_dest && o->kind == PTX_O_SINK) continue;
        if (!is_dest && o->kind == PTX_O_INT) continue;
        if (o->kind != PTX_O_REG) return check_fault(c, o, NULL, "a register is wanted here");
        if (ptx_type_bytes(reg_type(c, o)) != bytes || reg_type(c, o) == PTX_PRED)
            return check_fault(c, o, NULL, "an element of this vector has %u bits", 8 * bytes);
    }
    return true;
}

static bool is_address_type(enum ptx_type t, bool narrow_ok)
{
    bool wide = t == PTX_U64 || t == PTX_S64 || t == PTX_B64;
    return wide || (narrow_ok && (t == PTX_U32 || t == PTX_S32 || t == PTX_B32));
}

/* Addresses within shared, local, constant and parameter memory fit in 32 bits. */
static bool check_mov_address(struct checker *c, const struct ptx_operand *o, enum ptx_type t)
{
    bool narrow_ok = o->kind == PTX_O_VAR && o->var->space != PTX_SPACE_GLOBAL;
    if (is_address_type(t, narrow_ok)) return true;
    return check_fault(c, o, narrow_ok ? "use mov.u32 or mov.u64" : "use mov.u64",
                       "an address does not go with %s", ptx_type_name(t));
}

static bool check_mov_sreg(struct checker *c, const struct ptx_operand *o, enum ptx_type t)
{
    const struct sreg_row *row = &ptx_sreg_rows[o->index];
    enum ptx_type have = (enum ptx_type)row->type;
    bool short_read = ptx_type_bytes(t) == 2 && row->is_vector; /* %tid and the like were once 16 bits wide */
    if (check_type_fits(have, t, false) && t != PTX_F32 && t != PTX_F64) return true;
    if (short_read) return true;
    if (o->index == PTX_SREG_gridid && ptx_type_bytes(t) == 4) return true; /* 32 bits wide before PTX 3.0 */
    return check_fault(c, o, NULL, "%%%s is %s, which does not go with %s", row->name, ptx_type_name(have),
                       ptx_type_name(t));
}

static bool check_mov_source(struct checker *c, const struct ptx_operand *o, enum ptx_type t)
{
    switch (o->kind) {
    case PTX_O_REG: return check_register(c, o, t);
    case PTX_O_VECTOR: return check_mov_vector(c, o, t, false);
    case PTX_O_SREG: return check_mov_sreg(c, o, t);
    case PTX_O_VAR:
    case PTX_O_FUNC: return check_mov_address(c, o, t);
    case PTX_O_INT:
    case PTX_O_FLOAT:
    case PTX_O_F32BITS: return t == PTX_PRED ? check_predicate(c, o) : check_constant(c, o, t);
    default: return check_fault(c, o, NULL, "this cannot be moved");
    }
}

static bool check_mov(struct checker *c)
{
    if (!check_count(c, 2)) return false;
    const struct ptx_operand *d = &c->inst->ops[0], *a = &c->inst->ops[1];
    enum ptx_type t = (enum ptx_type)c->inst->m.type[0];
    if (d->kind == PTX_O_VECTOR) {
        if (a->kind != PTX_O_REG) return check_fault(c, a, NULL, "a vector is unpacked from a register");
        return check_mov_vector(c, d, t, true) && check_register(c, a, t);
    }
    return check_register(c, d, t) && check_mov_source(c, a, t);
}

/* cvta: also takes a variable of the space */
static bool check_cvta(struct checker *c)
{
    if (!check_count(c, 2)) return false;
    const struct ptx_operand *a = &c->inst->ops[1];
    if (!check_register(c, &c->inst->ops[0], PTX_U64)) return false;
    if (a->kind == PTX_O_INT) return true;
    if (a->kind != PTX_O_VAR) return check_register(c, a, PTX_U64);
    if (a->var->space == c->inst->m.space) return true;
    return check_fault(c, a, NULL, "the variable lies in another space");
}

/* ---- tex ---- */

bool check_texture(struct checker *c, const struct ptx_operand *o, enum ptx_type want)
{
    if (o->kind == PTX_O_VAR && o->var->type == want) return true;
    if (o->kind == PTX_O_REG && ptx_type_bytes(reg_type(c, o)) == 8) return true;
    return check_fault(c, o, NULL, "a %s variable or a 64-bit handle is wanted here", ptx_type_name(want));
}

struct geometry {
    uint8_t word, dims, elements, is_array;
};
static const struct geometry geometries[] = {
    {PTX_W_1D, 1, 1, 0},  {PTX_W_2D, 2, 2, 0},   {PTX_W_3D, 3, 4, 0},   {PTX_W_A1D, 1, 2, 1},
    {PTX_W_A2D, 2, 4, 1}, {PTX_W_CUBE, 3, 4, 0}, {PTX_W_ACUBE, 3, 4, 1}};

static const struct geometry *geometry_of(const struct ptx_mods *m)
{
    for (size_t i = 0; i < ARRAY_LEN(geometries); i++)
        if (geometries[i].word == m->word[0] || geometries[i].word == m->word[1]) return &geometries[i];
    UNREACHABLE("tex has a geometry");
}

static bool has_word(const struct ptx_mods *m, enum ptx_word w) { return m->word[0] == w || m->word[1] == w; }

static bool tex_element(struct checker *c, const struct ptx_operand *o, enum ptx_type want)
{
    return o->kind == PTX_O_REG ? check_register(c, o, want) : check_constant(c, o, want);
}

/* Vectors of three are written with four elements; the last is ignored. */
static bool check_coordinates(struct checker *c, const struct ptx_operand *o, const struct geometry *g,
                              enum ptx_type t)
{
    uint32_t used = g->dims + g->is_array;
    if (o->kind != PTX_O_VECTOR || o->sub_count < used || o->sub_count > g->elements)
        return check_fault(c, o, NULL, "the coordinates must be a vector of %u", g->elements);
    for (uint32_t i = 0; i < used; i++)
        if (!tex_element(c, &o->sub[i], g->is_array && !i ? PTX_B32 : t)) return false;
    return true;
}

static bool check_gradient(struct checker *c, const struct ptx_operand *o, const struct geometry *g)
{
    if (o->kind == PTX_O_REG && g->dims == 1) return check_register(c, o, PTX_F32);
    if (o->kind != PTX_O_VECTOR || o->sub_count < g->dims || o->sub_count > 4)
        return check_fault(c, o, NULL, "a gradient is a vector of %u", g->dims == 3 ? 4u : g->dims);
    for (uint32_t i = 0; i < g->dims; i++)
        if (!tex_element(c, &o->sub[i], PTX_F32)) return false;
    return true;
}

static bool check_texel(struct checker *c, const struct ptx_operand *o)
{
    const struct ptx_mods *m = &c->inst->m;
    if (o->kind == PTX_O_PAIR)
        return check_fault(c, o, NULL, "the residency predicate of tex is not supported");
    if (o->kind != PTX_O_VECTOR || o->sub_count != m->vec)
        return check_fault(c, o, NULL, "the destination must be a vector of %u", m->vec);
    for (uint32_t i = 0; i < o->sub_count; i++)
        if (o->sub[i].kind != PTX_O_SINK && !check_register(c, &o->sub[i], (enum ptx_type)m->type[0]))
            return false;
    return true;
}

static bool check_tex(struct checker *c)
{
    const struct ptx_mods *m = &c->inst->m;
    const struct ptx_operand *ops = c->inst->ops;
    const struct geometry *g = geometry_of(m);
    uint32_t want = 2 + has_word(m, PTX_W_LEVEL) + 2 * has_word(m, PTX_W_GRAD);
    if (c->inst->op_count > want)
        return check_fault(c, &ops[want], NULL,
                           "texel offsets and depth comparison of tex are not supported");
    if (!check_count(c, want) || !check_texel(c, &ops[0])) return false;
    if (ops[1].kind != PTX_O_TEXADDR)
        return check_fault(c, &ops[1], NULL, "a texture and its coordinates [tex, {x, ...}] are wanted here");
    if ((g->word == PTX_W_CUBE || g->word == PTX_W_ACUBE) && m->type[1] != PTX_F32)
        return check_fault(c, &ops[1], NULL, "the coordinates of a cube map are .f32");
    if (!check_texture(c, &ops[1].sub[0], PTX_TEXREF) ||
        !check_coordinates(c, &ops[1].sub[1], g, (enum ptx_type)m->type[1]))
        return false;
    if (ops[1].sub_count == 3 && !check_texture(c, &ops[1].sub[2], PTX_SAMPLERREF)) return false;
    if (has_word(m, PTX_W_LEVEL)) return tex_element(c, &ops[2], (enum ptx_type)m->type[1]);
    if (has_word(m, PTX_W_GRAD)) return check_gradient(c, &ops[2], g) && check_gradient(c, &ops[3], g);
    return true;
}

/* ---- suld, sust, sured ---- */

static bool check_surface_value(struct checker *c, const struct ptx_operand *o)
{
    enum ptx_type want = (enum ptx_type)c->inst->m.type[0];
    if (c->inst->op != PTX_OP_suld && o->kind == PTX_O_INT) return check_constant(c, o, want);
    if (c->inst->op == PTX_OP_suld && o->kind == PTX_O_SINK) return true;
    if (o->kind != PTX_O_REG) return check_fault(c, o, NULL, "a register is wanted here");
    if (check_type_fits(reg_type(c, o), want, true)) return true;
    return check_fault(c, o, NULL, "register '%.60s' is %s, which does not go with %s",
                       c->p->regs.data[o->reg].name, ptx_type_name(reg_type(c, o)), ptx_type_name(want));
}

static bool check_surface(struct checker *c)
{
    const struct ptx_mods *m = &c->inst->m;
    if (!check_count(c, 2)) return false;
    bool is_load = c->inst->op == PTX_OP_suld;
    const struct ptx_operand *value = &c->inst->ops[is_load ? 0 : 1], *at = &c->inst->ops[is_load ? 1 : 0];
    if (m->vec * ptx_type_bytes((enum ptx_type)m->type[0]) > 16)
        return check_fault(c, value, NULL, "an access to a surface moves at most 16 bytes");
    uint32_t count = MAX(m->vec, 1u); /* one value may stand in braces */
    bool is_vector = value->kind == PTX_O_VECTOR;
    if (is_vector && c->inst->op == PTX_OP_sured)
        return check_fault(c, value, NULL, "a reduction takes one value, without braces");
    if (is_vector ? value->sub_count != count : count > 1)
        return check_fault(c, value, NULL, "a vector of %u is wanted here", count);
    for (uint32_t i = 0; i < count; i++)
        if (!check_surface_value(c, is_vector ? &value->sub[i] : value)) return false;
    if (at->kind != PTX_O_TEXADDR || at->sub_count != 2)
        return check_fault(c, at, NULL, "a surface and its coordinates [surf, {x, ...}] are wanted here");
    return check_texture(c, &at->sub[0], PTX_SURFREF) &&
           check_coordinates(c, &at->sub[1], geometry_of(m), PTX_S32);
}

/* ---- call ---- */

struct signature {
    struct ptx_var **rets, **params;
    uint32_t ret_count, param_count;
};

static bool call_signature(struct checker *c, struct signature *out)
{
    const struct ptx_operand *callee = &c->inst->ops[1], *list = &c->inst->ops[3];
    const struct ptx_func *f = NULL;
    if (callee->kind == PTX_O_FUNC) {
        f = callee->func;
        if (f->is_entry)
            return check_fault(c, callee, NULL, "'%.80s' is a kernel: it can be launched, not called",
                               f->name);
    } else {
        if (callee->kind != PTX_O_REG || ptx_type_bytes(reg_type(c, callee)) != 8)
            return check_fault(c, callee, NULL,
                               "a function or a 64-bit register with its address is wanted here");
        if (list->kind != PTX_O_TABLE || c->p->tables.data[list->index].kind == PTX_TABLE_BRANCH)
            return check_fault(c, list->kind == PTX_O_TABLE ? list : callee, NULL,
                               "a call through a register needs a .callprototype or .calltargets");
        const struct ptx_table *t = &c->p->tables.data[list->index];
        if (t->kind == PTX_TABLE_PROTO) {
            *out = (struct signature){t->rets, t->params, t->ret_count, t->param_count};
            return true;
        }
        f = t->funcs[0];
    }
    *out = (struct signature){f->rets, f->params, f->ret_count, f->param_count};
    return true;
}

static bool check_argument(struct checker *c, const struct ptx_operand *o, const struct ptx_var *formal,
                           bool is_return)
{
    if (is_return && o->kind == PTX_O_SINK) return true;
    uint64_t bytes;
    switch (o->kind) {
    case PTX_O_REG:
        bytes = ptx_type_bytes(reg_type(c, o));
        if (reg_type(c, o) == PTX_PRED)
            return formal->type == PTX_PRED || check_fault(c, o, NULL, "a predicate cannot be passed");
        break;
    case PTX_O_VAR:
        if (o->var->space != PTX_SPACE_PARAM || o->imm)
            return check_fault(c, o, NULL, "only .param variables can be passed");
        bytes = o->var->bytes;
        break;
    case PTX_O_INT:
    case PTX_O_FLOAT:
    case PTX_O_F32BITS:
        if (!is_return)
            return formal->is_array ? check_fault(c, o, NULL, "a constant cannot be passed as an array")
                                    : true;
        /* fallthrough */
    default: return check_fault(c, o, NULL, "a register or a .param variable is wanted here");
    }
    if (formal->is_unsized || bytes == formal->bytes) return true;
    return check_fault(c, o, NULL, "%llu bytes are passed, the function takes %llu",
                       (unsigned long long)bytes, (unsigned long long)formal->bytes);
}

static bool check_arguments(struct checker *c, const struct ptx_operand *list, struct ptx_var **formal,
                            uint32_t count, bool is_return)
{
    bool open =
        count && formal[count - 1]->is_unsized && !is_return; /* the variable part of a variadic function */
    if (list->sub_count != count && !(open && list->sub_count + 1 >= count))
        return check_fault(c, &c->inst->ops[1], NULL, "the function has %u %s, the call gives %u", count,
                           is_return ? "return values" : "parameters", list->sub_count);
    for (uint32_t i = 0; i < list->sub_count; i++)
        if (!check_argument(c, &list->sub[i], formal[MIN(i, count - 1)], is_return)) return false;
    return true;
}

static bool check_call(struct checker *c)
{
    struct signature s = {0};
    return call_signature(c, &s) && check_arguments(c, &c->inst->ops[0], s.rets, s.ret_count, true) &&
           check_arguments(c, &c->inst->ops[2], s.params, s.param_count, false);
}

/* ---- imov ---- */

/* imov.b32 d, %a<n>, i: d = a[i]. */
static bool check_imov(struct checker *c)
{
    if (!check_count(c, 3)) return false;
    const struct ptx_operand *ops = c->inst->ops, *array = &ops[1];
    if (array->kind != PTX_O_VECTOR)
        return check_fault(c, array, "write %a<n> for the registers %a0 to %a(n-1)",
                           "an array of registers is wanted here");
    for (uint32_t i = 0; i < array->sub_count; i++)
        if (!check_register(c, &array->sub[i], PTX_B32)) return false;
    return check_register(c, &ops[0], PTX_B32) && check_register(c, &ops[2], PTX_U32);
}

bool check_special(struct checker *c)
{
    if (ptx_op_is_video(c->inst->op)) return check_video(c);
    switch (c->inst->op) {
    case PTX_OP_mov: return check_mov(c);
    case PTX_OP_imov: return check_imov(c);
    case PTX_OP_cvta: return check_cvta(c);
    case PTX_OP_tex: return check_tex(c);
    case PTX_OP_suld:
    case PTX_OP_sust:
    case PTX_OP_sured: return check_surface(c);
    case PTX_OP_call: return check_call(c);
    default: UNREACHABLE("no rule for this opcode");
    }
}
