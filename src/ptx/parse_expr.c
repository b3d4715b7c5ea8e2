/* parse_expr.c: constant expressions (PTX ISA 4.5): C's operators and precedences over 64-bit integers,
 * signed unless a U suffix, a cast or a value past 2^63 says otherwise. Floating-point constants stand alone,
 * but for a sign. Shifts take their amount modulo 64; division by zero is an error. */
#include "ptx/parser.h"

static bool parse_binary(struct parser *p, struct expr_value *out, int lowest, int depth);

static struct expr_value integer(uint64_t bits, bool is_unsigned)
{
    return (struct expr_value){.bits = bits, .is_unsigned = is_unsigned};
}

static bool int_wanted(struct parser *p, const struct token *at, const struct expr_value *v)
{
    return !v->is_float || parse_error(p, at, NULL, "floating-point constants cannot be computed with");
}

static bool parse_cast(struct parser *p, struct expr_value *out, int depth);

static bool parse_literal(struct parser *p, struct expr_value *out)
{
    const struct token *t = &p->tok;
    char name[80];
    switch (t->kind) {
    case TOK_INT: *out = integer(t->value, t->is_unsigned); break;
    case TOK_F32: *out = (struct expr_value){.is_float = true, .is_f32 = true, .bits = t->value}; break;
    case TOK_F64: *out = (struct expr_value){.is_float = true, .bits = t->value, .real = t->real}; break;
    case TOK_IDENT:
        if (token_is(t, "WARP_SZ")) {
            *out = integer(32, false);
            break;
        }
        /* fallthrough */
    default:
        return parse_error(p, t, NULL, "expected a constant, found %s", token_name(t, name, sizeof name));
    }
    parse_next(p);
    return true;
}

static bool apply_unary(struct parser *p, const struct token *op, struct expr_value *v)
{
    if (v->is_float) {
        if (v->is_f32 || (op->kind != '-' && op->kind != '+')) return int_wanted(p, op, v);
        if (op->kind == '-') {
            v->real = -v->real;
            v->bits ^= 1ull << 63;
        }
        return true;
    }
    if (op->kind == '-') v->bits = 0 - v->bits;
    if (op->kind == '~') v->bits = ~v->bits;
    if (op->kind == '!') *v = integer(!v->bits, false);
    return true;
}

static bool parse_unary(struct parser *p, struct expr_value *out, int depth)
{
    struct token op = p->tok;
    if (depth > PARSE_DEPTH_MAX) return parse_error(p, &op, NULL, "expression is nested too deeply");
    if (op.kind == '-' || op.kind == '+' || op.kind == '~' || op.kind == '!') {
        parse_next(p);
        return parse_unary(p, out, depth + 1) && apply_unary(p, &op, out);
    }
    if (op.kind == '(') {
        parse_next(p);
        if (p->tok.kind == TOK_DOT) return parse_cast(p, out, depth);
        return parse_binary(p, out, 0, depth + 1) && parse_expect(p, ')', "')'");
    }
    return parse_literal(p, out);
}

/* (.s64) or (.u64), then an operand */
static bool parse_cast(struct parser *p, struct expr_value *out, int depth)
{
    bool to_unsigned = token_is(&p->tok, ".u64");
    struct token at = p->tok;
    if (!to_unsigned && !token_is(&p->tok, ".s64"))
        return parse_error(p, &p->tok, NULL, "a cast is to .s64 or .u64");
    parse_next(p);
    if (!parse_expect(p, ')', "')'") || !parse_unary(p, out, depth + 1)) return false;
    if (!int_wanted(p, &at, out)) return false;
    out->is_unsigned = to_unsigned;
    return true;
}

enum { LEVEL_CONDITION = 1 };

/* Precedence of a binary operator, 0 when the token is not one. */
static int level_of(int kind)
{
    switch (kind) {
    case '?': return LEVEL_CONDITION;
    case TOK_OR_OR: return 2;
    case TOK_AND_AND: return 3;
    case '|': return 4;
    case '^': return 5;
    case '&': return 6;
    case TOK_EQ:
    case TOK_NE: return 7;
    case '<':
    case '>':
    case TOK_LE:
    case TOK_GE: return 8;
    case TOK_SHL:
    case TOK_SHR: return 9;
    case '+':
    case '-': return 10;
    case '*':
    case '/':
    case '%': return 11;
    default: return 0;
    }
}

static bool less(const struct expr_value *a, const struct expr_value *b, bool is_unsigned)
{
    return is_unsigned ? a->bits < b->bits : (int64_t)a->bits < (int64_t)b->bits;
}

static bool divide(struct parser *p, const struct token *op, struct expr_value *a, const struct expr_value *b,
                   bool u)
{
    if (!b->bits) return parse_error(p, op, NULL, "division by zero");
    int64_t x = (int64_t)a->bits, y = (int64_t)b->bits;
    bool wraps = !u && y == -1; /* INT64_MIN / -1 has no value in C */
    if (op->kind == '/')
        a->bits = u ? a->bits / b->bits : wraps ? 0 - a->bits : (uint64_t)(x / y);
    else
        a->bits = u ? a->bits % b->bits : wraps ? 0 : (uint64_t)(x % y);
    return true;
}

static uint64_t shift_right(const struct expr_value *a, unsigned by)
{
    return a->is_unsigned || !(a->bits >> 63) ? a->bits >> by : ~(~a->bits >> by);
}

static bool apply_binary(struct parser *p, const struct token *op, struct expr_value *a,
                         const struct expr_value *b)
{
    bool u = a->is_unsigned || b->is_unsigned;
    struct expr_value x = *a;
    if (!int_wanted(p, op, a) || !int_wanted(p, op, b)) return false;
    a->is_unsigned = u;
    switch (op->kind) {
    case '+': a->bits += b->bits; return true;
    case '-': a->bits -= b->bits; return true;
    case '*': a->bits *= b->bits; return true;
    case '/':
    case '%': return divide(p, op, a, b, u);
    case '&': a->bits &= b->bits; return true;
    case '|': a->bits |= b->bits; return true;
    case '^': a->bits ^= b->bits; return true;
    case TOK_SHL: *a = integer(x.bits << (b->bits & 63), x.is_unsigned); return true;
    case TOK_SHR: *a = integer(shift_right(&x, b->bits & 63), x.is_unsigned); return true;
    case TOK_EQ: *a = integer(x.bits == b->bits, false); return true;
    case TOK_NE: *a = integer(x.bits != b->bits, false); return true;
    case '<': *a = integer(less(&x, b, u), false); return true;
    case '>': *a = integer(less(b, &x, u), false); return true;
    case TOK_LE: *a = integer(!less(b, &x, u), false); return true;
    case TOK_GE: *a = integer(!less(&x, b, u), false); return true;
    case TOK_AND_AND: *a = integer(x.bits && b->bits, false); return true;
    case TOK_OR_OR: *a = integer(x.bits || b->bits, false); return true;
    default: UNREACHABLE("not a binary operator");
    }
}

static bool parse_condition(struct parser *p, const struct token *op, struct expr_value *v, int depth)
{
    struct expr_value yes, no;
    if (!int_wanted(p, op, v) || !parse_binary(p, &yes, 0, depth + 1) || !parse_expect(p, ':', "':'") ||
        !parse_binary(p, &no, 0, depth + 1))
        return false;
    *v = v->bits ? yes : no;
    return true;
}

/* Operators of at least the given level; the right side binds tighter, but for ?: */
static bool parse_binary(struct parser *p, struct expr_value *out, int lowest, int depth)
{
    if (depth > PARSE_DEPTH_MAX) return parse_error(p, &p->tok, NULL, "expression is nested too deeply");
    if (!parse_unary(p, out, depth)) return false;
    for (;;) {
        struct token op = p->tok;
        int level = level_of(op.kind);
        if (!level || level < lowest) return true;
        parse_next(p);
        if (level == LEVEL_CONDITION) {
            if (!parse_condition(p, &op, out, depth)) return false;
            continue;
        }
        struct expr_value right;
        if (!parse_binary(p, &right, level + 1, depth + 1) || !apply_binary(p, &op, out, &right))
            return false;
    }
}

bool parse_expr(struct parser *p, struct expr_value *out) { return parse_binary(p, out, 0, 0); }

bool parse_int_expr(struct parser *p, int64_t *out, const char *what)
{
    struct token at = p->tok;
    struct expr_value v;
    if (!parse_expr(p, &v)) return false;
    if (v.is_float) return parse_error(p, &at, NULL, "%s must be an integer", what);
    *out = (int64_t)v.bits;
    return true;
}

bool parse_range_count(struct parser *p, uint32_t *out)
{
    struct token at = p->tok;
    struct expr_value v;
    if (!parse_unary(p, &v, 0)) return false;
    if (v.is_float || v.bits > PARSE_RANGE_MAX)
        return parse_error(p, &at, NULL, "a register range holds at most %d registers", PARSE_RANGE_MAX);
    *out = (uint32_t)v.bits;
    return true;
}

bool parse_u32(struct parser *p, uint32_t *out, uint32_t max, const char *what)
{
    struct token at = p->tok;
    int64_t v = 0;
    if (!parse_int_expr(p, &v, what)) return false;
    if (v < 0 || v > (int64_t)max)
        return parse_error(p, &at, NULL, "%s must lie between 0 and %u", what, max);
    *out = (uint32_t)v;
    return true;
}
