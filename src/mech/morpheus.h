/* morpheus.h: the messages between the controller (morpheus.c) and the extended LLC kernel
 * (morpheus_kernel.c).
 *
 * A warp of the kernel, which is a set of the extended LLC, has three lines of its controller's window: its
 * row of the warp status table; its entry of the read and write data buffers; and what an atomic adds. The
 * controller writes the first sector of the row and answers the warp's load of it; the warp stores into the
 * others. Each sector is written once for a request, so that neither side sees what belongs to another
 * request.
 *
 * A warp loads its data buffer before it has a request. The load waits, and is answered together with that
 * of the row when a request comes that is not a read: so the bytes of a write or an insertion come with it.
 * What an atomic adds is asked for then. A warp that sends several victims says after each that there may be
 * more, loads its row, and goes on when the controller has answered. */
#ifndef HEDDLE_MORPHEUS_H
#define HEDDLE_MORPHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In bits 1 to 3 of `op`. */
enum morpheus_op {
    MORPHEUS_READ = 0,
    MORPHEUS_INSERT = 2,
    MORPHEUS_WRITE = 4,
    MORPHEUS_ATOMIC = 6,
    MORPHEUS_EXIT = 8
};

/* When a set allots its rows to the levels of compression: the room that blocks need at each level, in
 * quarters of a row, and the rows that are not compressed, in the low half, and those at the high level. */
struct morpheus_report {
    uint32_t none, low, high, rows, unused[4];
};

/* What the controller says: op, flags and sectors (0: a read); the tag; `base`, by which the kernel
 * branches; and how far the line of sums lies behind the data buffer, in bytes. Then, a sector each: the
 * result; the tag of a dirty block that has left and whose bytes are in the data buffer; and the report. */
struct morpheus_row {
    uint32_t op, tag, base, sums, unused0[4];
    uint32_t result, unused1[7];
    uint32_t victim, unused2[7];
    struct morpheus_report levels;
};
enum {
    MORPHEUS_OP_MASK = 14,
    /* the block is dirty afterwards */
    MORPHEUS_FLAG_DIRTY = 1,
    /* before anything else the set forgets its blocks */
    MORPHEUS_FLAG_CLEAR = 1 << 4,
    /* before anything else a compressed set gives up its blocks that were not used since the request that had
     * this flag before: the predictor has forgotten them */
    MORPHEUS_FLAG_FORGET = 1 << 5,
    /* the first sector; the others are below it */
    MORPHEUS_SECTOR_SHIFT = 31,
    /* sectors of the row that the warp stores into */
    MORPHEUS_RESULT_SECTOR = 1 << 1,
    MORPHEUS_VICTIM_SECTOR = 1 << 2,
    MORPHEUS_REPORT_SECTOR = 1 << 3
};
/* In `result`; else the block that was found, counted from 1. MORE: the warp has sent a dirty block, and is
 * still at its request. */
enum { MORPHEUS_MISS = 0, MORPHEUS_MORE = -1 };

/* Window lines of a warp. */
enum { MORPHEUS_ROW_LINE, MORPHEUS_DATA_LINE, MORPHEUS_SUMS_LINE, MORPHEUS_WINDOW_LINES };

/* Blocks of a set: the most that a thread's registers, or its lines in the L1 or in shared memory, can be. A
 * block is a line, a word of it in each lane. */
enum { MORPHEUS_BLOCKS_MAX = 256, MORPHEUS_LINE_WORDS = 32 };

/* ---- the kernel ---- */

/* Where the blocks of a set are. */
enum morpheus_store { MORPHEUS_REGISTERS, MORPHEUS_L1, MORPHEUS_SHARED, MORPHEUS_STORES };

/* The extended LLC kernel for the sets of one store. */
struct morpheus_kernel {
    const char *entry;
    enum morpheus_store store;
    uint32_t blocks;
    /* reads of registers by imov (4.3.2) */
    bool indirect_move;
    /* blocks are compressed (4.3.1), and kept in `blocks` rows, which a set allots to levels after each epoch
     * of `epoch` cycles */
    bool is_compressed;
    uint32_t epoch;
    /* a warp that is to exit sends its dirty blocks to the controller first */
    bool flushes;
};

/* `base` of a request to a set of `blocks` blocks that are not compressed. The kernel adds the slot of the
 * block, or -1: it has a branch for each of these, for reads, then insertions, writes and all else. */
static inline uint32_t morpheus_base(uint32_t op, uint32_t blocks)
{
    const bool is_plain = (op & MORPHEUS_OP_MASK) <= MORPHEUS_WRITE && !(op & MORPHEUS_FLAG_CLEAR);
    return (is_plain ? (op & MORPHEUS_OP_MASK) / 2 : 3) * (blocks + 1) + 1;
}

/* The most rows of compressed blocks, and the most blocks that a set holds then. */
enum { MORPHEUS_COMPRESSED_ROWS_MAX = 32, MORPHEUS_COMPRESSED_SLOTS = 64 };

/* Writes a module with these kernels as snprintf does. */
size_t morpheus_kernels(const struct morpheus_kernel *kernels, uint32_t count, char *ptx, size_t room);

#endif
