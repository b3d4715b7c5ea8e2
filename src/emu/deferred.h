/* deferred.h: inside the emulator: global atomics, and loads of a privileged launch, that were issued and
 * have not happened yet.
 *
 * A *record* holds an instruction's operands and addresses. Its lanes are made when the timing model says
 * that the request has reached the L2 slice. Invariants. (1) owed contains todo: the timing model will ask
 * for a lane that is not made yet. (2) A thread sees its own atomics in program order: an access to the same
 * bytes makes them first, and so do its fences and barriers, after which other threads may read. (3) A record
 * with no lane in owed is free. */
#ifndef HEDDLE_EMU_DEFERRED_H
#define HEDDLE_EMU_DEFERRED_H

#include "emu/atomic.h"

struct deferred {
    const struct isa_inst *inst;
    /* whose registers get the results; NULL: its CTA is gone */
    struct warp *warp;
    /* lanes that are not made yet */
    uint32_t todo;
    /* lanes that the timing model has not asked for */
    uint32_t owed;
    /* lanes of todo that the log of the SM has (late.h) */
    uint32_t logged;
    /* list of the warp, in program order, or list of free records */
    uint32_t next;
    uint64_t addr[ISA_LANES];
    struct atomic_rows values;
};

struct deferred_pool {
    /* number n is at n - 1; 0 = none */
    VEC(struct deferred) records;
    uint32_t free;
    /* the SM that owns it, as the timing model numbers its records */
    uint32_t share;
    /* the record that deferred_op made; 0 = none, all lanes are made */
    uint32_t last;
};

void deferred_free(struct deferred_pool *p);
static inline struct deferred *deferred_at(struct deferred_pool *p, uint32_t number)
{
    assert(number && number <= p->records.len);
    return &p->records.data[number - 1];
}

enum { ATOM_BYTES_MAX = 16 };

/* In place of the function of an atomic: global lanes wait, shared ones happen at once. */
exec_fn deferred_op;
/* The timing model asks for lanes: those that are not made yet are made now. */
void deferred_apply(struct deferred_pool *p, uint32_t number, uint32_t lanes);
/* Makes those of the lanes that are not made yet. */
void deferred_happen(struct deferred_pool *p, uint32_t number, uint32_t lanes);
/* Makes atomics of the warp now, or puts them into its SM's log: all of them, or those whose lane touches the
 * same bytes. */
void deferred_settle(struct warp *w);
void deferred_settle_bytes(struct warp *w, uint32_t mask, const uint64_t *addr, uint32_t bytes);
/* Makes the atomics of every warp; no record is left. */
void deferred_settle_all(struct deferred_pool *p);
/* Drops the results of the warp's atomics: its registers are freed. */
void deferred_detach(struct warp *w);

#endif
