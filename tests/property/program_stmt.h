/* program_stmt.h: the tree of statements, for the files that make, evaluate and print it. */
#ifndef HEDDLE_PROGRAM_STMT_H
#define HEDDLE_PROGRAM_STMT_H

#include "program_gen.h"

enum gen_kind {
    GEN_WORD_OP,
    GEN_LONG_OP,
    GEN_FLOAT_OP,
    GEN_WIDEN,
    GEN_NARROW,
    GEN_SELECT,
    GEN_LOCAL_STORE,
    GEN_LOCAL_LOAD,
    GEN_SHARED,
    GEN_IF,
    GEN_LOOP,
    GEN_BREAK,
    GEN_SWITCH,
    GEN_CALL,
    GEN_RETURN,
    /* from the table */
    GEN_GATHER,
    /* cells: a few words of global memory that no other thread touches */
    GEN_CELL_STORE,
    GEN_CELL_LOAD,
    GEN_CELL_ATOM,
    /* all threads, on words where only one commutative operation happens */
    GEN_BIN,
    GEN_SHARED_BIN,
    /* between the threads of a CTA, with barriers; at the top level only */
    GEN_EXCHANGE,
    GEN_KIND_COUNT
};

/* Operations by position; the evaluator and the printer each have their own table of what they are. */
enum { GEN_WORD_OPS = 16, GEN_LONG_OPS = 8, GEN_FLOAT_OPS = 4, GEN_CMPS = 6, GEN_CELL_OPS = 6 };

struct gen_stmt {
    enum gen_kind kind;
    /* variables; b is a constant when b_is_imm */
    uint32_t op, dst, a, b, c;
    /* guarded: only where word variable c is odd */
    bool b_is_imm, guarded;
    uint32_t imm;
    uint32_t cmp;
    /* then/else, loop body, switch cases */
    struct gen_stmt *body[4];
    struct gen_stmt *next;
};

#endif
