/* occupancy.h: how many CTAs of a kernel fit one SM: the rules of the CUDA Occupancy Calculator, whose units
 * and partitions are parameters. */
#ifndef HEDDLE_OCCUPANCY_H
#define HEDDLE_OCCUPANCY_H

#include "core/machine.h"
#include "isa/isa.h"

/* A register file that hands registers to warps in units. Each partition has its share of them. */
struct occupancy_registers {
    uint32_t count, unit, partitions;
};
struct occupancy_registers occupancy_registers_of(const struct machine *m);
/* Registers that a warp at this many registers a thread takes. */
uint32_t occupancy_warp_registers(struct occupancy_registers r, uint32_t thread_registers);
/* Warps at this many registers a thread that the register file holds. */
uint32_t occupancy_warps(struct occupancy_registers r, uint32_t thread_registers);
/* Warps of this kernel that the register file holds: registers are handed to warps in units, and each of the
 * SM's sub-partitions has its share of them. */
uint32_t occupancy_warps_by_registers(const struct machine *m, const struct isa_kernel *k);
/* Shared memory that a CTA takes of an SM: what it uses (static and dynamic) and the system's part, in whole
 * units. */
uint64_t occupancy_shared(const struct machine *m, uint64_t shared_bytes);
/* CTAs of one SM; shared_bytes is static and dynamic together. 0 = does not fit at all. */
uint32_t occupancy_ctas(const struct machine *m, const struct isa_kernel *k, uint32_t threads,
                        uint64_t shared_bytes);
/* How many CTAs of a kernel an SM holds, and what bounds them: "warps", "threads", "ctas" (slots),
 * "registers", "shared". */
struct occupancy {
    uint32_t ctas;
    const char *limit;
};
struct occupancy occupancy_of(const struct machine *m, const struct isa_kernel *k, uint32_t threads,
                              uint64_t shared_bytes, uint64_t sm_shared);
/* As above, where the SM has sm_shared bytes of shared memory instead of all that it can have. */
uint32_t occupancy_ctas_within(const struct machine *m, const struct isa_kernel *k, uint32_t threads,
                               uint64_t shared_bytes, uint64_t sm_shared);

#endif
