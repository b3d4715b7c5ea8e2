/* program_gen.h: random small kernels: a tree of statements that can be printed as PTX and, independently of
 * everything in src/, be evaluated thread by thread. What both leave in memory must be the same, however the
 * PTX is lowered and on whatever machine it runs: loops, divergence, calls, local and shared memory,
 * barriers, atomics whose result does not depend on the order of threads. */
#ifndef HEDDLE_PROGRAM_GEN_H
#define HEDDLE_PROGRAM_GEN_H

#include "base/arena.h"
#include "base/rng.h"
#include "base/strbuf.h"

enum {
    GEN_WORDS = 10,
    GEN_LONGS = 4,
    GEN_FLOATS = 3,
    GEN_LOCALS = 8,
    GEN_FUNCS = 2,
    GEN_CELLS = 8,
    GEN_BIN_OPS = 5,
    /* of each operation */
    GEN_BINS = 16,
    GEN_SHARED_BINS = 8,
    GEN_TABLE = 1024,
    GEN_BLOCK_MAX = 160,
    GEN_THREADS_MAX = 480,
    GEN_CTAS_MAX = 8
};
/* What a thread leaves behind: its variables, in this order, as 32-bit words, each beside those of the next
 * thread. */
enum { GEN_OUT_WORDS = GEN_WORDS + 2 * GEN_LONGS + GEN_FLOATS + GEN_LOCALS };

/* The memory of a kernel: one allocation, in 32-bit words, with gaps that nobody may write. */
enum {
    GEN_GAP = 64,
    GEN_AT_IN = GEN_GAP,
    GEN_AT_TABLE = GEN_AT_IN + GEN_THREADS_MAX + GEN_GAP,
    GEN_AT_BINS = GEN_AT_TABLE + GEN_TABLE + GEN_GAP,
    GEN_AT_CELLS = GEN_AT_BINS + GEN_BIN_OPS * GEN_BINS + GEN_GAP,
    GEN_AT_OUT = GEN_AT_CELLS + GEN_THREADS_MAX * GEN_CELLS + GEN_GAP,
    GEN_AT_EXCHANGE = GEN_AT_OUT + GEN_THREADS_MAX * GEN_OUT_WORDS + GEN_GAP,
    GEN_AT_SHARED_BINS = GEN_AT_EXCHANGE + GEN_THREADS_MAX + GEN_GAP,
    GEN_MEMORY_WORDS = GEN_AT_SHARED_BINS + GEN_CTAS_MAX * GEN_BIN_OPS * GEN_SHARED_BINS + GEN_GAP
};

struct gen_stmt;
struct gen_program {
    struct arena arena;
    struct gen_stmt *body;
    struct gen_stmt *func_body[GEN_FUNCS];
    uint64_t seed;
    /* the grid that it is run with */
    uint32_t ctas, block;
};

void gen_make(struct gen_program *p, uint64_t seed);
void gen_free(struct gen_program *p);
/* A module with kernel `k(u64 memory)`. */
void gen_print_ptx(const struct gen_program *p, struct strbuf *out);
/* GEN_MEMORY_WORDS: before the kernel */
void gen_fill(const struct gen_program *p, uint32_t *memory);
/* before -> after */
void gen_evaluate(const struct gen_program *p, uint32_t *memory);

#endif
