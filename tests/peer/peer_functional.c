/* peer_functional.c: a launch without a clock, one instruction at a time, so that the lines that its loads
 * touch can be counted: these do not depend on time. */
#include "peer_functional.h"

#include "emu/step.h"

enum { LINE_BYTES = 128 };

/* Different lines of one access; each is a transaction of the L1. */
static uint32_t lines_of(const struct emu_access *a)
{
    uint64_t seen[ISA_LANES];
    uint32_t count = 0;
    for (uint32_t l = 0; l < ISA_LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        uint64_t line = a->addr[l] / LINE_BYTES;
        uint32_t k = 0;
        while (k < count && seen[k] != line) k++;
        if (k == count) seen[count++] = line;
    }
    return count;
}

static bool is_l1_read(const struct emu_access *a)
{
    return (a->space == ISA_GLOBAL || a->space == ISA_LOCAL) && !a->is_store && !a->is_atomic &&
           !a->is_texture;
}

/* Every warp that can takes one step. False: a fault, or the CTA has ended. */
static bool round_of_steps(struct cta *c, struct peer_counts *counts)
{
    bool any = false;
    for (uint32_t k = 0; k < emu_cta_warps(c); k++) {
        struct emu_access a;
        if (emu_warp_state(emu_cta_warp(c, k)) != EMU_WARP_READY) continue;
        if (!emu_warp_step(emu_cta_warp(c, k), false, &a)) return false;
        if (is_l1_read(&a)) counts->l1_reads += lines_of(&a);
        any = true;
    }
    return any;
}

void peer_functional_run(struct emu_device *d, const struct emu_launch *l, struct peer_counts *counts,
                         struct emu_fault *fault)
{
    struct emu_stats stats = {0};
    fenv_t host;
    emu_env_enter(&host);
    struct emu_grid *g = emu_grid_open(d, l, fault);
    for (uint64_t i = 0; g && i < emu_grid_ctas(g) && fault->kind == EMU_OK; i++) {
        struct cta *c = emu_cta_open(g, i, 0);
        if (!c) break;
        while (round_of_steps(c, counts)) {}
        emu_cta_close(c);
    }
    if (g) emu_grid_close(g, &stats);
    emu_env_leave(&host);
    counts->warp_insts += stats.warp_insts;
    counts->thread_insts += stats.thread_insts;
}
