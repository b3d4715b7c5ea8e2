/* parse_module.c: a whole PTX text: the directives of a module (PTX ISA 11), and the entry of the reader.
 *
 * (1) .version comes first, then .target. (2) .section holds debug data and is skipped. (3) After an error
 * reading continues at the next directive, so that one run shows many errors. */
#include "ptx/parser.h"

/* ---- .version, .target, .address_size ---- */

static bool parse_version(struct parser *p)
{
    parse_next(p);
    struct token t = p->tok;
    unsigned major = 0, minor = 0;
    uint32_t i = 0;
    if (t.kind == TOK_F64) {
        for (; i < t.len && i < 4 && t.text[i] != '.'; i++) major = major * 10 + (unsigned)(t.text[i] - '0');
        for (i++; i < t.len && i < 8 && t.text[i] >= '0' && t.text[i] <= '9'; i++)
            minor = minor * 10 + (unsigned)(t.text[i] - '0');
    }
    if (t.kind != TOK_F64 || i != t.len || !major)
        return parse_error(p, &t, "as in .version 8.0", "expected the version of the PTX language");
    if (p->module->version_major) return parse_error(p, &t, NULL, ".version is given twice");
    parse_next(p);
    p->module->version_major = major;
    p->module->version_minor = minor;
    if (major > 9 || (major == 9 && minor > 0))
        parse_warning(p, &t, "PTX %u.%u is newer than 9.0: its new features are not supported", major, minor);
    return true;
}

/* sm_75, sm_90a, compute_80 */
static bool target_number(const struct token *t, uint32_t *sm)
{
    const char *at = memchr(t->text, '_', t->len);
    if (!at || (strncmp(t->text, "sm_", 3) && strncmp(t->text, "compute_", 8))) return false;
    uint32_t n = 0, digits = 0;
    for (at++; at < t->text + t->len && *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
        n = n * 10 + (uint32_t)(*at - '0');
    bool suffix = at + 1 == t->text + t->len && (*at == 'a' || *at == 'f');
    *sm = n;
    return digits && (suffix || at == t->text + t->len);
}

static bool parse_target(struct parser *p)
{
    static const char *const options[] = {"texmode_unified", "texmode_independent", "debug"};
    parse_next(p);
    do {
        struct token t;
        uint32_t sm;
        if (!parse_ident(p, &t, "a target, as sm_75")) return false;
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(options); i++) known |= token_is(&t, options[i]);
        if (target_number(&t, &sm)) {
            if (p->module->target) continue;
            p->module->target = parse_text(p, &t);
            p->module->target_sm = sm;
        } else if (!known) {
            char name[80];
            return parse_error(p, &t, NULL, "unknown target %s", token_name(&t, name, sizeof name));
        }
    } while (parse_accept(p, ','));
    return true;
}

static bool parse_address_size(struct parser *p)
{
    parse_next(p);
    struct token at = p->tok;
    if (!parse_u32(p, &p->module->address_bits, 64, "the address size")) return false;
    if (p->module->address_bits == 64) return true;
    return parse_error(p, &at, "compile with -m64", "addresses of %u bits are not supported",
                       p->module->address_bits);
}

/* ---- .file, .section, .alias ---- */

static bool parse_file(struct parser *p)
{
    uint32_t index, skipped;
    parse_next(p);
    if (!parse_u32(p, &index, PARSE_FILES_MAX - 1, "a file's number")) return false;
    struct token name = p->tok;
    if (!parse_expect(p, TOK_STRING, "a file's name")) return false;
    for (int i = 0; i < 2 && parse_accept(p, ','); i++) /* time and size */
        if (!parse_u32(p, &skipped, UINT32_MAX, "a time or size")) return false;
    while (p->files.len <= index) vec_push(&p->files, NULL);
    p->files.data[index] = parse_text(p, &name);
    return true;
}

static bool parse_section(struct parser *p)
{
    parse_next(p);
    if (p->tok.kind != TOK_DOT && p->tok.kind != TOK_IDENT)
        return parse_error(p, &p->tok, NULL, "expected a section's name");
    parse_next(p);
    struct token open = p->tok;
    if (!parse_expect(p, '{', "'{'")) return false;
    while (p->tok.kind != '}' && p->tok.kind != TOK_END) parse_next(p);
    if (p->tok.kind == TOK_END) return parse_error(p, &open, NULL, "the section is not closed");
    parse_next(p);
    return true;
}

static bool parse_alias(struct parser *p)
{
    struct alias_use a;
    parse_next(p);
    if (!parse_ident(p, &a.alias, "a function") || !parse_expect(p, ',', "','") ||
        !parse_ident(p, &a.target, "a function") || !parse_expect(p, ';', "';'"))
        return false;
    vec_push(&p->aliases, a);
    return true;
}

static struct ptx_func *find_func(struct parser *p, const struct token *name)
{
    struct symbol *s = map_get_n(&p->module_scope->names, name->text, name->len);
    if (s && s->kind == SYM_FUNC) return s->func;
    scope_undefined(p, name, "function");
    return NULL;
}

/* An alias is the other function under its own name. */
static void apply_aliases(struct parser *p)
{
    for (uint32_t i = 0; i < p->aliases.len; i++) {
        const struct alias_use *a = &p->aliases.data[i];
        struct ptx_func *f = find_func(p, &a->alias), *target = f ? find_func(p, &a->target) : NULL;
        if (!target) continue;
        if (f->has_body || f->is_entry || target->is_entry || !target->has_body ||
            f->param_count != target->param_count || f->ret_count != target->ret_count) {
            parse_error(p, &a->alias,
                        "it names a declared function; the other has a body and the same parameters",
                        "the alias does not fit");
            continue;
        }
        const char *name = f->name;
        bool is_visible = f->is_visible, is_weak = f->is_weak;
        *f = *target;
        f->name = name;
        f->is_visible = is_visible;
        f->is_weak = is_weak;
    }
}

/* ---- declarations ---- */

static bool parse_linkage(struct parser *p, struct decl *d)
{
    if (token_is(&p->tok, ".extern"))
        d->is_extern = true;
    else if (token_is(&p->tok, ".visible"))
        d->is_visible = true;
    else if (token_is(&p->tok, ".weak"))
        d->is_weak = true;
    else if (token_is(&p->tok, ".common"))
        d->is_common = true;
    else
        return false;
    parse_next(p);
    return true;
}

static const struct {
    const char *word;
    uint8_t space;
} var_spaces[] = {
    {".global", PTX_SPACE_GLOBAL}, {".const", PTX_SPACE_CONST}, {".shared", PTX_SPACE_SHARED},
    {".local", PTX_SPACE_LOCAL},   {".param", PTX_SPACE_PARAM}, {".tex", PTX_SPACE_TEX},
};

static bool unknown_directive(struct parser *p)
{
    static const char *const names[] = {
        ".version", ".target", ".address_size", ".file",   ".section", ".extern", ".visible", ".weak",
        ".common",  ".global", ".const",        ".shared", ".entry",   ".func",   ".alias",   ".pragma"};
    char text[80], hint[100];
    snprintf(text, sizeof text, "%.*s", (int)MIN(p->tok.len, 60u), p->tok.text);
    const char *near = p->tok.kind == TOK_DOT ? diag_nearest(text, names, ARRAY_LEN(names)) : NULL;
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    if (p->tok.kind == TOK_DOT)
        return parse_error(p, &p->tok, near ? hint : NULL, "unknown directive '%s'", text);
    return parse_error(p, &p->tok, NULL, "expected a directive, found %s",
                       token_name(&p->tok, hint, sizeof hint));
}

/* Old texture references, .tex .u32 name: the same as .global .texref. */
static bool parse_old_texture(struct parser *p, struct decl d)
{
    struct token type = p->tok;
    d.space = PTX_SPACE_GLOBAL;
    d.type = PTX_TEXREF;
    if (!token_is(&type, ".u32") && !token_is(&type, ".u64"))
        return parse_error(p, &type, NULL, "a .tex variable is .u32 or .u64");
    parse_next(p);
    return parse_var_decl(p, d);
}

static bool parse_declaration(struct parser *p)
{
    struct decl d = {0};
    while (parse_linkage(p, &d)) continue;
    if (token_is(&p->tok, ".entry") || token_is(&p->tok, ".func")) {
        bool is_entry = token_is(&p->tok, ".entry");
        parse_next(p);
        return parse_function(p, d, is_entry);
    }
    if (token_is(&p->tok, ".reg")) return parse_reg_decl(p);
    for (size_t i = 0; i < ARRAY_LEN(var_spaces); i++) {
        if (!token_is(&p->tok, var_spaces[i].word)) continue;
        struct token at = p->tok;
        parse_next(p);
        d.space = var_spaces[i].space;
        if (d.space == PTX_SPACE_TEX) return parse_old_texture(p, d);
        if (d.space == PTX_SPACE_PARAM || d.space == PTX_SPACE_LOCAL)
            return parse_error(p, &at, NULL, "%s variables belong into functions", var_spaces[i].word);
        return parse_var_decl(p, d);
    }
    return unknown_directive(p);
}

static bool parse_directive(struct parser *p)
{
    struct token t = p->tok;
    if (!p->module->version_major && !token_is(&t, ".version")) {
        p->module->version_major = 1; /* one report is enough */
        return parse_error(p, &t, "as in .version 8.0", "a PTX text starts with .version");
    }
    if (token_is(&t, ".version")) return parse_version(p);
    if (token_is(&t, ".target")) return parse_target(p);
    if (!p->module->target) {
        p->module->target = "";
        return parse_error(p, &t, "as in .target sm_75", ".target must follow .version");
    }
    if (token_is(&t, ".address_size")) return parse_address_size(p);
    if (token_is(&t, ".file")) return parse_file(p);
    if (token_is(&t, ".section")) return parse_section(p);
    if (token_is(&t, ".alias")) return parse_alias(p);
    if (token_is(&t, ".pragma")) return parse_pragma(p);
    if (token_is(&t, ".loc")) return parse_loc(p);
    if (t.kind == ';') return parse_accept(p, ';');
    if (t.kind == '@') { /* @@DWARF */
        lexer_skip_line(&p->lexer);
        parse_next(p);
        return true;
    }
    return parse_declaration(p);
}

static bool starts_declaration(const struct token *t)
{
    static const char *const words[] = {".visible", ".extern", ".weak", ".entry",   ".func",
                                        ".global",  ".const",  ".file", ".section", ".target"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (token_is(t, words[i])) return true;
    return false;
}

/* Continues after a ';' or a whole { ... }, or at a word that can only start a declaration. */
static void recover(struct parser *p, const char *started_at)
{
    int depth = 0;
    while (p->tok.kind != TOK_END) {
        int kind = p->tok.kind;
        if (!depth && p->tok.text != started_at && starts_declaration(&p->tok) && p->tok.after_space) return;
        depth += (kind == '{') - (kind == '}');
        parse_next(p);
        if (kind == ';' && depth <= 0) return;
        if (kind == '}' && depth <= 0) return;
    }
}

/* ---- the whole ---- */

static void parse_all(struct parser *p)
{
    parse_next(p);
    if (p->tok.kind == TOK_END && !p->errors) parse_error(p, &p->tok, NULL, "the PTX text is empty");
    while (p->tok.kind != TOK_END) {
        const char *at = p->tok.text;
        if (!parse_directive(p)) recover(p, at);
    }
    if (!parse_stopped(p)) apply_aliases(p);
    check_relocs(p);
    if (!p->errors && !p->module->target)
        parse_error(p, &p->tok, "as in .target sm_75", "the text has no .target");
}

static void keep_module(struct parser *p)
{
    struct ptx_module *m = p->module;
    if (!p->locs.len) vec_push(&p->locs, (struct ptx_loc){0});
    if (!p->files.len) vec_push(&p->files, NULL);
    for (uint32_t i = 0; i < p->files.len; i++)
        if (!p->files.data[i]) p->files.data[i] = "";
    for (uint32_t i = 1; i < p->locs.len; i++)
        if (p->locs.data[i].file >= p->files.len) p->locs.data[i].file = 0;
    if (!m->address_bits) m->address_bits = 64;
    PARSE_KEEP(p, p->vars, m->vars, m->var_count);
    PARSE_KEEP(p, p->funcs, m->funcs, m->func_count);
    PARSE_KEEP(p, p->files, m->files, m->file_count);
    PARSE_KEEP(p, p->locs, m->locs, m->loc_count);
}

static void end_parser(struct parser *p)
{
    scope_pop(p);
    arena_free(&p->scratch);
    form_table_free(p->forms);
    map_free(&p->spellings);
    map_free(&p->sregs);
    vec_free(&p->vars);
    vec_free(&p->funcs);
    vec_free(&p->files);
    vec_free(&p->locs);
    vec_free(&p->reloc_uses);
    vec_free(&p->aliases);
    vec_free(&p->regs);
    vec_free(&p->insts);
    vec_free(&p->labels);
    vec_free(&p->tables);
    vec_free(&p->func_vars);
}

struct ptx_module *ptx_parse(const char *name, const char *text, size_t len, struct diag_list *diags)
{
    struct parser p = {.diags = diags};
    while (len && !text[len - 1]) len--; /* texts out of a fatbin end in zero bytes */
    p.module = mem_zalloc(sizeof *p.module);
    p.module->source.file = arena_strdup(&p.module->arena, name ? name : "ptx");
    p.module->source.text = arena_strndup(&p.module->arena, text ? text : "", len);
    p.module->source.len = len;
    lexer_start(&p.lexer, p.module->source.text, len);
    scope_push(&p);
    p.module_scope = p.scope;
    p.forms = form_table_new();
    ptx_sreg_fill(&p.sregs);
    parse_all(&p);
    keep_module(&p);
    end_parser(&p);
    if (!p.errors) return p.module;
    ptx_module_free(p.module);
    return NULL;
}
