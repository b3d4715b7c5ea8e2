/* atomic.h: what an atomic operation computes: old value and operands -> new value. It does not access
 * memory, so that the timing model can apply it where and when the request arrives. */
#ifndef HEDDLE_EMU_ATOMIC_H
#define HEDDLE_EMU_ATOMIC_H

#include "emu/memory.h"

/* a = operand (cas: what to compare with), b = cas's new value. Values are zero-extended. in_global: sums are
 * made by the memory system, which flushes subnormal f32 and passes f64 NaNs unchanged. `bits`: 16, 32
 * or 64. */
uint64_t atomic_compute(enum isa_atom op, enum isa_type type, uint32_t bits, bool in_global, uint64_t old,
                        uint64_t a, uint64_t b);

/* The operands of an instruction, each a row of lanes: low words, and high words where there are any. Only
 * rows that exist are touched. */
enum { ATOMIC_VALUES = 4 };
struct atomic_rows {
    uint32_t low[ATOMIC_VALUES][ISA_LANES], high[ATOMIC_VALUES][ISA_LANES];
};

/* One lane by itself: atomic_lane applies it to the bytes at p. (The instructions do all lanes at once.) */
bool atomic_reach(struct warp *w, const struct isa_inst *i, uint32_t mask, struct reach *r);
void atomic_operands(const struct exec *x, const struct isa_inst *i, struct atomic_rows *out);
void atomic_lane(const struct isa_inst *i, bool in_global, uint8_t *p, const struct atomic_rows *v,
                 uint32_t lane, uint64_t old[2]);
void atomic_result(const struct exec *x, const struct isa_inst *i, uint32_t lane, const uint64_t old[2]);
/* True: a 32-bit sum whose result is not used, which is the most common atomic; atomic_count makes it. */
bool atomic_counts(const struct isa_inst *i);
static inline void atomic_count(uint8_t *p, uint32_t more)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    word += more;
    memcpy(p, &word, sizeof word);
}

/* Whether the operation exists for the type. */
bool atomic_known(enum isa_atom op, enum isa_type type, uint32_t bits);

#endif
