/* memory.h: inside the emulator: from the addresses of a warp's lanes to bytes of the host. */
#ifndef HEDDLE_EMU_MEMORY_H
#define HEDDLE_EMU_MEMORY_H

#include "emu/grid.h"
#include "emu/surface.h"

enum access { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC };

/* Where the lanes of one access find their bytes on the host. */
struct reach {
    /* lane l at base + l * stride, all 32 of them */
    bool regular;
    uint8_t *base;
    int64_t stride;
    /* lanes whose bytes lie in shared memory */
    uint32_t shared;
    /* lanes whose bytes lie in device memory */
    uint32_t global;
    /* when not regular: for the lanes of the mask */
    uint8_t *at[ISA_LANES];
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
    /* enum isa_space */
    uint8_t space;
    /* enum access */
    uint8_t access;
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

static inline uint32_t memory_word_bytes(uint16_t op)
{
    switch (op) {
    case ISA_OP_LD_U8:
    case ISA_OP_LD_S8:
    case ISA_OP_ST_8: return 1;
    case ISA_OP_LD_U16:
    case ISA_OP_LD_S16:
    case ISA_OP_ST_16:
    case ISA_OP_ATOM_16: return 2;
    case ISA_OP_LD_64:
    case ISA_OP_ST_64:
    case ISA_OP_ATOM_64: return 8;
    case ISA_OP_ATOM_128: return 16;
    default: return 4;
    }
}

static inline bool memory_is_bulk(const struct isa_inst *i)
{
    return i->op == ISA_OP_CPBULK_LOAD || i->op == ISA_OP_CPBULK_STORE;
}

/* What an instruction accesses by address; false: nothing. For cp.async it is the source. Prefetches count as
 * loads. */
static inline bool memory_describe(const struct isa_inst *i, struct access_desc *d)
{
    uint16_t flags = isa_ops[i->op].flags;
    if (i->op == ISA_OP_CPASYNC) {
        *d = (struct access_desc){
            .addr = i->src[1], .space = ISA_GLOBAL, .bytes = i->vec, .offset = (int32_t)i->target};
        return true;
    }
    if (i->op == ISA_OP_TEX || memory_is_bulk(i) || surface_is_access(i)) return false;
    if (flags & ISA_MBARRIER) {
        *d = (struct access_desc){.addr = i->src[0],
                                  .is_32 = i->flags & ISA_A32,
                                  .space = i->mod,
                                  .access = ACCESS_ATOMIC,
                                  .bytes = sizeof(uint64_t),
                                  .offset = i->imm};
        return true;
    }
    if (!(flags & (ISA_LOAD | ISA_STORE | ISA_ATOMIC)) && i->op != ISA_OP_PREFETCH) return false;
    uint32_t count = flags & (ISA_LOAD | ISA_STORE) && i->vec ? i->vec : 1;
    *d = (struct access_desc){.addr = i->src[0],
                              .is_32 = i->flags & ISA_A32,
                              .space = i->mod,
                              .access = flags & ISA_ATOMIC  ? ACCESS_ATOMIC
                                        : flags & ISA_STORE ? ACCESS_STORE
                                                            : ACCESS_LOAD,
                              .bytes = memory_word_bytes(i->op) * count,
                              .offset = i->imm};
    return true;
}

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
