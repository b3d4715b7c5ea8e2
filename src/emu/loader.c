/* loader.c: loading a module: its variables get device memory, its symbols their values, its code is checked.
 *
 * The check states what the emulator relies on (operands exist, targets are inside, code does not run off its
 * end, every opcode has a function), so that running needs no such checks. */
#include "emu/emu_device.h"

#include "emu/atomic.h"

struct loader {
    struct emu_device *device;
    struct emu_module *m;
    uint64_t (*externs)(void *ctx, const char *name);
    void *externs_ctx;
    struct diag_list *diags;
};

static void load_error(struct loader *l, const char *hint, const char *fmt, const char *name)
{
    struct diag_source src = {.file = l->m->isa->name};
    diag_add(l->diags, DIAG_ERROR, &src, 0, 0, 1, hint, fmt, name);
}

/* ---- symbols ---- */
static bool func_value(const struct isa_module *isa, const char *name, uint64_t *value)
{
    for (uint32_t f = 0; f < isa->func_count; f++) {
        if (strcmp(isa->func_names[f], name)) continue;
        *value = ISA_FUNC_BASE + 16ull * f;
        return true;
    }
    return false;
}

static int64_t find_var(const struct isa_module *isa, const char *name)
{
    for (uint32_t v = 0; v < isa->var_count; v++)
        if (!strcmp(isa->vars[v].name, name)) return v;
    return -1;
}

static bool symbol_value(struct loader *l, const char *name, uint64_t *value)
{
    int64_t v = find_var(l->m->isa, name);
    if (v >= 0) {
        *value = l->m->var_address[v];
        if (*value) return true;
    }
    if (func_value(l->m->isa, name, value)) return true;
    load_error(l, "link the module that defines it", "symbol '%s' is declared extern but not defined", name);
    return false;
}

/* ---- variables ---- */
static bool place_var(struct loader *l, uint32_t v)
{
    const struct isa_var *var = &l->m->isa->vars[v];
    if (var->is_extern) {
        if (l->externs) l->m->var_address[v] = l->externs(l->externs_ctx, var->name);
        return true; /* an undefined symbol is an error only where it is used */
    }
    enum space_kind kind = var->is_const ? SPACE_CONST : SPACE_MODULE;
    uint64_t at = space_alloc(l->device->space, MAX(var->bytes, 1u), var->align, kind, var->name);
    if (!at) {
        load_error(l, NULL, "no device memory for variable '%s'", var->name);
        return false;
    }
    l->m->var_address[v] = at;
    l->m->var_owned[v] = true;
    if (var->init)
        memcpy((void *)(uintptr_t)at, var->init, var->bytes);
    else
        memset((void *)(uintptr_t)at, 0, var->bytes);
    return true;
}

static bool relocate_var(struct loader *l, uint32_t v)
{
    const struct isa_var *var = &l->m->isa->vars[v];
    for (uint32_t r = 0; r < var->reloc_count && !var->is_extern; r++) {
        const struct isa_reloc *reloc = &var->relocs[r];
        uint64_t value;
        if (!symbol_value(l, reloc->symbol, &value)) return false;
        if (reloc->bytes > 8 || reloc->offset + reloc->bytes > var->bytes) {
            load_error(l, NULL, "an address in the initial value of '%s' lies outside of it", var->name);
            return false;
        }
        value += (uint64_t)reloc->addend;
        memcpy((uint8_t *)(uintptr_t)l->m->var_address[v] + reloc->offset, &value, reloc->bytes);
    }
    return true;
}

/* ---- code ---- */

/* Rows that an operand of a letter takes. */
static uint32_t rows_of(char letter, const struct isa_inst *i)
{
    if (letter == 'n') return i->imm > 0 && i->imm <= ISA_REGS_MAX ? (uint32_t)i->imm : ISA_REGS_MAX + 1;
    return letter == 'd' || (letter == 'a' && !(i->flags & ISA_A32)) ? 2 : 1;
}

struct check {
    const struct isa_kernel *k;
    const struct isa_inst *i;
    uint32_t rows;
    const char *what;
};

static void check_operand(struct check *c, uint16_t o, char letter, bool is_source)
{
    uint32_t rows = rows_of(letter, c->i);
    if (letter == 'n' && !isa_is_reg(o)) c->what = "an array that does not begin with a register";
    if (o == ISA_NONE) return;
    if (letter == 'p') {
        if (!isa_is_pred(o) || (o & ~(uint16_t)(ISA_KIND_P | ISA_P_NOT)) > 7)
            c->what = "a predicate operand that is not one";
    } else if (isa_is_const(o)) {
        if (!is_source || isa_index(o) + rows > c->k->const_count)
            c->what = "a constant that is not in the pool";
    } else if (isa_is_reg(o)) {
        c->rows = MAX(c->rows, isa_index(o) + rows);
        if (isa_index(o) + rows > ISA_REGS_MAX + 1) c->what = "a register beyond the last one";
    } else {
        c->what = "a predicate where a value belongs";
    }
}

static void check_operands(struct check *c, const char *letters, const uint16_t *o, uint32_t max,
                           bool is_source)
{
    uint32_t n = 0, vec = c->i->vec ? c->i->vec : 1;
    for (const char *p = letters; *p; p++) {
        uint32_t repeat = p[1] == '*' ? vec : 1;
        for (uint32_t k = 0; k < repeat; k++, n++) {
            if (n >= max) {
                c->what = "more operands than there is room for";
                return;
            }
            check_operand(c, o[n], *p, is_source);
        }
        if (p[1] == '*') p++;
    }
}

static bool always(const struct isa_inst *i) { return i->guard == ISA_PT; }

static void check_control(struct check *c, uint32_t pc)
{
    const struct isa_inst *i = c->i;
    const struct isa_kernel *k = c->k;
    if ((i->op == ISA_OP_BRA || i->op == ISA_OP_CALL) && i->target >= k->inst_count)
        c->what = "a target outside of the code";
    if (i->op == ISA_OP_BRX) {
        uint64_t first = (uint64_t)i->imm;
        if (i->imm < 0 || first + i->target > k->branch_target_count)
            c->what = "a branch table outside of the tables";
        else
            for (uint32_t t = 0; t < i->target; t++)
                if (k->branch_targets[first + t] >= k->inst_count) c->what = "a target outside of the code";
    }
    if (pc + 1 < k->inst_count) return;
    bool ends = i->op == ISA_OP_EXIT || i->op == ISA_OP_RET || i->op == ISA_OP_BRA || i->op == ISA_OP_BRX ||
                i->op == ISA_OP_TRAP;
    if (!ends || !always(i)) c->what = "code that runs off its end";
}

static void check_memory(struct check *c)
{
    const struct isa_inst *i = c->i;
    uint32_t flags = isa_ops[i->op].flags;
    bool is_vector = flags & (ISA_LOAD | ISA_STORE) && i->op != ISA_OP_TEX;
    uint32_t vec_max = i->op == ISA_OP_CPASYNC ? 16 : 4;
    if (is_vector && i->vec > 1 && (!is_pow2_u64(i->vec) || i->vec > vec_max))
        c->what = "a vector of no known length";
    if (i->op >= ISA_OP_ATOM_16 && i->op <= ISA_OP_ATOM_64) {
        uint32_t bits = 16u << (i->op - ISA_OP_ATOM_16);
        if (!atomic_known((enum isa_atom)i->mod2, (enum isa_type)i->type, bits))
            c->what = "an atomic operation on a type that lacks it";
    }
    uint32_t dims = i->mod & ISA_TEX_DIMS;
    if (i->op == ISA_OP_TEX && (dims < 1 || dims > 3)) c->what = "a texture of no known shape";
    if (i->op >= ISA_OP_SULD_8 && i->op <= ISA_OP_SURED_AT &&
        (isa_surface_dims(i) < 1 || isa_surface_dims(i) > 3))
        c->what = "a surface of no known shape";
}

static bool check_kernel(struct loader *l, const struct isa_kernel *k, struct image *image)
{
    struct check c = {.k = k, .rows = k->reg_count};
    for (uint32_t pc = 0; pc < k->inst_count && !c.what; pc++) {
        c.i = &k->insts[pc];
        if (c.i->op >= ISA_OP_COUNT || !l->device->table[c.i->op]) {
            c.what = "an instruction that the emulator lacks";
            break;
        }
        const struct isa_op_info *info = &isa_ops[c.i->op];
        check_operands(&c, info->dst, c.i->dst, ISA_DST_MAX, false);
        check_operands(&c, info->src, c.i->src, ISA_SRC_MAX, true);
        check_control(&c, pc);
        check_memory(&c);
        if (c.i->loc >= k->loc_count && k->loc_count) c.what = "a source line that is not in its table";
    }
    if (!k->inst_count) c.what = "no code";
    image->reg_rows = MAX(c.rows, 1u);
    if (!c.what) return true;
    struct diag_source src = {.file = l->m->isa->name};
    int line = c.i && c.i->loc < k->loc_count ? (int)k->locs[c.i->loc].ptx_line : 0;
    diag_add(l->diags, DIAG_ERROR, &src, line, 0, 1, NULL,
             "machine code of kernel '%s' has %s (%s, instruction %u)", k->name, c.what,
             c.i && c.i->op < ISA_OP_COUNT ? isa_ops[c.i->op].name : "?",
             c.i ? (unsigned)(c.i - k->insts) : 0);
    return false;
}

static bool load_kernel(struct loader *l, const struct isa_kernel *k, struct image *image)
{
    image->kernel = k;
    if (k->refused) return true; /* it has no code; emu_check_launch refuses it */
    image->sym_values = mem_zalloc(sizeof *image->sym_values * MAX(k->sym_count, 1u));
    for (uint32_t s = 0; s < k->sym_count; s++)
        if (!symbol_value(l, k->syms[s].name, &image->sym_values[s])) return false;
    for (uint32_t c = 0; c < k->const_count; c++) {
        bool is_sym = k->consts[c].kind == ISA_CONST_SYM_LO || k->consts[c].kind == ISA_CONST_SYM_HI;
        if (is_sym && k->consts[c].value >= k->sym_count) {
            load_error(l, NULL, "kernel '%s' uses a symbol that is not in its table", k->name);
            return false;
        }
    }
    if (k->param_bytes > PARAM_BLOCK_MAX) {
        load_error(l, NULL, "kernel '%s' has more than 32764 bytes of parameters", k->name);
        return false;
    }
    return check_kernel(l, k, image);
}

struct emu_module *emu_module_load(struct emu_device *d, struct isa_module *isa,
                                   uint64_t (*externs)(void *ctx, const char *name), void *ctx,
                                   struct diag_list *diags)
{
    struct emu_module *m = mem_zalloc(sizeof *m);
    m->isa = isa;
    m->device = d;
    m->images = mem_zalloc(sizeof *m->images * MAX(isa->kernel_count, 1u));
    m->var_address = mem_zalloc(sizeof *m->var_address * MAX(isa->var_count, 1u));
    m->var_owned = mem_zalloc(sizeof *m->var_owned * MAX(isa->var_count, 1u));
    struct loader l = {.device = d, .m = m, .externs = externs, .externs_ctx = ctx, .diags = diags};
    bool ok = true;
    for (uint32_t v = 0; v < isa->var_count; v++) ok &= place_var(&l, v);
    for (uint32_t v = 0; v < isa->var_count && ok; v++) ok &= relocate_var(&l, v);
    for (uint32_t k = 0; k < isa->kernel_count && ok; k++)
        ok &= load_kernel(&l, isa->kernels[k], &m->images[k]);
    if (ok) return m;
    emu_module_unload(d, m);
    return NULL;
}

static void variant_free(struct variant *v)
{
    free(v->image.sym_values);
    isa_module_free(v->isa);
    free(v);
}

const struct isa_kernel *emu_module_add_variant(struct emu_module *m, struct isa_module *isa,
                                                struct diag_list *diags)
{
    assert(isa->kernel_count == 1 && isa->func_count == m->isa->func_count);
    struct loader l = {.device = m->device, .m = m, .diags = diags};
    struct variant *v = mem_zalloc(sizeof *v);
    v->isa = isa;
    if (!load_kernel(&l, isa->kernels[0], &v->image)) {
        variant_free(v);
        return NULL;
    }
    v->next = m->variants;
    m->variants = v;
    return v->image.kernel;
}

void emu_module_unload(struct emu_device *d, struct emu_module *m)
{
    if (!m) return;
    for (struct variant *v = m->variants, *next; v; v = next) {
        next = v->next;
        variant_free(v);
    }
    for (uint32_t v = 0; v < m->isa->var_count; v++)
        if (m->var_owned[v]) space_free(d->space, m->var_address[v]);
    for (uint32_t k = 0; k < m->isa->kernel_count; k++) free(m->images[k].sym_values);
    free(m->images);
    free(m->var_address);
    free(m->var_owned);
    isa_module_free(m->isa);
    free(m);
}

const struct isa_module *emu_module_isa(const struct emu_module *m) { return m->isa; }

const struct isa_kernel *emu_find_kernel(const struct emu_module *m, const char *name)
{
    for (uint32_t k = 0; k < m->isa->kernel_count; k++)
        if (!strcmp(m->isa->kernels[k]->name, name)) return m->isa->kernels[k];
    return NULL;
}

bool emu_find_var(const struct emu_module *m, const char *name, uint64_t *address, uint64_t *bytes)
{
    int64_t v = find_var(m->isa, name);
    if (v < 0 || !m->var_address[v]) return false;
    *address = m->var_address[v];
    *bytes = m->isa->vars[v].bytes;
    return true;
}

const struct image *module_image(const struct emu_module *m, const struct isa_kernel *k)
{
    for (uint32_t n = 0; n < m->isa->kernel_count; n++)
        if (m->images[n].kernel == k) return &m->images[n];
    for (const struct variant *v = m->variants; v; v = v->next)
        if (v->image.kernel == k) return &v->image;
    return NULL;
}
