/* latency.h: one point of a latency-against-load curve: warps that each chase pointers, always with one load
 * of a line in flight, on an otherwise idle machine. More warps offer more load (a closed loop). Shared by
 * the table (bench_latency.c) and by the tests of the numbers.
 *
 * A point is one whole launch on a new machine, from its start to its last reply, so that no rate can be
 * above what the machine did; a launch before it brings the code into L2, and the lines where L2 hits are
 * asked for. (The difference of two launches would be free of their beginning and end, but not of what they
 * do differently: it may show more than the ceiling, or less than the idle latency.) */
#ifndef HEDDLE_BENCH_LATENCY_H
#define HEDDLE_BENCH_LATENCY_H

#include "base/rng.h"
#include "core/timed.h"
#include "cuda/limits.h"
#include "lower/lower.h"

/* All lanes of a warp follow the same pointers: one transaction a load. */
static const char latency_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry chase(.param .u64 starts, .param .u32 rounds)\n{\n"
    ".reg .u64 %p, %d; .reg .u32 %n, %t, %c, %w; .reg .pred %q;\n"
    "ld.param.u64 %p, [starts]; ld.param.u32 %n, [rounds];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ntid.x; mov.u32 %w, %ctaid.x; mad.lo.u32 %t, %w, %c, %t; shr.u32 %t, "
    "%t, 5;\n"
    "mul.wide.u32 %d, %t, 8; add.u64 %p, %p, %d; ld.global.u64 %p, [%p];\n"
    "loop:\n"
    "ld.global.u64 %p, [%p]; ld.global.u64 %p, [%p]; ld.global.u64 %p, [%p]; ld.global.u64 %p, [%p];\n"
    "ld.global.u64 %p, [%p]; ld.global.u64 %p, [%p]; ld.global.u64 %p, [%p]; ld.global.u64 %p, [%p];\n"
    "sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra loop;\n"
    "setp.eq.u64 %q, %p, 0; @%q st.global.u64 [%p], %p;\nret;\n}\n";

enum {
    LATENCY_LINE = 128,
    /* loads of a round */
    LATENCY_ROUND = 8
};
enum latency_level { LATENCY_L1, LATENCY_L2, LATENCY_DRAM, LATENCY_LEVELS };

struct latency_load {
    enum latency_level level;
    /* lines in a row instead of at random */
    bool stream;
    /* SMs with work, warps on each of them */
    uint32_t sms, warps;
};

struct latency_point {
    /* lines that the level delivered to the SMs: 10^9 bytes a second */
    double gbs;
    /* core cycles from an L1 miss to its fill */
    double aml;
    /* core cycles from one load of a warp to the next, which needs its result */
    double step;
};

/* 10^9 bytes a second of 128-byte lines, from the configuration alone. */
struct latency_ceilings {
    double l1, l2_port, xbar_reply, xbar_request, dram;
};

static inline struct latency_ceilings latency_ceilings(const struct machine *m)
{
    double scale = 1e-6,
           slices = m->addrmap.channels * m->addrmap.slices; /* kHz * bytes -> 10^9 bytes a second */
    double ports = slices < m->sm_count ? slices : m->sm_count;
    uint32_t reply_flits = (m->xbar.header + LATENCY_LINE + m->xbar.reply_flit - 1) / m->xbar.reply_flit;
    uint32_t request_flits = (m->xbar.header + m->xbar.request_flit - 1) / m->xbar.request_flit;
    return (struct latency_ceilings){
        .l1 = (double)m->sm_count * m->sm.lsu_ports * LATENCY_LINE * m->core_clock_khz * scale,
        .l2_port = slices * m->l2.port_bytes * m->l2_clock_khz * scale,
        .xbar_reply = ports * LATENCY_LINE / reply_flits * m->xbar_clock_khz * scale,
        .xbar_request = ports * LATENCY_LINE / request_flits * m->xbar_clock_khz * scale,
        .dram = (double)m->addrmap.channels * m->dram.bus_bytes * m->dram.ratio * m->dram_clock_khz * scale};
}

struct latency_rig {
    struct machine machine;
    struct emu_device *device;
    struct emu_module *module;
    struct timed_gpu *gpu;
    /* where the lines are, and each warp's first pointer */
    uint64_t lines, starts;
    struct emu_fault fault;
};

/* Lines, a power of two, over which a level's loads are spread: a quarter of an L1, at most three quarters of
 * the L2, 16 times the L2. */
static inline uint32_t latency_lines(const struct machine *m, enum latency_level level)
{
    uint64_t l2 = (uint64_t)m->addrmap.channels * m->addrmap.slices * m->l2.slice_size;
    uint64_t bytes = level == LATENCY_L1 ? m->l1.size / 4 : level == LATENCY_L2 ? l2 * 3 / 4 : l2 * 16;
    uint32_t lines = 1;
    while ((uint64_t)lines * 2 * LATENCY_LINE <= bytes) lines *= 2;
    return lines;
}

static inline bool latency_open(struct latency_rig *r, const char *machine, const char *const *sets,
                                uint32_t set_count, struct diag_list *d)
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
    if (!r->module) return false;
    r->lines = space_alloc(emu_device_space(r->device), bytes, 4096, SPACE_DEVICE, "lines");
    r->starts =
        space_alloc(emu_device_space(r->device), (uint64_t)r->machine.sm_count * r->machine.sm_warps * 8,
                    4096, SPACE_DEVICE, "starts");
    return r->lines && r->starts;
}

static inline void latency_close(struct latency_rig *r)
{
    if (r->gpu) timed_destroy(r->gpu);
    if (r->module) emu_module_unload(r->device, r->module);
    if (r->device) emu_device_destroy(r->device);
}

/* A statistic of the newest kernel by its name. */
static inline double latency_stat(const struct latency_rig *r, const char *name)
{
    const struct timed_group *groups;
    uint32_t n = timed_groups(r->gpu, &groups), last = timed_kernel_count(r->gpu) - 1;
    for (uint32_t g = 0; g < n; g++)
        for (const struct stat_row *row = groups[g].rows; row->name; row++)
            if (!strcmp(row->name, name)) return stat_value(row, timed_kernel_at(r->gpu, last)->stats[g]);
    UNREACHABLE("no statistic of this name");
}

/* CTAs on each SM: of as many warps as a CTA may have. */
static inline uint32_t latency_ctas(const struct latency_rig *r, const struct latency_load *l)
{
    uint32_t ctas = (l->warps * 32 + r->machine.cta_threads - 1) / r->machine.cta_threads;
    while (l->warps % ctas) ctas++;
    return ctas;
}

/* first: where on its path the first warp begins. The pointers: in a row, each warp's line beside the next
 * warp's; or one random ring through all lines (Sattolo's shuffle), on which the warps start as far from each
 * other as possible, neighbours on different SMs: none finds in its L1 what another has read. */
static inline void latency_place(struct latency_rig *r, const struct latency_load *l, uint64_t first)
{
    uint64_t n = latency_lines(&r->machine, l->level), warps = (uint64_t)l->sms * l->warps;
    uint64_t ctas = (uint64_t)l->sms * latency_ctas(r, l), cta_warps = warps / ctas;
    uint64_t stride = l->stream ? warps : 1, apart = n > warps ? n / warps : 1;
    struct rng rng = {1};
    uint32_t *order = mem_alloc(sizeof *order * n);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    for (uint64_t i = n - 1; !l->stream && i > 0; i--) {
        uint64_t j = rng_below(&rng, i);
        uint32_t t = order[i];
        order[i] = order[j], order[j] = t;
    }
    for (uint64_t i = 0; i < n; i++)
        *(uint64_t *)(uintptr_t)(r->lines + (uint64_t)order[i] * LATENCY_LINE) =
            r->lines + (uint64_t)order[(i + stride) % n] * LATENCY_LINE;
    for (uint64_t w = 0; w < warps; w++) {
        uint64_t at = l->stream ? w : (w % cta_warps * ctas + w / cta_warps) * apart;
        ((uint64_t *)(uintptr_t)r->starts)[w] = r->lines + (uint64_t)order[(at + first) % n] * LATENCY_LINE;
    }
    free(order);
}

static inline bool latency_launch(struct latency_rig *r, const struct latency_load *l, uint64_t first,
                                  uint32_t rounds)
{
    uint32_t ctas = latency_ctas(r, l);
    struct {
        uint64_t starts;
        uint32_t rounds;
    } params = {r->starts, rounds};
    struct emu_launch launch = {.module = r->module,
                                .kernel = emu_find_kernel(r->module, "chase"),
                                .grid = {l->sms * ctas, 1, 1},
                                .block = {l->warps / ctas * 32, 1, 1},
                                .params = (void *)&params};
    latency_place(r, l, first);
    timed_launch(r->gpu, &launch, 0);
    return timed_sync(r->gpu, UINT64_MAX, &r->fault) == EMU_OK;
}

/* The launch before a point. DRAM: it loads only the code, and a few first lines, which are not read
 * again. */
static inline bool latency_warm(struct latency_rig *r, enum latency_level level)
{
    struct latency_load fill = {level == LATENCY_DRAM ? LATENCY_L1 : level, true, r->machine.sm_count, 8};
    uint32_t lines = latency_lines(&r->machine, fill.level);
    return latency_launch(r, &fill, 0, lines / (fill.sms * fill.warps * LATENCY_ROUND) + 1);
}

/* Runs a load on a new machine; false: it stopped (the report is on stderr). */
static inline bool latency_measure(struct latency_rig *r, const struct latency_load *l, uint32_t rounds,
                                   struct latency_point *out)
{
    struct diag_list d = {0};
    if (r->gpu) timed_destroy(r->gpu);
    r->gpu = timed_create(&r->machine, r->device, &(struct timed_options){0}, &d);
    diag_free(&d);
    if (!r->gpu) return false;
    if (!latency_warm(r, l->level) ||
        !latency_launch(r, l, latency_lines(&r->machine, l->level) / 2, rounds)) {
        fprintf(stderr, "%s\n", timed_report(r->gpu));
        return false;
    }
    const struct timed_kernel *k = timed_kernel_at(r->gpu, timed_kernel_count(r->gpu) - 1);
    double cycles = (double)(k->end_cycle - k->start_cycle),
           loads = (double)l->sms * l->warps * rounds * LATENCY_ROUND;
    double delivered = l->level == LATENCY_L1 ? loads : latency_stat(r, "l1.miss_latency_count");
    *out = (struct latency_point){.gbs = delivered * LATENCY_LINE / cycles * r->machine.core_clock_khz * 1e-6,
                                  .aml = latency_stat(r, "l1.aml"),
                                  .step = cycles * l->sms * l->warps / loads};
    return true;
}

#endif
