/* profiling.c: see profiling.h. */
#include "cli/profiling.h"

#include "base/output.h"
#include "cli/workloads.h"

#include <errno.h>
#include <unistd.h>

struct cli_option *cli_profiling_options(struct cli_profiling *p, const struct cli_option *own,
                                         const struct cli_run_pick *picks)
{
    const struct cli_option options[] = {
        {"--step", NULL, CLI_NUMBER64, &p->step, "WARPS",
         "distance of the values of N, and of p: 1, 1 + WARPS, ... and all (default 1; of a map, such that "
         "there are nine at most)"},
        {"--kernel", NULL, CLI_STRING, &p->kernel, "NAME", "launches of this kernel alone"},
        {"--cycles", NULL, CLI_NUMBER64, &p->cycles_min, "N",
         "only launches of at least N cycles (default 10000; of a map, 1)"},
        {0}};
    struct cli_option *both = cli_join_options(options, own), *swept = cli_batch_options(&p->sweep, both);
    struct cli_option *all = cli_run_pick_options(&p->run, picks, swept);
    free(both);
    free(swept);
    return all;
}

void cli_profiling_free(struct cli_profiling *p) { cli_run_free(&p->run); }

bool cli_profiled_has_some(const struct cli_profiled *out, int status)
{
    return out->store && out->profile.kernels.len && (status == CLI_OK || status == CLI_FAILED);
}

void cli_profiled_free(struct cli_profiled *out)
{
    profile_free(&out->profile);
    if (out->store) store_close(out->store);
    cli_lab_free(&out->lab);
}

/* ---- the two sweeps ---- */

struct two_sweeps {
    const struct cli_profiling *asked;
    struct profile_ask ask;
    const struct profile_workload *workloads;
    uint32_t count;
    /* [workload]: the most warps of a scheduler; 0: not known */
    uint32_t *bounds;
    struct cli_lab baseline;
};

static bool plan_baseline(struct two_sweeps *t)
{
    struct strbuf text = {0};
    profile_write_baseline(&t->ask, t->workloads, t->count, &text);
    const bool ok = cli_load_workloads(&t->baseline.workloads) &&
                    cli_lab_add(&t->baseline, "baseline", strbuf_text(&text));
    strbuf_free(&text);
    return ok;
}

/* Are the bounds of all workloads known? */
static bool find_bounds(struct two_sweeps *t, struct store *store)
{
    struct diag_list diags = {0};
    bool ok = true;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct plan *plan = &t->baseline.plans.data[0];
        t->bounds[i] = profile_bound(store, &plan->jobs[plan_job(plan, i, 0)], &t->ask, &diags);
        ok = ok && t->bounds[i];
    }
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

static void tell_unbounded(const struct two_sweeps *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->bounds[i]) continue;
        fprintf(stderr, "heddle: %s (%s): no launch%s%s has %llu cycles%s: left out\n", t->workloads[i].name,
                t->workloads[i].size, t->ask.kernel ? " of " : "", t->ask.kernel ? t->ask.kernel : "",
                (unsigned long long)t->ask.cycles_min, t->asked->sweep.dry_run ? " yet" : "");
    }
}

static bool plan_grids(const struct two_sweeps *t, struct cli_lab *lab)
{
    bool ok = cli_load_workloads(&lab->workloads);
    for (uint32_t i = 0; ok && i < t->count; i++) {
        struct strbuf text = {0};
        if (!t->bounds[i]) continue;
        profile_write_grid(&t->ask, &t->workloads[i], t->bounds[i], t->asked->poise_sets, &text);
        ok = cli_lab_add(lab, t->workloads[i].name, strbuf_text(&text));
        strbuf_free(&text);
    }
    return ok;
}

/* Lists the tuples' runs where the store has the baselines, else the baselines. */
static int list_runs(struct two_sweeps *t, struct cli_profiled *out)
{
    const char *path = t->asked->sweep.store ? t->asked->sweep.store : CLI_DEFAULT_STORE;
    char *error = NULL;
    struct store *store = access(path, F_OK) ? NULL : store_open(path, false, &error), *none;
    if (error) {
        const int status = cli_store_refused(error);
        free(error);
        return status;
    }
    const bool is_known = store && find_bounds(t, store);
    if (store) store_close(store);
    if (!is_known) {
        fputs("heddle: these runs tell how many warps fit; the tuples are known after them\n", stderr);
        return cli_sweep(&t->asked->sweep, &t->baseline, &none);
    }
    return plan_grids(t, &out->lab) ? cli_sweep(&t->asked->sweep, &out->lab, &none) : CLI_BAD_INPUT;
}

static int gather(const struct two_sweeps *t, struct cli_profiled *out, int status)
{
    struct diag_list diags = {0};
    for (uint32_t i = 0; i < out->lab.plans.len; i++)
        if (!profile_gather(&out->profile, out->store, &out->lab.plans.data[i], &t->ask, &out->missing,
                            &diags))
            status = CLI_FAILED;
    cli_print_diags(&diags);
    diag_free(&diags);
    return status;
}

static int make_runs(struct two_sweeps *t, struct cli_profiled *out)
{
    struct store *store;
    int status = cli_sweep(&t->asked->sweep, &t->baseline, &store);
    if (!store) return status;
    if (status == CLI_OK || status == CLI_FAILED) find_bounds(t, store);
    store_close(store);
    if (status != CLI_OK && status != CLI_FAILED) return status;
    tell_unbounded(t);
    if (!plan_grids(t, &out->lab)) return CLI_BAD_INPUT;
    if (!out->lab.plans.len) return CLI_FAILED;
    status = cli_sweep(&t->asked->sweep, &out->lab, &out->store);
    return out->store ? gather(t, out, status) : status;
}

int cli_profile_runs(const struct cli_profiling *p, const struct profile_workload *workloads, uint32_t count,
                     struct cli_profiled *out)
{
    const struct run_options *run = &p->run.options;
    struct two_sweeps t = {.asked = p, .workloads = workloads, .count = count};
    t.ask = (struct profile_ask){.machine = run->machine,
                                 .sets = run->sets,
                                 .set_count = run_list_count(run->sets),
                                 .step = (uint32_t)p->step,
                                 .cycles_min = p->cycles_min,
                                 .kernel = p->kernel};
    t.bounds = mem_zalloc(MAX(count, 1u) * sizeof *t.bounds);
    int status = CLI_BAD_INPUT;
    if (plan_baseline(&t)) status = p->sweep.dry_run ? list_runs(&t, out) : make_runs(&t, out);
    cli_lab_free(&t.baseline);
    free(t.bounds);
    return status;
}

int cli_write_text(const char *path, const struct strbuf *text)
{
    if (!path) {
        fputs(strbuf_text(text), stdout);
        return CLI_OK;
    }
    if (output_text(path, text)) return CLI_OK;
    fprintf(stderr, "heddle: error: cannot write %s: %s\n", path, strerror(errno));
    return CLI_FAILED;
}
