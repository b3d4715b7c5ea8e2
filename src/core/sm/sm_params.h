/* sm_params.h: the parameters of one streaming multiprocessor. The defaults are those of the thesis's Fermi
 * (GPGPU-Sim 3.2.2's GTX 480); residency limits (threads, warps, CTAs, registers, shared memory) are the
 * machine's own. */
#ifndef HEDDLE_SM_PARAMS_H
#define HEDDLE_SM_PARAMS_H

#include "config/param.h"

/* Cycles by kind of operation. */
struct sm_op_cycles {
    uint32_t add, max, mul, mad, div;
};

/* How much of one array is shared memory: what the kernel needs, or always sm.shared. */
enum sm_split { SPLIT_AUTO, SPLIT_FIXED };

enum { SM_FETCH_WARPS_MAX = 8 };

/* Which cache a read goes to. */
enum sm_read_path { READ_PATH_TEX, READ_PATH_L1 };

struct sm_params {
    /* front end */
    uint32_t schedulers, issue_width;
    uint32_t fetch_warps, fetch_width, ibuffer;
    bool perfect_icache, fetch_past_branch;
    uint64_t icache_bytes;
    uint32_t icache_ways, icache_line, icache_mshrs, icache_merges;
    /* operand collectors */
    bool operand_collector;
    uint32_t sp_collectors, int_collectors, dp_collectors, sfu_collectors, mem_collectors, gen_collectors;
    uint32_t collector_reads;
    uint32_t register_banks;
    bool bank_by_warp;
    bool forwarding;
    bool turns_by_cycle;
    /* units: how many, and the width of the latches before them */
    uint32_t sp_units, int_units, dp_units, sfu_units;
    uint32_t mem_width;
    uint32_t simd_width;
    uint32_t result_buses;
    struct sm_op_cycles int_latency, int_interval, fp_latency, fp_interval, dp_latency, dp_interval;
    uint32_t sfu_latency, sfu_interval, warp_latency, warp_interval, other_latency;
    /* load-store unit */
    uint32_t lsu_queue, lsu_requests, lsu_ports, lsu_replies, lsu_writebacks, lsu_pending;
    bool lsu_descending, lsu_split_atomics;
    uint32_t shared_banks, shared_bank_bytes, shared_latency;
    /* read by split_read (split.h) */
    char shared_sizes[PARAM_STRING_BYTES];
    /* enum sm_split */
    uint32_t shared_split;
    uint64_t const_bytes;
    uint32_t const_ways, const_line, const_mshrs, const_merges, const_latency;
    uint64_t tex_bytes;
    uint32_t tex_ways, tex_line, tex_mshrs, tex_merges, tex_latency;
    /* enum sm_read_path */
    uint32_t tex_path, nc_path;
    uint32_t prefetch_queue;
    uint32_t nanosleep_percent;
};

extern const struct param_row sm_rows[];
/* Checks what the bounds of the rows cannot express. False with diagnostics. */
bool sm_params_check(const struct sm_params *p, struct diag_list *diags);

#endif
