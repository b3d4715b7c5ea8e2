/* sm_params.c: the parameter rows of the SM. Sources of the defaults: GPGPU-Sim 3.2.2's configuration of the
 * GTX 480, which the thesis (Table 3.1) builds on; lsu_requests is the thesis's "memory pipeline width"
 * (Table 3.3): "pending cache requests" (3.5.3).
 * Two defaults differ from GPGPU-Sim on purpose: a collector takes all operands at once and warps are spread
 * over the register banks, because with one operand a cycle and one bank for a register of all warps two
 * multiply-adds a cycle are out of reach. */
#include "core/sm/sm_params.h"

#include "core/sm/collector.h"

#define LATENCY(field, nm, def, help)  PARAM_NUMBER(sm_params, field, nm, "cycles", def, 1, 2000, help)
#define INTERVAL(field, nm, def, help) PARAM_NUMBER(sm_params, field, nm, "cycles", def, 1, 2000, help)
#define OPS(field, nm, kind, what, a, b, c, d, e)                                                            \
    kind(field.add, nm "_add", a, what " of additions, logic, moves and compares"),                          \
        kind(field.max, nm "_max", b, what " of minima and maxima"),                                         \
        kind(field.mul, nm "_mul", c, what " of multiplications"),                                           \
        kind(field.mad, nm "_mad", d, what " of multiply-adds"),                                             \
        kind(field.div, nm "_div", e, what " of divisions, remainders and exact roots")

/* Enum sm_read_path. */
static const char *const path_names[] = {"tex", "l1", NULL};
/* Enum sm_split. */
static const char *const split_names[] = {"auto", "fixed", NULL};

const struct param_row sm_rows[] = {
    PARAM_NUMBER(sm_params, schedulers, "sm.schedulers", "schedulers", "2", 1, 4,
                 "warp schedulers; warp slot w belongs to number w modulo this"),
    PARAM_NUMBER(sm_params, issue_width, "sm.issue_width", "instructions", "1", 1, 4,
                 "instructions of one warp that a scheduler issues in a cycle"),
    PARAM_NUMBER(sm_params, fetch_warps, "sm.fetch_warps", "warps", "1", 1, SM_FETCH_WARPS_MAX,
                 "warps that fetch instructions in a cycle"),
    PARAM_NUMBER(sm_params, fetch_width, "sm.fetch_width", "instructions", "2", 1, 8,
                 "instructions that a warp fetches in a cycle"),
    PARAM_NUMBER(sm_params, ibuffer, "sm.ibuffer", "instructions", "2", 1, 8, "instruction buffer of a warp"),
    PARAM_FLAG(sm_params, fetch_past_branch, "sm.fetch_past_branch", "false",
               "a warp fetches what follows a branch until its scheduler finds that control went elsewhere, "
               "as in GPGPU-Sim; false: it fetches where control goes from the cycle of the branch on"),
    PARAM_FLAG(sm_params, perfect_icache, "sm.perfect_icache", "false", "every instruction fetch hits"),
    PARAM_SIZE(sm_params, icache_bytes, "sm.icache_size", "2K", 256, 1 << 24, "instruction cache"),
    PARAM_NUMBER(sm_params, icache_ways, "sm.icache_ways", "ways", "4", 1, 64,
                 "associativity of the instruction cache"),
    PARAM_NUMBER(sm_params, icache_line, "sm.icache_line", "bytes", "128", 32, 128,
                 "line of the instruction cache; an instruction takes 8 bytes"),
    PARAM_NUMBER(sm_params, icache_mshrs, "sm.icache_mshrs", "entries", "2", 1, 64,
                 "instruction-cache misses under way"),
    PARAM_NUMBER(sm_params, icache_merges, "sm.icache_merges", "warps", "32", 1, 64,
                 "warps that may wait for one instruction line"),

    PARAM_FLAG(sm_params, operand_collector, "sm.operand_collector", "true",
               "model operand collectors and register banks; false: operands are read at issue, and a result "
               "can be used exactly its latency after issue"),
    PARAM_NUMBER(sm_params, sp_collectors, "sm.sp_collectors", "units", "6", 0, 64,
                 "operand collectors of the single-precision units; all kinds together at most 64"),
    PARAM_NUMBER(sm_params, int_collectors, "sm.int_collectors", "units", "0", 0, 64,
                 "operand collectors of the integer units"),
    PARAM_NUMBER(sm_params, dp_collectors, "sm.dp_collectors", "units", "0", 0, 64,
                 "operand collectors of the double-precision units"),
    PARAM_NUMBER(sm_params, sfu_collectors, "sm.sfu_collectors", "units", "8", 0, 64,
                 "operand collectors of the special-function units"),
    PARAM_NUMBER(sm_params, mem_collectors, "sm.mem_collectors", "units", "2", 0, 64,
                 "operand collectors of the load-store unit"),
    PARAM_NUMBER(sm_params, gen_collectors, "sm.gen_collectors", "units", "0", 0, 64,
                 "operand collectors that any unit may use; a unit without any collector gets one. All kinds "
                 "together at most 64"),
    PARAM_NUMBER(sm_params, collector_reads, "sm.collector_reads", "operands", "3", 1, 8,
                 "operands that one collector takes in a cycle (GPGPU-Sim: 1)"),
    PARAM_NUMBER(sm_params, register_banks, "sm.register_banks", "banks", "16", 1, 64,
                 "banks of the register file, one access a cycle each"),
    PARAM_FLAG(
        sm_params, bank_by_warp, "sm.bank_by_warp", "true",
        "bank = (register + 5 * warp) modulo banks; false: register modulo banks, as in GPGPU-Sim 3.2.2"),
    PARAM_FLAG(sm_params, forwarding, "sm.forwarding", "true",
               "results are forwarded to the inputs of the units: a dependent instruction issues the latency "
               "after its producer; false: it waits for the writeback, as in GPGPU-Sim"),
    PARAM_FLAG(sm_params, turns_by_cycle, "sm.turns_by_cycle", "false",
               "the schedulers are first in turn by the number of the cycle, as in GPGPU-Sim; false: one "
               "that took the last place in a latch is last from then on"),

    PARAM_NUMBER(sm_params, sp_units, "sm.sp_units", "units", "2", 1, 16, "single-precision units"),
    PARAM_NUMBER(sm_params, int_units, "sm.int_units", "units", "0", 0, 8,
                 "integer units; 0: the single-precision units do it"),
    PARAM_NUMBER(sm_params, dp_units, "sm.dp_units", "units", "0", 0, 8,
                 "double-precision units; 0: the special-function units do it"),
    PARAM_NUMBER(sm_params, sfu_units, "sm.sfu_units", "units", "1", 1, 8, "special-function units"),
    PARAM_NUMBER(sm_params, mem_width, "sm.mem_width", "instructions", "1", 1, 8,
                 "memory instructions that may be issued in a cycle"),
    PARAM_NUMBER(sm_params, simd_width, "sm.simd_width", "lanes", "32", 1, 32,
                 "lanes of a unit; a warp occupies its input for 32 / this times the interval"),
    PARAM_NUMBER(sm_params, result_buses, "sm.result_buses", "instructions", "2", 1, 16,
                 "results of arithmetic units written back in a cycle"),
    OPS(int_latency, "sm.int_latency", LATENCY, "latency of integer", "4", "13", "4", "5", "145"),
    OPS(int_interval, "sm.int_interval", INTERVAL, "initiation interval of integer", "1", "2", "2", "1", "8"),
    OPS(fp_latency, "sm.fp_latency", LATENCY, "latency of single-precision and half-precision", "4", "13",
        "4", "5", "39"),
    OPS(fp_interval, "sm.fp_interval", INTERVAL, "initiation interval of single-precision and half-precision",
        "1", "2", "1", "1", "4"),
    OPS(dp_latency, "sm.dp_latency", LATENCY, "latency of double-precision", "8", "19", "8", "8", "330"),
    OPS(dp_interval, "sm.dp_interval", INTERVAL, "initiation interval of double-precision", "8", "16", "8",
        "8", "130"),
    LATENCY(sfu_latency, "sm.sfu_latency", "8", "latency of special functions"),
    INTERVAL(sfu_interval, "sm.sfu_interval", "8", "initiation interval of special functions"),
    LATENCY(warp_latency, "sm.warp_latency", "4",
            "latency of shuffles, votes and other exchanges between lanes"),
    INTERVAL(warp_interval, "sm.warp_interval", "1", "initiation interval of exchanges between lanes"),
    PARAM_NUMBER(sm_params, other_latency, "sm.other_latency", "cycles", "0", 0, 2000,
                 "latency of operations other than addition, multiplication, mad, minimum, maximum and "
                 "division (moves, logic, compares, fma); 0: as additions, and fma as mad"),

    PARAM_NUMBER(sm_params, lsu_queue, "sm.lsu_queue", "instructions", "10", 1, 1024,
                 "memory instructions that wait in the load-store unit"),
    PARAM_NUMBER(sm_params, lsu_requests, "sm.lsu_requests", "accesses", "0", 0, 4096,
                 "accesses of theirs that no cache has taken yet, from which on no more instructions enter "
                 "the load-store unit; 0 = any number"),
    PARAM_NUMBER(sm_params, lsu_ports, "sm.lsu_ports", "accesses", "1", 1, 16,
                 "accesses that the load-store unit offers to its caches in a cycle"),
    PARAM_NUMBER(sm_params, lsu_replies, "sm.lsu_replies", "accesses", "1", 1, 32,
                 "finished accesses taken from the L1 in a cycle"),
    PARAM_NUMBER(sm_params, lsu_writebacks, "sm.lsu_writebacks", "instructions", "1", 1, 16,
                 "finished loads written back in a cycle"),
    PARAM_NUMBER(sm_params, lsu_pending, "sm.lsu_pending", "instructions", "1024", 1, 4096,
                 "memory instructions whose answers are outstanding"),
    PARAM_FLAG(sm_params, lsu_descending, "sm.lsu_descending", "false",
               "the lines of an instruction are accessed from the highest address down, as in GPGPU-Sim; "
               "false: in the order of the lanes"),
    PARAM_FLAG(sm_params, lsu_split_atomics, "sm.lsu_split_atomics", "false",
               "an atomic makes an access for each sector, and one more for each further lane at the same "
               "word, as in GPGPU-Sim; false: one for each line"),
    PARAM_NUMBER(sm_params, shared_banks, "sm.shared_banks", "banks", "32", 1, 64,
                 "banks of the shared memory, a power of two; each serves one word a cycle, to all lanes "
                 "that want it"),
    PARAM_NUMBER(sm_params, shared_bank_bytes, "sm.shared_bank_bytes", "bytes", "4", 4, 16,
                 "width of a bank of the shared memory, a power of two (8: Kepler in its 8-byte mode)"),
    LATENCY(shared_latency, "sm.shared_latency", "26", "shared memory, from the last pass to the result"),
    PARAM_STRING(sm_params, shared_sizes, "sm.shared_sizes", "KB", "",
                 "sizes that shared memory can have of one array with the L1 (l1.size), as 0,8,16,32,64,100; "
                 "empty: it is an array of its own"),
    PARAM_CHOICE(sm_params, shared_split, "sm.shared_split", "auto", split_names,
                 "which of sm.shared_sizes: auto (what the program asks for, else the smallest that costs no "
                 "CTA) or fixed (always sm.shared)"),
    PARAM_SIZE(sm_params, const_bytes, "sm.const_size", "8K", 256, 1 << 24, "constant cache"),
    PARAM_NUMBER(sm_params, const_ways, "sm.const_ways", "ways", "2", 1, 64,
                 "associativity of the constant cache"),
    PARAM_NUMBER(sm_params, const_line, "sm.const_line", "bytes", "64", 32, 128,
                 "line of the constant cache"),
    PARAM_NUMBER(sm_params, const_mshrs, "sm.const_mshrs", "entries", "2", 1, 64,
                 "constant-cache misses under way"),
    PARAM_NUMBER(sm_params, const_merges, "sm.const_merges", "accesses", "32", 1, 64,
                 "accesses that may wait for one constant line"),
    LATENCY(const_latency, "sm.const_latency", "4", "constant cache, hit"),
    PARAM_SIZE(sm_params, tex_bytes, "sm.tex_size", "12K", 256, 1 << 24, "texture cache"),
    PARAM_NUMBER(sm_params, tex_ways, "sm.tex_ways", "ways", "24", 1, 64,
                 "associativity of the texture cache"),
    PARAM_NUMBER(sm_params, tex_line, "sm.tex_line", "bytes", "128", 32, 128, "line of the texture cache"),
    PARAM_NUMBER(sm_params, tex_mshrs, "sm.tex_mshrs", "entries", "128", 1, 256,
                 "texture-cache misses under way"),
    PARAM_NUMBER(sm_params, tex_merges, "sm.tex_merges", "accesses", "4", 1, 64,
                 "accesses that may wait for one texture line"),
    LATENCY(tex_latency, "sm.tex_latency", "100", "texture unit, hit"),
    PARAM_CHOICE(sm_params, tex_path, "sm.tex_path", "tex", path_names,
                 "where texels are cached: tex (a cache of their own) or l1 (one cache with global memory)"),
    PARAM_CHOICE(
        sm_params, nc_path, "sm.nc_path", "l1", path_names,
        "where ld.global.nc looks: l1, or tex (Kepler's read-only data cache, which is the texture cache)"),
    PARAM_NUMBER(sm_params, prefetch_queue, "sm.prefetch_queue", "lines", "8", 1, 256,
                 "prefetches of mechanisms that wait for the L1; a newer one takes the slot of the oldest"),
    PARAM_NUMBER(sm_params, nanosleep_percent, "sm.nanosleep", "%", "100", 0, 200,
                 "time that nanosleep takes, of what the program asks for: PTX allows from nothing to twice "
                 "that; all lanes of the warp wait for the longest"),
    {0},
};

static bool check_power_of_two(const char *name, uint32_t value, struct diag_list *diags)
{
    if (is_pow2_u64(value)) return true;
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "%s must be a power of two, got %u", name, value);
    return false;
}

bool sm_params_check(const struct sm_params *p, struct diag_list *diags)
{
    bool ok = check_power_of_two("sm.shared_banks", p->shared_banks, diags);
    ok = check_power_of_two("sm.shared_bank_bytes", p->shared_bank_bytes, diags) && ok;
    ok = check_power_of_two("sm.icache_line", p->icache_line, diags) && ok;
    ok = check_power_of_two("sm.const_line", p->const_line, diags) && ok;
    ok = check_power_of_two("sm.tex_line", p->tex_line, diags) && ok;
    uint32_t collectors = collector_units(p);
    if (p->operand_collector && collectors > COLLECTOR_UNITS_MAX) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL,
                 "an SM has at most %u operand collectors of all kinds together, got %u (sm.sp_collectors "
                 "and its like)",
                 COLLECTOR_UNITS_MAX, collectors);
        ok = false;
    }
    return ok;
}
