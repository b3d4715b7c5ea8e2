/* machine.h: a modelled machine: machines/NAME.yaml read into the rows of machine.c and of every
 * component. */
#ifndef HEDDLE_MACHINE_H
#define HEDDLE_MACHINE_H

#include "config/param.h"
#include "core/copy.h"
#include "core/sm/sm_params.h"
#include "mem/addrmap.h"
#include "mem/dram.h"
#include "mem/l1.h"
#include "mem/l2.h"
#include "mem/smring.h"
#include "mem/xbar.h"

struct machine {
    /* file name without .yaml */
    char name[PARAM_STRING_BYTES];
    char summary[PARAM_STRING_BYTES];
    /* table of energies; "" = none */
    char energy[PARAM_STRING_BYTES];
    /* what cudaGetDeviceProperties says */
    char device_name[PARAM_STRING_BYTES];
    /* compute capability */
    uint32_t cc_major, cc_minor;
    /* programs see it, whatever their PTX asks for */
    bool cc_exact;
    /* device memory */
    uint64_t memory_bytes;
    uint32_t memory_bus_bits, memory_clock_khz;
    uint32_t core_clock_khz, xbar_clock_khz, l2_clock_khz, dram_clock_khz;
    uint64_t l2_bytes;
    /* the warp scheduling policy of the machine */
    char scheduler[PARAM_STRING_BYTES];
    /* do not fold PTX instructions: each becomes a machine instruction */
    bool lower_one_to_one;
    /* the SMs have imov */
    bool sm_indirect_move;
    uint32_t sm_count;
    /* residency limits of one SM */
    uint32_t sm_threads, sm_warps, sm_ctas;
    /* 32-bit registers of one SM */
    uint32_t sm_registers;
    /* registers are allocated to a warp in multiples of this */
    uint32_t sm_register_unit;
    /* partitions of the register file; the registers of a warp lie in one of them */
    uint32_t sm_register_partitions;
    /* registers that one thread may have */
    uint32_t sm_thread_registers_max;
    /* shared memory of one SM; allocation granularity */
    uint64_t sm_shared_bytes, sm_shared_unit;
    /* limits of one CTA: by default and on request */
    uint64_t cta_shared_bytes, cta_shared_optin_bytes;
    /* shared memory of each CTA that is the system's */
    uint64_t cta_shared_reserved_bytes;
    /* threads of one CTA */
    uint32_t cta_threads;
    /* per thread, for calls and recursion */
    uint32_t emu_stack_bytes;
    /* device malloc */
    uint64_t emu_heap_bytes;
    /* endless-loop limit; 0 = none */
    uint64_t emu_warp_insts_max;
    /* enum machine_ideal */
    uint32_t ideal_memory;
    /* core cycles from a launch to its first CTA */
    uint32_t gpu_launch_latency;
    /* CTAs started in one core cycle; 0 = one for each SM */
    uint32_t gpu_ctas_per_cycle;
    /* grids that may run at once */
    uint32_t gpu_kernels;
    /* cycles without progress after which the machine is stuck */
    uint64_t gpu_stuck_cycles;
    /* packets: SM to crossbar, crossbar to SM */
    uint32_t gpu_sm_out_queue, gpu_sm_in_queue;
    /* host copies leave their lines in L2 */
    bool gpu_copy_fills_l2;
    /* the components' own */
    struct sm_params sm;
    struct l1_params l1;
    struct xbar_params xbar;
    struct smring_params ring;
    struct addrmap_params addrmap;
    struct l2_params l2;
    struct dram_params dram;
    struct copy_params copy;
};

/* Ideal memory systems of the limit studies (thesis, 3.5). */
enum machine_ideal {
    IDEAL_NONE,
    /* P_DRAM: DRAM of unlimited bandwidth at its idle latency */
    IDEAL_DRAM,
    /* P_inf: everything below the L1 of unlimited bandwidth at its idle latency */
    IDEAL_INFINITE,
    /* PerfX: every access is an L1 hit without latency */
    IDEAL_PERFECT
};

/* The machine's own. */
extern const struct param_row machine_rows[];
/* Its own and those of every component. */
extern const struct param_group machine_groups[];

/* `name` is a machine of the machines/ folder or a path to a .yaml file. overrides: "key=value" strings. */
bool machine_load(const char *name, const char *const *overrides, uint32_t override_count,
                  struct machine *out, struct diag_list *diags);
/* Turns ideal.memory into the components' own parameters. */
void machine_apply_ideal(struct machine *m);
/* Where machines/ and the other data are (data_dir.c): HEDDLE_HOME, PREFIX/share/heddle, or the source folder
 * of the build. */
const char *machine_data_dir(void);

#endif
