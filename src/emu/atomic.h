/* atomic.h: what an atomic operation makes of memory: old value and operands -> new value. No memory here, so
 * that the timing model can apply it where and when the request arrives. */
#ifndef HEDDLE_EMU_ATOMIC_H
#define HEDDLE_EMU_ATOMIC_H

#include "isa/isa.h"

/* a = operand (cas: what to compare with), b = cas's new value. Values are zero-extended. in_global: sums are
 * made by the memory system, which flushes subnormal f32 and hands on f64 NaNs as they are. `bits`: 16, 32
 * or 64. */
uint64_t atomic_compute(enum isa_atom op, enum isa_type type, uint32_t bits, bool in_global, uint64_t old,
                        uint64_t a, uint64_t b);
/* Whether operation and type go together at all. */
bool atomic_known(enum isa_atom op, enum isa_type type, uint32_t bits);

#endif
