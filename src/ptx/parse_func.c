/* parse_func.c: heads of functions and kernels (PTX ISA 7, 11.2, 11.4): parameters and their layout,
 * performance directives, prototypes.
 *
 * (1) A prototype and its definition are one struct ptx_func.
 * (2) Parameters lie in order, each at its alignment: given by .align, otherwise that of its type (ABI).
 * (3) A parameter in a register (.reg, the way before the ABI) is a variable of space REG and a register of
 * the same name; these registers are the first ones of the function, returns before parameters. */
#include "ptx/parser.h"

static bool parse_one_param(struct parser *p, struct ptx_var *v, bool is_prototype)
{
    struct decl d = {.space = token_is(&p->tok, ".reg") ? PTX_SPACE_REG : PTX_SPACE_PARAM};
    char text[80];
    if (!token_is(&p->tok, ".reg") && !token_is(&p->tok, ".param"))
        return parse_error(p, &p->tok, NULL, "expected a parameter, .param or .reg, found %s",
                           token_name(&p->tok, text, sizeof text));
    parse_next(p);
    struct token name;
    struct array_dims dims;
    if (!parse_decl_words(p, &d) || !parse_ident(p, &name, "a parameter's name") ||
        !parse_declarator(p, &d, &name, v, &dims))
        return false;
    if (is_prototype) return true;
    struct symbol *s = scope_add(p, &name, d.space == PTX_SPACE_REG ? SYM_REG : SYM_VAR);
    if (!s) return false;
    if (d.space == PTX_SPACE_REG) {
        s->type = d.type;
        s->vec = d.vec;
        s->index = scope_new_regs(p, v->name, d.type, d.vec);
    }
    return true;
}

static bool place_param(struct parser *p, const struct token *at, struct ptx_var *v, uint64_t *end)
{
    uint64_t offset = round_up_u64(*end, v->align);
    if (offset + v->bytes > INT32_MAX) return parse_error(p, at, NULL, "the parameters are too large");
    v->param_offset = (uint32_t)offset;
    *end = offset + v->bytes;
    return true;
}

/* ( .param ..., .param ... ). *bytes: size of the block. */
bool parse_param_list(struct parser *p, struct ptx_var ***out, uint32_t *count, uint32_t *bytes,
                      bool is_prototype)
{
    VEC(struct ptx_var *) list = {0};
    uint64_t end = 0;
    bool ok = true;
    parse_next(p);
    while (ok && p->tok.kind != ')') {
        struct token at = p->tok;
        struct ptx_var *v = ARENA_NEW(&p->module->arena, struct ptx_var);
        ok = list.len < PARSE_CALL_ARGS_MAX || parse_error(p, &at, NULL, "too many parameters");
        ok = ok && parse_one_param(p, v, is_prototype) && place_param(p, &at, v, &end);
        if (!ok) break;
        vec_push(&list, v);
        struct token name = {.kind = TOK_IDENT, .text = v->name, .len = (uint32_t)strlen(v->name)};
        struct symbol *s = is_prototype ? NULL : scope_find_here(p, &name);
        if (s && s->kind == SYM_VAR) s->var = v;
        if (!parse_accept(p, ',')) break;
    }
    ok = ok && parse_expect(p, ')', "')' after the parameters");
    PARSE_KEEP(p, list, *out, *count);
    vec_free(&list);
    if (bytes) *bytes = (uint32_t)end;
    return ok;
}

/* ---- directives between the head and the body ---- */

static bool parse_sizes(struct parser *p, uint32_t out[3])
{
    for (int i = 0; i < 3; i++) out[i] = 1;
    for (int i = 0; i < 3; i++) {
        if (!parse_u32(p, &out[i], INT32_MAX, "a size")) return false;
        if (!parse_accept(p, ',')) break;
    }
    return true;
}

static bool parse_cluster(struct parser *p, const struct token *at, struct ptx_func *f)
{
    uint32_t size[3];
    if (!parse_sizes(p, size)) return false;
    if (size[0] != 1 || size[1] != 1 || size[2] != 1)
        parse_lack(p, f, at, "thread-block clusters are not modelled: build the kernel without them",
                   "clusters of %ux%ux%u CTAs are not supported", size[0], size[1], size[2]);
    return true;
}

static bool unknown_directive(struct parser *p, const struct token *t)
{
    static const char *const names[] = {
        ".maxnreg", ".maxntid",  ".reqntid",         ".minnctapersm",      ".maxnctapersm",
        ".pragma",  ".noreturn", ".explicitcluster", ".reqnctapercluster", ".maxclusterrank"};
    char text[80], hint[100];
    snprintf(text, sizeof text, "%.*s", (int)MIN(t->len, 60u), t->text);
    const char *near = diag_nearest(text, names, ARRAY_LEN(names));
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    return parse_error(p, t, near ? hint : NULL, "unknown directive '%s' of a function", text);
}

static bool parse_func_directive(struct parser *p, struct ptx_func *f)
{
    struct token t = p->tok;
    if (token_is(&t, ".pragma")) return parse_pragma(p);
    parse_next(p);
    if (token_is(&t, ".maxntid")) return parse_sizes(p, f->maxntid);
    if (token_is(&t, ".reqntid")) return parse_sizes(p, f->reqntid);
    if (token_is(&t, ".maxnreg")) return parse_u32(p, &f->maxnreg, 65536, ".maxnreg");
    if (token_is(&t, ".minnctapersm")) return parse_u32(p, &f->minnctapersm, INT32_MAX, ".minnctapersm");
    if (token_is(&t, ".maxnctapersm")) return parse_u32(p, &f->maxnctapersm, INT32_MAX, ".maxnctapersm");
    if (token_is(&t, ".noreturn")) return f->noreturn = true;
    if (token_is(&t, ".reqnctapercluster")) return parse_cluster(p, &t, f);
    uint32_t ignored;
    if (token_is(&t, ".maxclusterrank") || token_is(&t, ".abi_preserve") ||
        token_is(&t, ".abi_preserve_control"))
        return parse_u32(p, &ignored, INT32_MAX, "a count");
    if (token_is(&t, ".explicitcluster") || token_is(&t, ".unique")) return true;
    return unknown_directive(p, &t);
}

/* ---- head ---- */

static bool parse_head(struct parser *p, struct ptx_func *f, struct token *name)
{
    if (token_is(&p->tok, ".attribute")) {
        struct decl unused = {.type = PTX_B8};
        if (!parse_decl_words(p, &unused)) return false;
    }
    if (!f->is_entry && p->tok.kind == '(' && !parse_param_list(p, &f->rets, &f->ret_count, NULL, false))
        return false;
    if (!parse_ident(p, name, f->is_entry ? "a kernel's name" : "a function's name")) return false;
    f->name = parse_text(p, name);
    f->line = name->line;
    if (p->tok.kind == '(' && !parse_param_list(p, &f->params, &f->param_count, &f->param_bytes, false))
        return false;
    if (f->is_entry && f->param_bytes > PARSE_PARAM_BYTES_MAX)
        return parse_error(p, name, NULL, "a kernel takes at most %u bytes of parameters, this one has %u",
                           PARSE_PARAM_BYTES_MAX, f->param_bytes);
    while (p->tok.kind == TOK_DOT)
        if (!parse_func_directive(p, f)) return false;
    return true;
}

static bool same_signature(const struct ptx_func *a, const struct ptx_func *b)
{
    if (a->is_entry != b->is_entry || a->param_count != b->param_count || a->ret_count != b->ret_count)
        return false;
    for (uint32_t i = 0; i < a->param_count; i++)
        if (a->params[i]->bytes != b->params[i]->bytes) return false;
    for (uint32_t i = 0; i < a->ret_count; i++)
        if (a->rets[i]->bytes != b->rets[i]->bytes) return false;
    return true;
}

/* The one struct of this name, in the module's scope; NULL after an error. *keep: it has a body already. */
static struct ptx_func *define_func(struct parser *p, const struct token *name, struct ptx_func *head,
                                    bool has_body, bool *keep)
{
    struct scope *inner = p->scope;
    p->scope = p->module_scope;
    struct symbol *s = scope_find_here(p, name);
    bool known = s && s->kind == SYM_FUNC && (s->is_declared_only || !has_body);
    if (!known) s = scope_add(p, name, SYM_FUNC);
    p->scope = inner;
    if (!s) return NULL;
    *keep = known && !s->is_declared_only;
    if (!known) {
        s->func = ARENA_NEW(&p->module->arena, struct ptx_func);
        vec_push(&p->funcs, s->func);
    } else if (!same_signature(s->func, head)) {
        char hint[60];
        snprintf(hint, sizeof hint, "declared at line %d", s->func->line);
        parse_error(p, name, hint, "the function was declared with other parameters");
        return NULL;
    }
    if (!known || has_body) s->is_declared_only = !has_body;
    if (known) {
        head->is_visible |= s->func->is_visible;
        head->is_weak |= s->func->is_weak;
        head->noreturn |= s->func->noreturn;
    }
    return s->func;
}

static void keep_body(struct parser *p, struct ptx_func *f)
{
    PARSE_KEEP(p, p->regs, f->regs, f->reg_count);
    PARSE_KEEP(p, p->insts, f->insts, f->inst_count);
    PARSE_KEEP(p, p->labels, f->labels, f->label_count);
    PARSE_KEEP(p, p->tables, f->tables, f->table_count);
    PARSE_KEEP(p, p->func_vars, f->vars, f->var_count);
}

static bool parse_rest(struct parser *p, struct ptx_func *head)
{
    struct token name;
    bool keep = false;
    if (!parse_head(p, head, &name)) return false;
    bool has_body = p->tok.kind == '{';
    if (!has_body && !parse_expect(p, ';', "'{' or ';' after the function's head")) return false;
    struct ptx_func *f = define_func(p, &name, head, has_body, &keep);
    if (!f) return has_body ? (parse_body(p), true) : true; /* the error was reported: skip the body */
    if (keep) return true;
    head->has_body = has_body;
    if (has_body) head->is_extern = false;
    *f = *head;
    if (!has_body) return true;
    p->func = f;
    parse_body(p);
    return true;
}

bool parse_function(struct parser *p, struct decl d, bool is_entry)
{
    struct ptx_func head = {
        .is_entry = is_entry, .is_extern = d.is_extern, .is_visible = d.is_visible, .is_weak = d.is_weak};
    struct ptx_func unused = {0};
    p->func = &unused; /* in case of an error in the head */
    p->loc = 0;
    scope_push(p);
    bool ok = parse_rest(p, &head);
    scope_pop(p);
    keep_body(p, p->func);
    p->func = NULL;
    return ok;
}
