/* sharers.h: which L1s hold a line of global memory, and which of these copies are old, for mechanisms that
 * look beyond their own SM (the ports `sharers` and `copy_as_of`). It is there only where a mechanism uses
 * it.
 *
 * An SM logs what its L1 takes in and drops; when the step ends, the logs are applied in the order of SMs. So
 * the table shows what was so when the cycle before ended, whichever SM asks and whatever thread it runs on,
 * and it is only read while SMs run.
 *
 * With sharers_date_copies a copy is *old* when a store that the L2 has performed is newer than one of its
 * sectors (newest_store.h). Atomics and copies from the host are stores. A line that an L1 has in part can be
 * old before it is whole. An L1 that updates the lines that it stores to has its own stores already. Left
 * out: a copy that another L1 makes of such a line, while the store is on its way to the L2, has that store
 * too, and counts as old.
 *
 * Only sharers_store and sharers_commit write the table, at the end of a step. */
#ifndef HEDDLE_SHARERS_H
#define HEDDLE_SHARERS_H

#include "base/tick.h"

struct sharers;
struct sharers *sharers_create(uint32_t sms);
void sharers_destroy(struct sharers *s);
/* Copies have ages. line_bytes: of a line of the L1s; updates: a store leaves its line in its own L1. */
void sharers_date_copies(struct sharers *s, uint32_t line_bytes, bool updates);

/* What an L1 holds of a line from the end of the cycle on. */
enum sharers_part { SHARERS_NONE, SHARERS_SOME, SHARERS_ALL };
/* Called in the SM's cycle. as_of: when the L2 accepted the read that brought the newest sectors, or what
 * sharers_as_of said of the copy that they were made of; unused for SHARERS_NONE. */
void sharers_note(struct sharers *s, uint32_t sm, uint64_t line, enum sharers_part holds, tick as_of);
/* Applies what SMs have logged. No SM runs meanwhile. */
void sharers_commit(struct sharers *s);
/* All logs are applied: the table shows what the L1s hold now. */
bool sharers_is_settled(const struct sharers *s);
/* The L2 has performed a store of this SM, or of the host, to the line of this address, which it accepted at
 * `date`. No SM runs meanwhile; before sharers_commit of its step. */
enum { SHARERS_HOST = -1 };
void sharers_store(struct sharers *s, int sm, uint64_t address, tick date);

/* A mask of SMs that hold the whole line, as many words as they need, valid until sharers_commit. */
const uint64_t *sharers_of(const struct sharers *s, uint64_t line);
/* 0: the copy of this SM is old. Otherwise the date of the newest store to its line, which it has. With
 * sees_notes an SM that asks about its own copy sees what it has logged in this cycle. */
tick sharers_as_of(const struct sharers *s, uint32_t sm, uint64_t line, bool sees_notes);
/* The number of whole lines of one SM in the table. */
uint64_t sharers_lines(const struct sharers *s, uint32_t sm);

#endif
