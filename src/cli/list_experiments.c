/* list_experiments.c: `heddle list experiments`: what experiments/ holds, and how many runs each needs. */
#include "cli/list.h"
#include "cli/workloads.h"
#include "lab/plan.h"

/* Each experiment of the folder, read once: studies look up their members. */
struct loaded {
    const char *const *names;
    struct experiment *items;
    bool *is_read;
    uint32_t count;
};

static const struct experiment *find_experiment(const struct loaded *l, const char *name)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (!strcmp(l->names[i], name)) return l->is_read[i] ? &l->items[i] : NULL;
    return NULL;
}

/* The number of runs of an experiment, or of all members of a study. False: a member is missing, and an error
 * that names it was printed. */
static bool count_runs(const struct loaded *l, const struct experiment *e, uint32_t *runs)
{
    VEC(const struct experiment *) all = {0};
    bool ok = true;
    vec_push(&all, e);
    for (uint32_t i = 0; ok && e->study && e->study[i]; i++) {
        const struct experiment *member = find_experiment(l, e->study[i]);
        ok = member != NULL;
        if (!ok) fprintf(stderr, "heddle: error: %s: no experiment '%s' was read\n", e->name, e->study[i]);
        vec_push(&all, member);
    }
    if (ok) *runs = plan_count(all.data, all.len);
    vec_free(&all);
    return ok;
}

static bool print_one(const struct loaded *l, const struct experiment *e)
{
    uint32_t runs;
    if (!count_runs(l, e, &runs)) return false;
    const int col = printf("%-18s %5u  ", e->name, runs);
    cli_print_wrapped(e->title, col, col);
    return true;
}

/* An experiment that cannot be read is reported and left out. */
static bool print_all(const char *const *names, uint32_t count, const struct workload_set *workloads)
{
    struct loaded l = {names, mem_zalloc(count * sizeof *l.items), mem_zalloc(count * sizeof *l.is_read),
                       count};
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        struct diag_list diags = {0};
        l.is_read[i] = experiment_load(&l.items[i], names[i], workloads, &diags);
        cli_print_diags(&diags);
        diag_free(&diags);
    }
    for (uint32_t i = 0; i < count; i++) ok = l.is_read[i] && print_one(&l, &l.items[i]) && ok;
    for (uint32_t i = 0; i < count; i++) experiment_free(&l.items[i]);
    free(l.items);
    free(l.is_read);
    return ok;
}

int cli_list_experiments(void)
{
    struct arena arena = {0};
    struct workload_set workloads = {0};
    const char **names = NULL;
    uint32_t count = experiment_names(&arena, &names);
    bool ok = cli_load_workloads(&workloads);
    if (!count) {
        fprintf(stderr,
                "heddle: error: no experiments in %s/experiments\n  hint: set HEDDLE_HOME to the folder that "
                "holds experiments/\n",
                machine_data_dir());
        ok = false;
    } else {
        puts("experiment          runs");
    }
    ok = print_all(names, count, &workloads) && ok;
    if (ok)
        printf("\nRuns that several experiments share are made once. Your own:\n"
               "docs/experiments.md. `heddle reproduce NAME` makes one.\n");
    workloads_free(&workloads);
    arena_free(&arena);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}
