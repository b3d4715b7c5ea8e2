/* atomic.h: what an atomic operation makes of memory: old value and operands -> new value. No memory here, so
 * that the timing model can apply it where and when the request arrives. */
#ifndef HEDDLE_EMU_ATOMIC_H
#define HEDDLE_EMU_ATOMIC_H

#include "isa/isa.h"

/* a = operand (cas: what to compare with), b = cas's new value. Values are zero-extended. flush: subnormal
 * f32 count as zero (atom.add.f32 in global memory). `bits`: 16, 32 or 64. */
uint64_t atomic_compute(enum isa_atom op, enum isa_type type, uint32_t bits, bool flush, uint64_t old,
                        uint64_t a, uint64_t b);
/* Whether operation and type go together at all. */
bool atomic_known(enum isa_atom op, enum isa_type type, uint32_t bits);

#endif
