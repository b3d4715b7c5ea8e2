/* launch_check.c: what a launch needs, and what it is refused for. */
#include "emu/fault.h"
#include "emu/grid.h"

enum {
    /* residency of one SM where the launch does not give it */
    SM_CTAS = 32,
    /* registers of a thread are allocated in units of eight */
    REG_UNIT = 8
};

enum emu_fault_kind run_refuse(struct emu_fault *fault, const struct isa_kernel *k, const char *fmt, ...)
{
    struct strbuf text = {0};
    *fault = (struct emu_fault){.kind = EMU_BAD_LAUNCH, .kernel = k->name};
    strbuf_printf(&text, "heddle: kernel '%s' cannot be launched: ", k->name);
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    strbuf_putc(&text, '\n');
    fault_set_text(fault, strbuf_text(&text));
    strbuf_free(&text);
    return EMU_BAD_LAUNCH;
}

uint64_t launch_shared_bytes(const struct emu_launch *l)
{
    const struct isa_kernel *k = l->kernel;
    uint64_t fixed =
        l->shared_dynamic_bytes ? MAX(k->shared_bytes, k->shared_dynamic_offset) : k->shared_bytes;
    return fixed + l->shared_dynamic_bytes;
}

static uint64_t regs_of(const struct isa_kernel *k, uint64_t threads)
{
    return round_up_u64(MAX(k->reg_count, 1u), REG_UNIT) * round_up_u64(threads, ISA_LANES);
}

uint64_t launch_ctas(const struct emu_launch *l) { return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]; }

uint64_t launch_resident_max(const struct emu_limits *lim, const struct emu_launch *l, uint64_t threads)
{
    const uint64_t sms = MAX(lim->sm_count, 1u);
    if (l->ctas_per_sm) return l->ctas_per_sm * sms;
    uint64_t shared = launch_shared_bytes(l);
    uint64_t n = MIN((uint64_t)SM_CTAS, SM_THREADS / round_up_u64(threads, ISA_LANES));
    n = MIN(n, lim->regs_per_cta_max / regs_of(l->kernel, threads));
    if (shared) n = MIN(n, lim->shared_per_cta_max / shared);
    return MAX(n, 1u) * sms;
}

static enum emu_fault_kind check_shape(const struct emu_limits *lim, const struct emu_launch *l,
                                       struct emu_fault *fault)
{
    static const char axis[] = "xyz";
    for (uint32_t d = 0; d < 3; d++) {
        if (!l->grid[d] || l->grid[d] > lim->grid_max[d])
            return run_refuse(fault, l->kernel, "grid.%c = %u, must be from 1 to %u", axis[d], l->grid[d],
                              lim->grid_max[d]);
        if (!l->block[d] || l->block[d] > lim->block_max[d])
            return run_refuse(fault, l->kernel, "block.%c = %u, must be from 1 to %u", axis[d], l->block[d],
                              lim->block_max[d]);
    }
    return EMU_OK;
}

static enum emu_fault_kind check_bounds(const struct emu_launch *l, uint64_t threads, struct emu_fault *fault)
{
    const struct isa_kernel *k = l->kernel;
    uint64_t max = 1;
    bool has_max = k->maxntid[0] != 0, has_req = k->reqntid[0] != 0;
    for (uint32_t d = 0; d < 3; d++) {
        max *= MAX(k->maxntid[d], 1u);
        if (has_req && MAX(k->reqntid[d], 1u) != l->block[d])
            return run_refuse(fault, k,
                              "block (%u,%u,%u), but the kernel was compiled for (%u,%u,%u) only (.reqntid)",
                              l->block[0], l->block[1], l->block[2], k->reqntid[0], MAX(k->reqntid[1], 1u),
                              MAX(k->reqntid[2], 1u));
    }
    if (has_max && threads > max)
        return run_refuse(fault, k,
                          "%llu threads per block, but the kernel was compiled for at most %llu (.maxntid)",
                          (unsigned long long)threads, (unsigned long long)max);
    return EMU_OK;
}

enum emu_fault_kind emu_check_launch(struct emu_device *d, const struct emu_launch *l,
                                     struct emu_fault *fault)
{
    const struct emu_limits *lim = &d->limits;
    const struct isa_kernel *k = l->kernel;
    if (!l->module || !module_image(l->module, k)) return run_refuse(fault, k, "it is not of the module");
    if (k->refused) return run_refuse(fault, k, "%s\n%s", k->refused->need, k->refused->text);
    if (k->param_bytes && !l->params) return run_refuse(fault, k, "its parameters are missing");
    enum emu_fault_kind bad = check_shape(lim, l, fault);
    if (bad) return bad;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t threads_max = MIN(lim->threads_per_cta_max, (uint32_t)(WARPS_MAX * ISA_LANES));
    if (threads > threads_max)
        return run_refuse(fault, k, "%llu threads per block, the device allows %llu",
                          (unsigned long long)threads, (unsigned long long)threads_max);
    bad = check_bounds(l, threads, fault);
    if (bad) return bad;
    uint64_t shared = launch_shared_bytes(l);
    if (shared > lim->shared_per_cta_max)
        return run_refuse(
            fault, k, "%llu bytes of shared memory per block (%u static, %u dynamic), the device allows %u",
            (unsigned long long)shared, k->shared_bytes, l->shared_dynamic_bytes, lim->shared_per_cta_max);
    uint64_t regs = regs_of(k, threads);
    if (regs > lim->regs_per_cta_max)
        return run_refuse(fault, k,
                          "%llu registers per block (%u per thread, %llu threads), the device allows %u; use "
                          "fewer threads, or a "
                          "lower --maxrregcount",
                          (unsigned long long)regs, k->reg_count, (unsigned long long)threads,
                          lim->regs_per_cta_max);
    if (l->cooperative && launch_ctas(l) > launch_resident_max(lim, l, threads))
        return run_refuse(
            fault, k, "cooperative launch of %llu blocks, but only %llu can be resident together",
            (unsigned long long)launch_ctas(l), (unsigned long long)launch_resident_max(lim, l, threads));
    if (k->frame_bytes + (uint64_t)lim->stack_bytes > ISA_WINDOW_BYTES)
        return run_refuse(
            fault, k,
            "%u bytes of local memory and %u of stack per thread, more than the window of local memory",
            k->frame_bytes, lim->stack_bytes);
    return EMU_OK;
}
