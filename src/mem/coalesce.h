/* coalesce.h: from the addresses of a warp's lanes to memory transactions, and the passes that banked shared
 * memory needs.
 *
 * Fermi to Maxwell fetch whole 128-byte lines: a transaction for each distinct line. From Volta on a line has
 * 32-byte sectors that are fetched alone: still a transaction for each line, with the mask of its sectors.
 * Transactions come in the order of the first lane that wants each, or from the highest line down, as in
 * GPGPU-Sim, which may also split atomics. Wide accesses (8 and 16 bytes a lane) are
 * handled by half and quarter warps in hardware; lanes of different parts that want one line still share it,
 * so they make more transactions only where lines differ. */
#ifndef HEDDLE_COALESCE_H
#define HEDDLE_COALESCE_H

#include "base/base.h"

enum {
    COALESCE_LANES = 32,
    /* a local access of 16 bytes touches four lines in each lane */
    COALESCE_TXN_MAX = 4 * COALESCE_LANES,
    COALESCE_SECTOR_BYTES = 32,
    COALESCE_LINE_MAX = 128,
    SHARED_BANKS_MAX = 64
};

/* All sectors of a line. */
static inline uint32_t coalesce_line_sectors(uint32_t line_bytes)
{
    return (uint32_t)((1ull << line_bytes / COALESCE_SECTOR_BYTES) - 1);
}

struct coalesce_access {
    /* [32]: of the lanes in mask */
    const uint64_t *addr;
    uint32_t mask;
    /* bytes of one lane, of all elements of a vector: 1 to 16; addresses are multiples of it */
    uint32_t bytes;
    /* 32, 64 or 128 */
    uint32_t line_bytes;
    /* sector mode: loads name the sectors that they want; else whole lines */
    bool sectored;
    bool is_store, is_atomic;
    /* the highest line first, instead of the first lane's */
    bool descending;
    /* atomics: a transaction for each sector, and for each further lane at the same word */
    bool split_atomic;
    /* atomics: no transaction crosses a multiple of this, the L2's line, where it takes effect; 32 or more */
    uint32_t atomic_bytes;
};

/* Four to a line of the host's cache. */
struct coalesce_txn {
    /* line address */
    uint64_t line;
    /* lanes that take part; a deferred atomic is applied for these */
    uint32_t lanes;
    /* data that travels: stores whole sectors with a byte mask, atomics an operand for each lane; loads 0 */
    uint16_t write_bytes;
    /* wanted or written; stores and atomics name what they touch in both modes */
    uint8_t sectors;
    /* a store that does not write all bytes of its sectors */
    bool partial;
};

/* Fills out[] and returns the number of transactions. */
uint32_t coalesce_global(const struct coalesce_access *a, struct coalesce_txn out[COALESCE_TXN_MAX]);

/* Local memory is interleaved by word, so that lanes at the same offset share a line. base: of this warp
 * slot, line aligned. */
static inline uint64_t coalesce_local_address(uint64_t base, uint64_t offset, uint32_t lane)
{
    return base + offset / 4 * (4 * COALESCE_LANES) + lane * 4 + offset % 4;
}
/* a->addr holds offsets in the threads' local memory. Wide accesses go word by word. */
uint32_t coalesce_local(const struct coalesce_access *a, uint64_t base,
                        struct coalesce_txn out[COALESCE_TXN_MAX]);

struct shared_access {
    /* [32]: offsets of the lanes in mask */
    const uint64_t *addr;
    uint32_t mask;
    /* bytes of one lane, of all elements of a vector */
    uint32_t bytes;
    bool is_atomic;
    /* powers of two */
    uint32_t banks, bank_bytes;
};
/* Passes through shared memory: in one pass each bank serves one of its words, to all lanes that want it.
 * Lanes go together as far as their words could fill the banks once: with 32 banks of 4 bytes a warp at 4
 * bytes a lane, half a warp at 8, a quarter at 16. Atomics serve one lane a bank. 0 for an empty mask. */
uint32_t coalesce_shared_passes(const struct shared_access *a);

#endif
