/* mech_seat.h: one mechanism on one SM; only mech_host.c, mech_votes.c and mech_ports.c include it. */
#ifndef HEDDLE_MECH_SEAT_H
#define HEDDLE_MECH_SEAT_H

#include "core/mech/mech_host.h"

enum mech_mask { MECH_MASK_ISSUE, MECH_MASK_MEMORY, MECH_MASK_LOAD, MECH_MASK_COUNT };

/* The votes of a mechanism; limits that it has not set have the values of mech_sm. */
struct mech_votes {
    uint64_t masks[MECH_MASK_COUNT][MECH_BANKS_MAX];
    uint32_t cta_limit, cta_rows, l1_lines, l1_lines_max, reexec_entries, stall_cycles;
};

struct mech_seat {
    struct mech_sm *sm;
    const struct mechanism *mech;
    /* named in marks */
    struct mech_caller caller;
    uint32_t index;
    uint32_t note_kinds;
    struct mech_votes votes;
    /* core cycles; 0 = no timer */
    uint32_t period;
    /* when the timer is due next, UINT64_MAX = never; when it was due last */
    uint64_t due, fired;
    /* blocks of the port `memory`, and their bytes together */
    VEC(void *) memory;
    size_t memory_bytes;
    /* the ports that this mechanism was given */
    struct mech_ports ports;
};

/* Leaves the hook: the mechanism did something forbidden in this hook or port (mech_guard.h). */
NORETURN COLD void mech_fail(const struct mech_seat *seat, const char *where, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* mech_host.c: calls the mechanism's timer `cycles` cycles after now or its last call, and then with this
 * period; 0: never. Misses that take_miss has claimed. */
void mech_set_timer(struct mech_seat *seat, uint64_t now, uint32_t cycles);
bool mech_has_claimed(const struct mech_sm *m, uint32_t token);
void mech_end_claim(struct mech_sm *m, uint32_t token);

/* mech_votes.c: the votes of a seat that allows everything; setting one of its masks; combining all
 * limits. */
struct mech_votes mech_votes_all(void);
void mech_vote_mask(struct mech_seat *seat, enum mech_mask mask, uint32_t bank, uint64_t warps);
void mech_combine_masks(struct mech_sm *m);
void mech_combine_limits(struct mech_sm *m);
/* Tells the SM that a combined vote or the next timer has changed. */
void mech_tell_votes(const struct mech_sm *m);

/* mech_ports.c */
void mech_ports_fill(struct mech_seat *seat);

#endif
