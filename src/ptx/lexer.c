/* lexer.c: tokens of the PTX language (PTX ISA 9.0, chapter 4: comments, identifiers, constants).
 *
 * Invariants: (1) A token lies inside the text; nothing past `end` is read, and the text may hold zero bytes.
 * (2) Each call moves on by at least one byte, or returns TOK_END. (3) Numbers keep their exact bits.
 * Left out: the C preprocessor, which PTX once had; lines that begin with # are not accepted. */
#include "ptx/lexer.h"

#include <ctype.h>

enum { TOKEN_BYTES_MAX = 65535, NUMBER_BYTES_MAX = 400 };

void lexer_start(struct lexer *lx, const char *text, size_t len)
{
    *lx = (struct lexer){.at = text, .end = text + len, .line_start = text, .line = 1};
}

static int peek(const struct lexer *lx, size_t ahead)
{
    return (size_t)(lx->end - lx->at) > ahead ? (unsigned char)lx->at[ahead] : -1;
}

static bool is_name_char(int c) { return (c >= 0 && c < 128 && isalnum(c)) || c == '_' || c == '$'; }

void lexer_skip_line(struct lexer *lx)
{
    const char *stop = memchr(lx->at, '\n', (size_t)(lx->end - lx->at));
    lx->at = stop ? stop : lx->end;
}

static void new_line(struct lexer *lx)
{
    lx->line++;
    lx->line_start = lx->at;
}

/* Skips the inside of a block comment; false when the text ends in it. */
static bool skip_block_comment(struct lexer *lx)
{
    lx->at += 2;
    while (lx->at < lx->end) {
        char c = *lx->at++;
        if (c == '\n') new_line(lx);
        if (c == '*' && peek(lx, 0) == '/') {
            lx->at++;
            return true;
        }
    }
    return false;
}

/* Skips space and comments. False: a comment has no end. */
static bool skip_space(struct lexer *lx)
{
    while (lx->at < lx->end) {
        int c = *lx->at;
        if (c == '\n') {
            lx->at++;
            new_line(lx);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lx->at++;
        } else if (c == '/' && peek(lx, 1) == '/') {
            lexer_skip_line(lx);
        } else if (c == '/' && peek(lx, 1) == '*') {
            if (!skip_block_comment(lx)) return false;
        } else {
            break;
        }
    }
    return true;
}

static void bad(struct token *t, const char *error)
{
    t->kind = TOK_BAD;
    t->error = error;
}

static int digit_value(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* Digits of a base up to the end of the number; the suffix U; nothing else may be glued to it. */
static void lex_integer(struct lexer *lx, struct token *t, unsigned base)
{
    bool overflow = false, any = false;
    uint64_t v = 0;
    for (int d; (d = digit_value(peek(lx, 0))) < (int)base; lx->at++, any = true) {
        overflow |= v > (UINT64_MAX - (unsigned)d) / base;
        v = v * base + (unsigned)d;
    }
    t->kind = TOK_INT;
    t->value = v;
    t->is_unsigned = v >> 63;
    if (peek(lx, 0) == 'U') {
        t->is_unsigned = true;
        lx->at++;
    }
    if (!any || is_name_char(peek(lx, 0))) {
        while (is_name_char(peek(lx, 0))) lx->at++;
        bad(t, "malformed number");
    } else if (overflow) {
        bad(t, "number does not fit in 64 bits");
    }
}

/* 0f and 0d: exactly 8 or 16 hexadecimal digits, the bits of the value. */
static void lex_float_bits(struct lexer *lx, struct token *t, int digits)
{
    uint64_t v = 0;
    int n = 0;
    for (int d; (d = digit_value(peek(lx, 0))) < 16; lx->at++, n++) v = v << 4 | (unsigned)d;
    if (n != digits || is_name_char(peek(lx, 0))) {
        while (is_name_char(peek(lx, 0))) lx->at++;
        bad(t,
            digits == 8 ? "0f takes exactly 8 hexadecimal digits" : "0d takes exactly 16 hexadecimal digits");
        return;
    }
    t->kind = digits == 8 ? TOK_F32 : TOK_F64;
    t->value = v;
    if (digits == 16) memcpy(&t->real, &v, sizeof t->real);
}

static void lex_decimal_float(struct lexer *lx, struct token *t)
{
    char text[NUMBER_BYTES_MAX + 1];
    const char *start = lx->at;
    for (int c; (c = peek(lx, 0)) >= 0 && (is_name_char(c) || c == '.' || c == '+' || c == '-'); lx->at++)
        if ((c == '+' || c == '-') && (lx->at[-1] | 32) != 'e') break;
    size_t len = (size_t)(lx->at - start);
    if (len > NUMBER_BYTES_MAX) {
        bad(t, "number is too long");
        return;
    }
    memcpy(text, start, len);
    text[len] = 0;
    char *stop;
    t->real = strtod(text, &stop);
    if (*stop || memchr(text, 'x', len) || memchr(text, 'X', len)) {
        bad(t, "malformed number");
        return;
    }
    t->kind = TOK_F64;
    memcpy(&t->value, &t->real, sizeof t->value);
}

/* Does a number here go on as a decimal fraction or with an exponent? */
static bool looks_like_float(const struct lexer *lx)
{
    size_t i = 0;
    while (isdigit(peek(lx, i))) i++;
    int c = peek(lx, i);
    return c == '.' || c == 'e' || c == 'E';
}

static void lex_number(struct lexer *lx, struct token *t)
{
    int second = peek(lx, 1) | 32;
    bool zero = peek(lx, 0) == '0';
    if (zero && (second == 'x' || second == 'b' || second == 'f' || second == 'd')) {
        lx->at += 2;
        if (second == 'x') lex_integer(lx, t, 16);
        if (second == 'b') lex_integer(lx, t, 2);
        if (second == 'f') lex_float_bits(lx, t, 8);
        if (second == 'd') lex_float_bits(lx, t, 16);
    } else if (looks_like_float(lx)) {
        lex_decimal_float(lx, t);
    } else {
        lex_integer(lx, t, zero && isdigit(peek(lx, 1)) ? 8 : 10);
    }
}

static void lex_string(struct lexer *lx, struct token *t)
{
    const char *start = ++lx->at;
    while (lx->at < lx->end && *lx->at != '"' && *lx->at != '\n') {
        if (*lx->at == '\\' && lx->at + 1 < lx->end && lx->at[1] != '\n') lx->at++;
        lx->at++;
    }
    t->kind = TOK_STRING;
    t->text = start;
    t->len = (uint32_t)(lx->at - start);
    if (peek(lx, 0) != '"')
        bad(t, "string has no closing quote");
    else
        lx->at++;
}

/* .word: letters, digits, _ $ and pairs of colons. */
static void lex_dot(struct lexer *lx, struct token *t)
{
    lx->at++;
    for (;;) {
        while (is_name_char(peek(lx, 0))) lx->at++;
        if (peek(lx, 0) != ':' || peek(lx, 1) != ':' || !is_name_char(peek(lx, 2))) break;
        lx->at += 2;
    }
    t->kind = TOK_DOT;
    if (lx->at - t->text < 2) bad(t, "a '.' must be followed by a word");
}

/* .5 is a number, .2d is the geometry of a texture. */
static bool dot_starts_number(const struct lexer *lx, bool after_space)
{
    if ((!after_space && is_name_char((unsigned char)lx->at[-1])) || !isdigit(peek(lx, 1))) return false;
    size_t i = 1;
    while (isdigit(peek(lx, i))) i++;
    return !is_name_char(peek(lx, i)) || (peek(lx, i) | 32) == 'e';
}

static void lex_punctuation(struct lexer *lx, struct token *t)
{
    static const struct {
        char text[3];
        int kind;
    } pairs[] = {
        {"<<", TOK_SHL}, {">>", TOK_SHR}, {"<=", TOK_LE},      {">=", TOK_GE},
        {"==", TOK_EQ},  {"!=", TOK_NE},  {"&&", TOK_AND_AND}, {"||", TOK_OR_OR},
    };
    int c = peek(lx, 0);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (c == pairs[i].text[0] && peek(lx, 1) == pairs[i].text[1]) {
            lx->at += 2;
            t->kind = pairs[i].kind;
            return;
        }
    lx->at++;
    if (c && c < 128 && strchr(";,:[](){}<>@!|+-*/%&^~?=", c))
        t->kind = c;
    else
        bad(t, "this character has no meaning in PTX");
}

void lexer_next(struct lexer *lx, struct token *out)
{
    const char *before = lx->at;
    bool closed = skip_space(lx);
    *out = (struct token){.kind = TOK_END, .text = lx->at, .line = lx->line};
    out->after_space = lx->at != before || before == lx->line_start;
    out->col = (int)MIN(lx->at - lx->line_start, INT32_MAX - 1) + 1;
    if (!closed) {
        bad(out, "comment has no end");
        return;
    }
    if (lx->at == lx->end) return;
    int c = peek(lx, 0);
    if (is_name_char(c) && !isdigit(c)) {
        while (is_name_char(peek(lx, 0))) lx->at++;
        out->kind = TOK_IDENT;
    } else if (c == '%' && is_name_char(peek(lx, 1))) {
        lx->at++;
        while (is_name_char(peek(lx, 0))) lx->at++;
        out->kind = TOK_IDENT;
    } else if (isdigit(c) || (c == '.' && dot_starts_number(lx, out->after_space))) {
        lex_number(lx, out);
    } else if (c == '.') {
        lex_dot(lx, out);
    } else if (c == '"') {
        lex_string(lx, out);
    } else {
        lex_punctuation(lx, out);
    }
    if (out->kind == TOK_STRING) return;
    size_t len = (size_t)(lx->at - out->text);
    out->len = (uint32_t)MIN(len, (size_t)TOKEN_BYTES_MAX);
    if (len > TOKEN_BYTES_MAX && out->kind != TOK_BAD) bad(out, "name is too long");
}

bool token_is(const struct token *t, const char *text)
{
    return (t->kind == TOK_IDENT || t->kind == TOK_DOT) && strlen(text) == t->len &&
           !memcmp(t->text, text, t->len);
}
