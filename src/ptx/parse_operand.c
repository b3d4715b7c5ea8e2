/* parse_operand.c: operands as written (PTX ISA 6): names, constants, addresses, vectors, pairs, call lists.
 * check.c then checks what the instruction takes.
 *
 * Names are resolved here. A vector register %v of .v4 becomes the vector of its four parts, and %v.x the
 * first of them. In imov, %r<8> is the vector of %r0 to %r7. */
#include "ptx/parser.h"

#include "base/bits.h"

const struct sreg_row ptx_sreg_rows[] = {
    {"", PTX_NONE, false},
#define PTX_SREG(name, text, type, is_vector) {text, type, is_vector},
#include "ptx/sreg.def"
#undef PTX_SREG
};

void ptx_sreg_fill(struct map *m)
{
    for (int i = 1; i < PTX_SREG_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "%%%s", ptx_sreg_rows[i].name);
        if (i != PTX_SREG_pm && i != PTX_SREG_pm64 && i != PTX_SREG_envreg &&
            i != PTX_SREG_reserved_smem_offset)
            map_put(m, name, (void *)&ptx_sreg_rows[i]);
    }
}

void operand_place(struct ptx_operand *o, const struct token *t)
{
    o->line = t->line;
    o->col = t->col;
    o->len = (int)t->len;
}

struct token operand_token(const struct ptx_operand *o)
{
    return (struct token){.kind = TOK_IDENT, .line = o->line, .col = o->col, .len = (uint32_t)MAX(o->len, 1)};
}

static struct ptx_operand *keep_operands(struct parser *p, const struct ptx_operand *ops, uint32_t count)
{
    struct ptx_operand *out = ARENA_ARRAY(&p->module->arena, struct ptx_operand, count);
    if (count) memcpy(out, ops, sizeof *ops * count);
    return out;
}

/* ---- special registers ---- */

/* %pm3, %pm3_64, %envreg17: the number goes to imm. */
static bool numbered_sreg(const struct token *t, struct ptx_operand *out)
{
    char name[32];
    unsigned n;
    int used = 0;
    if (t->len >= sizeof name) return false;
    memcpy(name, t->text, t->len);
    name[t->len] = 0;
    static const struct {
        const char *format;
        enum ptx_sreg sreg;
        unsigned count;
    } rows[] = {{"%%pm%2u%n", PTX_SREG_pm, 8},
                {"%%pm%2u_64%n", PTX_SREG_pm64, 8},
                {"%%envreg%2u%n", PTX_SREG_envreg, 32},
                {"%%reserved_smem_offset_%1u%n", PTX_SREG_reserved_smem_offset, 2}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        used = 0;
        if (sscanf(name, rows[i].format, &n, &used) != 1 || used != (int)t->len || n >= rows[i].count)
            continue;
        out->kind = PTX_O_SREG;
        out->index = rows[i].sreg;
        out->imm = n;
        return true;
    }
    return false;
}

static int component_of(const struct token *t)
{
    static const char letters[] = "xyzwrgba";
    if (t->kind != TOK_DOT || t->after_space || t->len != 2) return -1;
    const char *at = strchr(letters, t->text[1]);
    return at ? (int)(at - letters) % 4 : -1;
}

/* Takes a .x after a name; -1 when there is none. */
static int accept_component(struct parser *p, struct ptx_operand *out)
{
    int c = component_of(&p->tok);
    if (c < 0) return -1;
    out->len += 2;
    parse_next(p);
    return c;
}

static bool parse_sreg(struct parser *p, const struct token *t, struct ptx_operand *out)
{
    if (numbered_sreg(t, out)) return true;
    const struct sreg_row *row = map_get_n(&p->sregs, t->text, t->len);
    if (!row) return scope_undefined(p, t, t->text[0] == '%' ? "register" : "name");
    out->kind = PTX_O_SREG;
    out->index = (uint32_t)(row - ptx_sreg_rows);
    int c = accept_component(p, out);
    if (c >= 0 && !row->is_vector) return parse_error(p, t, NULL, "%%%s has no components", row->name);
    if (c < 0 && row->is_vector) {
        char hint[80];
        snprintf(hint, sizeof hint, "read one of them, as %%%s.x", row->name);
        return parse_error(p, t, hint, "%%%s has three components", row->name);
    }
    out->comp = c >= 0 ? (uint8_t) "xyzw"[c] : 0; /* .w exists, and reads as 0 */
    return true;
}

/* ---- names ---- */

static void vector_of_regs(struct parser *p, const struct symbol *s, struct ptx_operand *out)
{
    out->kind = PTX_O_VECTOR;
    out->sub_count = s->vec;
    out->sub = ARENA_ARRAY(&p->module->arena, struct ptx_operand, s->vec);
    for (uint32_t i = 0; i < s->vec; i++) {
        out->sub[i] =
            (struct ptx_operand){.kind = PTX_O_REG, .reg = s->index + i, .line = out->line, .col = out->col};
        out->sub[i].len = out->len;
    }
}

/* The selector of a video instruction: .b0, .h1, .h10, .b3210. */
static bool is_selector(const struct token *t, const struct ptx_operand *o)
{
    if (t->kind != TOK_DOT || t->len < 3 || t->len > sizeof o->part) return false;
    if (t->text[1] != 'b' && t->text[1] != 'h') return false;
    for (uint32_t i = 2; i < t->len; i++)
        if (t->text[i] < '0' || t->text[i] > '7') return false;
    return true;
}

static void accept_selector(struct parser *p, struct ptx_operand *out)
{
    if (!is_selector(&p->tok, out)) return;
    memcpy(out->part, p->tok.text + 1, p->tok.len - 1);
    out->len += (int)p->tok.len;
    parse_next(p);
}

static bool reg_operand(struct parser *p, const struct token *t, const struct symbol *s,
                        struct ptx_operand *out)
{
    out->kind = PTX_O_REG;
    out->reg = s->index;
    if (p->in_video) accept_selector(p, out);
    if (!s->vec) return true;
    int c = accept_component(p, out);
    if (c >= s->vec) return parse_error(p, t, NULL, "the vector has %d components", s->vec);
    if (c >= 0)
        out->reg = s->index + (uint32_t)c;
    else
        vector_of_regs(p, s, out);
    return true;
}

static bool name_operand(struct parser *p, const struct token *t, struct ptx_operand *out)
{
    struct symbol *s = scope_find(p, t);
    if (!s) return parse_sreg(p, t, out);
    switch (s->kind) {
    case SYM_REG: return reg_operand(p, t, s, out);
    case SYM_VAR:
        out->kind = PTX_O_VAR;
        out->var = s->var;
        return true;
    case SYM_FUNC:
        out->kind = PTX_O_FUNC;
        out->func = s->func;
        return true;
    case SYM_TABLE:
        out->kind = PTX_O_TABLE;
        out->index = s->index;
        return true;
    case SYM_LABEL: return parse_error(p, t, NULL, "a label's address cannot be taken");
    case SYM_RANGE: break;
    }
    UNREACHABLE("ranges are not found by name");
}

static bool label_operand(struct parser *p, struct ptx_operand *out)
{
    struct token t;
    if (!parse_ident(p, &t, "a label")) return false;
    operand_place(out, &t);
    out->kind = PTX_O_LABEL;
    return true;
}

/* ---- constants ---- */

static bool constant_operand(struct parser *p, struct ptx_operand *out)
{
    const char *start = p->tok.text;
    int line = p->tok.line;
    struct expr_value v;
    if (!parse_expr(p, &v)) return false;
    if (p->tok.line == line && p->tok.text > start) {
        const char *end = p->tok.text;
        while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
        out->len = (int)MIN(end - start, 1000);
    }
    out->kind = !v.is_float ? PTX_O_INT : v.is_f32 ? PTX_O_F32BITS : PTX_O_FLOAT;
    out->imm = (int64_t)v.bits;
    out->imm_f64 = v.real;
    if (v.is_f32) out->imm_f64 = (double)f32_of((uint32_t)v.bits);
    return true;
}

static bool starts_constant(const struct token *t)
{
    return t->kind == TOK_INT || t->kind == TOK_F32 || t->kind == TOK_F64 || t->kind == '-' ||
           t->kind == '+' || t->kind == '~' || t->kind == '(' || token_is(t, "WARP_SZ");
}

/* + offset after the base of an address, also written as - offset */
static bool parse_offset(struct parser *p, int64_t *imm)
{
    bool minus = p->tok.kind == '-';
    if (p->tok.kind != '+' && !minus) return true;
    parse_next(p);
    int64_t v;
    if (!parse_int_expr(p, &v, "an offset")) return false;
    *imm = (int64_t)((uint64_t)*imm + (minus ? 0 - (uint64_t)v : (uint64_t)v));
    return true;
}

/* ---- addresses ---- */

static bool parse_coordinates(struct parser *p, struct ptx_operand *out)
{
    struct ptx_operand *sub = ARENA_ARRAY(&p->module->arena, struct ptx_operand, 3);
    sub[0] = out->sub[0];
    out->kind = PTX_O_TEXADDR;
    out->sub = sub;
    out->sub_count = 2;
    if (p->tok.kind == '[') return parse_error(p, &p->tok, NULL, "coordinates are a vector { ... }");
    if (!parse_operand(p, &sub[1], false)) return false;
    if (parse_accept(p, ',')) {
        sub[2] = sub[1];
        out->sub_count = 3;
        if (p->tok.kind == '[') return parse_error(p, &p->tok, NULL, "coordinates are a vector { ... }");
        if (!parse_operand(p, &sub[1], false)) return false;
    }
    if (sub[1].kind == PTX_O_REG) { /* one coordinate may stand without braces */
        struct ptx_operand one = sub[1];
        sub[1].sub = keep_operands(p, &one, 1);
        sub[1].sub_count = 1;
        sub[1].kind = PTX_O_VECTOR;
    }
    return true;
}

static bool check_base(struct parser *p, const struct ptx_operand *base)
{
    struct token at = operand_token(base);
    switch (base->kind) {
    case PTX_O_VAR:
    case PTX_O_INT: return true;
    case PTX_O_REG: {
        enum ptx_type t = (enum ptx_type)p->regs.data[base->reg].type;
        if (t == PTX_U32 || t == PTX_S32 || t == PTX_B32 || t == PTX_U64 || t == PTX_S64 || t == PTX_B64)
            return true;
        return parse_error(p, &at, NULL,
                           "an address register has 32 or 64 bits and holds an integer; this one is %s",
                           ptx_type_name(t));
    }
    default: return parse_error(p, &at, NULL, "an address starts with a register, a variable or a constant");
    }
}

static bool parse_address(struct parser *p, struct ptx_operand *out)
{
    struct ptx_operand base = {0};
    parse_next(p);
    operand_place(&base, &p->tok);
    struct token first = p->tok;
    if (starts_constant(&p->tok)) {
        if (!constant_operand(p, &base)) return false;
    } else if (!parse_ident(p, &first, "an address") || !name_operand(p, &first, &base)) {
        return false;
    }
    if (!check_base(p, &base)) return false;
    out->kind = PTX_O_ADDR;
    out->imm = base.kind == PTX_O_VAR ? base.imm : 0;
    base.imm = base.kind == PTX_O_VAR ? 0 : base.imm;
    out->sub = keep_operands(p, &base, 1);
    out->sub_count = 1;
    if (!parse_offset(p, &out->imm)) return false;
    if (parse_accept(p, ',') && !parse_coordinates(p, out)) return false;
    struct token close = p->tok;
    if (!parse_expect(p, ']', "']'")) return false;
    if (close.line == out->line) out->len = close.col + 1 - out->col;
    if (token_is(&p->tok, ".unified")) parse_next(p);
    return true;
}

/* ---- lists ---- */

static bool parse_vector(struct parser *p, struct ptx_operand *out)
{
    struct ptx_operand sub[PARSE_OPERANDS_MAX];
    uint32_t n = 0;
    parse_next(p);
    do {
        if (n == PARSE_OPERANDS_MAX)
            return parse_error(p, &p->tok, NULL, "a vector has at most %d elements", PARSE_OPERANDS_MAX);
        if (p->tok.kind == '{' || p->tok.kind == '[')
            return parse_error(p, &p->tok, NULL, "a vector holds registers and constants");
        if (!parse_operand(p, &sub[n], false)) return false;
        n++;
    } while (parse_accept(p, ','));
    struct token close = p->tok;
    if (!parse_expect(p, '}', "'}'")) return false;
    out->kind = PTX_O_VECTOR;
    out->sub = keep_operands(p, sub, n);
    out->sub_count = n;
    if (close.line == out->line) out->len = close.col + 1 - out->col;
    return true;
}

/* A register of a range by its number. */
static bool range_element(struct parser *p, const struct token *prefix, uint32_t number,
                          struct ptx_operand *out)
{
    struct token t = *prefix;
    t.text = arena_printf(&p->scratch, "%.*s%u", (int)prefix->len, prefix->text, number);
    t.len = (uint32_t)strlen(t.text);
    const struct symbol *s = scope_find(p, &t);
    if (!s || s->kind != SYM_REG || s->vec) return scope_undefined(p, &t, "register");
    *out = (struct ptx_operand){.kind = PTX_O_REG, .reg = s->index};
    operand_place(out, prefix);
    return true;
}

/* %r<n> of imov: the registers %r0 to %r(n-1). */
static bool parse_range(struct parser *p, const struct token *prefix, struct ptx_operand *out)
{
    uint32_t count;
    parse_next(p);
    if (!parse_range_count(p, &count)) return false;
    if (!count || count > PARSE_ARRAY_MAX)
        return parse_error(p, prefix, NULL, "an array has 1 to %d registers", PARSE_ARRAY_MAX);
    out->kind = PTX_O_VECTOR;
    out->sub_count = count;
    out->sub = ARENA_ARRAY(&p->module->arena, struct ptx_operand, count);
    for (uint32_t i = 0; i < count; i++)
        if (!range_element(p, prefix, i, &out->sub[i])) return false;
    return parse_expect(p, '>', "'>'");
}

static bool parse_pair(struct parser *p, struct ptx_operand *out)
{
    struct ptx_operand sub[2] = {*out};
    struct token t;
    parse_next(p);
    if (!parse_ident(p, &t, "a predicate after '|'")) return false;
    operand_place(&sub[1], &t);
    if (token_is(&t, "_"))
        sub[1].kind = PTX_O_SINK;
    else if (!name_operand(p, &t, &sub[1]))
        return false;
    out->kind = PTX_O_PAIR;
    out->sub = keep_operands(p, sub, 2);
    out->sub_count = 2;
    return true;
}

/* sym[index]: the access to an element, as PTX had it before bytes were counted by hand. */
static bool parse_element(struct parser *p, struct ptx_operand *out)
{
    struct ptx_operand base = *out;
    int64_t index;
    parse_next(p);
    if (!parse_int_expr(p, &index, "an index") || !parse_expect(p, ']', "']'")) return false;
    uint32_t bytes = ptx_type_bytes((enum ptx_type)base.var->type) * MAX(base.var->vec, 1);
    out->kind = PTX_O_ADDR;
    out->var = NULL;
    out->imm = (int64_t)((uint64_t)index * bytes);
    out->sub = keep_operands(p, &base, 1);
    out->sub_count = 1;
    return true;
}

static bool parse_named(struct parser *p, struct ptx_operand *out)
{
    struct token t = p->tok;
    parse_next(p);
    if (p->in_imov && p->tok.kind == '<') return parse_range(p, &t, out);
    if (token_is(&t, "_"))
        out->kind = PTX_O_SINK;
    else if (!name_operand(p, &t, out))
        return false;
    if (out->kind == PTX_O_VAR && p->tok.kind == '[') return parse_element(p, out);
    return out->kind != PTX_O_VAR || parse_offset(p, &out->imm);
}

static bool parse_negated(struct parser *p, struct ptx_operand *out)
{
    struct token bang = p->tok;
    parse_next(p);
    if (p->tok.kind != TOK_IDENT || token_is(&p->tok, "WARP_SZ")) { /* !3: a constant */
        if (!constant_operand(p, out)) return false;
        if (out->kind != PTX_O_INT) return parse_error(p, &bang, NULL, "'!' takes a predicate or an integer");
        out->imm = !out->imm;
        return true;
    }
    if (!parse_named(p, out)) return false;
    if (out->kind != PTX_O_REG || p->regs.data[out->reg].type != PTX_PRED)
        return parse_error(p, &bang, NULL, "only a predicate can be negated");
    out->negated = true;
    return true;
}

/* vmad: -%r1. A constant follows a minus otherwise. */
static bool is_minus_register(const struct parser *p)
{
    struct lexer ahead = p->lexer;
    struct token t;
    if (!p->in_video || p->tok.kind != '-') return false;
    lexer_next(&ahead, &t);
    return t.kind == TOK_IDENT && !token_is(&t, "WARP_SZ");
}

bool parse_operand(struct parser *p, struct ptx_operand *out, bool label_wanted)
{
    char name[80];
    *out = (struct ptx_operand){0};
    operand_place(out, &p->tok);
    if (label_wanted) return label_operand(p, out);
    if (is_minus_register(p)) {
        out->negated = true;
        parse_next(p);
    }
    if (starts_constant(&p->tok)) return constant_operand(p, out);
    bool ok;
    switch (p->tok.kind) {
    case '[': return parse_address(p, out);
    case '!': return parse_negated(p, out);
    case '{': ok = parse_vector(p, out); break;
    case TOK_IDENT: ok = parse_named(p, out); break;
    default:
        return parse_error(p, &p->tok, NULL, "expected an operand, found %s",
                           token_name(&p->tok, name, sizeof name));
    }
    if (ok && p->tok.kind == '|') return parse_pair(p, out);
    return ok;
}

/* ( a, b, ... ) of a call */
static bool parse_list(struct parser *p, struct ptx_operand *out)
{
    VEC(struct ptx_operand) sub = {0};
    struct ptx_operand one;
    bool ok = true;
    operand_place(out, &p->tok);
    parse_next(p);
    while (ok && p->tok.kind != ')') {
        ok = sub.len < PARSE_CALL_ARGS_MAX || parse_error(p, &p->tok, NULL, "too many arguments");
        ok = ok && parse_operand(p, &one, false);
        if (ok) vec_push(&sub, one);
        if (!ok || !parse_accept(p, ',')) break;
    }
    ok = ok && parse_expect(p, ')', "')' after the arguments");
    out->kind = PTX_O_LIST;
    out->sub = keep_operands(p, sub.data, ok ? sub.len : 0);
    out->sub_count = ok ? sub.len : 0;
    vec_free(&sub);
    return ok;
}

/* (returns), callee, (arguments), prototype: all but the callee may be left out. */
bool parse_call_operands(struct parser *p, struct ptx_operand ops[4])
{
    for (int i = 0; i < 4; i++) {
        ops[i] = (struct ptx_operand){.kind = PTX_O_LIST};
        operand_place(&ops[i], &p->tok);
    }
    ops[3].kind = PTX_O_SINK;
    if (p->tok.kind == '(' && (!parse_list(p, &ops[0]) || !parse_expect(p, ',', "',' and the function")))
        return false;
    struct token t;
    if (!parse_ident(p, &t, "a function")) return false;
    operand_place(&ops[1], &t);
    if (!scope_find(p, &t)) return scope_undefined(p, &t, "function");
    if (!name_operand(p, &t, &ops[1])) return false;
    if (!parse_accept(p, ',')) return true;
    if (p->tok.kind == '(') {
        if (!parse_list(p, &ops[2])) return false;
        if (!parse_accept(p, ',')) return true;
    }
    return parse_operand(p, &ops[3], false);
}
