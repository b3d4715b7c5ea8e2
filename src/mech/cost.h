/* cost.h: what a mechanism costs in hardware: bits of storage from its parameters, and energies that its
 * paper does not give. */
#ifndef HEDDLE_MECH_COST_H
#define HEDDLE_MECH_COST_H

#include "heddle/mechanism.h"

/* An address as the papers count it. */
enum { COST_ADDRESS_BITS = 48 };

/* Picojoules of an access to a table of less than half a KB, and to a larger one: the results of CACTI for
 * Linebacker's load monitor and a partition of its tag table (Oh et al., ISCA'19, Table 3), rounded. */
#define COST_SMALL_TABLE_PJ 0.3
#define COST_LARGE_TABLE_PJ 2.0
/* Lanes of a row of registers: operands of a warp in an energy table. */
#define COST_ROW_LANES 32

/* Energies of lines that a mechanism keeps in rows of registers: its statistics of lines read and written. */
#define COST_LINES_IN_ROWS(mech, reads, writes)                                                              \
    ENERGY_LIKE(mech ".row_reads", mech "." reads, COST_ROW_LANES, "register_read",                          \
                "line read from a row of registers"),                                                        \
        ENERGY_LIKE(mech ".row_writes", mech "." writes, COST_ROW_LANES, "register_write",                   \
                    "line written to a row of registers")

/* The width of a field that holds the numbers from 0 to n - 1. */
static inline uint32_t cost_index_bits(uint64_t n)
{
    uint32_t bits = 0;
    while (bits < 64 && (uint64_t)1 << bits < n) bits++;
    return bits;
}

/* A tag for each row of the register file. ways: lines among which one is replaced. */
static inline void cost_row_tags(struct mech_cost *c, const struct mech_machine *m, uint32_t tag_bits,
                                 uint32_t ways)
{
    mech_cost_add(c, MECH_EACH_SM, "tags", m->register_rows, 1 + tag_bits + cost_index_bits(ways),
                  "of each row of the register file: valid, tag, order");
}

/* `cost` of a mechanism that looks for a line in all rows, and replaces one of all. */
static inline void cost_lines_in_rows(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    cost_row_tags(c, m, COST_ADDRESS_BITS - cost_index_bits(m->line_bytes), m->register_rows);
}

#endif
