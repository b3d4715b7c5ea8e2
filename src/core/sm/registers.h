/* registers.h: who owns the rows of the register file. See registers.c.
 *
 * A row is one register of a warp: 32 lanes of 4 bytes. A CTA owns rows while it is resident; a mechanism may
 * take rows that no CTA owns, and loses them to a CTA that starts. */
#ifndef HEDDLE_SM_REGISTERS_H
#define HEDDLE_SM_REGISTERS_H

#include "base/base.h"

struct register_file {
    /* rows of the file; words of a bit set of rows */
    uint32_t rows, words;
    /* bit sets of rows: of CTAs, of a mechanism */
    uint64_t *owned, *lent;
    /* rows of `lent` */
    uint32_t lent_count;
};

void registers_init(struct register_file *f, uint32_t registers);
void registers_free(struct register_file *f);
/* Gives rows to a CTA, as a bit set: the lowest gap that holds all of them, or, where several kernels
 * have left smaller gaps, the lowest rows that are free. `lost` is called for each run of rows that a
 * mechanism loses. */
void registers_own(struct register_file *f, uint32_t rows, uint64_t *set,
                   void (*lost)(void *ctx, uint32_t first, uint32_t rows), void *ctx);
/* A CTA gives its rows back. */
void registers_disown(struct register_file *f, const uint64_t *set);
/* Rows for a mechanism, in one piece, the lowest at or above `from`. False: there are none. */
bool registers_take(struct register_file *f, uint32_t from, uint32_t rows, uint32_t *first);
/* The mechanism gives rows back. False: it does not have all of these; nothing changes. */
bool registers_give(struct register_file *f, uint32_t first, uint32_t rows);
/* Rows that CTAs own. */
uint32_t registers_owned(const struct register_file *f);

#endif
