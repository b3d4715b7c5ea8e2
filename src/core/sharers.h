/* sharers.h: which L1s hold a line of global memory, for mechanisms that look beyond their own SM (the port
 * `sharers`). It is there only where a mechanism uses it.
 *
 * An SM notes what its L1 takes in and drops in a log of its own; when the step ends, the logs are applied in
 * the order of SMs. So the table shows what was so when the cycle before ended, whichever SM asks and
 * whatever thread it runs on, and it is only read while SMs run. */
#ifndef HEDDLE_SHARERS_H
#define HEDDLE_SHARERS_H

#include "base/base.h"

struct sharers;
struct sharers *sharers_create(uint32_t sms);
void sharers_destroy(struct sharers *s);

/* In the SM's own cycle: its L1 holds the whole line from the end of this cycle on, or does not. */
void sharers_note(struct sharers *s, uint32_t sm, uint64_t line, bool holds);
/* Applies what SMs have noted. No SM runs meanwhile. */
void sharers_commit(struct sharers *s);
/* A mask of SMs, as many words as they need, valid until sharers_commit. */
const uint64_t *sharers_of(const struct sharers *s, uint64_t line);
/* Lines of one SM that the table has. */
uint64_t sharers_lines(const struct sharers *s, uint32_t sm);

#endif
