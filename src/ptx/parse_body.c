/* parse_body.c: statements of a function: blocks, labels, tables of targets, guards, .loc (PTX
 * ISA 4.3, 9.7.12, 11.5).
 *
 * Blocks are flattened: only scopes of names remain. Nesting is counted, not recursed into. */
#include "ptx/parser.h"

/* .loc file line column {, function_name x {+ n} {, inlined_at file line column}}: no ';' */
bool parse_loc(struct parser *p)
{
    struct ptx_loc loc;
    uint32_t skipped;
    parse_next(p);
    if (!parse_u32(p, &loc.file, PARSE_FILES_MAX, "a file's number") ||
        !parse_u32(p, &loc.line, INT32_MAX, "a line") || !parse_u32(p, &loc.col, INT32_MAX, "a column"))
        return false;
    while (parse_accept(p, ',')) {
        bool is_inline = token_is(&p->tok, "inlined_at");
        if (!is_inline && !token_is(&p->tok, "function_name"))
            return parse_error(p, &p->tok, NULL, "expected function_name or inlined_at");
        parse_next(p);
        if (is_inline) {
            for (int i = 0; i < 3; i++)
                if (!parse_u32(p, &skipped, INT32_MAX, "a place")) return false;
        } else {
            if (p->tok.kind != TOK_IDENT && p->tok.kind != TOK_DOT)
                return parse_error(p, &p->tok, NULL, "expected a label of the function's name");
            parse_next(p);
            if (parse_accept(p, '+') && !parse_u32(p, &skipped, INT32_MAX, "an offset")) return false;
        }
    }
    if (!p->locs.len) vec_push(&p->locs, (struct ptx_loc){0});
    p->loc = p->locs.len;
    vec_push(&p->locs, loc);
    return true;
}

/* .pragma "text", "text"; hints to the compiler, ignored */
bool parse_pragma(struct parser *p)
{
    parse_next(p);
    do {
        if (!parse_expect(p, TOK_STRING, "a string")) return false;
    } while (parse_accept(p, ','));
    return parse_expect(p, ';', "';'");
}

/* ---- tables ---- */

static bool parse_branch_targets(struct parser *p, struct ptx_table *t)
{
    VEC(struct token) names = {0};
    bool ok = true;
    do {
        struct token name;
        ok = names.len < PARSE_CALL_ARGS_MAX || parse_error(p, &p->tok, NULL, "too many targets");
        ok = ok && parse_ident(p, &name, "a label");
        if (ok) vec_push(&names, name);
    } while (ok && parse_accept(p, ','));
    t->count = names.len;
    t->labels = ARENA_ARRAY(&p->module->arena, uint32_t, names.len);
    for (uint32_t i = 0; i < names.len; i++)
        vec_push(&p->scope->label_uses, (struct label_use){&t->labels[i], names.data[i]});
    vec_free(&names);
    return ok;
}

static bool parse_call_targets(struct parser *p, struct ptx_table *t)
{
    VEC(struct ptx_func *) funcs = {0};
    bool ok = true;
    do {
        struct token name;
        ok = funcs.len < PARSE_CALL_ARGS_MAX || parse_error(p, &p->tok, NULL, "too many targets");
        ok = ok && parse_ident(p, &name, "a function");
        struct symbol *s = ok ? scope_find(p, &name) : NULL;
        if (ok && !s) ok = scope_undefined(p, &name, "function");
        if (ok && s->kind != SYM_FUNC) ok = parse_error(p, &name, NULL, "this is not a function");
        if (ok) vec_push(&funcs, s->func);
    } while (ok && parse_accept(p, ','));
    PARSE_KEEP(p, funcs, t->funcs, t->count);
    vec_free(&funcs);
    return ok;
}

static bool parse_prototype(struct parser *p, struct ptx_table *t)
{
    struct token name;
    if (p->tok.kind == '(' && !parse_param_list(p, &t->rets, &t->ret_count, NULL, true)) return false;
    if (!parse_ident(p, &name, "'_' or a name")) return false;
    if (p->tok.kind == '(' && !parse_param_list(p, &t->params, &t->param_count, NULL, true)) return false;
    uint32_t skipped;
    while (p->tok.kind == TOK_DOT) {
        bool counted = token_is(&p->tok, ".abi_preserve") || token_is(&p->tok, ".abi_preserve_control");
        if (!counted && !token_is(&p->tok, ".noreturn"))
            return parse_error(p, &p->tok, NULL, "a prototype ends here");
        parse_next(p);
        if (counted && !parse_u32(p, &skipped, INT32_MAX, "a count")) return false;
    }
    return true;
}

static bool parse_table(struct parser *p, const struct token *name)
{
    struct ptx_table t = {.name = parse_text(p, name)};
    struct token word = p->tok;
    bool ok;
    parse_next(p);
    if (token_is(&word, ".branchtargets")) {
        t.kind = PTX_TABLE_BRANCH;
        ok = parse_branch_targets(p, &t);
    } else if (token_is(&word, ".calltargets")) {
        t.kind = PTX_TABLE_CALL;
        ok = parse_call_targets(p, &t);
    } else {
        t.kind = PTX_TABLE_PROTO;
        ok = parse_prototype(p, &t);
    }
    if (!ok) return false;
    struct symbol *s = scope_add(p, name, SYM_TABLE);
    if (!s) return false;
    s->index = p->tables.len;
    vec_push(&p->tables, t);
    return parse_expect(p, ';', "';'");
}

/* ---- statements ---- */

static bool parse_label(struct parser *p, const struct token *name)
{
    parse_next(p); /* ':' */
    if (token_is(&p->tok, ".branchtargets") || token_is(&p->tok, ".calltargets") ||
        token_is(&p->tok, ".callprototype"))
        return parse_table(p, name);
    struct symbol *s = scope_add(p, name, SYM_LABEL);
    if (!s) return true; /* the error was reported; what follows is fine */
    s->index = p->labels.len;
    vec_push(&p->labels, (struct ptx_label){parse_text(p, name), p->insts.len, name->line});
    return true;
}

static bool parse_guarded(struct parser *p)
{
    struct token name;
    parse_next(p);
    if (p->tok.kind == '@') { /* @@DWARF line, from before .section */
        lexer_skip_line(&p->lexer);
        parse_next(p);
        return true;
    }
    bool is_not = parse_accept(p, '!');
    if (!parse_ident(p, &name, "a predicate after '@'")) return false;
    struct symbol *s = scope_find(p, &name);
    if (!s) return scope_undefined(p, &name, "predicate");
    if (s->kind != SYM_REG || s->type != PTX_PRED || s->vec)
        return parse_error(p, &name, NULL, "a guard must be a predicate register");
    struct token first;
    return parse_ident(p, &first, "an instruction") &&
           parse_instruction(p, &first, (int32_t)s->index, is_not);
}

static bool space_of_word(const struct token *t, uint8_t *space)
{
    static const struct {
        const char *word;
        uint8_t space;
    } rows[] = {{".param", PTX_SPACE_PARAM},
                {".local", PTX_SPACE_LOCAL},
                {".shared", PTX_SPACE_SHARED},
                {".global", PTX_SPACE_GLOBAL},
                {".const", PTX_SPACE_CONST}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (token_is(t, rows[i].word)) {
            *space = rows[i].space;
            return true;
        }
    return false;
}

static bool parse_body_directive(struct parser *p)
{
    struct decl d = {0};
    if (token_is(&p->tok, ".loc")) return parse_loc(p);
    if (token_is(&p->tok, ".reg")) return parse_reg_decl(p);
    if (token_is(&p->tok, ".pragma")) return parse_pragma(p);
    if (token_is(&p->tok, ".extern")) {
        d.is_extern = true;
        parse_next(p);
    }
    if (space_of_word(&p->tok, &d.space)) {
        parse_next(p);
        return parse_var_decl(p, d);
    }
    char name[80];
    return parse_error(p, &p->tok, NULL, "%s does not belong into a function's body",
                       token_name(&p->tok, name, sizeof name));
}

static bool parse_statement(struct parser *p)
{
    char name[80];
    struct token first = p->tok;
    switch (p->tok.kind) {
    case ';': parse_next(p); return true;
    case '@': return parse_guarded(p);
    case TOK_DOT: return parse_body_directive(p);
    case TOK_IDENT:
        parse_next(p);
        if (p->tok.kind == ':') return parse_label(p, &first);
        return parse_instruction(p, &first, -1, false);
    default:
        parse_error(p, &p->tok, NULL, "expected an instruction, found %s",
                    token_name(&p->tok, name, sizeof name));
        return false;
    }
}

/* Continues after the next ';'. A '}' ends the search before it, unless it closes the braces of an operand:
 * those are followed by more of the instruction. */
static void recover(struct parser *p)
{
    for (int depth = 0; p->tok.kind != TOK_END;) {
        int kind = p->tok.kind;
        if (kind == '}' && depth == 0) {
            struct lexer before = p->lexer;
            struct token brace = p->tok;
            lexer_next(&p->lexer, &p->tok);
            bool more = p->tok.kind == ',' || p->tok.kind == ';' || p->tok.kind == '|';
            if (!more) {
                p->lexer = before;
                p->tok = brace;
                return;
            }
            continue;
        }
        depth += (kind == '{') - (kind == '}');
        parse_next(p);
        if (kind == ';') return;
    }
}

void parse_body(struct parser *p)
{
    struct token open = p->tok;
    int depth = 1;
    parse_next(p);
    while (depth && p->tok.kind != TOK_END) {
        if (p->tok.kind == '{') {
            if (++depth > PARSE_DEPTH_MAX) {
                parse_error(p, &p->tok, NULL, "blocks are nested too deeply");
                p->errors = MAX(p->errors, (uint32_t)DIAG_ERRORS_MAX);
            }
            scope_push(p);
            parse_next(p);
        } else if (p->tok.kind == '}') {
            if (--depth) scope_pop(p);
            parse_next(p);
        } else if (!parse_statement(p)) {
            recover(p);
        }
        if (parse_stopped(p)) break;
    }
    if (depth && !parse_stopped(p)) parse_error(p, &open, NULL, "the function's body is not closed");
    while (depth-- > 1) scope_pop(p);
}
