/* test_alu.h: one arithmetic instruction, run on a small register file of its own. Lane values go in and come
 * out as 64-bit words whatever the operand's letter is: r uses the low 32 bits, p bit 0. */
#ifndef HEDDLE_TEST_ALU_H
#define HEDDLE_TEST_ALU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "emu/exec.h"

enum { ALU_ROWS = 64, ALU_FIRST_DST = 2, ALU_FIRST_SRC = 16 };

struct alu_case {
    /* op, flags, mod, ...; operands are filled in */
    struct isa_inst inst;
    uint64_t src[ISA_SRC_MAX][ISA_LANES], out[ISA_DST_MAX][ISA_LANES];
    uint32_t mask;
    /* destination 0 shares the rows of this source; -1 = none */
    int alias;
    uint32_t rows[ALU_ROWS * ISA_LANES] __attribute__((aligned(64)));
    uint32_t pred[8];
};

static inline struct alu_case *alu_case_new(enum isa_op op)
{
    struct alu_case *c = aligned_alloc(64, sizeof *c);
    assert_non_null(c);
    memset(c, 0, sizeof *c);
    c->inst.op = (uint16_t)op;
    c->mask = UINT32_MAX;
    c->alias = -1;
    return c;
}

static inline uint32_t alu_mask_of(const uint64_t *lanes)
{
    uint32_t m = 0;
    for (int l = 0; l < ISA_LANES; l++) m |= (uint32_t)(lanes[l] & 1) << l;
    return m;
}
static inline void alu_case_load(struct alu_case *c)
{
    const struct isa_op_info *info = &isa_ops[c->inst.op];
    uint16_t row = ALU_FIRST_SRC;
    for (int k = 0; k < ISA_SRC_MAX; k++) c->inst.src[k] = ISA_NONE;
    for (int k = 0; info->src[k]; k++) {
        if (info->src[k] == 'p') {
            c->inst.src[k] = (uint16_t)(ISA_KIND_P | k);
            c->pred[k] = alu_mask_of(c->src[k]);
            continue;
        }
        c->inst.src[k] = row;
        for (int l = 0; l < ISA_LANES; l++) {
            c->rows[row * ISA_LANES + l] = (uint32_t)c->src[k][l];
            c->rows[(row + 1) * ISA_LANES + l] = (uint32_t)(c->src[k][l] >> 32);
        }
        row = (uint16_t)(row + 2);
    }
}
static inline void alu_case_run(struct alu_case *c, exec_fn *const *table)
{
    const struct isa_op_info *info = &isa_ops[c->inst.op];
    for (size_t k = 0; k < ARRAY_LEN(c->rows); k++) c->rows[k] = 0xa5a5a5a5u;
    for (int k = 0; k < 7; k++) c->pred[k] = 0xa5a5a5a5u;
    c->pred[ISA_PT] = UINT32_MAX;
    alu_case_load(c);
    for (int k = 0; k < ISA_DST_MAX; k++) c->inst.dst[k] = ISA_NONE;
    for (int k = 0; info->dst[k]; k++)
        c->inst.dst[k] = (uint16_t)(info->dst[k] == 'p' ? ISA_KIND_P | (5 + k) : ALU_FIRST_DST + 2 * k);
    if (c->alias >= 0) c->inst.dst[0] = c->inst.src[c->alias];
    struct exec x = {{c->rows, NULL}, c->pred, NULL};
    table[c->inst.op](&x, &c->inst, c->mask);
    for (int k = 0; info->dst[k]; k++)
        for (int l = 0; l < ISA_LANES; l++) {
            const uint16_t d = c->inst.dst[k];
            const uint32_t *row = c->rows + (size_t)(info->dst[k] == 'p' ? 0 : d) * ISA_LANES;
            c->out[k][l] = info->dst[k] == 'p'   ? c->pred[d & 7] >> l & 1
                           : info->dst[k] == 'd' ? row[l] | (uint64_t)row[l + ISA_LANES] << 32
                                                 : row[l];
        }
}

static inline bool alu_is_arithmetic(int op)
{
    return isa_is_arithmetic((uint16_t)op) && !(isa_ops[op].flags & ISA_SREG) && op != ISA_OP_ISSPACEP;
}

/* Operands that break things: integer and floating-point extremes, then anything. */
static inline uint64_t alu_operand(struct rng *r)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     15,
                                     16,
                                     17,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     65,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0xfffffffe,
                                     0x7fffffffffffffffull,
                                     0x8000000000000000ull,
                                     UINT64_MAX,
                                     /* f32 */ 0x3f800000,
                                     0xbf800000,
                                     0x7f800000,
                                     0xff800000,
                                     0x7fc00000,
                                     0xffc00001,
                                     0x7f800001,
                                     0x00800000,
                                     0x007fffff,
                                     0x00000001,
                                     0x80000001,
                                     0x7f7fffff,
                                     0xff7fffff,
                                     0x3f000000,
                                     0x3fc00000,
                                     0x40200000,
                                     0x4f000000,
                                     0x4effffff,
                                     0xcf000000,
                                     0x4f800000,
                                     0x5f000000,
                                     0x33800000,
                                     0x33000000,
                                     0x477fe000,
                                     0x477ff000,
                                     0x38800000,
                                     /* f64 */ 0x3ff0000000000000ull,
                                     0xbff0000000000000ull,
                                     0x7ff0000000000000ull,
                                     0xfff0000000000000ull,
                                     0x7ff8000000000000ull,
                                     0xfff8000000000001ull,
                                     0x7ff0000000000001ull,
                                     0x0010000000000000ull,
                                     0x000fffffffffffffull,
                                     0x7fefffffffffffffull,
                                     0x41e0000000000000ull,
                                     0xc1e0000000000000ull,
                                     0x43e0000000000000ull,
                                     0x3fe0000000000000ull,
                                     0x47efffffe0000000ull,
                                     0x36a0000000000000ull,
                                     /* halves */ 0x3c003c00,
                                     0x7c00fc00,
                                     0x7e01fe01,
                                     0x04000001,
                                     0x7bfffbff,
                                     0x3f803f80,
                                     0x7f80ff80,
                                     0x7fc17f81,
                                     0x00800001,
                                     0x7f7fff7f};
    const uint64_t v = rng_u64(r);
    switch (v >> 60) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6: return edges[rng_below(r, ARRAY_LEN(edges))];
    case 7: return edges[rng_below(r, ARRAY_LEN(edges))] + rng_below(r, 5) - 2;
    case 8: return rng_u64(r) >> rng_below(r, 64);
    case 9: return 0x3f800000u + (uint64_t)((int64_t)rng_below(r, 1u << 28) - (1 << 27)); /* f32 near 1 */
    case 10: return 0x3ff0000000000000ull + (rng_u64(r) >> 5) - (1ull << 58);
    default: return rng_u64(r);
    }
}

#endif
