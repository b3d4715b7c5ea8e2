/* occupancy.h: how many CTAs of a kernel fit one SM: the rules of the CUDA Occupancy Calculator. */
#ifndef HEDDLE_OCCUPANCY_H
#define HEDDLE_OCCUPANCY_H

#include "core/machine.h"
#include "isa/isa.h"

/* Warps of this kernel that the register file holds: registers are handed to warps in units, and each of the SM's
 * sub-partitions has its share of them. */
uint32_t occupancy_warps_by_registers(const struct machine *m, const struct isa_kernel *k);
/* CTAs of one SM; shared_bytes is static and dynamic together. 0 = does not fit at all. */
uint32_t occupancy_ctas(const struct machine *m, const struct isa_kernel *k, uint32_t threads,
                        uint64_t shared_bytes);

#endif
