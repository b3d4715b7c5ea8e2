/* late.h: inside the emulator: what the steps of one SM do to memory that all SMs see, until the end of the cycle.
 *
 * SMs may be stepped by several threads. During a cycle device memory is only read: stores, atomics that must
 * happen now and calls of the device runtime are written into the log of the SM, and emu_log_apply makes them
 * happen, log after log in the order of SMs, when no SM is stepped. Invariants. (1) An SM sees what it did itself
 * in the same cycle: loads look through the log. (2) What the others did they see in the next cycle. So the
 * result does not depend on how SMs are shared out among threads. */
#ifndef HEDDLE_EMU_LATE_H
#define HEDDLE_EMU_LATE_H

#include "emu/deferred.h"
#include "emu/step.h"

enum { LATE_LANE_BYTES = 32 }; /* of one lane, at most: four 64-bit words */

enum late_kind {
    LATE_STORE,
    LATE_SETTLE, /* atomics of a record happen, for their own thread looks at the bytes */
    LATE_APPLY,  /* they have reached the place where they are made */
    LATE_OP      /* printf, malloc, free, assert */
};

struct late_entry {
    uint8_t kind;  /* enum late_kind */
    bool regular;  /* of a store: lane l goes to base + l * stride */
    uint32_t mask; /* lanes: stored; of the record; that execute */
    /* a store */
    uint32_t bytes;
    uint8_t *base;
    int64_t stride;
    /* atomics */
    struct deferred_pool *pool;
    uint32_t record, fresh; /* fresh: lanes that no older entry of the log has */
    /* an operation */
    struct warp *warp;
    const struct isa_inst *inst;
    uint32_t pc;
    uint8_t *at[ISA_LANES]; /* of a store that is not regular */
    uint8_t data[ISA_LANES * LATE_LANE_BYTES];
};

struct emu_log {
    VEC(struct late_entry) entries; /* emptied, never given back: it grows to what a cycle needs */
    uint64_t lo, hi;                /* all bytes that the entries touch lie in [lo, hi) */
    uint8_t *news;                  /* who applies it looks here first */
    uint8_t views[ISA_LANES][LATE_LANE_BYTES];
};

/* A store of r's lanes in device memory, of `bytes` each: r is turned to where the log keeps the data. */
void late_store(struct emu_log *log, struct reach *r, uint32_t mask, uint32_t bytes);
/* A load: lanes that touch what the log holds are turned to a copy that has it. */
void late_load(struct emu_log *log, struct reach *r, uint32_t mask, uint32_t bytes);
/* Lanes of a record; kind: LATE_SETTLE or LATE_APPLY. */
void late_atomic(struct emu_log *log, enum late_kind kind, struct deferred_pool *pool, uint32_t record,
                 uint32_t lanes);
/* The instruction that the warp is about to step over; true: it was taken down, and does nothing now. */
bool late_op(struct emu_log *log, struct warp *w, const struct isa_inst *i, uint32_t mask);

#endif
