/* morpheus_ptx.h: PTX text as it is written, and the pieces of it that the files of the extended LLC kernel
 * share.
 *
 * Registers that all of them know. Uniform: %op and %line, the request; %idx, a slot of the set, -1: none;
 * %hit: was the requested block there? Of each lane: %lane, %data, a word that a write or an insertion
 * brings, and the metadata. Slot s of a set is that of lane s % 32 in group s / 32: %tag<g>, and %used<g>,
 * the clock at its last use, or 0, with the lowest bit for a dirty block. Temporary: %x, %y, %p. At the end
 * of a request %y is the slot of the requested block counted from 1, or 0. */
#ifndef HEDDLE_MECH_MORPHEUS_PTX_H
#define HEDDLE_MECH_MORPHEUS_PTX_H

#include <stdarg.h>
#include <stdio.h>

#include "mech/morpheus.h"

struct ptx_text {
    char *at;
    size_t room, length;
};

__attribute__((format(printf, 2, 3))) static inline void put(struct ptx_text *t, const char *fmt, ...)
{
    va_list ap;
    const size_t used = t->length < t->room ? t->length : t->room;
    va_start(ap, fmt);
    const int n = vsnprintf(t->at ? t->at + used : NULL, t->room - used, fmt, ap);
    va_end(ap);
    t->length += (size_t)n;
}

/* Groups of 32 slots. */
static inline uint32_t groups_of(const struct morpheus_kernel *k)
{
    return k->is_compressed ? MORPHEUS_COMPRESSED_SLOTS / 32 : (k->blocks + 31) / 32;
}

/* ---- stores (morpheus_store.c) ---- */

/* Is the block of a read found by brx.idx? */
static inline bool answers_by_branch(const struct morpheus_kernel *k)
{
    return k->store == MORPHEUS_REGISTERS && !k->indirect_move && !k->is_compressed;
}

/* Module text that a store needs; the declarations of a kernel; what it does once. */
void put_store_module(struct ptx_text *t, const struct morpheus_kernel *k);
void put_store_declarations(struct ptx_text *t, const struct morpheus_kernel *k);
void put_store_start(struct ptx_text *t, const struct morpheus_kernel *k);
/* Where a read goes for each block that it may find; there the block goes to the read data buffer, and then
 * the read is done. If the block is not found by a branch, it is in %line by then. */
void put_read_targets(struct ptx_text *t, const struct morpheus_kernel *k);
void put_store_answer(struct ptx_text *t, const struct morpheus_kernel *k);
/* A word of a block, or of a row of compressed ones, in each lane: which, and the register that it is in. */
struct store_access {
    /* tells accesses of a kernel apart */
    const char *name;
    const char *index, *word;
    /* "", or the predicate under which it is made: of lanes for a write, of the warp for a read */
    const char *guard;
};
void put_store_read(struct ptx_text *t, const struct morpheus_kernel *k, const struct store_access *a);
void put_store_write(struct ptx_text *t, const struct morpheus_kernel *k, const struct store_access *a);

/* ---- pieces (morpheus_kernel.c) ---- */

/* The head of a kernel, with the registers that all of them know. */
void put_start(struct ptx_text *t, const struct morpheus_kernel *k);
/* The end and the beginning of the loop: waits for a request, and looks its tag up: %idx, -1: it is not
 * there. %y and %x are `base` and `sums` of the row. A request ends at done or, if it has taken %data, at
 * stored, with the result in %y; at failed, with %y 0; or, if it would have taken %data, at missed. */
void put_look_up(struct ptx_text *t, const struct morpheus_kernel *k);
/* %mine<g>: is slot %idx that of this lane in group g? It is known after a look-up; where %idx has changed,
 * put_is_mine finds it again. Large sets, and those of compressed blocks, have one predicate, mine_of, which
 * put_mine sets before each use. Both take %x. */
uint32_t mine_of(const struct morpheus_kernel *k, uint32_t g);
void put_is_mine(struct ptx_text *t, const struct morpheus_kernel *k);
void put_mine(struct ptx_text *t, const struct morpheus_kernel *k, uint32_t g);
/* Waits until the controller has taken a victim, before anything overwrites it. Takes %x. */
void put_more(struct ptx_text *t);
/* %data: what an atomic adds to the lane's word. %x must still be `sums` of the row. */
void put_sums(struct ptx_text *t);
/* %sector: is the sector of this lane written? */
void put_sector(struct ptx_text *t);

/* ---- compression (morpheus_levels.c) ---- */

void put_compressing_kernel(struct ptx_text *t, const struct morpheus_kernel *k);

#endif
