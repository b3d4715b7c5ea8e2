/* late.h: inside the emulator: the log of what one SM does to device memory during a cycle.
 *
 * SMs may be stepped by several threads. During a cycle device memory is only read: stores, atomics that must
 * happen now and calls of the device runtime are written into the log of the SM, and emu_log_apply makes them
 * happen, log after log in the order of SMs, when no SM is stepped. Invariants. (1) An SM sees what it did
 * itself in the same cycle: loads look through the log. (2) An SM sees what the others
 * did in the next cycle. So the result does not depend on how SMs are distributed over threads. */
#ifndef HEDDLE_EMU_LATE_H
#define HEDDLE_EMU_LATE_H

#include "emu/deferred.h"
#include "emu/step.h"

/* The most that one lane accesses: four 64-bit words. */
enum { LATE_LANE_BYTES = 32 };

enum late_kind {
    LATE_STORE,
    /* atomics of a record are made, because their own thread accesses the bytes */
    LATE_SETTLE,
    /* atomics of a record have reached the L2 slice that makes them */
    LATE_APPLY,
    /* printf, malloc, free, assert */
    LATE_OP
};

struct late_entry {
    /* enum late_kind */
    uint8_t kind;
    /* a store: lane l goes to base + l * stride */
    bool regular;
    /* lanes that are stored; lanes of the record; lanes that execute */
    uint32_t mask;
    /* a store */
    uint32_t bytes;
    uint8_t *base;
    int64_t stride;
    /* atomics */
    struct deferred_pool *pool;
    /* fresh: lanes that no older entry of the log has */
    uint32_t record, fresh;
    /* an operation */
    struct warp *warp;
    const struct isa_inst *inst;
    uint32_t pc;
    /* a store that is not regular */
    uint8_t *at[ISA_LANES];
    uint8_t data[ISA_LANES * LATE_LANE_BYTES];
};

struct emu_log {
    /* emptied, never freed: it grows to what a cycle needs */
    VEC(struct late_entry) entries;
    /* all bytes that the entries touch lie in [lo, hi) */
    uint64_t lo, hi;
    /* set when the log is not empty: checked before it is applied */
    struct event_flag *written;
    uint8_t views[ISA_LANES][LATE_LANE_BYTES];
};

/* Logs a store of r's lanes to device memory, of `bytes` each: r then points to where the log keeps the
 * data. */
void late_store(struct emu_log *log, struct reach *r, uint32_t mask, uint32_t bytes);
/* Redirects the lanes of a load that touch logged bytes to a copy that has them. */
void late_load(struct emu_log *log, struct reach *r, uint32_t mask, uint32_t bytes);
/* Logs lanes of a record; kind: LATE_SETTLE or LATE_APPLY. */
void late_atomic(struct emu_log *log, enum late_kind kind, struct deferred_pool *pool, uint32_t record,
                 uint32_t lanes);
/* Logs the instruction that the warp is about to execute. True: it was logged, and does nothing now. */
bool late_op(struct emu_log *log, struct warp *w, const struct isa_inst *i, uint32_t mask);

#endif
