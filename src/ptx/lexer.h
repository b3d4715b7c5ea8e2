/* lexer.h: PTX text -> tokens, one at a time. */
#ifndef HEDDLE_PTX_LEXER_H
#define HEDDLE_PTX_LEXER_H

#include "base/base.h"

/* A single punctuation character is its own kind ('[', ';', ...). */
enum token_kind {
    TOK_END = 256,
    /* name, with a leading % $ or _ where it has one; "_" alone too */
    TOK_IDENT,
    /* .word, with :: inside it where written (.shared::cta, .L2::128B) */
    TOK_DOT,
    /* value */
    TOK_INT,
    /* 0f........: value holds the 32 bits */
    TOK_F32,
    /* 0d................ or decimal: real, bits in value */
    TOK_F64,
    /* text without its quotes */
    TOK_STRING,
    TOK_SHL,
    TOK_SHR,
    TOK_LE,
    TOK_GE,
    TOK_EQ,
    TOK_NE,
    TOK_AND_AND,
    TOK_OR_OR,
    /* not a token: error says why */
    TOK_BAD
};

struct token {
    int kind;
    /* into the source */
    const char *text;
    uint32_t len;
    int line, col;
    /* TOK_INT with a U suffix, or past 2^63 */
    bool is_unsigned;
    /* something other than a token stood before it */
    bool after_space;
    /* TOK_INT, TOK_F32, TOK_F64 */
    uint64_t value;
    /* TOK_F64 */
    double real;
    /* TOK_BAD */
    const char *error;
};

struct lexer {
    const char *at, *end, *line_start;
    int line;
};

void lexer_start(struct lexer *lx, const char *text, size_t len);
void lexer_next(struct lexer *lx, struct token *out);
void lexer_skip_line(struct lexer *lx);
/* TOK_IDENT or TOK_DOT with this spelling. */
bool token_is(const struct token *t, const char *text);

#endif
