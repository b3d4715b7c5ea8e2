/* lab.c: from names of experiments to plans, and from plans to figures on a terminal. */
#include "cli/lab.h"

#include "cli/workloads.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { STUDY_DEPTH_MAX = 4 };

/* ---- experiments and studies ---- */

static struct experiment *find_loaded(const struct cli_lab *lab, const char *path)
{
    for (uint32_t i = 0; i < lab->experiments.len; i++)
        if (!strcmp(lab->experiments.data[i]->path, path)) return lab->experiments.data[i];
    return NULL;
}

static void drop_experiment(struct experiment *e)
{
    experiment_free(e);
    free(e);
}

static bool add_experiment(struct cli_lab *lab, const char *name, uint32_t depth, experiment_list *members,
                           struct diag_list *diags);

/* Keeps the study for its bars. One that is named twice is kept once. */
static void keep_study(struct cli_lab *lab, struct cli_study *s)
{
    for (uint32_t i = 0; i < lab->studies.len; i++)
        if (!strcmp(lab->studies.data[i].study->path, s->study->path)) {
            drop_experiment(s->study);
            vec_free(&s->members);
            return;
        }
    vec_push(&lab->studies, *s);
}

static bool add_study(struct cli_lab *lab, struct experiment *e, uint32_t depth, experiment_list *members,
                      struct diag_list *diags)
{
    struct cli_study s = {.study = e};
    bool ok = depth < STUDY_DEPTH_MAX;
    if (!ok)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "does it list itself?", "study '%s' is nested too deep",
                 e->name);
    for (uint32_t i = 0; ok && e->study[i]; i++)
        ok = add_experiment(lab, e->study[i], depth + 1, &s.members, diags);
    for (uint32_t i = 0; i < s.members.len; i++) vec_push(members, s.members.data[i]);
    keep_study(lab, &s);
    return ok;
}

/* Loads an experiment, or those of a study, and adds them to `members`. */
static bool add_experiment(struct cli_lab *lab, const char *name, uint32_t depth, experiment_list *members,
                           struct diag_list *diags)
{
    struct experiment *e = mem_zalloc(sizeof *e);
    if (!experiment_load(e, name, &lab->workloads, diags)) {
        drop_experiment(e);
        return false;
    }
    if (e->study) return add_study(lab, e, depth, members, diags);
    struct experiment *loaded = find_loaded(lab, e->path);
    if (loaded)
        drop_experiment(e);
    else
        vec_push(&lab->experiments, e);
    vec_push(members, loaded ? loaded : e);
    return true;
}

/* ---- fewer workloads ---- */

/* Names with commas between them. The names lie in *text, to be freed. */
struct name_list {
    VEC(const char *) items;
    char *text;
};

static struct name_list split_names(const char *names)
{
    struct name_list list = {.text = mem_strdup(names ? names : "")};
    char *save = NULL;
    for (char *name = strtok_r(list.text, ",", &save); name; name = strtok_r(NULL, ",", &save))
        vec_push(&list.items, name);
    return list;
}

static void free_names(struct name_list *list)
{
    vec_free(&list->items);
    free(list->text);
}

static bool has_workload(const struct experiment *e, const char *name)
{
    for (uint32_t i = 0; i < e->workload_count; i++)
        if (!strcmp(e->workloads[i]->name, name)) return true;
    return false;
}

static bool any_has_workload(const struct cli_lab *lab, const char *name)
{
    for (uint32_t i = 0; i < lab->experiments.len; i++)
        if (has_workload(lab->experiments.data[i], name)) return true;
    return false;
}

/* Each of several experiments keeps those of the named workloads that it has; *is_empty: it has none of them.
 * A name that no experiment has is kept, so that experiment_narrow() reports it. */
static bool narrow(const struct cli_lab *lab, struct experiment *e, const struct name_list *names,
                   const char *size, bool *is_empty, struct diag_list *diags)
{
    VEC(const char *) own = {0};
    for (uint32_t i = 0; i < names->items.len; i++) {
        const char *name = names->items.data[i];
        if (has_workload(e, name) || !any_has_workload(lab, name)) vec_push(&own, name);
    }
    *is_empty = names->items.len && !own.len && e->workload_count;
    bool ok = *is_empty || experiment_narrow(e, own.data, own.len, size, diags);
    vec_free(&own);
    return ok;
}

static bool make_plans(struct cli_lab *lab, const struct name_list *workloads, const char *size,
                       struct diag_list *diags)
{
    for (uint32_t i = 0; i < lab->experiments.len; i++) {
        struct experiment *e = lab->experiments.data[i];
        struct plan plan = {0};
        bool is_empty;
        if (!narrow(lab, e, workloads, size, &is_empty, diags)) return false;
        if (is_empty) continue;
        if (!plan_make(&plan, e, lab->simulator, diags)) return false;
        vec_push(&lab->plans, plan);
    }
    return true;
}

bool cli_lab_load(struct cli_lab *lab, const struct cli_list *names, const char *workloads, const char *size)
{
    struct diag_list diags = {0};
    struct name_list narrowed = split_names(workloads);
    experiment_list named = {0};
    bool ok = cli_load_workloads(&lab->workloads);
    for (uint32_t i = 0; i < names->items.len && ok; i++)
        ok = add_experiment(lab, names->items.data[i].text, 0, &named, &diags);
    ok = ok && make_plans(lab, &narrowed, size, &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    vec_free(&named);
    free_names(&narrowed);
    return ok;
}

bool cli_lab_add(struct cli_lab *lab, const char *name, const char *text)
{
    struct diag_list diags = {0};
    struct experiment *e = mem_zalloc(sizeof *e);
    struct plan plan = {0};
    vec_push(&lab->experiments, e);
    bool ok = experiment_read(e, name, text, &lab->workloads, &diags) &&
              plan_make(&plan, e, lab->simulator, &diags);
    if (ok) vec_push(&lab->plans, plan);
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

void cli_lab_free(struct cli_lab *lab)
{
    for (uint32_t i = 0; i < lab->figures.len; i++) figures_free(&lab->figures.data[i]);
    for (uint32_t i = 0; i < lab->plans.len; i++) plan_free(&lab->plans.data[i]);
    for (uint32_t i = 0; i < lab->experiments.len; i++) drop_experiment(lab->experiments.data[i]);
    for (uint32_t i = 0; i < lab->studies.len; i++) {
        drop_experiment(lab->studies.data[i].study);
        vec_free(&lab->studies.data[i].members);
    }
    vec_free(&lab->bars);
    scores_free(&lab->scores);
    vec_free(&lab->studies);
    vec_free(&lab->figures);
    vec_free(&lab->plans);
    vec_free(&lab->experiments);
    workloads_free(&lab->workloads);
}

/* A file that is not a store is an error of the user; one that cannot be read or written is a failure. */
int cli_store_refused(const char *error)
{
    const bool is_io = errno == EIO;
    fprintf(stderr, "heddle: error: %s\n", error);
    return is_io ? CLI_FAILED : CLI_BAD_INPUT;
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

/* ---- bars ---- */

static bool has_member(const experiment_list *members, const struct experiment *e)
{
    for (uint32_t i = 0; i < members->len; i++)
        if (members->data[i] == e) return true;
    return false;
}

/* Counts the bars of `e` in the figures of these experiments. */
static void add_bars(struct cli_lab *lab, const struct experiment *e, const experiment_list *members)
{
    for (uint32_t i = 0; i < e->bar_count; i++) {
        struct bar_result b = {.bar = &e->bars[i]};
        for (uint32_t f = 0; f < lab->figures.len; f++)
            if (has_member(members, lab->figures.data[f].plan->experiment))
                bar_add(&b, &lab->figures.data[f]);
        bar_decide(&b);
        vec_push(&lab->bars, b);
    }
}

static void make_bars(struct cli_lab *lab)
{
    for (uint32_t i = 0; i < lab->figures.len; i++) {
        const struct experiment *e = lab->figures.data[i].plan->experiment;
        add_bars(lab, e, &(experiment_list){.data = &e, .len = 1});
    }
    for (uint32_t i = 0; i < lab->studies.len; i++)
        add_bars(lab, lab->studies.data[i].study, &lab->studies.data[i].members);
}

void cli_print_bars(const struct cli_lab *lab)
{
    struct strbuf out = {0};
    if (lab->scores.papers.len) strbuf_putc(&out, '\n');
    scores_print_table(&lab->scores, terminal_width(), &out);
    if (lab->bars.len) strbuf_putc(&out, '\n');
    if (lab->bars.len) bars_print_table(lab->bars.data, lab->bars.len, terminal_width(), &out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
}

bool cli_lab_figures(struct cli_lab *lab, struct store *store)
{
    struct diag_list diags = {0};
    bool ok = true;
    assert(!lab->figures.len);
    for (uint32_t i = 0; i < lab->plans.len && ok; i++) {
        struct figure_set set;
        ok = figures_make(&set, &lab->plans.data[i], store, &diags);
        if (ok) scores_add(&lab->scores, &set);
        if (ok) vec_push(&lab->figures, set);
    }
    if (ok) make_bars(lab);
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

static void print_figure(const struct plan *p, const struct figure_data *d, bool with_table)
{
    struct strbuf out = {0};
    if (!with_table && !d->claim_count) return;
    strbuf_printf(&out, "\n%s: %s\n", d->figure->id, d->figure->title);
    if (d->missing)
        strbuf_printf(&out, "(%u run%s missing or failed)\n", d->missing, d->missing == 1 ? " is" : "s are");
    if (with_table) figure_print_table(p, d, terminal_width(), &out);
    if (d->claim_count) figure_print_claims(d, terminal_width(), &out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
}

void cli_print_figures(const struct cli_lab *lab, bool with_tables)
{
    for (uint32_t i = 0; i < lab->figures.len; i++)
        for (uint32_t f = 0; f < lab->figures.data[i].count; f++)
            print_figure(lab->figures.data[i].plan, &lab->figures.data[i].figures[f], with_tables);
}
