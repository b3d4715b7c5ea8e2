/* cost.h: what a mechanism costs in hardware: bits of storage from its parameters, and energies that its
 * paper does not give. */
#ifndef HEDDLE_MECH_COST_H
#define HEDDLE_MECH_COST_H

#include <stdint.h>

/* An address as the papers count it. */
enum { COST_ADDRESS_BITS = 48 };

/* Picojoules of an access to a table of less than half a KB, and to a larger one: what CACTI gave for
 * Linebacker's load monitor and a partition of its tag table (Oh et al., ISCA'19, Table 3), rounded. */
#define COST_SMALL_TABLE_PJ 0.3
#define COST_LARGE_TABLE_PJ 2.0
/* Lanes of a row of registers: operands of a warp in an energy table. */
#define COST_ROW_LANES 32

/* The width of a field that holds the numbers from 0 to n - 1. */
static inline uint32_t cost_index_bits(uint64_t n)
{
    uint32_t bits = 0;
    while (bits < 64 && (uint64_t)1 << bits < n) bits++;
    return bits;
}

#endif
