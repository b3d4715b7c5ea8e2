/* fault.h: inside the emulator: how a run is stopped, and what it says. */
#ifndef HEDDLE_EMU_FAULT_H
#define HEDDLE_EMU_FAULT_H

#include "emu/grid.h"

/* Stops the run: the warp's current instruction and this lane are to blame. The text comes after "kernel 'k':
 * ". Only the first fault counts. */
void fault_raise(struct warp *w, uint32_t lane, enum emu_fault_kind kind, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* fault_raise with an address; `more` (may be NULL) is a further line. */
void fault_address(struct warp *w, uint32_t lane, enum emu_fault_kind kind, uint64_t address,
                   const char *more, const char *fmt, ...) PRINTF_LIKE(6, 7);
/* A fault at an instruction of a lane, with its whole text. */
void fault_report(struct warp *w, uint32_t lane, enum emu_fault_kind kind, uint32_t pc, const char *text);
/* Raises the fault of a CTA in deadlock: none of its warps can run. */
void fault_deadlock(struct cta *c);
/* "t.cu:12 (t.ptx:88)" of an instruction. */
void fault_place(const struct isa_kernel *k, uint32_t pc, struct strbuf *out);
void fault_set_text(struct emu_fault *f, const char *text);
void fault_thread(const struct warp *w, uint32_t lane, uint32_t out[3]);

#endif
