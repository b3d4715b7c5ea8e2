/* fuzz_experiment.c: any bytes as an experiment, beside two workloads. What is read names only what there is.
 * */
#define _GNU_SOURCE /* mkstemps */
#include "fuzz_file.h"

#include "lab/experiment.h"

/* What the experiment can name. */
static const struct workload_set *workloads(void)
{
    static struct workload_set set;
    static const char text[] = "name: %s\nprogram: p\nsizes:\n  tiny: {input: i, args: [a]}\n"
                               "  small: {input: i, args: [b]}\n";
    static const char *const names[] = {"bfs", "nn"};
    for (size_t i = set.items.len; i < ARRAY_LEN(names); i++) {
        char file[256];
        struct diag_list diags = {0};
        const int n = snprintf(file, sizeof file, text, names[i]);
        struct fuzz_file f = fuzz_file_open((const uint8_t *)file, (size_t)n);
        const bool ok = workload_load_file(&set, f.path, "/programs", &diags);
        require(ok);
        fuzz_file_close(&f, ok, &diags);
    }
    return &set;
}

static void check_figure(const struct experiment *e, const struct lab_figure *g)
{
    require(g->id && g->title);
    for (uint32_t i = 0; i < g->column_count; i++) require(g->columns[i] < e->column_count);
    for (uint32_t i = 0; i < g->measure_count; i++) require(g->measures[i] < e->measure_count);
    for (uint32_t i = 0; i < g->claim_count; i++)
        require(g->claims[i].column < e->column_count && g->claims[i].measure < e->measure_count);
}

static void check_columns(const struct experiment *e)
{
    for (uint32_t i = 0; i < e->column_count; i++) {
        const struct lab_column *c = &e->columns[i];
        require(c->name && (c->choice_count || (c->resolved && c->attached)));
        for (uint32_t k = 0; k < c->choice_count; k++) require(c->choices[k] < e->column_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct experiment e;
    struct diag_list diags = {0};
    struct fuzz_file f = fuzz_file_open(data, size);
    const bool ok = experiment_load(&e, f.path, workloads(), &diags);
    if (ok) {
        check_columns(&e);
        for (uint32_t i = 0; i < e.figure_count; i++) check_figure(&e, &e.figures[i]);
        for (uint32_t i = 0; i < e.workload_count; i++) require(e.workloads[i] && e.sizes[i]);
    }
    fuzz_file_close(&f, ok, &diags);
    experiment_free(&e);
    return 0;
}
