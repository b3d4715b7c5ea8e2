/* linker.c: the device linker, on the syntax tree.
 *
 * nvcc -rdc=true leaves several PTX modules that name each other's functions and variables with .extern; on
 * real systems nvlink joins them. Joining before lowering keeps one path to machine code, and lets calls
 * between modules be inlined like any other. Rules (PTX ISA 9.0, "Linking Directives"): (1) A .visible (or
 * .entry, or .common) definition resolves every .extern declaration of its name; two are an error. (2) The
 * first of several .weak definitions counts, unless a strong one exists. (3) .common variables of one name
 * are one variable, as large as the largest. (4) A symbol with none of these belongs to its module: on a
 * clash of names it is renamed name$2, name$3, ... (5) extern functions without any definition stay: lowering
 * knows the system's own (vprintf, malloc, ...) and refuses the others with a diagnostic. extern .shared
 * arrays without a size stay: they are the dynamic shared memory. The texts are laid end to end, so that a
 * line number of the result still finds its line. */
#include "cuda/linker.h"

struct linker {
    struct ptx_module *out;
    struct diag_list *diags;
    /* name -> the definition (or the first declaration) that stands for it */
    struct map funcs, vars;
    /* every name of the result -> itself */
    struct map taken;
    /* of the current module: old name -> new name */
    struct map renamed;
    uint32_t line_base, file_base, loc_base;
};

static bool func_is_global(const struct ptx_func *f)
{
    return f->is_entry || f->is_extern || f->is_visible || f->is_weak;
}
static bool var_is_global(const struct ptx_var *v)
{
    return v->is_extern || v->is_visible || v->is_weak || v->is_common;
}
static int func_strength(const struct ptx_func *f) { return !f->has_body ? 0 : f->is_weak ? 1 : 2; }
static int var_strength(const struct ptx_var *v)
{
    return v->is_extern ? 0 : v->is_weak || v->is_common ? 1 : 2;
}

/* ---- 1. the definition of each name ---- */

static void twice(struct linker *l, const struct ptx_module *m, const char *kind, const char *name, int line)
{
    diag_add(l->diags, DIAG_ERROR, &m->source, line, 0, 0, "another module of this program defines it too",
             "multiple definition of %s '%s'", kind, name);
}

static void choose_func(struct linker *l, const struct ptx_module *m, struct ptx_func *f)
{
    struct ptx_func *old = map_get(&l->funcs, f->name);
    if (!func_is_global(f)) return;
    if (old && func_strength(old) == 2 && func_strength(f) == 2) twice(l, m, "function", f->name, f->line);
    if (!old || func_strength(f) > func_strength(old)) map_put(&l->funcs, f->name, f);
}

static void choose_var(struct linker *l, const struct ptx_module *m, struct ptx_var *v)
{
    if (!var_is_global(v)) return;
    struct ptx_var *old = map_get(&l->vars, v->name);
    if (old && var_strength(old) == 2 && var_strength(v) == 2) twice(l, m, "variable", v->name, v->line);
    bool larger = old && old->is_common && v->is_common && v->bytes > old->bytes;
    if (!old || larger || var_strength(v) > var_strength(old)) map_put(&l->vars, v->name, v);
}

static struct ptx_func *func_of(const struct linker *l, struct ptx_func *f)
{
    return f && func_is_global(f) ? (struct ptx_func *)map_get(&l->funcs, f->name) : f;
}
static struct ptx_var *var_of(const struct linker *l, struct ptx_var *v)
{
    /* Only module-scope variables carry linkage; parameters and locals are never in the map. */
    return v && var_is_global(v) ? (struct ptx_var *)map_get(&l->vars, v->name) : v;
}

/* ---- 2. references ---- */

static void fix_operand(struct linker *l, struct ptx_operand *o)
{
    o->func = func_of(l, o->func);
    o->var = var_of(l, o->var);
    o->line += (int)l->line_base;
    for (uint32_t i = 0; i < o->sub_count; i++) fix_operand(l, &o->sub[i]);
}

static void fix_relocs(struct linker *l, struct ptx_var *v)
{
    for (uint32_t i = 0; i < v->reloc_count; i++) {
        const char *now = map_get(&l->renamed, v->relocs[i].symbol);
        if (now) v->relocs[i].symbol = now;
    }
}

static void fix_func(struct linker *l, struct ptx_func *f)
{
    f->line += (int)l->line_base;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        struct ptx_inst *inst = &f->insts[i];
        inst->line += (int)l->line_base;
        if (inst->loc) inst->loc += l->loc_base;
        for (uint32_t k = 0; k < inst->op_count; k++) fix_operand(l, &inst->ops[k]);
    }
    for (uint32_t i = 0; i < f->label_count; i++) f->labels[i].line += (int)l->line_base;
    if (f->lack) f->lack->line += (int)l->line_base;
    for (uint32_t i = 0; i < f->var_count; i++) {
        fix_relocs(l, f->vars[i]);
        f->vars[i]->line += (int)l->line_base;
    }
    for (uint32_t t = 0; t < f->table_count; t++)
        for (uint32_t i = 0; f->tables[t].funcs && i < f->tables[t].count; i++)
            f->tables[t].funcs[i] = func_of(l, f->tables[t].funcs[i]);
}

/* ---- 3. names that belong to one module ---- */

static const char *unique_name(struct linker *l, const char *name)
{
    if (!map_get(&l->taken, name) && !map_get(&l->funcs, name) && !map_get(&l->vars, name)) {
        map_put(&l->taken, name, (void *)(uintptr_t)1);
        return name;
    }
    for (uint32_t n = 2;; n++) {
        char *other = arena_printf(&l->out->arena, "%s$%u", name, n);
        if (map_get(&l->taken, other)) continue;
        map_put(&l->taken, other, (void *)(uintptr_t)1);
        map_put(&l->renamed, name, other);
        return other;
    }
}

static void rename_statics(struct linker *l, struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->func_count; i++)
        if (!func_is_global(m->funcs[i])) m->funcs[i]->name = unique_name(l, m->funcs[i]->name);
    for (uint32_t i = 0; i < m->var_count; i++)
        if (!var_is_global(m->vars[i])) m->vars[i]->name = unique_name(l, m->vars[i]->name);
}

/* ---- 4. the joined module ---- */

static void append(struct linker *l, struct ptx_module *m)
{
    struct ptx_module *out = l->out;
    map_free(&l->renamed);
    l->renamed = (struct map){0};
    rename_statics(l, m);
    for (uint32_t i = 0; i < m->func_count; i++) {
        fix_func(l, m->funcs[i]);
        if (func_of(l, m->funcs[i]) == m->funcs[i]) out->funcs[out->func_count++] = m->funcs[i];
    }
    for (uint32_t i = 0; i < m->var_count; i++) {
        fix_relocs(l, m->vars[i]);
        m->vars[i]->line += (int)l->line_base;
        if (var_of(l, m->vars[i]) == m->vars[i]) out->vars[out->var_count++] = m->vars[i];
    }
    for (uint32_t i = 1; i < m->file_count; i++) out->files[out->file_count++] = m->files[i];
    for (uint32_t i = 1; i < m->loc_count; i++) {
        struct ptx_loc loc = m->locs[i];
        if (loc.file) loc.file += l->file_base;
        out->locs[out->loc_count++] = loc;
    }
}

static void check_externs(struct linker *l, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->var_count; i++) {
        const struct ptx_var *v = var_of(l, m->vars[i]);
        if (v != m->vars[i] || !v->is_extern || v->space == PTX_SPACE_SHARED) continue;
        diag_add(l->diags, DIAG_ERROR, &m->source, v->line, 0, 0, "link the module that defines it too",
                 "variable '%s' is declared but not defined in any module", v->name);
    }
}

static void join_texts(struct ptx_module *const *modules, uint32_t count, struct ptx_module *out)
{
    size_t len = 0;
    for (uint32_t i = 0; i < count; i++) len += modules[i]->source.len + 1;
    char *text = arena_alloc(&out->arena, len + 1);
    out->source.text = text;
    out->source.len = len;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(text, modules[i]->source.text, modules[i]->source.len);
        text += modules[i]->source.len;
        *text++ = '\n';
    }
}

static uint32_t lines_of(const struct diag_source *s)
{
    uint32_t n = 1; /* the newline that join_texts adds */
    for (size_t i = 0; i < s->len; i++) n += s->text[i] == '\n';
    return n;
}

static void start(const char *name, struct ptx_module *const *modules, uint32_t count, struct ptx_module *out)
{
    uint32_t funcs = 0, vars = 0, files = 1, locs = 1;
    *out = (struct ptx_module){.address_bits = modules[0]->address_bits};
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_module *m = modules[i];
        funcs += m->func_count, vars += m->var_count, files += m->file_count, locs += m->loc_count;
        if (m->target_sm >= out->target_sm) out->target_sm = m->target_sm, out->target = m->target;
        if (m->version_major * 100 + m->version_minor > out->version_major * 100 + out->version_minor)
            out->version_major = m->version_major, out->version_minor = m->version_minor;
    }
    out->source.file = arena_strdup(&out->arena, name);
    out->funcs = ARENA_ARRAY(&out->arena, struct ptx_func *, funcs);
    out->vars = ARENA_ARRAY(&out->arena, struct ptx_var *, vars);
    out->files = ARENA_ARRAY(&out->arena, const char *, files);
    out->locs = ARENA_ARRAY(&out->arena, struct ptx_loc, locs);
    out->file_count = out->loc_count = 1;
    join_texts(modules, count, out);
}

bool linked_modules(const char *name, struct ptx_module *const *modules, uint32_t count,
                    struct ptx_module *out, struct diag_list *diags)
{
    assert(count > 0);
    uint32_t errors = diags->errors;
    start(name, modules, count, out);
    struct linker l = {.out = out, .diags = diags};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < modules[i]->func_count; k++)
            choose_func(&l, modules[i], modules[i]->funcs[k]);
        for (uint32_t k = 0; k < modules[i]->var_count; k++) choose_var(&l, modules[i], modules[i]->vars[k]);
        if (modules[i]->address_bits != out->address_bits)
            diag_add(diags, DIAG_ERROR, &modules[i]->source, 0, 0, 0, NULL,
                     "32-bit and 64-bit modules cannot be linked together");
    }
    for (uint32_t i = 0; i < count; i++) check_externs(&l, modules[i]);
    for (uint32_t i = 0; i < count && diags->errors == errors; i++) {
        l.file_base = out->file_count - 1;
        l.loc_base = out->loc_count - 1;
        append(&l, modules[i]);
        l.line_base += lines_of(&modules[i]->source);
    }
    map_free(&l.funcs), map_free(&l.vars), map_free(&l.taken), map_free(&l.renamed);
    if (diags->errors == errors) return true;
    linked_free(out);
    return false;
}

void linked_free(struct ptx_module *out)
{
    arena_free(&out->arena);
    *out = (struct ptx_module){0};
}
