/* sweep_stages.c: a sweep of plans that grow: some runs follow from the results of others. Each stage is a
 * sweep of all runs that are known; those that the store has take no time. A sweep that was stopped finds its
 * stage again by what the store has. A head of Slurm that leaves has submitted one stage; the same command
 * gathers it and submits the next. */
#include "lab/sweep.h"

static uint32_t job_count(const struct plan *plans, uint32_t plan_count)
{
    uint32_t jobs = 0;
    for (uint32_t i = 0; i < plan_count; i++) jobs += plans[i].job_count;
    return jobs;
}

static bool advance(struct plan *plans, uint32_t plan_count, struct store *s, const char *folder,
                    struct diag_list *diags)
{
    for (uint32_t i = 0; i < plan_count; i++)
        if (!plan_advance(&plans[i], s, folder, diags)) return false;
    return true;
}

/* What an earlier stage made is in the store of this one. */
static void add_up(struct sweep_result *sum, const struct sweep_result *stage)
{
    const uint32_t made_before = sum->made + sum->elsewhere;
    sum->had = stage->had > made_before ? stage->had - made_before : 0;
    sum->made += stage->made;
    sum->elsewhere += stage->elsewhere;
    sum->failed = stage->failed;
    sum->seconds += stage->seconds;
}

bool sweep_stages(struct store *s, struct plan *plans, uint32_t plan_count, const struct sweep_options *o,
                  struct sweep_result *out, struct diag_list *diags)
{
    *out = (struct sweep_result){0};
    if (!advance(plans, plan_count, s, o->folder, diags)) return false;
    for (uint32_t before = UINT32_MAX; job_count(plans, plan_count) != before;) {
        struct sweep_result stage;
        before = job_count(plans, plan_count);
        if (!sweep(s, plans, plan_count, o, &stage)) return false;
        add_up(out, &stage);
        if ((o->stop && *o->stop) || o->slurm == SWEEP_SLURM_DETACH) return true;
        if (!advance(plans, plan_count, s, o->folder, diags)) return false;
    }
    return true;
}
