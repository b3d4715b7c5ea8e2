/* surface.h: inside the emulator: where the lanes of a surface access lie. */
#ifndef HEDDLE_EMU_SURFACE_H
#define HEDDLE_EMU_SURFACE_H

#include "emu/grid.h"

static inline bool surface_is_access(const struct isa_inst *i)
{
    return i->op >= ISA_OP_SULD_8 && i->op <= ISA_OP_SUST_P;
}
static inline bool surface_is_store(const struct isa_inst *i) { return i->op >= ISA_OP_SUST_8; }
/* Bytes that a lane moves; 0 where that is the size of a texel and its handle is not a surface. */
uint32_t surface_bytes(const struct warp *w, const struct isa_inst *i, uint32_t lane);
/* The lanes of mask that access memory, with their addresses: those inside of their surface, and with
 * .clamp all. Lanes whose handle is not a surface are left out. */
uint32_t surface_lanes(const struct warp *w, const struct isa_inst *i, uint32_t mask,
                       uint64_t addr[ISA_LANES]);

#endif
