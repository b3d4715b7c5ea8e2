/* registers.h: who owns the rows of the register file. See registers.c.
 *
 * A row is one register of a warp: 32 lanes of 4 bytes. A CTA owns rows while it is resident. A mechanism may
 * keep registers of CTAs without rows in rows that no CTA owns. Another may borrow rows that are neither
 * owned nor kept, and loses them where registers need them.
 *
 * (1) A row is owned, kept, lent, or none of these. */
#ifndef HEDDLE_SM_REGISTERS_H
#define HEDDLE_SM_REGISTERS_H

#include "base/base.h"

struct register_file {
    /* rows of the file; words of a bit set of rows */
    uint32_t rows, words;
    /* bit sets of rows: owned by CTAs; kept for registers by a mechanism; lent to a mechanism for other
     * data */
    uint64_t *owned, *kept, *lent;
    /* rows of `kept` and `lent` */
    uint32_t kept_count, lent_count;
};
/* Called for each run of rows that a mechanism loses. */
typedef void registers_lost_fn(void *ctx, uint32_t first, uint32_t rows);

void registers_init(struct register_file *f, uint32_t registers);
void registers_free(struct register_file *f);
/* Rows below `below` that are neither owned nor kept. */
uint32_t registers_room(const struct register_file *f, uint32_t below);
/* Gives rows below `below` to a CTA, as a bit set: the lowest gap that holds all of them, or, where several
 * kernels have left smaller gaps, the lowest rows that are free. There is room. */
void registers_own(struct register_file *f, uint32_t below, uint32_t rows, uint64_t *set,
                   registers_lost_fn *lost, void *ctx);
/* A CTA gives its rows back. */
void registers_disown(struct register_file *f, const uint64_t *set);
/* A mechanism puts registers of a CTA without rows into a row. False: a CTA owns it, or it is kept. */
bool registers_keep(struct register_file *f, uint32_t row, registers_lost_fn *lost, void *ctx);
/* They have left the row. False: it is not kept. */
bool registers_release(struct register_file *f, uint32_t row);
/* Rows for a mechanism, in one piece, the lowest at or above `from`. False: there are none. */
bool registers_take(struct register_file *f, uint32_t from, uint32_t rows, uint32_t *first);
/* The mechanism gives rows back. False: it does not have all of these; nothing changes. */
bool registers_give(struct register_file *f, uint32_t first, uint32_t rows);
/* Rows that CTAs own. */
uint32_t registers_owned(const struct register_file *f);
/* Has a mechanism borrowed the row? */
bool registers_is_lent(const struct register_file *f, uint32_t row);
/* Invariant (1). */
bool registers_have_one_owner(const struct register_file *f);

#endif
