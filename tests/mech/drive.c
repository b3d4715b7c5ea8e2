/* drive.c FILE.so [SETTING...]: loads a mechanism and runs one SM with it for some thousand invented cycles,
 * then prints its statistics. Exits with status 1 and the diagnostics when it cannot be attached. */
#include "../unit/mech_kit.h"

static void drive(struct mech_kit *k)
{
    uint64_t rng = 1;
    for (int w = 0; w < 16; w++) kit_start(k, w);
    for (uint64_t cycle = 0; cycle < 5000; cycle++) {
        rng = rng * 6364136223846793005ull + 1442695040888963407ull;
        if (k->sm->next_timer <= cycle) mech_on_timer(k->sm, cycle);
        struct mech_sched_view v = {.ready = rng >> 40 & k->resident,
                                    .resident = k->resident,
                                    .memory_next = rng >> 20 & k->resident,
                                    .age = k->age,
                                    .cta = k->cta,
                                    .last = k->last,
                                    .scheduler_count = 1,
                                    .cycle = cycle};
        int w = mech_pick(k->sm, &v);
        if (w == MECH_NO_WARP) continue;
        k->last = w;
        bool is_memory = v.memory_next >> w & 1;
        mech_on_issue(
            k->sm,
            &(struct mech_issue){
                .cycle = cycle, .warp = w, .pc = (uint32_t)(rng >> 58), .is_load = is_memory, .lanes = 32});
        if (!is_memory) continue;
        struct mech_l1_access a = {.cycle = cycle,
                                   .warp = w,
                                   .pc = (uint32_t)(rng >> 62),
                                   .line = 128 * cycle,
                                   .is_first_line = true,
                                   .outcome = rng >> 62 ? MECH_L1_MISS : MECH_L1_HIT,
                                   .lane_address = 128 * cycle};
        if (a.outcome == MECH_L1_MISS) mech_may_allocate(k->sm, &a);
        mech_on_l1_access(k->sm, &a);
    }
    for (int w = 0; w < 16; w++) kit_end(k, w);
}

int main(int argc, char **argv)
{
    struct strbuf out = {0};
    struct mech_kit k = {.last = MECH_NO_WARP};
    const char *const *settings = (const char *const *)argv + 2;
    k.set = argc < 2
                ? NULL
                : mech_set_create((const char *const *)argv + 1, 1, settings, (uint32_t)argc - 2, &k.diags);
    if (k.set) {
        kit_attach(&k, &kit_ops, 48, 1);
        drive(&k);
        const struct mechanism *m = mech_set_at(k.set, 0);
        printf("%s: %s\n", m->name, m->summary);
        for (const struct stat_row *r = m->stats; r && r->name; r++)
            if (r->type == STAT_COUNT)
                printf("%s %llu\n", r->name, (unsigned long long)kit_stat(&k, r->name));
        kit_close(&k);
        return 0;
    }
    diag_render(&k.diags, &out);
    fputs(strbuf_text(&out), stderr);
    strbuf_free(&out);
    diag_free(&k.diags);
    return 1;
}
