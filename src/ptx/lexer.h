/* lexer.h: PTX text -> tokens, one at a time. */
#ifndef HEDDLE_PTX_LEXER_H
#define HEDDLE_PTX_LEXER_H

#include "base/base.h"

/* A single punctuation character is its own kind ('[', ';', ...). */
enum token_kind {
    TOK_END = 256,
    TOK_IDENT,  /* name, with a leading % $ or _ where it has one; "_" alone too */
    TOK_DOT,    /* .word, with :: inside it where written (.shared::cta, .L2::128B) */
    TOK_INT,    /* value */
    TOK_F32,    /* 0f........: value holds the 32 bits */
    TOK_F64,    /* 0d................ or decimal: real, bits in value */
    TOK_STRING, /* text without its quotes */
    TOK_SHL,
    TOK_SHR,
    TOK_LE,
    TOK_GE,
    TOK_EQ,
    TOK_NE,
    TOK_AND_AND,
    TOK_OR_OR,
    TOK_BAD /* not a token: error says why */
};

struct token {
    int kind;
    const char *text; /* into the source */
    uint32_t len;
    int line, col;
    bool is_unsigned;  /* TOK_INT with a U suffix, or past 2^63 */
    bool after_space;  /* something other than a token stood before it */
    uint64_t value;    /* TOK_INT, TOK_F32, TOK_F64 */
    double real;       /* TOK_F64 */
    const char *error; /* TOK_BAD */
};

struct lexer {
    const char *at, *end, *line_start;
    int line;
};

void lexer_start(struct lexer *lx, const char *text, size_t len);
void lexer_next(struct lexer *lx, struct token *out);
void lexer_skip_line(struct lexer *lx);
bool token_is(const struct token *t, const char *text); /* TOK_IDENT or TOK_DOT with this spelling */

#endif
