/* peer_timed.c: see peer_timed.h. */
#include "peer_timed.h"

#include "core/timed.h"

struct peer_timed {
    struct machine machine;
    struct timed_gpu *gpu;
    /* kernels that have been counted */
    uint32_t seen;
};

static void show(struct diag_list *diags)
{
    struct strbuf text = {0};
    diag_render(diags, &text);
    fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    diag_free(diags);
}

struct peer_timed *peer_timed_open(struct emu_device *d, const struct peer_machine *m)
{
    struct peer_timed *t = mem_zalloc(sizeof *t);
    struct diag_list diags = {0};
    struct timed_options options = {.mechs = &m->mech, .mech_count = m->mech != NULL};
    if (machine_load(m->name, m->settings, m->setting_count, &t->machine, &diags))
        t->gpu = timed_create(&t->machine, d, &options, &diags);
    show(&diags);
    if (t->gpu) return t;
    free(t);
    return NULL;
}

/* The L1 statistics of a kernel, summed over the SMs. */
static const struct l1_stats *l1_of(const struct peer_timed *t, const struct timed_kernel *k)
{
    const struct timed_group *groups;
    uint32_t count = timed_groups(t->gpu, &groups);
    for (uint32_t g = 0; g < count; g++)
        if (!strcmp(groups[g].name, "l1")) return k->stats[g];
    UNREACHABLE("the timed GPU counts its L1");
}

void peer_timed_run(struct peer_timed *t, const struct emu_launch *l, struct peer_counts *counts,
                    struct emu_fault *fault)
{
    timed_launch(t->gpu, l, 0);
    if (timed_sync(t->gpu, 0, fault) != EMU_OK) return;
    for (; t->seen < timed_kernel_count(t->gpu); t->seen++) {
        const struct timed_kernel *k = timed_kernel_at(t->gpu, t->seen);
        counts->cycles += k->end_cycle - k->start_cycle;
        counts->warp_insts += timed_kernel_emu(t->gpu, t->seen)->warp_insts;
        counts->thread_insts += timed_kernel_emu(t->gpu, t->seen)->thread_insts;
        const struct l1_stats *l1 = l1_of(t, k);
        counts->l1_reads += l1->accesses[L1_GLOBAL_LOAD] + l1->accesses[L1_LOCAL_LOAD];
        counts->l1_hits += l1->hits[L1_GLOBAL_LOAD] + l1->hits[L1_LOCAL_LOAD];
    }
}

void peer_timed_copy(struct peer_timed *t, uint64_t address, uint64_t bytes)
{
    timed_host_copy(t->gpu, address, bytes);
}
