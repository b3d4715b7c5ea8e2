/* lower.c: a PTX module -> machine code: for each entry the image of what it can reach, through the steps of
 * pass.h.
 *
 * Steps of an image: select every function; clean the jumps; inline; give real calls their argument areas;
 * promote slots, fold, number values and drop dead code until nothing changes; save what lives across calls;
 * allocate; emit. At optimisation level 0 only what is needed for correct code is done. */
#include "lower/lower.h"

#include "lower/opnd.h"
#include "lower/pass.h"

enum { OPT_ROUNDS_MAX = 8, REGS_DEFAULT_SM = 65536 };

struct lowering {
    const struct ptx_module *ptx;
    struct lower_options opts;
    struct diag_list *diags;
    struct isa_module *out;
    /* by function index */
    bool *address_taken;
    /* selection failed and has been diagnosed */
    bool *refused;
    uint32_t errors_before;
};

/* ---- the functions of an image ---- */

static uint32_t func_index(const struct ptx_module *m, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < m->func_count; i++)
        if (m->funcs[i] == f) return i;
    return CFG_NONE;
}

/* The definition that a reference means: PTX may declare a function before it defines it. */
static const struct ptx_func *definition(const struct ptx_module *m, const struct ptx_func *f)
{
    if (f->has_body) return f;
    const struct ptx_func *d = ptx_find_func(m, f->name);
    return d && d->has_body ? d : f;
}

static void take_address(struct lowering *l, const struct ptx_func *f)
{
    uint32_t i = func_index(l->ptx, definition(l->ptx, f));
    if (i != CFG_NONE && !l->ptx->funcs[i]->is_entry) l->address_taken[i] = true;
}

static void take_operand(struct lowering *l, const struct ptx_operand *o)
{
    if (o->kind == PTX_O_FUNC && o->func) take_address(l, o->func);
    for (uint32_t i = 0; i < o->sub_count; i++) take_operand(l, &o->sub[i]);
}

static void take_relocs(struct lowering *l, const struct ptx_var *v)
{
    for (uint32_t i = 0; i < v->reloc_count; i++) {
        const struct ptx_func *f = ptx_find_func(l->ptx, v->relocs[i].symbol);
        if (f) take_address(l, f);
    }
}

/* Functions whose address the module takes anywhere: in code, or in the initialiser of a variable. */
static void find_addresses(struct lowering *l)
{
    for (uint32_t i = 0; i < l->ptx->var_count; i++) take_relocs(l, l->ptx->vars[i]);
    for (uint32_t i = 0; i < l->ptx->func_count; i++) {
        const struct ptx_func *f = l->ptx->funcs[i];
        for (uint32_t k = 0; k < f->var_count; k++) take_relocs(l, f->vars[k]);
        for (uint32_t k = 0; k < f->inst_count; k++)
            for (uint32_t o = 0; o < f->insts[k].op_count; o++)
                if (f->insts[k].op != PTX_OP_call || o != 1) take_operand(l, &f->insts[k].ops[o]);
        for (uint32_t k = 0; k < f->table_count; k++)
            for (uint32_t t = 0; f->tables[k].funcs && t < f->tables[k].count; t++)
                take_address(l, f->tables[k].funcs[t]);
    }
}

static struct routine *add_routine(struct image *m, const struct ptx_func *f)
{
    struct routine *u = mem_zalloc(sizeof *u);
    assert(!image_find_routine(m, f));
    u->ptx = f;
    u->is_entry = f->is_entry;
    u->fp = MIR_NO_VREG;
    vec_push(&m->routines, u);
    return u;
}

static void add_callees(struct lowering *l, struct image *m, struct routine *u)
{
    for (uint32_t i = 0; i < u->mir.calls.len; i++) {
        struct mir_call *c = &u->mir.calls.data[i];
        if (c->callee) {
            const struct ptx_func *d = definition(l->ptx, c->callee);
            assert(func_index(l->ptx, d) != CFG_NONE);
            c->callee = l->ptx->funcs[func_index(l->ptx, d)];
            if (!image_find_routine(m, c->callee)) add_routine(m, c->callee);
        } else if (!m->has_indirect) {
            m->has_indirect = true;
            for (uint32_t k = 0; k < l->ptx->func_count; k++) {
                const struct ptx_func *f = l->ptx->funcs[k];
                if (!l->address_taken[k] || !f->has_body) continue;
                struct routine *t = image_find_routine(m, f);
                if (!t) t = add_routine(m, f);
            }
        }
    }
}

static bool select_routine(struct lowering *l, struct image *m, struct routine *u)
{
    uint32_t index = func_index(l->ptx, u->ptx), errors = l->diags->errors;
    const struct ptx_lack *lack = u->ptx->lack;
    if (l->refused[index]) return false;
    if (lack) {
        diag_add(m->prog.lacks, DIAG_ERROR, &l->ptx->source, lack->line, lack->col, lack->len, lack->hint,
                 "%s", lack->message);
        return false;
    }
    if (!u->ptx->has_body) {
        diag_add(l->diags, DIAG_ERROR, &l->ptx->source, u->ptx->line, 1, 1, "link it in, or give its PTX too",
                 "function '%s' is declared but not defined", u->ptx->name);
        l->refused[index] = true;
        return false;
    }
    bool ok = mir_select(&m->prog, u->ptx, &u->mir);
    if (!ok && l->diags->errors == errors && !m->prog.lacks->errors)
        diag_add(l->diags, DIAG_ERROR, &l->ptx->source, u->ptx->line, 1, 1, NULL, "'%s' cannot be lowered",
                 u->ptx->name);
    l->refused[index] = l->diags->errors > errors;
    return ok && routine_verify(m, u, "selection");
}

/* Routines are added while the list is walked. */
static bool select_all(struct lowering *l, struct image *m)
{
    bool ok = true;
    add_routine(m, m->prog.entry);
    for (uint32_t i = 0; i < m->routines.len; i++) {
        struct routine *u = m->routines.data[i];
        if (!select_routine(l, m, u)) {
            ok = false;
            continue;
        }
        routine_zero_undefined(u);
        cfg_clean(&u->mir, u->is_entry);
        add_callees(l, m, u);
    }
    for (uint32_t i = 0; i < m->routines.len; i++)
        m->routines.data[i]->address_taken = l->address_taken[func_index(l->ptx, m->routines.data[i]->ptx)];
    return ok;
}

/* ---- limits ---- */

static uint32_t threads_of(const uint32_t dim[3])
{
    uint64_t n = dim[0];
    if (!n) return 0;
    for (uint32_t i = 1; i < 3; i++) n *= dim[i] ? dim[i] : 1;
    return n > 1024 ? 1024 : (uint32_t)n;
}

/* The lowest of --maxrregcount, .maxnreg, and the limit at which .minnctapersm CTAs of .maxntid threads
 * fit an SM; ptxas rounds the last down to a multiple of 8. */
static uint32_t register_limit(const struct lowering *l, const struct ptx_func *f)
{
    uint32_t limit = ISA_REGS_MAX, sm_regs = l->opts.sm_regs ? l->opts.sm_regs : REGS_DEFAULT_SM;
    if (l->opts.regs_max) limit = MIN(limit, l->opts.regs_max);
    if (f->maxnreg) limit = MIN(limit, f->maxnreg);
    uint32_t threads = threads_of(f->reqntid[0] ? f->reqntid : f->maxntid);
    if (threads && !f->maxnreg) {
        uint64_t ctas = f->minnctapersm ? f->minnctapersm : 1;
        uint64_t share = sm_regs / (ctas * round_up_u64(threads, 32));
        limit = (uint32_t)MIN((uint64_t)limit, share / 8 * 8);
    }
    return MAX(limit, (uint32_t)REGS_LIMIT_MIN);
}

/* ---- steps ---- */

static void optimise(struct image *m, struct routine *u)
{
    routine_promote_slots(u);
    routine_check(m, u, "promotion of slots");
    for (uint32_t round = 0; round < OPT_ROUNDS_MAX; round++) {
        bool changed = routine_fold(u);
        routine_check(m, u, "folding");
        changed |= routine_common(u);
        routine_check(m, u, "value numbering");
        changed |= routine_drop_dead(u);
        routine_check(m, u, "dead code removal");
        changed |= routine_promote_slots(u);
        routine_check(m, u, "promotion of slots");
        if (!changed) break;
    }
}

static bool finish_routine(struct image *m, struct routine *u)
{
    if (m->opts->opt_level && !m->opts->one_to_one) {
        optimise(m, u);
        routine_legalise(u);
        routine_check(m, u, "legalisation");
        routine_schedule(u, m->regs_limit);
        routine_check(m, u, "scheduling");
    }
    if (m->uses_stack) {
        u->fp = mir_new_vreg(&u->mir, MIR_R);
        routine_bind_frame(u);
        routine_save_across_calls(u);
        routine_check(m, u, "saves around calls");
    }
    routine_zero_undefined(u);
    cfg_clean(&u->mir, u->is_entry);
    if (!routine_verify(m, u, "folding") || !routine_allocate(m, u)) return false;
    cfg_clean(&u->mir, u->is_entry);
    if (!routine_verify_allocation(m, u)) return false;
    routine_count_scratch(m, u);
    routine_layout_frame(m, u);
    return true;
}

static bool build(struct lowering *l, struct image *m, struct isa_kernel *k)
{
    if (!select_all(l, m)) return false;
    image_mark_calls(m);
    if (!l->opts.no_inline && !l->opts.one_to_one) image_inline(m);
    image_mark_live(m);
    bool ok = true;
    m->frame_align = 16;
    for (uint32_t i = 0; i < m->routines.len; i++) {
        struct routine *u = m->routines.data[i];
        if (!u->is_live) continue;
        if (!u->is_entry) routine_single_return(u);
        ok &= routine_expand_calls(m, u);
        cfg_clean(&u->mir, u->is_entry);
        for (uint32_t s = 0; s < u->mir.slots.len; s++)
            m->frame_align = MAX(m->frame_align, u->mir.slots.data[s].align);
    }
    for (uint32_t i = 0; i < m->routines.len && ok; i++)
        if (m->routines.data[i]->is_live)
            routine_check(m, m->routines.data[i], "inlining and expansion of calls");
    for (uint32_t i = 0; i < m->routines.len && ok; i++)
        if (m->routines.data[i]->is_live) ok = finish_routine(m, m->routines.data[i]);
    return ok && image_emit(m, &l->out->arena, l->out->name, k);
}

static void image_free(struct image *m)
{
    for (uint32_t i = 0; i < m->routines.len; i++) {
        mir_func_free(&m->routines.data[i]->mir);
        free(m->routines.data[i]->phys);
        free(m->routines.data[i]->slot_offset);
        free(m->routines.data[i]);
    }
    vec_free(&m->routines);
    vec_free(&m->prog.syms);
    vec_free(&m->prog.locs);
    vec_free(&m->prog.shared_vars);
    vec_free(&m->prog.shared_offsets);
}

/* The reason why the first unsupported instruction cannot run, up to the advice. */
static char *lack_need(struct arena *a, const struct diag *d)
{
    const char *why = d->hint ? d->hint : d->message;
    return arena_strndup(a, why, strcspn(why, ";:"));
}

/* Variables that the kernel itself declares: those of functions that it calls are not known. */
static uint32_t declared_shared_bytes(const struct ptx_func *f)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->var_count; i++)
        if (f->vars[i]->space == PTX_SPACE_SHARED)
            at = round_up_u64(at, MAX(f->vars[i]->align, 1u)) + f->vars[i]->bytes;
    return (uint32_t)MIN(at, (uint64_t)UINT32_MAX);
}

/* A kernel that needs a feature that is not modelled: a program can ask for its name, parameters and bounds,
 * but not run it. */
static struct isa_kernel *refused_kernel(struct lowering *l, const struct ptx_func *f,
                                         const struct diag_list *lacks)
{
    struct arena *a = &l->out->arena;
    struct isa_kernel *k = ARENA_NEW(a, struct isa_kernel);
    struct isa_refusal *why = ARENA_NEW(a, struct isa_refusal);
    struct diag_list first = {.items = {.data = lacks->items.data, .len = 1}};
    struct strbuf text = {0};
    image_emit_signature(f, a, l->out->name, k);
    k->shared_bytes = declared_shared_bytes(f);
    k->shared_dynamic_offset = (uint32_t)round_up_u64(k->shared_bytes, 16);
    diag_render(&first, &text);
    *why = (struct isa_refusal){.need = lack_need(a, &lacks->items.data[0]),
                                .text = arena_strndup(a, text.data, text.len - 1)}; /* without its newline */
    strbuf_free(&text);
    k->refused = why;
    return k;
}

static bool lack_only(const struct lowering *l, const struct diag_list *lacks)
{
    return lacks->errors && l->diags->errors == l->errors_before;
}

/* NULL: the program is wrong (diagnosed). */
static struct isa_kernel *lower_entry(struct lowering *l, const struct ptx_func *f)
{
    struct arena scratch = {0};
    struct diag_list lacks = {0};
    struct image m = {.ptx = l->ptx, .opts = &l->opts, .diags = l->diags};
    m.prog.arena = &scratch;
    m.prog.ptx = l->ptx;
    m.prog.diags = l->diags;
    m.prog.lacks = &lacks;
    m.prog.entry = f;
    m.prog.one_to_one = l->opts.one_to_one;
    m.prog.indirect_move = l->opts.indirect_move;
    vec_push(&m.prog.locs, (struct isa_loc){0});
    assert(register_limit(l, f) > image_thread_regs(&m));
    m.regs_limit = register_limit(l, f) - image_thread_regs(&m);
    struct isa_kernel *k = ARENA_NEW(&l->out->arena, struct isa_kernel);
    if (!build(l, &m, k)) k = lack_only(l, &lacks) ? refused_kernel(l, f, &lacks) : NULL;
    image_free(&m);
    arena_free(&scratch);
    diag_free(&lacks);
    return k;
}

/* ---- the module ---- */

static void lower_var(struct isa_module *m, const struct ptx_func *f, const struct ptx_var *v)
{
    if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) return;
    struct arena *a = &m->arena;
    struct isa_var *out = &m->vars[m->var_count++];
    *out = (struct isa_var){.is_const = v->space == PTX_SPACE_CONST,
                            .is_extern = v->is_extern,
                            .is_visible = v->is_visible,
                            .bytes = v->bytes,
                            .align = v->align ? v->align : 1};
    out->name = arena_strdup(a, mir_var_symbol(a, f, v));
    if (v->init) {
        uint8_t *init = arena_alloc(a, v->bytes + 1);
        memcpy(init, v->init, v->bytes);
        out->init = init;
    }
    out->reloc_count = v->reloc_count;
    out->relocs = ARENA_ARRAY(a, struct isa_reloc, v->reloc_count + 1);
    for (uint32_t i = 0; i < v->reloc_count; i++)
        out->relocs[i] = (struct isa_reloc){v->relocs[i].offset, v->relocs[i].bytes,
                                            arena_strdup(a, v->relocs[i].symbol), v->relocs[i].addend};
}

static void lower_names(struct lowering *l)
{
    struct isa_module *m = l->out;
    uint32_t vars = l->ptx->var_count;
    for (uint32_t i = 0; i < l->ptx->func_count; i++) vars += l->ptx->funcs[i]->var_count;
    m->vars = ARENA_ARRAY(&m->arena, struct isa_var, vars + 1);
    for (uint32_t i = 0; i < l->ptx->var_count; i++) lower_var(m, NULL, l->ptx->vars[i]);
    for (uint32_t i = 0; i < l->ptx->func_count; i++)
        for (uint32_t k = 0; k < l->ptx->funcs[i]->var_count; k++)
            lower_var(m, l->ptx->funcs[i], l->ptx->funcs[i]->vars[k]);
    m->func_count = l->ptx->func_count;
    m->func_names = ARENA_ARRAY(&m->arena, const char *, m->func_count + 1);
    for (uint32_t i = 0; i < m->func_count; i++)
        m->func_names[i] = arena_strdup(&m->arena, l->ptx->funcs[i]->name);
    m->ptx_text =
        arena_strndup(&m->arena, l->ptx->source.text ? l->ptx->source.text : "", l->ptx->source.len);
    m->ptx_len = l->ptx->source.len;
    m->target_sm = l->ptx->target_sm;
    m->ptx_version = l->ptx->version_major * 10 + l->ptx->version_minor;
}

static bool lower_entries(struct lowering *l)
{
    bool ok = true;
    l->out->kernels = ARENA_ARRAY(&l->out->arena, struct isa_kernel *, l->ptx->func_count + 1);
    for (uint32_t i = 0; i < l->ptx->func_count; i++) {
        const struct ptx_func *f = l->ptx->funcs[i];
        if (!f->is_entry || !f->has_body) continue;
        if (l->opts.only && strcmp(l->opts.only, f->name)) continue;
        struct isa_kernel *k = lower_entry(l, f);
        if (k)
            l->out->kernels[l->out->kernel_count++] = k;
        else
            ok = false;
        if (l->diags->errors >= DIAG_ERRORS_MAX) break;
    }
    return ok;
}

struct isa_module *lower_module(const struct ptx_module *ptx, const struct lower_options *opts,
                                struct diag_list *diags)
{
    struct lowering l = {
        .ptx = ptx, .opts = {.opt_level = 1}, .diags = diags, .errors_before = diags->errors};
    if (opts) l.opts = *opts;
    struct arena arena = {0};
    l.out = ARENA_NEW(&arena, struct isa_module);
    l.out->arena = arena; /* the module lives in its own arena */
    l.out->name = arena_strdup(&l.out->arena, ptx->source.file ? ptx->source.file : "ptx");
    l.address_taken = mem_zalloc(ptx->func_count + 1);
    l.refused = mem_zalloc(ptx->func_count + 1);
    find_addresses(&l);
    lower_names(&l);
    bool ok = lower_entries(&l);
    free(l.address_taken);
    free(l.refused);
    if (ok) return l.out;
    isa_module_free(l.out);
    return NULL;
}
