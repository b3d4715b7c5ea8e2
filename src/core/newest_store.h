/* newest_store.h: when the L2 took the newest store to each line of global memory. It is there only where a
 * mechanism asks how old copies are (sharers.h).
 *
 * A date is the tick at which a slice accepted the request: the slices serve the requests for a line in that
 * order. So a copy contains a store if its read was accepted later than the store. Lines never leave the
 * table: it grows by 16 bytes for each line that a program writes. */
#ifndef HEDDLE_NEWEST_STORE_H
#define HEDDLE_NEWEST_STORE_H

#include "base/tick.h"

/* The date of a line that nobody has stored to: after 0, which is a copy known to be old, and before the date
 * of any request. */
enum { NEWEST_STORE_NEVER = 1 };

struct newest_store_slot {
    uint64_t line;
    tick date;
};
struct newest_store_table {
    struct newest_store_slot *slots;
    /* 2^bits; those that have a line */
    uint64_t count, used;
    uint32_t bits;
};
/* Lines that SMs store to are few beside those that the host copies in, and each fill looks them up, so they
 * have a separate table. */
struct newest_store {
    struct newest_store_table by_sms, by_host;
    /* the newest date of any line that the host stored to */
    tick host_newest;
};

void newest_store_init(struct newest_store *n);
void newest_store_free(struct newest_store *n);
void newest_store_note(struct newest_store *n, bool by_host, uint64_t line, tick date);
/* The date of a copy that contains the newest store to the line: that of the store or, after stores of the
 * host to other lines, a later one. */
tick newest_store_of(const struct newest_store *n, uint64_t line);
/* Was the line stored to later than at `date`? */
bool newest_store_is_after(const struct newest_store *n, uint64_t line, tick date);

#endif
