/* deferred.h: inside the emulator: global atomics that were issued and have not happened yet.
 *
 * A *record* holds an instruction's operands and addresses. Its lanes happen when the timing model says that
 * the request has reached the place where atomics are made. Invariants. (1) owed contains todo: a lane that
 * is still to happen will be asked for. (2) A thread sees its own atomics in program order: whatever it does
 * next to the same bytes makes them happen first, and so do its fences and barriers, behind which others may
 * look. (3) A record that nobody owes anything is free. */
#ifndef HEDDLE_EMU_DEFERRED_H
#define HEDDLE_EMU_DEFERRED_H

#include "emu/atomic.h"

struct deferred {
    const struct isa_inst *inst;
    struct warp *warp; /* whose registers get the results; NULL: its CTA is gone */
    uint32_t todo;     /* lanes that have not happened */
    uint32_t owed;     /* lanes that the timing model has not asked for */
    uint32_t logged;   /* lanes of todo that the log of the SM has (late.h) */
    uint32_t next;     /* of the warp, in program order; or of the free ones */
    uint64_t addr[ISA_LANES];
    struct atomic_rows values;
};

struct deferred_pool {
    VEC(struct deferred) records; /* number n is at n - 1; 0 = none */
    uint32_t free;
    uint32_t share; /* which SM's it is, as the timing model names its records */
    uint32_t last;  /* what deferred_op made; 0 = nothing, all lanes have happened */
};

void deferred_free(struct deferred_pool *p);
static inline struct deferred *deferred_at(struct deferred_pool *p, uint32_t number)
{
    assert(number && number <= p->records.len);
    return &p->records.data[number - 1];
}

enum { ATOM_BYTES_MAX = 16 };

exec_fn
    deferred_op; /* in place of the function of an atomic: global lanes wait, shared ones happen at once */
/* The timing model asks for lanes: those that have not happened do so. */
void deferred_apply(struct deferred_pool *p, uint32_t number, uint32_t lanes);
void deferred_happen(struct deferred_pool *p, uint32_t number, uint32_t lanes); /* those that have not */
/* Atomics of the warp happen now, or in its SM's log: all of them, or those that touch the same bytes of the same lane. */
void deferred_settle(struct warp *w);
void deferred_settle_bytes(struct warp *w, uint32_t mask, const uint64_t *addr, uint32_t bytes);
void deferred_settle_all(struct deferred_pool *p); /* of every warp; nothing is owed any more */
void deferred_detach(struct warp *w);              /* its registers go away */

#endif
