/* plan_table.c: which of its choices a column with `per: kernel` takes for each launch of a workload, written
 * as the table that a mechanism reads: a line KERNEL LAUNCH VALUE... each. Of equal choices the first counts.
 *
 * The file is named after its content, which is also what the key of the run is made of. */
#include "base/hash.h"
#include "base/output.h"
#include "lab/column_param.h"
#include "lab/plan_impl.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

struct launch {
    uint64_t number;
    char *kernel;
    /* The best choice so far, and its value; NAN: none. */
    uint32_t column;
    double value;
};
typedef VEC(struct launch) launch_list;

static void add_launch(void *context, uint64_t number, const char *kernel)
{
    launch_list *list = context;
    vec_push(list, (struct launch){.number = number, .kernel = mem_strdup(kernel), .value = NAN});
}

static void free_launches(launch_list *list)
{
    for (uint32_t i = 0; i < list->len; i++) free(list->data[i].kernel);
    vec_free(list);
}

/* Compares a choice with the best so far, launch by launch. */
static void weigh(struct figure_values *v, uint32_t workload, const struct lab_column *c, uint32_t choice,
                  launch_list *launches)
{
    const uint32_t job = plan_job(v->plan, workload, choice);
    if (job == PLAN_NO_JOB || !figure_has_run(v, workload, choice)) return;
    if (!launches->len) store_kernels(v->store, v->plan->jobs[job].key, add_launch, launches);
    for (uint32_t i = 0; i < launches->len; i++) {
        struct launch *l = &launches->data[i];
        const struct expr_kernel kernel = {.launch = (uint32_t)l->number};
        const double value = figure_kernel_expr(v, workload, choice, kernel, c->best);
        if (isnan(value) || value <= l->value) continue;
        l->value = value;
        l->column = choice;
    }
}

/* A name that the table's reader takes; else any kernel: the number says which. */
static const char *kernel_word(const char *kernel)
{
    enum { NAME_MAX_CHARS = 127 };
    const bool fits =
        *kernel && *kernel != '#' && !kernel[strcspn(kernel, " \t")] && strlen(kernel) <= NAME_MAX_CHARS;
    return fits ? kernel : "*";
}

static void compose(const struct experiment *e, uint32_t workload, const struct lab_column *c,
                    const launch_list *launches, struct strbuf *out)
{
    strbuf_printf(out, "# %s of %s, %s: KERNEL LAUNCH", c->name, e->workloads[workload]->name,
                  e->sizes[workload]);
    for (const char *const *param = c->table->params; *param; param++) strbuf_printf(out, " %s", *param);
    strbuf_putc(out, '\n');
    for (uint32_t i = 0; i < launches->len; i++) {
        const struct launch *l = &launches->data[i];
        if (isnan(l->value)) continue;
        strbuf_printf(out, "%s %llu", kernel_word(l->kernel), (unsigned long long)l->number);
        for (const char *const *param = c->table->params; *param; param++) {
            strbuf_putc(out, ' ');
            column_param_text(&e->columns[l->column], *param, out);
        }
        strbuf_putc(out, '\n');
    }
}

const char *plan_keep(const char *name, const struct strbuf *text, const char *folder, struct arena *a,
                      struct diag_list *diags)
{
    char hash[HASH128_CHARS + 1];
    hash128_hex(hash128_bytes(text->data, text->len), hash);
    const char *path = arena_printf(a, "%s/%s-%s.txt", folder, name, hash);
    struct stat st;
    if (!stat(path, &st)) return path;
    if ((!mkdir(folder, 0755) || errno == EEXIST) && output_text(path, text)) return path;
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "what the runs of a sweep read is kept there",
             "cannot write %s: %s", path, strerror(errno));
    return NULL;
}

const char *plan_table(struct figure_values *v, uint32_t workload, uint32_t column, const char *folder,
                       struct arena *a, struct diag_list *diags)
{
    const struct experiment *e = v->plan->experiment;
    const struct lab_column *c = &e->columns[column];
    launch_list launches = {0};
    struct strbuf text = {0};
    const char *path = NULL;
    v->open = false;
    for (uint32_t i = 0; i < c->choice_count && !v->open; i++)
        weigh(v, workload, c, c->choices[i], &launches);
    if (!v->open) {
        compose(e, workload, c, &launches, &text);
        path = plan_keep("table", &text, folder, a, diags);
    }
    strbuf_free(&text);
    free_launches(&launches);
    return path;
}
