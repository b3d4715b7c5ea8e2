/* run_end.h: how a run ended before its work was done: a fault of the program, a machine that is stuck, a
 * broken law of the simulator, a signal, a mechanism that failed. The first reason is kept; nothing runs
 * after it. */
#ifndef HEDDLE_RUN_END_H
#define HEDDLE_RUN_END_H

#include "base/strbuf.h"
#include "emu/emu.h"

enum run_end_kind { END_NONE, END_FAULT, END_STUCK, END_LAW, END_INTERRUPTED, END_MECHANISM };

/* Written by run_end.c alone. */
struct run_end {
    enum run_end_kind kind;
    /* what the caller of the run gets */
    struct emu_fault fault;
    /* why, in many lines; empty while the run goes on */
    struct strbuf report;
};

static inline bool run_has_ended(const struct run_end *e) { return e->kind != END_NONE; }

void run_end_set(struct run_end *e, enum run_end_kind kind, enum emu_fault_kind fault, const char *report);
/* A fault of the program; its message is the report. */
void run_end_fault(struct run_end *e, const struct emu_fault *fault);
void run_end_free(struct run_end *e);

#endif
