/* select_control.c: branches, calls, returns, and the services of the device runtime (PTX ISA 9.7.12, 7.1).
 *
 * Arguments and results of a call travel in slots, which inlining and promotion turn into registers.
 * Parameters that are registers (the old style) are moved to and from slots at the call, at entry and at
 * return. Functions that the CUDA device runtime brings (printf, malloc, free, assert) are single
 * instructions. */
#include "lower/select.h"

void sel_bra(struct sel *s)
{
    const struct ptx_operand *o = &s->in->ops[0];
    if (o->kind != PTX_O_LABEL) {
        sel_unsupported(s, NULL);
        return;
    }
    struct mir_inst *i = sel_emit_n(s, ISA_OP_BRA, NULL, 0, NULL, 0);
    i->target = o->index;
    i->flags = s->in->m.uni ? ISA_UNIFORM : 0;
}

void sel_brx(struct sel *s)
{
    const struct ptx_operand *o = &s->in->ops[1];
    if (o->kind != PTX_O_TABLE || s->f->tables[o->index].kind != PTX_TABLE_BRANCH) {
        sel_error(s, NULL, "brx.idx needs a .branchtargets table");
        return;
    }
    const struct ptx_table *t = &s->f->tables[o->index];
    struct mir_table copy = {.labels = ARENA_ARRAY(s->prog->arena, uint32_t, t->count), .count = t->count};
    memcpy(copy.labels, t->labels, sizeof(uint32_t) * t->count);
    vec_push(&s->out->tables, copy);
    struct mir_opnd index = sel_src(s, &s->in->ops[0], PTX_U32);
    struct mir_inst *i = sel_emit_n(s, ISA_OP_BRX, NULL, 0, &index, 1);
    i->target = s->out->tables.len - 1;
    i->flags = s->in->m.uni ? ISA_UNIFORM : 0;
}

void sel_exit(struct sel *s) { sel_emit_n(s, ISA_OP_EXIT, NULL, 0, NULL, 0); }

/* brkpt ends the kernel as trap does: there is no debugger to stop for. */
void sel_trap(struct sel *s) { sel_emit_n(s, ISA_OP_TRAP, NULL, 0, NULL, 0); }

/* ---- values between registers and slots ---- */

static uint32_t sel_shape_bytes(const struct ptx_var *v)
{
    return v->type == PTX_PRED ? 4 : (uint32_t)v->bytes;
}

static bool sel_is_scalar(uint32_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

/* A register of this type <-> the slot. */
static void sel_slot_to_reg(struct sel *s, uint32_t slot, uint32_t vreg, enum ptx_type t, uint32_t bytes)
{
    if (t == PTX_PRED) {
        struct mir_opnd word = sel_temp(s, MIR_R);
        sel_slot_load(s, word, slot, 4);
        sel_emit(s, ISA_OP_R2P, mir_vreg(vreg), word);
    } else {
        sel_slot_load(s, mir_vreg(vreg), slot, MIN(bytes, ptx_type_bytes(t)));
    }
}

static void sel_value_to_slot(struct sel *s, uint32_t slot, struct mir_opnd value, enum ptx_type t,
                              uint32_t bytes)
{
    if (t == PTX_PRED) {
        struct mir_opnd word = sel_temp(s, MIR_R);
        sel_emit(s, ISA_OP_P2R, word, value);
        sel_slot_store(s, slot, word, 4);
    } else {
        sel_slot_store(s, slot, value, bytes);
    }
}

static uint32_t sel_reg_named(const struct ptx_func *f, const char *name)
{
    for (uint32_t i = 0; i < f->reg_count; i++)
        if (!strcmp(f->regs[i].name, name)) return i;
    return UINT32_MAX;
}

/* Register-style parameters (to_regs) or results of this function. */
static void sel_signature_moves(struct sel *s, struct ptx_var **vars, uint32_t count, bool to_regs)
{
    for (uint32_t i = 0; i < count; i++) {
        if (vars[i]->space != PTX_SPACE_REG) continue;
        uint32_t reg = sel_reg_named(s->f, vars[i]->name);
        struct sel_var *own = sel_find_var(s, vars[i]);
        if (reg == UINT32_MAX || !own) continue; /* the body never names it */
        enum ptx_type t = (enum ptx_type)s->f->regs[reg].type;
        uint32_t slot = sel_var_slot(s, own), bytes = sel_shape_bytes(vars[i]);
        if (!sel_is_scalar(bytes))
            sel_error(s, NULL, "register parameter '%s' has an unsupported size", vars[i]->name);
        else if (to_regs)
            sel_slot_to_reg(s, slot, s->vregs[reg], t, bytes);
        else
            sel_value_to_slot(s, slot, mir_vreg(s->vregs[reg]), t, bytes);
    }
}

void sel_function_entry(struct sel *s)
{
    if (!s->f->is_entry) sel_signature_moves(s, s->f->params, s->f->param_count, true);
}

void sel_ret(struct sel *s)
{
    if (!s->f->is_entry) sel_signature_moves(s, s->f->rets, s->f->ret_count, false);
    sel_emit_n(s, s->f->is_entry ? ISA_OP_EXIT : ISA_OP_RET, NULL, 0, NULL, 0);
}

void sel_function_end(struct sel *s)
{
    const struct mir_inst *last = s->out->insts.len ? &s->out->insts.data[s->out->insts.len - 1] : NULL;
    bool ends = last && last->guard == MIR_NO_VREG &&
                (last->op == ISA_OP_EXIT || last->op == ISA_OP_RET || last->op == ISA_OP_BRA ||
                 last->op == ISA_OP_BRX);
    s->in = NULL;
    if (!ends) sel_ret(s);
}

/* ---- services of the device runtime ---- */

struct service {
    const char *name;
    enum isa_op op;
    const char *args;
    char ret;
};
static const struct service services[] = {
    {"vprintf", ISA_OP_PRINTF, "dd", 'r'},
    {"malloc", ISA_OP_MALLOC, "d", 'd'},
    {"free", ISA_OP_FREE, "d", 0},
    {"__assertfail", ISA_OP_ASSERTFAIL, "ddrdd", 0},
    {"__assert_fail", ISA_OP_ASSERTFAIL, "ddrd", 0},
};

static const struct service *sel_find_service(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(services); i++)
        if (!strcmp(services[i].name, name)) return &services[i];
    return NULL;
}

static struct sel_var *sel_call_var(struct sel *s, const struct ptx_operand *o)
{
    struct sel_var *v = o->kind == PTX_O_VAR ? sel_find_var(s, o->var) : NULL;
    return v && v->kind != SEL_KERNEL_PARAM ? v : NULL;
}

static struct mir_opnd sel_service_arg(struct sel *s, const struct ptx_operand *o, char letter)
{
    struct sel_var *v = sel_call_var(s, o);
    enum ptx_type t = letter == 'd' ? PTX_U64 : PTX_U32;
    if (!v) return sel_src(s, o, t);
    struct mir_opnd value = sel_temp(s, sel_class(t));
    sel_slot_load(s, value, sel_var_slot(s, v), ptx_type_bytes(t));
    return value;
}

static void sel_service_result(struct sel *s, const struct ptx_operand *o, struct mir_opnd value, char letter)
{
    struct sel_var *v = sel_call_var(s, o);
    enum mir_class cls = letter == 'd' ? MIR_D : MIR_R;
    if (v)
        sel_slot_store(s, sel_var_slot(s, v), value, cls == MIR_D ? 8 : 4);
    else
        sel_move(s, sel_dst(s, o, cls), value, cls);
}

static void sel_service(struct sel *s, const struct service *v)
{
    const struct ptx_operand *rets = &s->in->ops[0], *args = &s->in->ops[2];
    uint32_t count = (uint32_t)strlen(v->args);
    struct mir_opnd src[5], dst = mir_none();
    if (args->sub_count != count) {
        sel_error(s, NULL, "'%s' takes %u arguments, not %u", v->name, count, args->sub_count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) src[i] = sel_service_arg(s, &args->sub[i], v->args[i]);
    if (v->op == ISA_OP_ASSERTFAIL && count == 4) src[count++] = mir_imm(1); /* bytes of a character */
    bool has_ret = v->ret && rets->sub_count == 1 && rets->sub[0].kind != PTX_O_SINK;
    if (v->ret) dst = sel_temp(s, v->ret == 'd' ? MIR_D : MIR_R);
    sel_emit_n(s, v->op, &dst, 1, src, count);
    if (has_ret) sel_service_result(s, &rets->sub[0], dst, v->ret);
}

/* ---- calls ---- */

/* The declaration of argument or result i in the signature; NULL when it is not known. */
static const struct ptx_var *sel_shape(struct ptx_var *const *vars, uint32_t count, uint32_t i)
{
    return vars && i < count ? vars[i] : NULL;
}

/* The slot of one argument or result: the .param variable's, or a fresh one for a register, a constant or
 * `_`. */
static uint32_t sel_call_slot(struct sel *s, const struct ptx_operand *o, const struct ptx_var *shape,
                              bool is_arg)
{
    struct sel_var *v = sel_call_var(s, o);
    if (v) return sel_var_slot(s, v);
    uint32_t bytes = shape ? sel_shape_bytes(shape) : sel_reg_bytes(s, o);
    enum ptx_type t = shape                  ? (enum ptx_type)shape->type
                      : o->kind == PTX_O_REG ? (enum ptx_type)s->f->regs[o->reg].type
                                             : PTX_B64;
    if (!bytes) bytes = 4;
    if (!sel_is_scalar(bytes) && o->kind != PTX_O_SINK) {
        sel_error(s, "pass it in a .param variable",
                  "an argument of %u bytes cannot be a register or a constant", bytes);
        return 0;
    }
    uint32_t slot = mir_new_slot(s->out, MIR_SLOT_ARG, bytes, shape ? MAX(shape->align, 1u) : bytes, NULL);
    if (is_arg) sel_value_to_slot(s, slot, sel_src(s, o, t), t, bytes);
    return slot;
}

/* Signature of the callee: of the function, or of the prototype that an indirect call names. */
struct signature {
    struct ptx_var *const *rets, *const *params;
    uint32_t ret_count, param_count;
};

static struct signature sel_signature(const struct sel *s, const struct ptx_func *callee)
{
    const struct ptx_operand *o = &s->in->ops[3];
    const struct ptx_table *t = o->kind == PTX_O_TABLE ? &s->f->tables[o->index] : NULL;
    if (!callee && t && t->kind == PTX_TABLE_CALL && t->count) callee = t->funcs[0];
    if (callee)
        return (struct signature){callee->rets, callee->params, callee->ret_count, callee->param_count};
    if (t && t->kind == PTX_TABLE_PROTO)
        return (struct signature){t->rets, t->params, t->ret_count, t->param_count};
    return (struct signature){0};
}

static void sel_emit_call(struct sel *s, struct ptx_func *callee)
{
    const struct ptx_operand *rets = &s->in->ops[0], *to = &s->in->ops[1], *args = &s->in->ops[2];
    struct signature sig = sel_signature(s, callee);
    struct mir_call call = {.callee = callee, .arg_count = args->sub_count, .ret_count = rets->sub_count};
    call.args = ARENA_ARRAY(s->prog->arena, uint32_t, call.arg_count + 1);
    call.rets = ARENA_ARRAY(s->prog->arena, uint32_t, call.ret_count + 1);
    for (uint32_t i = 0; i < call.arg_count; i++)
        call.args[i] = sel_call_slot(s, &args->sub[i], sel_shape(sig.params, sig.param_count, i), true);
    for (uint32_t i = 0; i < call.ret_count; i++)
        call.rets[i] = sel_call_slot(s, &rets->sub[i], sel_shape(sig.rets, sig.ret_count, i), false);
    struct mir_opnd address = callee ? mir_none() : sel_src(s, to, PTX_U64);
    vec_push(&s->out->calls, call);
    struct mir_inst *i =
        sel_emit_n(s, callee ? ISA_OP_CALL : ISA_OP_CALLI, NULL, 0, &address, callee ? 0 : 1);
    i->target = s->out->calls.len - 1;
    i->flags = s->in->m.uni ? ISA_UNIFORM : 0;
    for (uint32_t k = 0; k < call.ret_count && !s->failed; k++) {
        const struct ptx_operand *o = &rets->sub[k];
        if (o->kind != PTX_O_REG) continue;
        sel_slot_to_reg(s, call.rets[k], s->vregs[o->reg], (enum ptx_type)s->f->regs[o->reg].type,
                        s->out->slots.data[call.rets[k]].bytes);
    }
}

static void sel_undefined_function(struct sel *s, const char *name)
{
    bool is_runtime = !strncmp(name, "cuda", 4) || !strncmp(name, "__cudaCDP", 9) ||
                      !strncmp(name, "__cudaGetParam", 14) || !strncmp(name, "__cuda_syscall_cnp", 18);
    if (is_runtime)
        sel_lack(s, "launches from the device are not modelled: launch from the host instead",
                 "'%s' is part of the device-side CUDA runtime (dynamic parallelism), which is not supported",
                 name);
    else
        sel_error(s, "link the module that defines it", "function '%s' is declared but not defined", name);
}

void sel_call(struct sel *s)
{
    const struct ptx_operand *to = &s->in->ops[1];
    if (s->in->op_count < 4) {
        sel_unsupported(s, NULL);
        return;
    }
    if (to->kind != PTX_O_FUNC) {
        sel_emit_call(s, NULL);
        return;
    }
    struct ptx_func *callee = to->func;
    if (!callee->has_body) {
        struct ptx_func *other = ptx_find_func(s->prog->ptx, callee->name);
        if (other && other->has_body) callee = other;
    }
    const struct service *service = callee->has_body ? NULL : sel_find_service(callee->name);
    if (service)
        sel_service(s, service);
    else if (!callee->has_body)
        sel_undefined_function(s, callee->name);
    else
        sel_emit_call(s, callee);
}
