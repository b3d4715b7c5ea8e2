/* limits.c: the launch limits of a machine. Grid and block shapes are those of every CUDA device since
 * compute capability 3.0 (CUDA C Programming Guide, technical specifications). */
#include "cuda/limits.h"

struct emu_limits limits_from_machine(const struct machine *m)
{
    return (struct emu_limits){
        .threads_per_cta_max = m->cta_threads,
        .grid_max = {INT32_MAX, 65535, 65535},
        .block_max = {m->cta_threads, m->cta_threads, 64},
        .shared_per_cta_max = (uint32_t)m->cta_shared_optin_bytes,
        .regs_per_cta_max = m->sm_registers,
        .sm_count = m->sm_count,
        .stack_bytes = m->emu_stack_bytes,
        .heap_bytes = m->emu_heap_bytes,
        .warp_insts_max = m->emu_warp_insts_max,
        .clock_khz = m->core_clock_khz,
    };
}
