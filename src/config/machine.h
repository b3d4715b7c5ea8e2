/* machine.h: a modelled machine: machines/NAME.yaml read into the rows of machine.c. */
#ifndef HEDDLE_MACHINE_H
#define HEDDLE_MACHINE_H

#include "config/param.h"

struct machine {
    char name[PARAM_TEXT_BYTES]; /* file name without .yaml */
    char summary[PARAM_TEXT_BYTES];
    char device_name[PARAM_TEXT_BYTES]; /* what cudaGetDeviceProperties says */
    uint32_t cc_major, cc_minor;        /* compute capability reported to programs */
    uint64_t memory_bytes;              /* device memory */
    uint32_t memory_bus_bits, memory_clock_khz;
    uint32_t core_clock_khz;
    uint64_t l2_bytes;
    uint32_t sm_count;
    uint32_t sm_threads, sm_warps, sm_ctas;            /* residency limits of one SM */
    uint32_t sm_registers;                             /* 32-bit registers of one SM */
    uint32_t sm_register_unit;                         /* registers are handed to a warp in this many */
    uint32_t sm_thread_registers_max;                  /* registers that one thread may have */
    uint64_t sm_shared_bytes, sm_shared_unit;          /* shared memory of one SM; allocation granularity */
    uint64_t cta_shared_bytes, cta_shared_optin_bytes; /* limits of one CTA: by default and on request */
    uint32_t cta_threads;                              /* threads of one CTA */
    uint32_t emu_stack_bytes;                          /* per thread, for calls and recursion */
    uint64_t emu_heap_bytes;                           /* device malloc */
    uint64_t emu_warp_insts_max;                       /* endless-loop limit; 0 = none */
};

extern const struct param_row machine_rows[];

/* `name` is a machine of the machines/ folder or a path to a .yaml file. overrides: "key=value" strings. */
bool machine_load(const char *name, const char *const *overrides, uint32_t override_count,
                  struct machine *out, struct diag_list *diags);
/* Where machines/, workloads/ ... are: HEDDLE_HOME, the build's source folder, or the installed share folder.
 */
const char *machine_data_dir(void);

#endif
