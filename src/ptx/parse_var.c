/* parse_var.c: declarations of variables and registers (PTX ISA 5.4).
 *
 * (1) A variable's size is known here and at most 2^32 bytes; nothing is allocated for zeros.
 * (2) An .extern declaration and the definition are one variable. */
#include "ptx/parser.h"

static bool parse_align(struct parser *p, uint32_t *align)
{
    struct token at = p->tok;
    if (!parse_u32(p, align, 1u << 30, "an alignment")) return false;
    return is_pow2_u64(*align) ||
           parse_error(p, &at, NULL, "an alignment must be a power of two, got %u", *align);
}

/* .attribute(.managed, .unified(1, 2)): says how the host allocates; nothing that the device code sees. */
static bool skip_parentheses(struct parser *p)
{
    if (!parse_expect(p, '(', "'('")) return false;
    for (int depth = 1; depth;) {
        if (p->tok.kind == TOK_END) return parse_error(p, &p->tok, NULL, "'(' is not closed");
        depth += (p->tok.kind == '(') - (p->tok.kind == ')');
        parse_next(p);
    }
    return true;
}

static enum ptx_type opaque_type(const struct token *t)
{
    if (token_is(t, ".texref")) return PTX_TEXREF;
    if (token_is(t, ".samplerref")) return PTX_SAMPLERREF;
    if (token_is(t, ".surfref")) return PTX_SURFREF;
    return PTX_NONE;
}

/* Types that instructions know but nothing can be declared with (PTX ISA 5.2.3). */
static bool is_alternate(enum ptx_type t)
{
    return t == PTX_BF16 || t == PTX_BF16X2 || t == PTX_TF32 || t == PTX_E4M3X2 || t == PTX_E5M2X2 ||
           t == PTX_U16X2 || t == PTX_S16X2;
}

static bool unknown_type(struct parser *p)
{
    static const char *const names[] = {".u8",    ".u16", ".u32", ".u64",  ".s8",    ".s16",  ".s32",
                                        ".s64",   ".b8",  ".b16", ".b32",  ".b64",   ".b128", ".f16",
                                        ".f16x2", ".f32", ".f64", ".pred", ".align", ".v2",   ".v4"};
    char text[80], hint[100];
    token_name(&p->tok, text, sizeof text);
    text[strlen(text) - 1] = 0;
    const char *near = diag_nearest(text + 1, names, ARRAY_LEN(names));
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    return parse_error(p, &p->tok, near ? hint : NULL, "unknown type or attribute %s'", text);
}

/* .ptr .space .align n of a parameter: what it points to; promises to the compiler. */
static bool skip_pointer_words(struct parser *p)
{
    if (token_is(&p->tok, ".const") || token_is(&p->tok, ".global") || token_is(&p->tok, ".local") ||
        token_is(&p->tok, ".shared"))
        parse_next(p);
    uint32_t pointee_align;
    if (!token_is(&p->tok, ".align")) return true;
    parse_next(p);
    return parse_align(p, &pointee_align);
}

static bool parse_decl_word(struct parser *p, struct decl *d)
{
    struct token t = p->tok;
    if (token_is(&t, ".align")) {
        parse_next(p);
        return parse_align(p, &d->align);
    }
    if (token_is(&t, ".attribute")) {
        parse_next(p);
        return skip_parentheses(p);
    }
    if (token_is(&t, ".ptr") && d->space == PTX_SPACE_PARAM) {
        parse_next(p);
        return skip_pointer_words(p);
    }
    enum ptx_type type = opaque_type(&t);
    if (type == PTX_NONE) type = form_type_of(t.text + 1, t.len - 1);
    if (token_is(&t, ".v2") || token_is(&t, ".v4"))
        d->vec = (uint8_t)(t.text[2] - '0');
    else if (type == PTX_NONE)
        return unknown_type(p);
    else if (d->type)
        return parse_error(p, &t, NULL, "a declaration has one type");
    else if (is_alternate(type))
        return parse_error(p, &t, "declare it as .b16 or .b32",
                           "%s is a type of instructions, not of variables", ptx_type_name(type));
    else
        d->type = (uint8_t)type;
    parse_next(p);
    return true;
}

bool parse_decl_words(struct parser *p, struct decl *d)
{
    char name[80];
    struct token first = p->tok;
    while (p->tok.kind == TOK_DOT)
        if (!parse_decl_word(p, d)) return false;
    if (!d->type)
        return parse_error(p, &p->tok, NULL, "expected a type, found %s",
                           token_name(&p->tok, name, sizeof name));
    if (d->vec && d->vec * ptx_type_bytes((enum ptx_type)d->type) > 16)
        return parse_error(p, &first, NULL, "a vector has at most 16 bytes");
    return true;
}

static bool parse_dims(struct parser *p, struct array_dims *dims)
{
    while (p->tok.kind == '[') {
        struct token at = p->tok;
        parse_next(p);
        if (dims->count == PARSE_DIMS_MAX)
            return parse_error(p, &at, NULL, "an array has at most %d dimensions", PARSE_DIMS_MAX);
        int64_t n = 0;
        bool open = p->tok.kind == ']';
        if (open && dims->count)
            return parse_error(p, &at, NULL, "only the first dimension may be left open");
        if (!open && !parse_int_expr(p, &n, "an array's length")) return false;
        if (n < 0) return parse_error(p, &at, NULL, "an array's length cannot be negative");
        if (!parse_expect(p, ']', "']'")) return false;
        dims->len[dims->count++] = (uint64_t)n;
    }
    return true;
}

static bool set_bytes(struct parser *p, const struct token *name, struct ptx_var *v,
                      const struct array_dims *dims)
{
    uint64_t bytes = ptx_type_bytes((enum ptx_type)v->type) * (uint64_t)MAX(v->vec, 1);
    if (!v->align) v->align = (uint32_t)MAX(bytes, 1);
    bool empty = false;
    for (uint32_t i = 0; i < dims->count; i++) {
        uint64_t len = MAX(dims->len[i], 1u); /* bounds the other dimensions of an empty array too */
        if (bytes > PARSE_VAR_BYTES_MAX / len)
            return parse_error(p, name, NULL, "the variable is larger than 2^32 bytes");
        bytes *= len;
        empty |= !dims->len[i];
    }
    v->is_array = dims->count > 0;
    v->is_unsized = v->is_array && !dims->len[0];
    v->bytes = empty ? 0 : bytes;
    return true;
}

bool parse_declarator(struct parser *p, const struct decl *d, const struct token *name, struct ptx_var *v,
                      struct array_dims *dims)
{
    *dims = (struct array_dims){0};
    *v = (struct ptx_var){
        .name = parse_text(p, name), .space = d->space, .type = d->type, .vec = d->vec, .align = d->align};
    v->is_extern = d->is_extern;
    v->is_visible = d->is_visible;
    v->is_weak = d->is_weak;
    v->is_common = d->is_common;
    v->line = name->line;
    if (d->type == PTX_PRED && d->space != PTX_SPACE_REG)
        return parse_error(p, name, NULL, "predicates live in registers only");
    return parse_dims(p, dims) && set_bytes(p, name, v, dims);
}

/* The symbol to define: a new one, or that of an earlier .extern. *keep: the earlier one stays as it is. */
static struct symbol *define_var(struct parser *p, const struct token *name, const struct ptx_var *v,
                                 bool *keep)
{
    struct symbol *old = scope_find_here(p, name);
    *keep = false;
    if (!old || old->kind != SYM_VAR || (!old->is_declared_only && !v->is_extern))
        return scope_add(p, name, SYM_VAR);
    if (old->var->space != v->space || old->var->type != v->type) {
        char hint[60];
        snprintf(hint, sizeof hint, "declared at line %d", old->line);
        parse_error(p, name, hint, "the variable was declared with another space or type");
        return NULL;
    }
    *keep = v->is_extern && !v->bytes;
    if (!old->is_declared_only) *keep = true;
    return old;
}

static void list_var(struct parser *p, struct ptx_var *v)
{
    if (p->func)
        vec_push(&p->func_vars, v);
    else
        vec_push(&p->vars, v);
}

static bool check_open_length(struct parser *p, const struct token *name, const struct ptx_var *v)
{
    if (!v->is_unsized || v->is_extern || v->space == PTX_SPACE_PARAM) return true;
    return parse_error(p, name, "give a length, or declare it .extern .shared", "the array has no length");
}

static bool parse_one_var(struct parser *p, const struct decl *d)
{
    struct token name;
    struct ptx_var v;
    struct array_dims dims;
    if (!parse_ident(p, &name, "a name") || !parse_declarator(p, d, &name, &v, &dims)) return false;
    if (p->tok.kind == '<') { /* v<4>: several variables v0 to v3 */
        return parse_error(p, &p->tok, NULL, "only registers can be declared as a range");
    }
    bool keep;
    struct symbol *s = define_var(p, &name, &v, &keep);
    if (!s) return false;
    if (!s->var) {
        s->var = ARENA_NEW(&p->module->arena, struct ptx_var);
        list_var(p, s->var);
    }
    bool ok = p->tok.kind != '=' || parse_initialiser(p, &v, &dims);
    if (!keep) {
        *s->var = v;
        s->is_declared_only = v.is_extern;
    }
    return ok && check_open_length(p, &name, &v);
}

bool parse_var_decl(struct parser *p, struct decl d)
{
    if (!parse_decl_words(p, &d)) return false;
    do {
        if (!parse_one_var(p, &d)) return false;
    } while (parse_accept(p, ','));
    return parse_expect(p, ';', "';' after the declaration");
}

static bool parse_one_reg(struct parser *p, const struct decl *d)
{
    struct token name;
    if (!parse_ident(p, &name, "a register")) return false;
    if (parse_accept(p, '<')) {
        uint32_t count;
        return parse_range_count(p, &count) && parse_expect(p, '>', "'>'") &&
               scope_add_range(p, &name, d->type, d->vec, count);
    }
    struct symbol *s = scope_add(p, &name, SYM_REG);
    if (!s) return false;
    s->type = d->type;
    s->vec = d->vec;
    s->index = scope_new_regs(p, parse_text(p, &name), d->type, d->vec);
    return true;
}

bool parse_reg_decl(struct parser *p)
{
    struct token at = p->tok;
    struct decl d = {.space = PTX_SPACE_REG};
    parse_next(p);
    if (!p->func)
        return parse_error(p, &at, "declare it inside the functions that use it",
                           "registers of a whole module are not supported");
    if (!parse_decl_words(p, &d)) return false;
    if (d.type >= PTX_TEXREF) return parse_error(p, &at, NULL, "a register cannot have an opaque type");
    do {
        if (!parse_one_reg(p, &d)) return false;
    } while (parse_accept(p, ','));
    return parse_expect(p, ';', "';' after the registers");
}
