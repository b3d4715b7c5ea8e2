/* fold.h: inside folding: what is known about vregs while the instructions of a routine are walked.
 *
 * Rules of what may be replaced. A vreg with one definition has one value as long as that definition
 * dominates the use; a copy of it stays true when the definition of the source dominates the copy and the
 * copy dominates the use. Any other vreg is known within a block only, until it or its source is written
 * again (also under a guard). */
#ifndef HEDDLE_FOLD_H
#define HEDDLE_FOLD_H

#include "lower/opnd.h"
#include "lower/pass.h"

struct fold {
    struct routine *u;
    struct mir_func *f;
    struct cfg *g;
    /* of each vreg; def_inst: the last one found */
    uint32_t *def_count, *def_inst, *use_count;
    /* block in which v was last written on this walk, and where */
    uint32_t *last_block, *last_def;
    /* instruction that made v a copy, + 1; 0 = none */
    uint32_t *copy_at;
    /* being walked */
    uint32_t block;
    bool changed;
};

/* Returns the only definition of v when it is unguarded and dominates instruction `at`; else CFG_NONE. */
uint32_t fold_def(const struct fold *z, uint32_t v, uint32_t at);
/* True when operand o, read at instruction `from`, still has the same value at the current instruction,
 * `at`. */
bool fold_is_stable(const struct fold *z, const struct mir_opnd *o, uint32_t from, uint32_t at);
void fold_set_src(struct fold *z, struct mir_inst *in, uint32_t k, struct mir_opnd o);
/* Turns `in` into a move of o to its first destination. */
void fold_to_move(struct fold *z, struct mir_inst *in, struct mir_opnd o);

/* fold_eval.c: computes a pure integer instruction on constants; false where it is not one that is folded. */
bool fold_eval(const struct mir_inst *in, const uint64_t src[ISA_SRC_MAX], uint64_t *result);
/* fold_algebra.c: identities and cheaper forms of one instruction. */
bool fold_algebra(struct fold *z, uint32_t at);
/* fold_combine.c: an instruction taken together with those that make its sources. */
bool fold_combine(struct fold *z, uint32_t at);

static inline bool fold_is_imm(const struct mir_opnd *o) { return o->kind == MIR_IMM; }
static inline uint64_t fold_imm(const struct mir_inst *in, uint32_t k)
{
    uint64_t v = (uint64_t)in->src[k].imm;
    switch (opnd_src_class(in, k)) {
    case MIR_R: return (uint32_t)v;
    case MIR_P: return (v & 1) ^ in->src[k].negated;
    default: return v;
    }
}

#endif
