/* run_end.c: see run_end.h. */
#include "core/run_end.h"

void run_end_set(struct run_end *e, enum run_end_kind kind, enum emu_fault_kind fault, const char *report)
{
    assert(kind != END_NONE);
    if (run_has_ended(e)) return;
    e->kind = kind;
    strbuf_puts(&e->report, report);
    e->fault.kind = fault;
    snprintf(e->fault.message, sizeof e->fault.message, "%s", report);
}

void run_end_fault(struct run_end *e, const struct emu_fault *fault)
{
    if (run_has_ended(e)) return;
    run_end_set(e, END_FAULT, fault->kind, fault->message);
    e->fault = *fault;
}

void run_end_free(struct run_end *e) { strbuf_free(&e->report); }
