/* gpu_launch.c: launches: their parameter block, their refusals, their faults. */
#include "core/occupancy.h"
#include "cuda/gpu_timed.h"

#include <time.h>

static uint64_t wall_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the parameter block ---- */

static void *pack_args(const struct isa_kernel *k, void **args)
{
    uint8_t *block = mem_zalloc(MAX(k->param_bytes, 1u));
    for (uint32_t i = 0; i < k->param_count; i++) {
        const struct isa_param *p = &k->params[i];
        assert(p->offset + p->bytes <= k->param_bytes);
        if (args[i]) memcpy(block + p->offset, args[i], p->bytes);
    }
    return block;
}

static void *copy_packed(const struct isa_kernel *k, const void *packed, size_t bytes)
{
    uint8_t *block = mem_zalloc(MAX(k->param_bytes, 1u));
    memcpy(block, packed, MIN(bytes, k->param_bytes));
    return block;
}

/* ---- refusals and faults ---- */

enum gpu_status gpu_status_of_fault(enum emu_fault_kind kind)
{
    switch (kind) {
    case EMU_OK: return GPU_OK;
    case EMU_BAD_LAUNCH: return GPU_BAD_LAUNCH;
    case EMU_OUT_OF_BOUNDS:
    case EMU_FREED:
    case EMU_READ_ONLY: return GPU_ILLEGAL_ADDRESS;
    case EMU_MISALIGNED: return GPU_MISALIGNED;
    case EMU_ASSERT: return GPU_ASSERT;
    case EMU_ENDLESS: return GPU_TIMEOUT;
    case EMU_BAD_MASK: return GPU_ILLEGAL_INSTRUCTION;
    default: return GPU_LAUNCH_FAILED;
    }
}

static enum gpu_status PRINTF_LIKE(3, 4)
    refuse(const struct gpu_launch *l, enum gpu_status status, const char *fmt, ...)
{
    struct strbuf why = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&why, fmt, ap);
    va_end(ap);
    gpu_complain("launch of %s refused: %s (grid %u,%u,%u, block %u,%u,%u)", l->kernel->name,
                 strbuf_text(&why), l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                 l->block[2]);
    strbuf_free(&why);
    return status;
}

/* Reports a kernel that needs a feature that is not modelled. */
static enum gpu_status refuse_kernel(const struct gpu_launch *l)
{
    enum gpu_status status = refuse(l, GPU_NOT_SUPPORTED, "%s", l->kernel->refused->need);
    fprintf(stderr, "%s\n", l->kernel->refused->text);
    return status;
}

static enum gpu_status refuse_registers(const struct gpu *g, const struct gpu_launch *l, uint64_t threads)
{
    const struct machine *m = &g->machine;
    uint32_t regs = l->kernel->reg_count, fit = gpu_variant_registers(m, threads);
    char advice[80] = "";
    if (fit) snprintf(advice, sizeof advice, ", or build or run with --maxrregcount %u", fit);
    return refuse(
        l, GPU_TOO_MANY_RESOURCES,
        "%u registers a thread are %llu for %llu threads, and an SM of %s has %u (room for %u threads); "
        "use smaller blocks%s",
        regs, (unsigned long long)(regs * threads), (unsigned long long)threads, m->name, m->sm_registers,
        occupancy_warps_by_registers(m, l->kernel) * ISA_LANES, advice);
}

/* Checks what has an error code of its own in CUDA; the emulator checks everything else. */
static enum gpu_status check(const struct gpu *g, const struct gpu_launch *l)
{
    const struct machine *m = &g->machine;
    const struct isa_kernel *k = l->kernel;
    for (int i = 0; i < 3; i++)
        if (!l->grid[i] || !l->block[i]) return refuse(l, GPU_BAD_LAUNCH, "an extent is zero");
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (l->block[0] > m->cta_threads || l->block[1] > m->cta_threads || l->block[2] > 64 ||
        threads > m->cta_threads)
        return refuse(l, GPU_BAD_LAUNCH, "the block is larger than the machine's");
    if (k->refused) return refuse_kernel(l);
    if (threads > gpu_kernel_bound(k))
        return refuse(
            l, GPU_TOO_MANY_RESOURCES,
            "%llu threads, and the kernel was compiled for at most %llu (__launch_bounds__, .maxntid)",
            (unsigned long long)threads, (unsigned long long)gpu_kernel_bound(k));
    if (threads > gpu_kernel_threads_max(g, k)) return refuse_registers(g, l, threads);
    if ((uint64_t)k->shared_bytes + l->shared_dynamic_bytes >
        MAX(m->cta_shared_bytes, m->cta_shared_optin_bytes))
        return refuse(l, GPU_INVALID_VALUE, "more shared memory than a CTA can have");
    if (k->param_count && !l->args && !l->packed)
        return refuse(l, GPU_INVALID_VALUE, "arguments are missing");
    if (l->packed && l->packed_bytes < k->param_bytes && !l->args)
        return refuse(l, GPU_INVALID_VALUE, "the argument block is too small");
    if (l->cooperative) {
        uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
        uint64_t room =
            (uint64_t)gpu_occupancy(g, k, (uint32_t)threads, l->shared_dynamic_bytes) * m->sm_count;
        if (ctas > room)
            return refuse(l, GPU_TOO_MANY_RESOURCES, "a cooperative grid must fit the machine as a whole");
    }
    return GPU_OK;
}

static enum gpu_status run(struct gpu *g, const struct gpu_launch *l, const void *params)
{
    assert(params && l->module->emu);
    struct emu_launch e = {.module = l->module->emu,
                           .kernel = l->kernel,
                           .grid = {l->grid[0], l->grid[1], l->grid[2]},
                           .block = {l->block[0], l->block[1], l->block[2]},
                           .shared_dynamic_bytes = l->shared_dynamic_bytes,
                           .params = params,
                           .cooperative = l->cooperative,
                           .shared_wish = l->shared_wish,
                           .ctas_per_sm = gpu_occupancy(g, l->kernel, l->block[0] * l->block[1] * l->block[2],
                                                        l->shared_dynamic_bytes)};
    struct emu_fault *fault = mem_zalloc(sizeof *fault);
    if (g->timed) { /* refusals come at once, faults when it runs */
        enum emu_fault_kind refused = emu_check_launch(g->device, &e, fault);
        if (refused == EMU_OK) {
            timed_launch(g->timed, &e, l->stream);
            gpu_keep_pending(g);
        } else {
            fputs(fault->message, stderr);
        }
        free(fault);
        return gpu_status_of_fault(refused);
    }
    struct emu_stats stats = {0};
    fflush(stdout); /* output of device printf comes after what the program wrote before */
    uint64_t begin = wall_now_ns();
    enum emu_fault_kind kind = emu_run(g->device, &e, &stats, fault);
    const uint64_t wall_ns = wall_now_ns() - begin, sim_ns = gpu_functional_ns(&g->machine, &stats);
    gpu_stats_add(g, l->kernel->name, &stats, wall_ns, sim_ns);
    gpu_keep_launch(g, l->kernel->name, &stats, wall_ns, sim_ns);
    enum gpu_status status = gpu_status_of_fault(kind);
    if (kind != EMU_OK) {
        size_t len = strlen(fault->message);
        fprintf(stderr, "%s%s", fault->message, len && fault->message[len - 1] == '\n' ? "" : "\n");
        if (status != GPU_BAD_LAUNCH) g->sticky = status;
    }
    free(fault);
    return status;
}

enum gpu_status gpu_launch(struct gpu *g, const struct gpu_launch *launch)
{
    gpu_lock();
    struct gpu_launch l = *launch;
    enum gpu_status status = g->sticky;
    if (status == GPU_OK && (!l.module || !l.module->emu || !l.kernel)) status = GPU_INVALID_HANDLE;
    if (status == GPU_OK) {
        uint64_t threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
        l.kernel = gpu_variant_for(g, l.module, l.kernel, threads);
        status = check(g, &l);
    }
    if (status == GPU_OK) {
        void *params = l.args || !l.packed ? pack_args(l.kernel, l.args)
                                           : copy_packed(l.kernel, l.packed, l.packed_bytes);
        status = run(g, &l, params);
        free(params);
    }
    gpu_unlock();
    return status;
}
