/* machine.c: the parameters of a machine that belong to no single component, and the list of all parameter
 * tables. */
#include "core/machine.h"

#include "config/reader.h"
#include "core/machine_check.h"

static const char *const ideal_names[] = {"none", "dram", "infinite", "perfect",
                                          NULL}; /* enum machine_ideal */

const struct param_row machine_rows[] = {
    PARAM_STRING(machine, summary, "summary", "", "", "one line for `heddle list machines`"),
    PARAM_STRING(machine, energy, "energy", "", "",
                 "what events cost: a table of energy/ or a .yaml file (docs/energy.md)"),
    PARAM_STRING(machine, device_name, "device.name", "", "Heddle",
                 "name that cudaGetDeviceProperties reports"),
    PARAM_NUMBER(machine, cc_major, "device.cc_major", "", "9", 2, 12,
                 "compute capability; a program whose PTX asks for more sees that (docs/cuda.md)"),
    PARAM_NUMBER(machine, cc_minor, "device.cc_minor", "", "0", 0, 9,
                 "compute capability, the digit after the point"),
    PARAM_FLAG(machine, cc_exact, "device.cc_exact", "false",
               "programs see this compute capability, whatever their PTX asks for"),
    PARAM_SIZE(machine, memory_bytes, "device.memory", "4G", 1 << 20, 1ull << 37,
               "device memory that a program can allocate"),
    PARAM_NUMBER(machine, memory_bus_bits, "device.memory_bus", "bits", "384", 8, 16384,
                 "width of the memory interface"),
    PARAM_NUMBER(machine, memory_clock_khz, "device.memory_clock", "kHz", "1848000", 1, UINT32_MAX,
                 "memory clock that device properties report"),
    PARAM_SIZE(machine, l2_bytes, "device.l2", "768K", 0, 1ull << 32,
               "size of the L2 cache that device properties report"),
    PARAM_NUMBER(machine, core_clock_khz, "clock.core", "kHz", "1400000", 1, UINT32_MAX, "clock of the SMs"),
    PARAM_NUMBER(machine, xbar_clock_khz, "clock.xbar", "kHz", "700000", 1, UINT32_MAX,
                 "clock of the crossbar"),
    PARAM_NUMBER(machine, l2_clock_khz, "clock.l2", "kHz", "700000", 1, UINT32_MAX, "clock of the L2 slices"),
    PARAM_NUMBER(machine, dram_clock_khz, "clock.dram", "kHz", "924000", 1, UINT32_MAX,
                 "command clock of the DRAM channels"),
    PARAM_NUMBER(machine, sm_count, "sm.count", "SMs", "15", 1, 1024, "streaming multiprocessors"),
    PARAM_NUMBER(machine, sm_threads, "sm.threads", "threads", "1536", 32, 65536,
                 "threads that may be resident on one SM"),
    PARAM_NUMBER(machine, sm_warps, "sm.warps", "warps", "48", 1, 256,
                 "warps that may be resident on one SM; more than 64: at most 64 for each scheduler"),
    PARAM_NUMBER(machine, sm_ctas, "sm.ctas", "CTAs", "8", 1, 1024, "CTAs that may be resident on one SM"),
    PARAM_NUMBER(machine, sm_registers, "sm.registers", "registers", "32768", 1024, 1 << 24,
                 "32-bit registers of one SM"),
    PARAM_NUMBER(machine, sm_register_unit, "sm.register_unit", "registers", "64", 1, 4096,
                 "a warp gets registers in multiples of this; 128 rounds those of a thread up to 4"),
    PARAM_NUMBER(machine, sm_register_partitions, "sm.register_partitions", "partitions", "2", 1, 16,
                 "parts of equal size that the registers of an SM lie in; those of a warp lie in one"),
    PARAM_NUMBER(machine, sm_thread_registers_max, "sm.thread_registers", "registers", "255", 16, 255,
                 "registers that one thread may use; more are spilled to local memory"),
    PARAM_SIZE(machine, sm_shared_bytes, "sm.shared", "48K", 0, 1 << 24,
               "shared memory of one SM; with sm.shared_sizes the most that it can be"),
    PARAM_SIZE(machine, sm_shared_unit, "sm.shared_unit", "128", 1, 65536,
               "a CTA gets shared memory in multiples of this"),
    PARAM_NUMBER(machine, cta_threads, "cta.threads", "threads", "1024", 32, 1024,
                 "threads of one CTA, at most"),
    PARAM_SIZE(machine, cta_shared_bytes, "cta.shared", "48K", 0, 1 << 24,
               "shared memory of one CTA, at most, unless the program asks for more"),
    PARAM_SIZE(machine, cta_shared_optin_bytes, "cta.shared_optin", "48K", 0, 1 << 24,
               "shared memory of one CTA, at most, when the program asks for more"),
    PARAM_SIZE(machine, cta_shared_reserved_bytes, "cta.shared_reserved", "0", 0, 1 << 16,
               "shared memory of each CTA that the system takes (1K from compute capability 8.0 on)"),
    PARAM_NUMBER(machine, emu_stack_bytes, "emu.stack", "bytes", "1024", 0, 512 << 10,
                 "stack of one thread for calls and recursion (cudaLimitStackSize)"),
    PARAM_SIZE(machine, emu_heap_bytes, "emu.heap", "8M", 0, 1ull << 36,
               "heap of device-side malloc (cudaLimitMallocHeapSize)"),
    PARAM_NUMBER64(machine, emu_warp_insts_max, "emu.warp_insts_max", "instructions", "10000000000", 0,
                   UINT64_MAX, "instructions after which a warp is taken to loop for ever; 0 = no limit"),
    PARAM_CHOICE(
        machine, ideal_memory, "ideal.memory", "none", ideal_names,
        "ideal memory system: dram (P_DRAM), infinite (P_inf), perfect (every access an L1 hit, PerfX)"),
    PARAM_FLAG(machine, lower_one_to_one, "lower.one_to_one", "false",
               "a machine instruction for each PTX instruction, so that counts compare with simulators that "
               "execute PTX"),
    PARAM_FLAG(machine, sm_indirect_move, "sm.indirect_move", "false",
               "the SMs have imov, which reads a register whose number another one holds (Morpheus, 4.3.2)"),
    PARAM_STRING(machine, scheduler, "sm.scheduler", "", "gto",
                 "warp scheduling policy when --mech names none: see `heddle list mechanisms`"),
    PARAM_NUMBER(machine, gpu_launch_latency, "gpu.launch_latency", "cycles", "0", 0, 1 << 24,
                 "core cycles from a grid's turn to its first CTA"),
    PARAM_NUMBER(
        machine, gpu_ctas_per_cycle, "gpu.ctas_per_cycle", "CTAs", "0", 0, 1024,
        "CTAs that the dispatcher starts in one core cycle, each on another SM; 0 = one for each SM"),
    PARAM_NUMBER(machine, gpu_kernels, "gpu.kernels", "grids", "16", 1, 128, "grids that may run at once"),
    PARAM_NUMBER(machine, gpu_sm_out_queue, "gpu.sm_out_queue", "packets", "2", 1, 1 << 16,
                 "packets between an SM's miss queue and the crossbar's injection buffer"),
    PARAM_NUMBER(machine, gpu_sm_in_queue, "gpu.sm_in_queue", "packets", "8", 1, 1 << 16,
                 "packets that wait at an SM for its response FIFO"),
    PARAM_FLAG(machine, gpu_copy_fills_l2, "gpu.copy_fills_l2", "false",
               "copies from the host leave their lines in L2"),
    PARAM_NUMBER64(machine, gpu_stuck_cycles, "gpu.stuck_cycles", "cycles", "1000000", 1000, UINT64_MAX,
                   "cycles of the slowest clock, beyond the machine's latencies, without an instruction, a "
                   "request or an answer, after which the machine is taken to be stuck"),
    {0},
};

const struct param_group machine_groups[] = {
    {machine_rows, 0},
    {sm_rows, offsetof(struct machine, sm)},
    {l1_rows, offsetof(struct machine, l1)},
    {xbar_rows, offsetof(struct machine, xbar)},
    {smring_rows, offsetof(struct machine, ring)},
    {addrmap_rows, offsetof(struct machine, addrmap)},
    {l2_rows, offsetof(struct machine, l2)},
    {dram_rows, offsetof(struct machine, dram)},
    {copy_param_rows, offsetof(struct machine, copy)},
    {0},
};

static void machine_name_from(const char *name, struct machine *out)
{
    const char *slash = strrchr(name, '/');
    snprintf(out->name, sizeof out->name, "%s", slash ? slash + 1 : name);
    char *dot = strstr(out->name, ".yaml");
    if (dot) *dot = 0;
}

/* Names the machine in errors about parameters that do not fit together, though each may be right by
 * itself. */
static void say_which(const char *name, const char *const *overrides, uint32_t count, struct diag_list *diags)
{
    struct strbuf sets = {0};
    for (uint32_t i = 0; i < count; i++) strbuf_printf(&sets, "%s %s", i ? "," : " with", overrides[i]);
    diag_add(diags, DIAG_NOTE, NULL, 0, 0, 0, NULL, "this is machine %s%s", name, strbuf_text(&sets));
    strbuf_free(&sets);
}

bool machine_load(const char *name, const char *const *overrides, uint32_t override_count,
                  struct machine *out, struct diag_list *diags)
{
    memset(out, 0, sizeof *out);
    params_set_defaults(machine_groups, out);
    machine_name_from(name, out);
    uint32_t errors = diags->errors;
    const struct config_target target = {machine_groups, out, machine_data_dir()};
    config_load(&target, name, diags);
    for (uint32_t i = 0; i < override_count; i++) config_override(&target, overrides[i], diags);
    if (diags->errors != errors) return false;
    if (machine_check(out, diags)) return true;
    say_which(name, overrides, override_count, diags);
    return false;
}

void machine_apply_ideal(struct machine *m)
{
    /* more entries than a machine can have in flight in one queue */
    enum { ROOM = 4096 };
    if (m->ideal_memory == IDEAL_PERFECT) m->l1.perfect = true;
    if (m->ideal_memory == IDEAL_DRAM || m->ideal_memory == IDEAL_INFINITE) m->dram.infinite = true;
    if (m->dram.infinite) m->l2.fill_queue = MAX(m->l2.fill_queue, (uint32_t)ROOM);
    if (m->ideal_memory != IDEAL_INFINITE) return;
    m->l2.infinite = m->xbar.infinite = true;
    m->gpu_sm_out_queue = m->gpu_sm_in_queue = ROOM;
    m->l2.access_queue = m->l2.response_queue = m->l2.miss_queue = ROOM;
}
