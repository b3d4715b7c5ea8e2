/* cost.h: what a mechanism would cost in hardware, in bits of storage, from its parameters. */
#ifndef HEDDLE_MECH_COST_H
#define HEDDLE_MECH_COST_H

#include <stdint.h>

/* An address as the papers count it. */
enum { COST_ADDRESS_BITS = 48 };

/* The width of a field that holds the numbers from 0 to n - 1. */
static inline uint32_t cost_index_bits(uint64_t n)
{
    uint32_t bits = 0;
    while (bits < 64 && (uint64_t)1 << bits < n) bits++;
    return bits;
}

#endif
