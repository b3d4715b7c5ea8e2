/* select.c: the driver of instruction selection: PTX instructions of one function -> MIR, in program order.
 *
 * One PTX instruction becomes one or a few machine instructions (select.h has the invariants); what an opcode
 * becomes is in the select_*.c file of its family. Errors of all instructions are gathered before selection
 * gives up. An error of the program refuses the module; a feature that Heddle lacks (sel_lack) refuses the
 * kernels that need it, when they are launched. */
#include "lower/select.h"

static bool sel_is_half(enum ptx_type t)
{
    return t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
}

/* Opcodes that exist for integers and for floats. */
static void sel_arith(struct sel *s)
{
    enum ptx_type t = sel_type(s);
    if (t == PTX_F32 || t == PTX_F64)
        sel_float(s);
    else if (sel_is_half(t))
        sel_half(s);
    else
        sel_int(s);
}

static sel_fn *const sel_table[PTX_OP_COUNT] = {
    [PTX_OP_add] = sel_arith,
    [PTX_OP_addc] = sel_int,
    [PTX_OP_sub] = sel_arith,
    [PTX_OP_subc] = sel_int,
    [PTX_OP_mul] = sel_arith,
    [PTX_OP_mad] = sel_arith,
    [PTX_OP_madc] = sel_int,
    [PTX_OP_mul24] = sel_int,
    [PTX_OP_mad24] = sel_int,
    [PTX_OP_sad] = sel_int,
    [PTX_OP_div] = sel_arith,
    [PTX_OP_rem] = sel_int,
    [PTX_OP_abs] = sel_arith,
    [PTX_OP_neg] = sel_arith,
    [PTX_OP_min] = sel_arith,
    [PTX_OP_max] = sel_arith,
    [PTX_OP_popc] = sel_int,
    [PTX_OP_clz] = sel_int,
    [PTX_OP_bfind] = sel_int,
    [PTX_OP_fns] = sel_int,
    [PTX_OP_brev] = sel_int,
    [PTX_OP_bfe] = sel_int,
    [PTX_OP_bfi] = sel_int,
    [PTX_OP_bmsk] = sel_int,
    [PTX_OP_szext] = sel_int,
    [PTX_OP_dp4a] = sel_int,
    [PTX_OP_dp2a] = sel_int,
    [PTX_OP_fma] = sel_arith,
    [PTX_OP_rcp] = sel_arith,
    [PTX_OP_sqrt] = sel_arith,
    [PTX_OP_rsqrt] = sel_arith,
    [PTX_OP_sin] = sel_arith,
    [PTX_OP_cos] = sel_arith,
    [PTX_OP_lg2] = sel_arith,
    [PTX_OP_ex2] = sel_arith,
    [PTX_OP_tanh] = sel_arith,
    [PTX_OP_testp] = sel_arith,
    [PTX_OP_copysign] = sel_arith,
    [PTX_OP_set] = sel_set,
    [PTX_OP_setp] = sel_setp,
    [PTX_OP_selp] = sel_selp,
    [PTX_OP_slct] = sel_slct,
    [PTX_OP_and] = sel_logic,
    [PTX_OP_or] = sel_logic,
    [PTX_OP_xor] = sel_logic,
    [PTX_OP_not] = sel_logic,
    [PTX_OP_cnot] = sel_logic,
    [PTX_OP_lop3] = sel_lop3,
    [PTX_OP_shl] = sel_shift,
    [PTX_OP_shr] = sel_shift,
    [PTX_OP_shf] = sel_shf,
    [PTX_OP_mov] = sel_mov,
    [PTX_OP_imov] = sel_imov,
    [PTX_OP_prmt] = sel_prmt,
    [PTX_OP_cvt] = sel_cvt,
    [PTX_OP_ld] = sel_ld,
    [PTX_OP_ldu] = sel_ld,
    [PTX_OP_st] = sel_st,
    [PTX_OP_prefetch] = sel_prefetch,
    [PTX_OP_prefetchu] = sel_prefetch,
    [PTX_OP_cvta] = sel_cvta,
    [PTX_OP_isspacep] = sel_isspacep,
    [PTX_OP_bra] = sel_bra,
    [PTX_OP_brx] = sel_brx,
    [PTX_OP_call] = sel_call,
    [PTX_OP_ret] = sel_ret,
    [PTX_OP_exit] = sel_exit,
    [PTX_OP_trap] = sel_trap,
    [PTX_OP_brkpt] = sel_trap,
    [PTX_OP_pmevent] = sel_nothing,
    [PTX_OP_bar] = sel_bar,
    [PTX_OP_barrier] = sel_bar,
    [PTX_OP_membar] = sel_fence,
    [PTX_OP_fence] = sel_fence,
    [PTX_OP_atom] = sel_atom,
    [PTX_OP_red] = sel_atom,
    [PTX_OP_shfl] = sel_shfl,
    [PTX_OP_vote] = sel_vote,
    [PTX_OP_match] = sel_match,
    [PTX_OP_activemask] = sel_activemask,
    [PTX_OP_redux] = sel_redux,
    [PTX_OP_elect] = sel_elect,
    [PTX_OP_tex] = sel_tex,
    [PTX_OP_txq] = sel_txq,
    [PTX_OP_suld] = sel_surface,
    [PTX_OP_sust] = sel_surface,
    [PTX_OP_sured] = sel_sured,
    [PTX_OP_suq] = sel_txq,
    [PTX_OP_cp] = sel_cp,
    [PTX_OP_mbarrier] = sel_mbarrier,
    [PTX_OP_nanosleep] = sel_nanosleep,
    [PTX_OP_griddepcontrol] = sel_nothing,
    [PTX_OP_applypriority] = sel_nothing,
    [PTX_OP_discard] = sel_nothing,
    [PTX_OP_createpolicy] = sel_createpolicy,
};

/* ---- registers ---- */

static void sel_name_reg(struct sel *s, uint32_t reg)
{
    if (s->vregs[reg] != MIR_NO_VREG) return;
    enum ptx_type t = (enum ptx_type)s->f->regs[reg].type;
    s->vregs[reg] = mir_new_vreg(s->out, sel_class(t));
    if (t == PTX_B128) mir_new_vreg(s->out, MIR_D); /* the high half */
}

static void sel_name_operand(struct sel *s, const struct ptx_operand *o)
{
    if (o->kind == PTX_O_REG) sel_name_reg(s, o->reg);
    for (uint32_t i = 0; i < o->sub_count; i++) sel_name_operand(s, &o->sub[i]);
}

static void sel_name_signature(struct sel *s, struct ptx_var **vars, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (vars[i]->space != PTX_SPACE_REG) continue;
        for (uint32_t r = 0; r < s->f->reg_count; r++)
            if (!strcmp(s->f->regs[r].name, vars[i]->name)) sel_name_reg(s, r);
    }
}

/* Makes a vreg for every register that the function names, and one for the condition code. */
static void sel_name_registers(struct sel *s)
{
    s->vregs = mem_alloc(sizeof *s->vregs * ((size_t)s->f->reg_count + 1));
    for (uint32_t i = 0; i < s->f->reg_count; i++) s->vregs[i] = MIR_NO_VREG;
    sel_name_signature(s, s->f->params, s->f->param_count);
    sel_name_signature(s, s->f->rets, s->f->ret_count);
    for (uint32_t i = 0; i < s->f->inst_count; i++) {
        const struct ptx_inst *in = &s->f->insts[i];
        if (in->guard >= 0) sel_name_reg(s, (uint32_t)in->guard);
        for (uint32_t k = 0; k < in->op_count; k++) sel_name_operand(s, &in->ops[k]);
        bool uses_cc = in->m.cc || in->op == PTX_OP_addc || in->op == PTX_OP_subc || in->op == PTX_OP_madc;
        if (uses_cc && s->cc == MIR_NO_VREG) s->cc = mir_new_vreg(s->out, MIR_P);
    }
    s->named_count = s->out->vregs.len;
}

/* ---- variables ---- */

static int sel_compare_vars(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct sel_var *)a)->var,
              y = (uintptr_t)((const struct sel_var *)b)->var;
    return x < y ? -1 : x > y;
}

static void sel_add_var(struct sel *s, const struct ptx_var *v, uint8_t kind, uint32_t index)
{
    s->vars[s->var_count++] = (struct sel_var){.var = v, .kind = kind, .index = index, .slot = MIR_NO_VREG};
}

/* The slots of a signature always exist, in its order; those of other variables are made at first use. */
static void sel_name_variables(struct sel *s)
{
    const struct ptx_func *f = s->f;
    s->vars = mem_alloc(sizeof *s->vars * ((size_t)f->param_count + f->ret_count + f->var_count + 1));
    for (uint32_t i = 0; i < f->param_count; i++)
        sel_add_var(s, f->params[i], f->is_entry ? SEL_KERNEL_PARAM : MIR_SLOT_IN, i);
    for (uint32_t i = 0; i < f->ret_count; i++) sel_add_var(s, f->rets[i], MIR_SLOT_RET, i);
    for (uint32_t i = 0; i < s->var_count; i++)
        if (s->vars[i].kind != SEL_KERNEL_PARAM) sel_var_slot(s, &s->vars[i]);
    for (uint32_t i = 0; i < f->var_count; i++) {
        if (f->vars[i]->space == PTX_SPACE_LOCAL) sel_add_var(s, f->vars[i], MIR_SLOT_LOCAL, 0);
        if (f->vars[i]->space == PTX_SPACE_PARAM) sel_add_var(s, f->vars[i], MIR_SLOT_ARG, 0);
    }
    qsort(s->vars, s->var_count, sizeof *s->vars, sel_compare_vars);
}

/* ---- source lines ---- */

static uint32_t sel_place(struct mir_prog *prog, const struct ptx_inst *in)
{
    const struct ptx_module *m = prog->ptx;
    struct isa_loc loc = {.ptx_line = (uint32_t)in->line};
    if (in->loc && in->loc < m->loc_count) {
        const struct ptx_loc *l = &m->locs[in->loc];
        loc.cuda_line = l->line;
        loc.cuda_file = l->file < m->file_count ? m->files[l->file] : NULL;
    }
    if (!prog->locs.len) vec_push(&prog->locs, (struct isa_loc){0});
    const struct isa_loc *last = &prog->locs.data[prog->locs.len - 1];
    if (prog->locs.len == 1 || last->ptx_line != loc.ptx_line || last->cuda_line != loc.cuda_line ||
        last->cuda_file != loc.cuda_file)
        vec_push(&prog->locs, loc);
    return prog->locs.len - 1;
}

/* ---- labels ---- */

struct label_at {
    uint32_t inst, label;
};

static int sel_compare_labels(const void *a, const void *b)
{
    const struct label_at *x = a, *y = b;
    if (x->inst != y->inst) return x->inst < y->inst ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

static struct label_at *sel_sort_labels(const struct ptx_func *f)
{
    struct label_at *at = mem_alloc(sizeof *at * ((size_t)f->label_count + 1));
    for (uint32_t i = 0; i < f->label_count; i++)
        at[i] = (struct label_at){.inst = MIN(f->labels[i].inst, f->inst_count), .label = i};
    qsort(at, f->label_count, sizeof *at, sel_compare_labels);
    return at;
}

static sel_fn *sel_find(enum ptx_op op)
{
    if (ptx_op_is_video(op)) return sel_video;
    return op < PTX_OP_COUNT ? sel_table[op] : NULL;
}

static void sel_instruction(struct sel *s, const struct ptx_inst *in)
{
    s->in = in;
    s->loc = sel_place(s->prog, in);
    sel_fn *fn = sel_find(in->op);
    if (fn)
        fn(s);
    else
        sel_lack(s, NULL, "instruction '%s' is not supported", ptx_op_name(in->op));
}

static void sel_body(struct sel *s)
{
    const struct ptx_func *f = s->f;
    struct label_at *labels = sel_sort_labels(f);
    uint32_t next = 0;
    sel_function_entry(s);
    for (uint32_t i = 0; i <= f->inst_count; i++) {
        for (; next < f->label_count && labels[next].inst == i; next++) sel_label(s, labels[next].label);
        if (i < f->inst_count) sel_instruction(s, &f->insts[i]);
    }
    sel_function_end(s);
    free(labels);
}

/* ---- one to one ---- */

static uint32_t *sel_count_reads(const struct mir_func *f)
{
    uint32_t *reads = mem_zalloc(sizeof *reads * (f->vregs.len + 1));
    for (uint32_t i = 0; i < f->insts.len; i++)
        for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
            if (f->insts.data[i].src[k].kind == MIR_VREG) reads[f->insts.data[i].src[k].v]++;
    return reads;
}

/* Whether `move` only copies what the instruction before it computed for it. */
static bool sel_hands_on(const struct sel *s, const struct mir_inst *before, const struct mir_inst *move,
                         const uint32_t *reads)
{
    bool is_move = move->op == ISA_OP_MOV_32 || move->op == ISA_OP_MOV_64 || move->op == ISA_OP_MOV_P;
    if (!is_move || move->src[0].kind != MIR_VREG || move->src[0].negated) return false;
    uint32_t t = move->src[0].v;
    return t >= s->named_count && reads[t] == 1 && before->op != MIR_OP_LABEL &&
           before->dst[0].kind == MIR_VREG && before->dst[0].v == t && before->dst[1].kind == MIR_NONE &&
           before->guard == MIR_NO_VREG;
}

/* Where selection made a temporary and a move, the value goes straight to its register, so that only those
 * moves are left that PTX has. */
static void sel_join_moves(struct sel *s)
{
    struct mir_func *f = s->out;
    uint32_t *reads = sel_count_reads(f), kept = 0;
    for (uint32_t i = 0; i < f->insts.len; i++) {
        struct mir_inst in = f->insts.data[i];
        struct mir_inst *before = kept ? &f->insts.data[kept - 1] : NULL;
        if (before && before->loc == in.loc && sel_hands_on(s, before, &in, reads)) {
            before->dst[0] = in.dst[0];
            before->guard = in.guard;
            before->guard_not = in.guard_not;
        } else {
            f->insts.data[kept++] = in;
        }
    }
    f->insts.len = kept;
    free(reads);
}

bool mir_select(struct mir_prog *prog, const struct ptx_func *f, struct mir_func *out)
{
    struct sel s = {.prog = prog, .out = out, .f = f, .cc = MIR_NO_VREG};
    *out = (struct mir_func){.ptx = f, .label_count = f->label_count, .one_to_one = prog->one_to_one};
    sel_name_registers(&s);
    sel_name_variables(&s);
    sel_body(&s);
    if (prog->one_to_one) sel_join_moves(&s);
    free(s.vregs);
    free(s.vars);
    return !s.failed;
}
