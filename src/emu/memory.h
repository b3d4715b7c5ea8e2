/* memory.h: inside the emulator: from the addresses of a warp's lanes to bytes of the host. */
#ifndef HEDDLE_EMU_MEMORY_H
#define HEDDLE_EMU_MEMORY_H

#include "emu/grid.h"

enum access { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC };

/* Where the lanes of one access find their bytes on the host. */
struct reach {
    bool regular; /* lane l at base + l * stride, all 32 of them */
    uint8_t *base;
    int64_t stride;
    uint32_t shared;        /* lanes whose bytes lie in shared memory */
    uint32_t global;        /* in device memory */
    uint8_t *at[ISA_LANES]; /* when not regular: for the lanes of the mask */
};

static inline uint8_t *reach_lane(const struct reach *r, uint32_t lane)
{
    return r->regular ? r->base + (int64_t)lane * r->stride : r->at[lane];
}

/* Resolves address operand `addr` (is_32: one row, else two) plus offset in a space for the lanes of mask,
 * and checks bounds and alignment. False: a fault was raised, nothing may be touched. */
struct access_desc {
    uint16_t addr;
    bool is_32;
    uint8_t space;  /* enum isa_space */
    uint8_t access; /* enum access */
    uint32_t bytes;
    int64_t offset;
};
bool memory_reach(struct warp *w, const struct access_desc *d, uint32_t mask, struct reach *out);

/* The same for addresses in rows that are not operands; d->addr and d->offset are not used. */
bool memory_reach_rows(struct warp *w, const struct access_desc *d, const uint32_t lo[ISA_LANES],
                       const uint32_t hi[ISA_LANES], uint32_t mask, struct reach *out);
/* The same for `count` lanes from lane 0 on, side by side from an address on; d->addr is not used. */
bool memory_reach_run(struct warp *w, const struct access_desc *d, uint64_t address, uint32_t count,
                      struct reach *out);

/* The memory that an address of a space refers to. An address of shared or local memory becomes an offset,
 * one of parameters a device address. */
enum isa_space memory_resolve(const struct run *r, uint8_t space, uint64_t *address);

/* Where `bytes` bytes at a generic address lie for one lane, or NULL. For strings and argument buffers. */
uint8_t *memory_peek(struct warp *w, uint32_t lane, uint64_t address, uint64_t bytes);
/* True when [lo, hi) can be read by the instruction that runs now. For texels. */
bool memory_readable(struct warp *w, uint64_t lo, uint64_t hi);

/* The 64-bit value of a lane in an aligned pair of rows. */
static inline uint64_t row_u64(const uint32_t *row, uint32_t lane)
{
    return (uint64_t)row[lane + ISA_LANES] << 32 | row[lane];
}
static inline void set_row_u64(uint32_t *row, uint32_t lane, uint64_t v)
{
    row[lane] = (uint32_t)v;
    row[lane + ISA_LANES] = (uint32_t)(v >> 32);
}

#endif
