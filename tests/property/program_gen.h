/* program_gen.h: random small kernels: a tree of statements that can be printed as PTX and, independently of
 * everything in src/, be evaluated thread by thread. What both leave in memory must be the same, however the
 * PTX is lowered. */
#ifndef HEDDLE_PROGRAM_GEN_H
#define HEDDLE_PROGRAM_GEN_H

#include "base/arena.h"
#include "base/rng.h"
#include "base/strbuf.h"

enum { GEN_WORDS = 10, GEN_LONGS = 4, GEN_FLOATS = 3, GEN_LOCALS = 8, GEN_FUNCS = 2 };
/* What a thread leaves behind: its variables, in this order, as 32-bit words. */
enum { GEN_OUT_WORDS = GEN_WORDS + 2 * GEN_LONGS + GEN_FLOATS + GEN_LOCALS };

struct gen_stmt;
struct gen_program {
    struct arena arena;
    struct gen_stmt *body;
    struct gen_stmt *func_body[GEN_FUNCS];
    uint64_t seed;
};

void gen_make(struct gen_program *p, uint64_t seed);
void gen_free(struct gen_program *p);
/* A module with kernel `k(u64 in, u64 out)`: thread t starts from in[t] and writes out[t * GEN_OUT_WORDS
 * ...]. */
void gen_print_ptx(const struct gen_program *p, struct strbuf *out);
/* What thread t must write. */
void gen_evaluate(const struct gen_program *p, uint32_t thread, uint32_t input, uint32_t out[GEN_OUT_WORDS]);

#endif
