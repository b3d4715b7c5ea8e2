/* expr.c: reads expressions by recursive descent and evaluates the tree.
 *
 *     compare := sum [ (<|<=|>|>=|==|!=) sum ]
 *     sum     := product { (+|-) product }          product := unary { (*|/) unary }
 *     unary   := - unary | power                    power   := primary [ ^ unary ]
 *     primary := number | ( compare ) | FUNCTION ( sum {, sum} ) | leaf */
#include "lab/expr.h"

#include <ctype.h>
#include <math.h>

enum expr_op {
    OP_NUMBER,
    OP_LEAF,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_POWER,
    OP_NEGATE,
    OP_CALL,
    OP_LESS,
    OP_AT_MOST,
    OP_EQUAL,
    OP_DIFFERENT
};
/* The tree is walked by recursion: both bounds keep a hostile text from using up the stack. */
enum { EXPR_DEPTH_MAX = 100, EXPR_NODES_MAX = 1000, EXPR_ARGS_MAX = 32 };

struct expr_function {
    const char *name;
    uint32_t args_min, args_max;
    double (*of)(const double *args, uint32_t count);
};

struct expr {
    enum expr_op op;
    double number;
    struct expr_leaf leaf;
    const struct expr_function *function;
    uint32_t count;
    struct expr **args;
};

/* ---- functions ---- */

/* fmin and fmax pass over a NAN; here a number that is not known makes the result unknown. */
static double of_min(const double *v, uint32_t n)
{
    double out = v[0];
    for (uint32_t i = 1; i < n; i++) out = isnan(out) || isnan(v[i]) ? NAN : MIN(out, v[i]);
    return out;
}
static double of_max(const double *v, uint32_t n)
{
    double out = v[0];
    for (uint32_t i = 1; i < n; i++) out = isnan(out) || isnan(v[i]) ? NAN : MAX(out, v[i]);
    return out;
}
static double of_sum(const double *v, uint32_t n)
{
    double out = 0;
    for (uint32_t i = 0; i < n; i++) out += v[i];
    return out;
}
static double of_abs(const double *v, uint32_t n) { return fabs(v[0]); }
static double of_sqrt(const double *v, uint32_t n) { return sqrt(v[0]); }
static double of_log(const double *v, uint32_t n) { return log(v[0]); }
static double of_exp(const double *v, uint32_t n) { return exp(v[0]); }
static double of_ceil(const double *v, uint32_t n) { return ceil(v[0]); }

static const struct expr_function functions[] = {
    {"min", 1, EXPR_ARGS_MAX, of_min},
    {"max", 1, EXPR_ARGS_MAX, of_max},
    {"sum", 1, EXPR_ARGS_MAX, of_sum},
    {"abs", 1, 1, of_abs},
    {"sqrt", 1, 1, of_sqrt},
    {"log", 1, 1, of_log},
    {"exp", 1, 1, of_exp},
    {"ceil", 1, 1, of_ceil},
};

/* ---- reading ---- */

struct parser {
    struct arena *arena;
    const char *text, *at;
    const struct expr_source *where;
    struct diag_list *diags;
    uint32_t depth, nodes;
    bool failed;
};

static void fail_at(struct parser *p, const char *at, size_t len, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
static void fail_at(struct parser *p, const char *at, size_t len, const char *hint, const char *fmt, ...)
{
    if (p->failed) return; /* the first is the cause of the others */
    p->failed = true;
    bool exact = p->where->exact;
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(p->diags, DIAG_ERROR, p->where->src, p->where->line,
              p->where->col + (exact ? (int)(at - p->text) : 0), exact ? (int)len : 1, hint, fmt, ap);
    va_end(ap);
}

static char peek(struct parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
    return *p->at;
}

static bool accept(struct parser *p, char c)
{
    if (peek(p) != c) return false;
    p->at++;
    return true;
}

static void expect(struct parser *p, char c, const char *opened)
{
    if (accept(p, c)) return;
    if (*p->at)
        fail_at(p, p->at, 1, NULL, "expected '%c' before '%c'", c, *p->at);
    else
        fail_at(p, opened, 1, NULL, "this is never closed: '%c' is missing", c);
}

static struct expr *node(struct parser *p, enum expr_op op, uint32_t count)
{
    if (++p->nodes == EXPR_NODES_MAX)
        fail_at(p, p->at, 1, "divide it into several measures", "the expression is too long");
    struct expr *e = ARENA_NEW(p->arena, struct expr);
    e->op = op;
    e->count = count;
    e->args = count ? ARENA_ARRAY(p->arena, struct expr *, count) : NULL;
    return e;
}

static struct expr *pair(struct parser *p, enum expr_op op, struct expr *a, struct expr *b)
{
    struct expr *e = node(p, op, 2);
    e->args[0] = a;
    e->args[1] = b;
    return e;
}

static struct expr *read_sum(struct parser *p);
static struct expr *read_compare(struct parser *p);

static struct expr *read_number(struct parser *p)
{
    const char *start = p->at;
    while (isdigit((unsigned char)*p->at)) p->at++;
    if (*p->at == '.') p->at++;
    while (isdigit((unsigned char)*p->at)) p->at++;
    if (*p->at == 'e' || *p->at == 'E') {
        const char *digits = p->at + 1 + (p->at[1] == '+' || p->at[1] == '-');
        if (isdigit((unsigned char)*digits)) p->at = digits;
        while (isdigit((unsigned char)*p->at)) p->at++;
    }
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        fail_at(p, start, (size_t)(p->at - start) + 1,
                "put quotes around a column's name that begins with a digit: \"16+48\".ipc",
                "a number ends in '%c'", *p->at);
    struct expr *e = node(p, OP_NUMBER, 0);
    e->number = strtod(start, NULL);
    return e;
}

static struct expr *leaf(struct parser *p, enum expr_leaf_kind kind, const char *owner, const char *name,
                         const char *start)
{
    bool exact = p->where->exact;
    struct expr *e = node(p, OP_LEAF, 0);
    e->leaf = (struct expr_leaf){.kind = kind,
                                 .owner = owner,
                                 .name = name,
                                 .line = p->where->line,
                                 .col = p->where->col + (exact ? (int)(start - p->text) : 0),
                                 .len = exact ? (int)(p->at - start) : 0,
                                 .column = EXPR_THIS_COLUMN};
    return e;
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* A name with dots, and behind it, without a space, a bin's number in brackets. */
static const char *read_name(struct parser *p)
{
    const char *start = p->at;
    while (is_name_char(*p->at)) p->at++;
    if (*p->at == '[') {
        const char *open = p->at++;
        const char *digits = p->at;
        while (isdigit((unsigned char)*p->at)) p->at++;
        if (p->at == digits) fail_at(p, open, 1, "bins are numbered from 0", "a bin's number is missing");
        if (*p->at == ']')
            p->at++;
        else
            fail_at(p, open, 1, NULL, "this is never closed: ']' is missing");
    }
    return arena_strndup(p->arena, start, (size_t)(p->at - start));
}

/* A text in quotes of either kind; NULL with an error. */
static const char *read_quotes(struct parser *p)
{
    const char *start = p->at, quote = *p->at++;
    const char *end = strchr(p->at, quote);
    if (!end) {
        fail_at(p, start, 1, NULL, "this quote is never closed");
        return NULL;
    }
    const char *text = arena_strndup(p->arena, p->at, (size_t)(end - p->at));
    p->at = end + 1;
    return text;
}

static uint32_t read_launch(struct parser *p)
{
    peek(p);
    const char *digits = p->at;
    while (isdigit((unsigned char)*p->at)) p->at++;
    const unsigned long launch = strtoul(digits, NULL, 10);
    if (launch && launch < UINT32_MAX && p->at > digits) return (uint32_t)launch;
    fail_at(p, digits, MAX((size_t)(p->at - digits), (size_t)1),
            "as in kernel(3).cycles, or kernel('Mapper', 2).cycles", "launches are numbered from 1");
    return 1;
}

/* kernel(112).NAME, kernel('Mapper', 2).NAME; the parenthesis is next. */
static struct expr *read_kernel(struct parser *p, const char *owner, const char *start)
{
    const char *open = p->at++;
    struct expr_kernel kernel = {.launch = 1};
    const char c = peek(p);
    if (c == '"' || c == '\'') {
        kernel.name = read_quotes(p);
        if (!p->failed && accept(p, ',')) kernel.launch = read_launch(p);
    } else {
        kernel.launch = read_launch(p);
    }
    expect(p, ')', open);
    if (*p->at != '.' || !is_name_char(p->at[1]))
        fail_at(p, start, (size_t)(p->at - start), "as in kernel(112).l1.hits",
                "a kernel is not a number: '.' and a statistic must follow");
    if (p->failed) return NULL;
    p->at++;
    const char *name = read_name(p);
    struct expr *e = leaf(p, EXPR_NAME, owner, name, start);
    e->leaf.kernel = kernel;
    return e;
}

/* param(KEY), paper(FIGURE), cost(PART), energy(PART): what is in the parentheses is a name, not an
 * expression (l1.mshrs, two-level.active). */
static struct expr *read_lookup(struct parser *p, enum expr_leaf_kind kind, const char *owner,
                                const char *start)
{
    const char *open = p->at++;
    peek(p);
    const char *key = p->at;
    while (is_name_char(*p->at) || *p->at == '-') p->at++;
    size_t len = (size_t)(p->at - key);
    if (!len) fail_at(p, key, 1, NULL, "a name is missing");
    const char *name = arena_strndup(p->arena, key, len);
    expect(p, ')', open);
    return leaf(p, kind, owner, name, start);
}

static const struct expr_function *function_called(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (!strcmp(functions[i].name, name)) return &functions[i];
    return NULL;
}

static const struct over_function *over_called(const char *name)
{
    const struct over_function *f;
    for (uint32_t i = 0; (f = over_function_at(i)); i++)
        if (!strcmp(f->name, name)) return f;
    return NULL;
}

static void unknown_function(struct parser *p, const char *name, const char *start)
{
    static const char *const lookups[] = {"param",  "paper",  "weight", "cost",
                                          "energy", "kernel", "at",     "near"};
    const struct over_function *over;
    VEC(const char *) names = {0};
    struct strbuf hint = {0};
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) vec_push(&names, functions[i].name);
    for (uint32_t i = 0; (over = over_function_at(i)); i++) vec_push(&names, over->name);
    for (size_t i = 0; i < ARRAY_LEN(lookups); i++) vec_push(&names, lookups[i]);
    const char *near = diag_nearest(name, names.data, names.len);
    if (near) strbuf_printf(&hint, "did you mean '%s'?", near);
    for (uint32_t i = 0; !near && i < names.len; i++)
        strbuf_printf(&hint, "%s%s", !i ? "there are " : i + 1 < names.len ? ", " : " and ", names.data[i]);
    fail_at(p, start, strlen(name), strbuf_text(&hint), "no function is called '%s'", name);
    strbuf_free(&hint);
    vec_free(&names);
}

/* The arguments of a call, at most `max`; the parenthesis is next. */
static uint32_t read_args(struct parser *p, const char *name, const char *start, uint32_t max,
                          struct expr *args[])
{
    const char *open = p->at++;
    uint32_t count = 0;
    do {
        if (count == max)
            fail_at(p, start, strlen(name), NULL, "%s takes at most %u value%s", name, max,
                    max == 1 ? "" : "s");
        else
            args[count++] = read_sum(p);
    } while (!p->failed && accept(p, ','));
    expect(p, ')', open);
    return count;
}

static struct expr *read_over(struct parser *p, const struct over_function *f, const char *start)
{
    struct expr *args[2] = {NULL, NULL};
    const uint32_t count = read_args(p, f->name, start, f->args, args);
    if (!p->failed && count < f->args)
        fail_at(p, start, strlen(f->name), NULL, "%s takes %u values", f->name, f->args);
    if (p->failed) return NULL;
    struct expr *e = leaf(p, EXPR_OVER, NULL, f->name, start);
    e->leaf.over = f;
    e->leaf.x = args[0];
    e->leaf.y = args[1];
    return e;
}

/* at('bfs', ipc); the parenthesis is next. */
static struct expr *read_at(struct parser *p, const char *start)
{
    const char *open = p->at++, c = peek(p);
    if (c != '"' && c != '\'') {
        fail_at(p, start, 2, "as in at('bfs', ipc)",
                "'at' takes the name of a workload in quotes, and a value");
        return NULL;
    }
    const char *name = read_quotes(p);
    if (!p->failed) expect(p, ',', open);
    struct expr *x = p->failed ? NULL : read_sum(p);
    if (!p->failed) expect(p, ')', open);
    if (p->failed) return NULL;
    struct expr *e = leaf(p, EXPR_AT, NULL, name, start);
    e->leaf.x = x;
    return e;
}

static struct expr *read_near(struct parser *p, const char *start)
{
    struct expr *x = NULL;
    read_args(p, "near", start, 1, &x);
    if (p->failed) return NULL;
    struct expr *e = leaf(p, EXPR_NEAR, NULL, "near", start);
    e->leaf.x = x;
    return e;
}

static struct expr *read_call(struct parser *p, const char *name, const char *start)
{
    if (!strcmp(name, "at")) return read_at(p, start);
    if (!strcmp(name, "near")) return read_near(p, start);
    const struct over_function *over = over_called(name);
    if (over) return read_over(p, over, start);
    const struct expr_function *f = function_called(name);
    if (!f) {
        unknown_function(p, name, start);
        return NULL;
    }
    struct expr *args[EXPR_ARGS_MAX];
    const uint32_t count = read_args(p, name, start, f->args_max, args);
    if (p->failed) return NULL;
    struct expr *e = node(p, OP_CALL, count);
    e->function = f;
    memcpy(e->args, args, count * sizeof *args);
    for (uint32_t i = 0; i < count; i++) args[i]->leaf.in_sum = f->of == of_sum;
    return e;
}

/* The owner of OWNER.WORD; NULL: the name does not end so. */
static const char *owner_before(struct parser *p, const char *name, const char *word)
{
    const size_t n = strlen(name), w = strlen(word);
    if (n < w + 2 || strcmp(name + n - w, word) || name[n - w - 1] != '.') return NULL;
    return arena_strndup(p->arena, name, n - w - 1);
}

/* The lookups that may be another column's. */
static const struct {
    const char *word;
    enum expr_leaf_kind kind;
} owned_lookups[] = {{"param", EXPR_PARAM}, {"cost", EXPR_COST}, {"energy", EXPR_ENERGY}};

/* NAME, OWNER.NAME, FUNCTION(...), param(KEY), OWNER.param(KEY) and the other lookups, paper(FIGURE),
 * kernel(...).NAME, OWNER.kernel(...).NAME, weight(MODEL.alpha.xI). */
static struct expr *read_word(struct parser *p)
{
    const char *start = p->at;
    const char *name = read_name(p), *owner;
    if (*p->at != '(') return leaf(p, EXPR_NAME, NULL, name, start);
    if (!strcmp(name, "paper")) return read_lookup(p, EXPR_PAPER, NULL, start);
    if (!strcmp(name, "weight")) return read_lookup(p, EXPR_WEIGHT, NULL, start);
    if (!strcmp(name, "kernel")) return read_kernel(p, NULL, start);
    for (size_t i = 0; i < ARRAY_LEN(owned_lookups); i++) {
        const char *word = owned_lookups[i].word;
        if (!strcmp(name, word)) return read_lookup(p, owned_lookups[i].kind, NULL, start);
        if ((owner = owner_before(p, name, word))) return read_lookup(p, owned_lookups[i].kind, owner, start);
    }
    if ((owner = owner_before(p, name, "kernel"))) return read_kernel(p, owner, start);
    return read_call(p, name, start);
}

/* "a column".NAME, "a column".param(KEY), "a-b.statistic"; quotes of either kind. */
static struct expr *read_quoted(struct parser *p)
{
    const char *start = p->at, *owner = read_quotes(p);
    if (!owner) return NULL;
    if (*p->at != '.' && strchr(owner, '.')) return leaf(p, EXPR_NAME, NULL, owner, start);
    if (*p->at != '.' || !is_name_char(p->at[1])) {
        fail_at(p, start, (size_t)(p->at - start), "as in \"L1+L2\".ipc",
                "a column is not a number: '.' and a statistic must follow");
        return NULL;
    }
    p->at++;
    const char *name = read_name(p);
    if (*p->at != '(') return leaf(p, EXPR_NAME, owner, name, start);
    for (size_t i = 0; i < ARRAY_LEN(owned_lookups); i++)
        if (!strcmp(name, owned_lookups[i].word)) return read_lookup(p, owned_lookups[i].kind, owner, start);
    if (!strcmp(name, "kernel")) return read_kernel(p, owner, start);
    fail_at(p, start, (size_t)(p->at - start), NULL,
            "only a statistic, param(), cost(), energy() or kernel() can be another column's");
    return NULL;
}

static struct expr *read_primary(struct parser *p)
{
    char c = peek(p);
    const char *start = p->at;
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->at[1]))) return read_number(p);
    if (isalpha((unsigned char)c) || c == '_') return read_word(p);
    if (c == '"' || c == '\'') return read_quoted(p);
    if (c == '(') {
        p->at++;
        struct expr *e = read_compare(p);
        expect(p, ')', start);
        return e;
    }
    if (c)
        fail_at(p, start, 1, NULL, "expected a number or a name before '%c'", c);
    else
        fail_at(p, start, 1, NULL, "the expression ends where a number or a name should follow");
    return NULL;
}

static struct expr *read_unary(struct parser *p)
{
    if (p->depth == EXPR_DEPTH_MAX) fail_at(p, p->at, 1, NULL, "nested too deeply");
    if (p->failed) return NULL;
    p->depth++;
    struct expr *e;
    if (accept(p, '-')) {
        e = node(p, OP_NEGATE, 1);
        e->args[0] = read_unary(p);
    } else {
        e = read_primary(p);
        if (!p->failed && accept(p, '^')) e = pair(p, OP_POWER, e, read_unary(p));
    }
    p->depth--;
    return e;
}

static struct expr *read_product(struct parser *p)
{
    struct expr *e = read_unary(p);
    while (!p->failed && (peek(p) == '*' || *p->at == '/')) {
        enum expr_op op = *p->at++ == '*' ? OP_MUL : OP_DIV;
        e = pair(p, op, e, read_unary(p));
    }
    return e;
}

static struct expr *read_sum(struct parser *p)
{
    struct expr *e = read_product(p);
    while (!p->failed && (peek(p) == '+' || *p->at == '-')) {
        enum expr_op op = *p->at++ == '+' ? OP_ADD : OP_SUB;
        e = pair(p, op, e, read_product(p));
    }
    return e;
}

/* x > y is y < x. */
static struct expr *read_compare(struct parser *p)
{
    static const struct {
        char text[3];
        enum expr_op op;
        bool swaps;
    } signs[] = {{"<=", OP_AT_MOST, false},   {">=", OP_AT_MOST, true}, {"==", OP_EQUAL, false},
                 {"!=", OP_DIFFERENT, false}, {"<", OP_LESS, false},    {">", OP_LESS, true}};
    struct expr *e = read_sum(p);
    if (p->failed) return e;
    peek(p);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        const size_t n = strlen(signs[i].text);
        if (strncmp(p->at, signs[i].text, n)) continue;
        p->at += n;
        struct expr *other = read_sum(p);
        return signs[i].swaps ? pair(p, signs[i].op, other, e) : pair(p, signs[i].op, e, other);
    }
    return e;
}

struct expr *expr_parse(struct arena *a, const char *text, const struct expr_source *where,
                        struct diag_list *diags)
{
    struct parser p = {.arena = a, .text = text, .at = text, .where = where, .diags = diags};
    struct expr *e = read_compare(&p);
    if (!p.failed && peek(&p)) fail_at(&p, p.at, 1, NULL, "expected an operator before '%c'", *p.at);
    return p.failed ? NULL : e;
}

/* ---- binding and evaluating ---- */

bool expr_bind(struct expr *e, expr_binder bind, void *context)
{
    bool ok = e->op != OP_LEAF || bind(context, &e->leaf);
    if (e->leaf.x) ok = expr_bind(e->leaf.x, bind, context) && ok;
    if (e->leaf.y) ok = expr_bind(e->leaf.y, bind, context) && ok;
    for (uint32_t i = 0; i < e->count; i++) ok = expr_bind(e->args[i], bind, context) && ok;
    return ok;
}

static bool any(const struct expr *e, expr_question is, void *context, bool inside)
{
    const struct expr_leaf *leaf = &e->leaf;
    if (e->op == OP_LEAF && is(context, leaf)) return true;
    if (inside && leaf->x && any(leaf->x, is, context, inside)) return true;
    if (inside && leaf->y && any(leaf->y, is, context, inside)) return true;
    for (uint32_t i = 0; i < e->count; i++)
        if (any(e->args[i], is, context, inside)) return true;
    return false;
}

bool expr_any(const struct expr *e, expr_question is, void *context) { return any(e, is, context, true); }

bool expr_any_outside(const struct expr *e, expr_question is, void *context)
{
    return any(e, is, context, false);
}

/* A comparison with a number that is not known is not known. */
static double truth(bool is_true, const double v[2]) { return isnan(v[0]) || isnan(v[1]) ? NAN : is_true; }

static double evaluate(const struct expr *e, expr_values value, void *context)
{
    double v[EXPR_ARGS_MAX] = {0};
    for (uint32_t i = 0; i < e->count; i++) v[i] = evaluate(e->args[i], value, context);
    switch (e->op) {
    case OP_NUMBER: return e->number;
    case OP_LEAF: return value(context, &e->leaf);
    case OP_ADD: return v[0] + v[1];
    case OP_SUB: return v[0] - v[1];
    case OP_MUL: return v[0] * v[1];
    case OP_DIV: return v[1] == 0 ? NAN : v[0] / v[1];
    case OP_POWER: return isnan(v[0]) || isnan(v[1]) ? NAN : pow(v[0], v[1]);
    case OP_NEGATE: return -v[0];
    case OP_CALL: return e->function->of(v, e->count);
    case OP_LESS: return truth(v[0] < v[1], v);
    case OP_AT_MOST: return truth(v[0] <= v[1], v);
    case OP_EQUAL: return truth(v[0] == v[1], v);
    case OP_DIFFERENT: return truth(v[0] != v[1], v);
    }
    UNREACHABLE("expression");
}

double expr_eval(const struct expr *e, expr_values value, void *context)
{
    assert(e);
    double v = evaluate(e, value, context);
    return isfinite(v) ? v : NAN;
}
