/* atomic.h: what an atomic operation makes of memory: old value and operands -> new value. No memory here, so
 * that the timing model can apply it where and when the request arrives. */
#ifndef HEDDLE_EMU_ATOMIC_H
#define HEDDLE_EMU_ATOMIC_H

#include "emu/memory.h"

/* a = operand (cas: what to compare with), b = cas's new value. Values are zero-extended. in_global: sums are
 * made by the memory system, which flushes subnormal f32 and hands on f64 NaNs as they are. `bits`: 16, 32
 * or 64. */
uint64_t atomic_compute(enum isa_atom op, enum isa_type type, uint32_t bits, bool in_global, uint64_t old,
                        uint64_t a, uint64_t b);

/* The same for one lane of an instruction: its operands, what it makes of the bytes at p, its result. The
 * instructions themselves do all lanes at once. */
enum { ATOMIC_VALUES = 4 };
bool atomic_reach(struct warp *w, const struct isa_inst *i, uint32_t mask, struct reach *r);
void atomic_operands(const struct exec *x, const struct isa_inst *i, uint32_t lane,
                     uint64_t value[ATOMIC_VALUES]);
void atomic_lane(const struct isa_inst *i, bool in_global, uint8_t *p, const uint64_t value[ATOMIC_VALUES],
                 uint64_t old[2]);
void atomic_result(const struct exec *x, const struct isa_inst *i, uint32_t lane, const uint64_t old[2]);

/* Whether operation and type go together at all. */
bool atomic_known(enum isa_atom op, enum isa_type type, uint32_t bits);

#endif
