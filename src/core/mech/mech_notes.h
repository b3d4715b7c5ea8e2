/* mech_notes.h: the notes that mechanisms write while they run (the port `note`).
 *
 * (1) Each SM has its own notes, so SMs on different threads do not touch the same data. (2) At most
 * MECH_NOTES_MAX of one mechanism on one SM are kept; further ones are counted. (3) The merged order is by
 * cycle, then SM, then the order of writing: it does not depend on threads. */
#ifndef HEDDLE_MECH_NOTES_H
#define HEDDLE_MECH_NOTES_H

#include "base/vec.h"
#include "stats/run.h"

struct mech_note {
    uint64_t cycle, a, b;
    uint32_t mechanism, kind;
};

/* The notes of one SM. */
struct mech_notes {
    _Alignas(HOST_LINE) VEC(struct mech_note) items;
    uint64_t dropped;
    /* [mechanism]: how many are in items */
    uint32_t *kept;
};

void mech_notes_init(struct mech_notes *n, uint32_t mechanisms);
void mech_notes_free(struct mech_notes *n);
void mech_notes_add(struct mech_notes *n, const struct mech_note *note);

struct mech_set;
/* Returns the notes of all SMs, merged, to be freed by the caller. NULL: there are none. */
struct timed_note *mech_notes_merge(const struct mech_notes *by_sm, uint32_t sm_count,
                                    const struct mech_set *set, uint32_t *count);
uint64_t mech_notes_dropped(const struct mech_notes *by_sm, uint32_t sm_count);

#endif
