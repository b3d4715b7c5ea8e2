/* gpu_variant.c: kernels lowered again with fewer registers.
 *
 * A program is built for GPUs with 65,536 registers an SM (32,768 for PTX of sm_2x). On a machine with
 * fewer, a block that fits those GPUs may not fit: a build for this machine would have had to spill, so the
 * kernel is lowered again with as many registers as fit, at the first launch that needs it. Limits that the
 * program or the user set (--maxrregcount, .maxnreg, launch bounds) are upper bounds and hold for the
 * variant too. A block that fits no GPU of the program's own target either is refused, as it is there. A
 * variant depends on nothing but the kernel and the number of warps, and is kept. */
#include "core/occupancy.h"
#include "cuda/gpu_impl.h"

enum { REGISTERS_MIN = 16 };
/* CUDA Programming Guide, technical specifications per compute capability; the Occupancy Calculator. */
static const struct occupancy_registers sm2x_registers = {32768, 64, 2}, target_registers = {65536, 256, 4};

static uint32_t warps_of(uint64_t threads) { return (uint32_t)((threads + ISA_LANES - 1) / ISA_LANES); }

uint32_t gpu_variant_registers(const struct machine *m, uint64_t threads)
{
    for (uint32_t regs = m->sm_thread_registers_max; regs >= REGISTERS_MIN; regs--)
        if (occupancy_warps(occupancy_registers_of(m), regs) >= warps_of(threads)) return regs;
    return 0;
}

/* Whether an SM of the GPUs that the PTX is for holds this many warps of the kernel. */
static bool fits_target(uint32_t target_sm, const struct isa_kernel *k, uint32_t warps)
{
    return occupancy_warps(target_sm < 30 ? sm2x_registers : target_registers, k->reg_count) >= warps;
}

static const struct isa_kernel *lower_variant(struct gpu *g, struct gpu_module *m, const struct isa_kernel *k,
                                              uint32_t regs)
{
    struct diag_list diags = {0};
    struct isa_module *isa = gpu_module_lower_again(g, m, k->name, regs);
    const struct isa_kernel *variant = NULL;
    if (isa && !isa->kernels[0]->refused && isa->kernels[0]->reg_count <= regs)
        variant = emu_module_add_variant(m->emu, isa, &diags);
    else
        isa_module_free(isa);
    diag_free(&diags);
    return variant;
}

static void say(const struct machine *machine, const struct isa_kernel *k, const struct isa_kernel *variant,
                uint64_t threads)
{
    gpu_complain(
        "note: kernel '%s' needs %u registers a thread, %llu for a block of %llu threads; an SM of %s "
        "has %u: lowered again with %u (%u bytes spilled), as a build for this machine would be",
        k->name, k->reg_count, (unsigned long long)(k->reg_count * threads), (unsigned long long)threads,
        machine->name, machine->sm_registers, variant->reg_count, variant->spill_bytes);
}

const struct isa_kernel *gpu_variant_for(struct gpu *g, struct gpu_module *m, const struct isa_kernel *k,
                                         uint64_t threads)
{
    uint32_t warps = warps_of(threads);
    if (k->refused || !warps || threads > g->machine.cta_threads || threads > gpu_kernel_bound(k)) return k;
    if (occupancy_warps_by_registers(&g->machine, k) >= warps) return k;
    if (!fits_target(emu_module_isa(m->emu)->target_sm, k, warps)) return k;
    uint32_t regs = gpu_variant_registers(&g->machine, threads);
    if (!regs) return k;
    for (uint32_t i = 0; i < m->variants.len; i++)
        if (m->variants.data[i].of == k && m->variants.data[i].regs == regs)
            return m->variants.data[i].kernel ? m->variants.data[i].kernel : k;
    const struct isa_kernel *variant = lower_variant(g, m, k, regs);
    vec_push(&m->variants, (struct gpu_variant){.of = k, .kernel = variant, .regs = regs});
    if (variant) say(&g->machine, k, variant, threads);
    return variant ? variant : k;
}
