/* list_experiments.c: `heddle list experiments`: what experiments/ holds, and how many runs each needs. */
#include "cli/list.h"
#include "cli/workloads.h"
#include "lab/plan.h"

/* A study and its members, or an experiment alone. */
struct loaded {
    VEC(struct experiment *) items;
};

static struct experiment *load_one(struct loaded *l, const char *name, const struct workload_set *workloads,
                                   struct diag_list *diags)
{
    struct experiment *e = mem_zalloc(sizeof *e);
    vec_push(&l->items, e);
    return experiment_load(e, name, workloads, diags) ? e : NULL;
}

static bool print_one(const char *name, const struct workload_set *workloads)
{
    struct loaded l = {0};
    struct diag_list diags = {0};
    struct experiment *e = load_one(&l, name, workloads, &diags);
    bool ok = e != NULL;
    for (uint32_t i = 0; ok && e->study && e->study[i]; i++)
        ok = load_one(&l, e->study[i], workloads, &diags) != NULL;
    if (ok) {
        int col = printf("%-18s %5u  ", e->name,
                         plan_count((const struct experiment *const *)l.items.data, l.items.len));
        cli_print_wrapped(e->title, col, col);
    }
    cli_print_diags(&diags);
    diag_free(&diags);
    for (uint32_t i = 0; i < l.items.len; i++) {
        experiment_free(l.items.data[i]);
        free(l.items.data[i]);
    }
    vec_free(&l.items);
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
    for (uint32_t i = 0; i < count; i++) ok = print_one(names[i], &workloads) && ok;
    if (ok)
        printf("\nRuns that several experiments share are made once. Your own:\n"
               "docs/experiments.md. `heddle reproduce NAME` makes one.\n");
    workloads_free(&workloads);
    arena_free(&arena);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}
