/* latency.h: one point of a latency-against-load curve: warps that each have one load of a whole line in flight, on an otherwise idle
 * machine. More warps offer more load (a closed loop). Shared by the table (latency.c) and by the tests of the numbers.
 *
 * A point is the difference between a longer and a shorter launch, so that launch, cold caches and the last warps' tail cancel out.
 * The L2 is filled by a launch before both. */
#ifndef HEDDLE_BENCH_LATENCY_H
#define HEDDLE_BENCH_LATENCY_H

#include "core/timed.h"
#include "cuda/limits.h"
#include "lower/lower.h"

/* x = x * mul + add; line = (x >> shift) & mask. mul 1 and shift 0 walk through the lines in a row, all warps side by side; an odd
 * mul of many bits jumps about. The loaded word is 0 and is added to x: the next address needs it. */
static const char latency_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry load(.param .u64 base, .param .u32 mask, .param .u32 steps, .param .u32 mul, .param .u32 add,\n"
    "                     .param .u32 shift, .param .u32 seed)\n{\n"
    ".reg .u64 %b, %d; .reg .u32 %x, %m, %n, %k, %a, %s, %t, %c, %w, %l, %v; .reg .pred %q;\n"
    "ld.param.u64 %b, [base]; ld.param.u32 %m, [mask]; ld.param.u32 %n, [steps]; ld.param.u32 %k, [mul];\n"
    "ld.param.u32 %a, [add]; ld.param.u32 %s, [shift]; ld.param.u32 %v, [seed];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ntid.x; shr.u32 %c, %c, 5; mov.u32 %w, %ctaid.x; shr.u32 %x, %t, 5;\n"
    "mad.lo.u32 %x, %w, %c, %x; mul.lo.u32 %x, %x, %v;\n"
    "and.b32 %t, %t, 31; mul.wide.u32 %d, %t, 4; add.u64 %b, %b, %d;\n"
    "loop:\n"
    "shr.u32 %l, %x, %s; and.b32 %l, %l, %m; mul.wide.u32 %d, %l, 128; add.u64 %d, %b, %d;\n"
    "ld.global.u32 %v, [%d];\n"
    "mad.lo.u32 %x, %x, %k, %a; add.u32 %x, %x, %v;\n"
    "sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra loop;\n"
    "setp.eq.u32 %q, %x, %k; @%q st.global.u32 [%b], %x;\nret;\n}\n";

enum { LATENCY_LINE = 128 };
enum latency_level { LATENCY_L1, LATENCY_L2, LATENCY_DRAM, LATENCY_LEVELS };

struct latency_load {
    enum latency_level level;
    bool stream;         /* lines in a row instead of at random */
    uint32_t sms, warps; /* SMs with work, warps on each of them */
};

struct latency_point {
    double gbs;  /* lines delivered to the SMs by the level: 10^9 bytes a second */
    double aml;  /* core cycles from an L1 miss to its fill; 0 for L1 hits */
    double step; /* core cycles from one load of a warp to the next: load to use and a loop of eight instructions */
    double dram_share; /* of the loads: how many went to DRAM */
};

struct latency_ceilings { /* 10^9 bytes a second of 128-byte lines, from the configuration alone */
    double l1, l2_port, xbar_reply, xbar_request, dram;
};

static inline struct latency_ceilings latency_ceilings(const struct machine *m)
{
    double mhz = 1e-6, slices = m->addrmap.channels * m->addrmap.slices; /* kHz * bytes -> 10^9 bytes a second */
    double ports = slices < m->sm_count ? slices : m->sm_count;
    uint32_t reply_flits = (m->xbar.header + LATENCY_LINE + m->xbar.reply_flit - 1) / m->xbar.reply_flit;
    uint32_t request_flits = (m->xbar.header + m->xbar.request_flit - 1) / m->xbar.request_flit;
    return (struct latency_ceilings){
        .l1 = (double)m->sm_count * m->sm.lsu_ports * LATENCY_LINE * m->core_clock_khz * mhz,
        .l2_port = slices * m->l2.port_bytes * m->l2_clock_khz * mhz,
        .xbar_reply = ports * LATENCY_LINE / reply_flits * m->xbar_clock_khz * mhz,
        .xbar_request = ports * LATENCY_LINE / request_flits * m->xbar_clock_khz * mhz,
        .dram = (double)m->addrmap.channels * m->dram.bus_bytes * m->dram.ratio * m->dram_clock_khz * mhz};
}

struct latency_rig {
    struct machine machine;
    struct emu_device *device;
    struct emu_module *module;
    struct timed_gpu *gpu;
    uint64_t base;
    struct emu_fault fault;
};

/* The power of two of lines that a level's loads are spread over: a quarter of an L1; half to all of what fits L2 with room to spare; far
 * more than the L2. */
static inline uint32_t latency_lines(const struct machine *m, enum latency_level level)
{
    uint64_t l2 = (uint64_t)m->addrmap.channels * m->addrmap.slices * m->l2.slice_size;
    uint64_t bytes = level == LATENCY_L1 ? m->l1.size / 4 : level == LATENCY_L2 ? l2 * 3 / 4 : l2 * 16;
    uint32_t lines = 1;
    while ((uint64_t)lines * 2 * LATENCY_LINE <= bytes) lines *= 2;
    return lines;
}

static inline bool latency_open(struct latency_rig *r, const char *machine, const char *const *sets, uint32_t set_count,
                                struct diag_list *d)
{
    memset(r, 0, sizeof *r);
    if (!machine_load(machine, sets, set_count, &r->machine, d)) return false;
    uint64_t bytes = (uint64_t)latency_lines(&r->machine, LATENCY_DRAM) * LATENCY_LINE;
    r->machine.memory_bytes = bytes + (256u << 20);
    struct emu_limits limits = limits_from_machine(&r->machine);
    r->device = emu_device_create(&limits, r->machine.memory_bytes);
    if (!r->device) return false;
    struct lower_options lo = {
        .opt_level = 1, .sm_regs = r->machine.sm_registers, .regs_max = r->machine.sm_thread_registers_max};
    struct ptx_module *ptx = ptx_parse("latency.ptx", latency_ptx, strlen(latency_ptx), d);
    struct isa_module *isa = ptx ? lower_module(ptx, &lo, d) : NULL;
    if (ptx) ptx_module_free(ptx);
    if (isa) r->module = emu_module_load(r->device, isa, NULL, NULL, d);
    if (r->module) r->gpu = timed_create(&r->machine, r->device, &(struct timed_options){0}, d);
    if (!r->gpu) return false;
    r->base = space_alloc(emu_device_space(r->device), bytes, 4096, SPACE_DEVICE, "lines");
    memset((void *)(uintptr_t)r->base, 0, bytes);
    return true;
}

static inline void latency_close(struct latency_rig *r)
{
    if (r->gpu) timed_destroy(r->gpu);
    if (r->module) emu_module_unload(r->device, r->module);
    if (r->device) emu_device_destroy(r->device);
}

/* A count of the newest kernel by its name. */
static inline double latency_stat(const struct latency_rig *r, const char *name)
{
    const struct timed_group *groups;
    uint32_t n = timed_groups(r->gpu, &groups), last = timed_kernel_count(r->gpu) - 1;
    for (uint32_t g = 0; g < n; g++)
        for (const struct stat_row *row = groups[g].rows; row->name; row++)
            if (!strcmp(row->name, name)) return stat_value(row, timed_kernel_at(r->gpu, last)->stats[g]);
    return -1;
}

struct latency_run {
    double cycles, loads, misses, latency, dram;
};

static inline bool latency_launch(struct latency_rig *r, const struct latency_load *l, uint32_t steps, struct latency_run *out)
{
    uint32_t ctas = (l->warps * 32 + r->machine.cta_threads - 1) / r->machine.cta_threads; /* on each SM */
    while (l->warps % ctas) ctas++;
    struct {
        uint64_t base;
        uint32_t mask, steps, mul, add, shift, seed;
    } params = {r->base, latency_lines(&r->machine, l->level) - 1, steps, 1664525, 1013904223, 12, 2654435769u};
    if (l->stream) params.mul = 1, params.add = l->sms * l->warps, params.shift = 0, params.seed = 1;
    struct emu_launch launch = {.module = r->module,
                                .kernel = emu_find_kernel(r->module, "load"),
                                .grid = {l->sms * ctas, 1, 1},
                                .block = {l->warps / ctas * 32, 1, 1},
                                .params = (void *)&params};
    timed_launch(r->gpu, &launch, 0);
    if (timed_sync(r->gpu, UINT64_MAX, &r->fault) != EMU_OK) return false;
    const struct timed_kernel *k = timed_kernel_at(r->gpu, timed_kernel_count(r->gpu) - 1);
    *out = (struct latency_run){.cycles = (double)(k->end_cycle - k->start_cycle),
                                .loads = (double)l->sms * l->warps * steps,
                                .misses = latency_stat(r, "l1.miss_latency_count"),
                                .latency = latency_stat(r, "l1.miss_latency_sum"),
                                .dram = latency_stat(r, "dram.reads")};
    return true;
}

/* Runs a load; false: the machine stopped (timed_report says why). */
static inline bool latency_measure(struct latency_rig *r, const struct latency_load *l, uint32_t steps, struct latency_point *out)
{
    struct latency_run warm, less, more;
    struct latency_load fill = {l->level, true, r->machine.sm_count, 8};
    uint32_t fill_steps = latency_lines(&r->machine, l->level) / (fill.sms * fill.warps) + 1;
    if (l->level == LATENCY_L2 && !latency_launch(r, &fill, fill_steps, &warm)) return false;
    if (!latency_launch(r, l, steps, &less) || !latency_launch(r, l, 2 * steps, &more)) return false;
    double cycles = more.cycles - less.cycles, loads = more.loads - less.loads;
    double misses = more.misses - less.misses, lines = l->level == LATENCY_L1 ? loads : misses;
    double hz = r->machine.core_clock_khz * 1e3;
    *out = (struct latency_point){.gbs = lines * LATENCY_LINE / cycles * hz * 1e-9,
                                  .aml = misses > 0 ? (more.latency - less.latency) / misses : 0,
                                  .step = cycles * l->sms * l->warps / loads,
                                  .dram_share = (more.dram - less.dram) / loads};
    return true;
}

#endif
