/* exec.h: inside the emulator: what the function of an opcode sees.
 *
 * A register row is 32 lanes of 32 bits, contiguous; rows[0] is the warp's register file, rows[1] the
 * kernel's constant pool, so that an operand code turns into a row without a branch. Predicates are lane
 * masks; pred[ISA_PT] is all ones. Invariants: (1) an exec function writes only lanes of mask in its
 * destinations; (2) it reads all sources of a lane before it writes that lane's destinations (they may be the
 * same row); (3) it touches nothing but what it is given. */
#ifndef HEDDLE_EXEC_H
#define HEDDLE_EXEC_H

#include "isa/isa.h"

struct warp;

struct exec {
    /* [0] registers of the warp, [1] constant pool (read only); 128-byte rows, 64-byte aligned. */
    uint32_t *rows[2];
    /* 8 lane masks */
    uint32_t *pred;
    /* for instructions that need more than registers (memory, control, barriers) */
    struct warp *warp;
};

/* mask = lanes that execute: active and guard true. Never 0 for arithmetic. */
typedef void exec_fn(struct exec *x, const struct isa_inst *i, uint32_t mask);

/* One row of a source operand. Sources of kind C use bit 15, registers do not. */
static inline const uint32_t *exec_src(const struct exec *x, uint16_t o)
{
    return x->rows[o >> 15] + (size_t)(o & ISA_INDEX_MASK) * ISA_LANES;
}
static inline uint32_t *exec_dst(const struct exec *x, uint16_t o)
{
    return x->rows[0] + (size_t)o * ISA_LANES;
}
/* A source predicate as a lane mask. */
static inline uint32_t exec_pred(const struct exec *x, uint16_t o)
{
    uint32_t m = x->pred[o & 7];
    return o & ISA_P_NOT ? ~m : m;
}
static inline void exec_set_pred(const struct exec *x, uint16_t o, uint32_t value, uint32_t mask)
{
    if (o != ISA_NONE) x->pred[o & 7] = (x->pred[o & 7] & ~mask) | (value & mask);
}

/* IMOV: the index into its array: that of the first lane that executes. */
static inline uint32_t exec_array_index(const struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    return mask ? exec_src(x, i->src[0])[__builtin_ctz(mask)] & ISA_INDIRECT_MASK : 0;
}

/* Arithmetic: every row of isa.def of the units INT, FP32, FP64, HALF, CVT and SFU but S2R_*, ISSPACEP, IMOV.
 * Rows that are not arithmetic are NULL. Compiled for the baseline of the host and for newer vector units;
 * the tables agree in every bit, and emu_alu_table() picks what the host has. */
exec_fn *const *emu_alu_table(void);
/* The baseline table, for tests that compare the two. */
exec_fn *const *emu_alu_table_baseline(void);

#endif
