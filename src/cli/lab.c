/* lab.c: from names of experiments to plans, and from plans to figures on a terminal. */
#include "cli/lab.h"

#include "cli/workloads.h"
#include "lab/figure.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { STUDY_DEPTH_MAX = 4 };

static bool is_loaded(const struct cli_lab *lab, const char *path)
{
    for (uint32_t i = 0; i < lab->experiments.len; i++)
        if (!strcmp(lab->experiments.data[i]->path, path)) return true;
    return false;
}

static bool add_experiment(struct cli_lab *lab, const char *name, uint32_t depth, struct diag_list *diags)
{
    struct experiment *e = mem_zalloc(sizeof *e);
    bool ok = experiment_load(e, name, &lab->workloads, diags);
    if (ok && !e->study && !is_loaded(lab, e->path)) {
        vec_push(&lab->experiments, e);
        return true;
    }
    for (uint32_t i = 0; e->study && e->study[i] && ok; i++) {
        ok = depth < STUDY_DEPTH_MAX;
        if (!ok)
            diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "does it list itself?",
                     "study '%s' is nested too deep", name);
        ok = ok && add_experiment(lab, e->study[i], depth + 1, diags);
    }
    experiment_free(e);
    free(e);
    return ok;
}

static bool narrow(struct experiment *e, const char *workloads, const char *size, struct diag_list *diags)
{
    VEC(const char *) names = {0};
    char *list = mem_strdup(workloads ? workloads : ""), *save = NULL;
    for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) vec_push(&names, w);
    bool ok = experiment_narrow(e, names.data, names.len, size, diags);
    vec_free(&names);
    free(list);
    return ok;
}

bool cli_lab_load(struct cli_lab *lab, const struct cli_list *names, const char *workloads, const char *size)
{
    struct diag_list diags = {0};
    bool ok = cli_load_workloads(&lab->workloads);
    for (uint32_t i = 0; i < names->items.len && ok; i++)
        ok = add_experiment(lab, names->items.data[i].text, 0, &diags);
    for (uint32_t i = 0; i < lab->experiments.len && ok; i++) {
        struct plan plan = {0};
        if (workloads || size) ok = narrow(lab->experiments.data[i], workloads, size, &diags);
        ok = ok && plan_make(&plan, lab->experiments.data[i], &diags);
        if (ok) vec_push(&lab->plans, plan);
    }
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

void cli_lab_free(struct cli_lab *lab)
{
    for (uint32_t i = 0; i < lab->plans.len; i++) plan_free(&lab->plans.data[i]);
    for (uint32_t i = 0; i < lab->experiments.len; i++) {
        experiment_free(lab->experiments.data[i]);
        free(lab->experiments.data[i]);
    }
    vec_free(&lab->plans);
    vec_free(&lab->experiments);
    workloads_free(&lab->workloads);
}

struct store *cli_open_store(const char *path)
{
    char *error = NULL;
    struct store *s = store_open(path, false, &error);
    if (!s) {
        fprintf(stderr, "heddle: error: %s\n", error);
        if (access(path, F_OK))
            fprintf(stderr, "  hint: `heddle sweep NAME --store %s` makes a store\n", path);
    }
    free(error);
    return s;
}

static uint32_t terminal_width(void)
{
    enum { WIDTH_DEFAULT = 80 };
    struct winsize w;
    return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : WIDTH_DEFAULT;
}

static bool print_figure(const struct plan *p, const struct lab_figure *f, struct store *store,
                         bool with_table, struct diag_list *diags)
{
    struct figure_data d = {0};
    struct strbuf out = {0};
    if (!figure_make(&d, p, f, store, diags)) return false;
    strbuf_printf(&out, "\n%s: %s\n", f->id, f->title);
    if (d.missing) strbuf_printf(&out, "(%u runs are missing or failed)\n", d.missing);
    if (with_table) figure_print_table(p, &d, terminal_width(), &out);
    if (d.claim_count) figure_print_claims(&d, terminal_width(), &out);
    if (with_table || d.claim_count) fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
    figure_free(&d);
    return true;
}

bool cli_print_figures(const struct cli_lab *lab, struct store *store, bool with_tables)
{
    struct diag_list diags = {0};
    bool ok = true;
    for (uint32_t i = 0; i < lab->plans.len; i++) {
        const struct plan *p = &lab->plans.data[i];
        for (uint32_t f = 0; f < p->experiment->figure_count; f++)
            ok = print_figure(p, &p->experiment->figures[f], store, with_tables, &diags) && ok;
    }
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}
