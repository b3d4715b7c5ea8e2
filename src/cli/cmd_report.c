/* cmd_report.c: `heddle report`: experiments of a store as a page, or their figures as files. */
#define _GNU_SOURCE /* strverscmp */
#include "cli/cli.h"
#include "cli/report_page.h"
#include "cli/workloads.h"
#include "lab/report.h"

#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_STORE "results.db"
#define DEFAULT_PAGE  "report.html"

/* ---- which experiments ---- */

/* Each in its own memory: a plan points to its experiment. */
struct chosen {
    VEC(struct experiment *) experiments;
    VEC(struct plan) plans; /* of those that are no studies */
    struct workload_set workloads;
};

static void chosen_free(struct chosen *c)
{
    for (uint32_t i = 0; i < c->plans.len; i++) plan_free(&c->plans.data[i]);
    for (uint32_t i = 0; i < c->experiments.len; i++) {
        experiment_free(c->experiments.data[i]);
        free(c->experiments.data[i]);
    }
    vec_free(&c->plans);
    vec_free(&c->experiments);
    workloads_free(&c->workloads);
}

static bool has_experiment(const struct chosen *c, const char *name)
{
    for (uint32_t i = 0; i < c->experiments.len; i++)
        if (!strcmp(c->experiments.data[i]->name, name)) return true;
    return false;
}

static bool any_run(const struct plan *p, struct store *s)
{
    for (uint32_t i = 0; i < p->job_count; i++)
        if (store_state(s, p->jobs[i].key) != STORE_ABSENT) return true;
    return false;
}

/* Adds an experiment, or those of a study. `present` given: only one of which this store has a run. */
static bool add_experiment(struct chosen *c, const char *name, struct store *present, struct diag_list *diags)
{
    struct experiment *e = mem_zalloc(sizeof *e);
    if (!experiment_load(e, name, &c->workloads, diags)) {
        experiment_free(e);
        free(e);
        return false;
    }
    bool is_known = has_experiment(c, e->name), ok = true;
    vec_push(&c->experiments, e);
    if (is_known) return true;
    if (e->study) {
        for (const char *const *part = e->study; *part && !present && ok; part++)
            ok = add_experiment(c, *part, NULL, diags);
        return ok;
    }
    struct plan plan;
    if (!plan_make(&plan, e, diags)) return false;
    if (present && !any_run(&plan, present))
        plan_free(&plan);
    else
        vec_push(&c->plans, plan);
    return true;
}

/* fig3.2 before fig3.10 */
static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* One that is wrong is told of and left out: the others' figures are still to be seen. */
static void add_present(struct chosen *c, struct store *s)
{
    struct arena arena = {0};
    const char **names;
    uint32_t count = experiment_names(&arena, &names);
    qsort(names, count, sizeof *names, compare_names);
    for (uint32_t i = 0; i < count; i++) {
        struct diag_list diags = {0};
        if (!add_experiment(c, names[i], s, &diags)) {
            cli_print_diags(&diags);
            fprintf(stderr, "heddle: warning: the report goes without %s\n", names[i]);
        }
        diag_free(&diags);
    }
    arena_free(&arena);
}

static bool add_named(struct chosen *c, const struct cli_list *names)
{
    bool ok = true;
    for (uint32_t i = 0; i < names->items.len && ok; i++) {
        struct diag_list diags = {0};
        ok = add_experiment(c, names->items.data[i].text, NULL, &diags);
        cli_print_diags(&diags);
        diag_free(&diags);
    }
    return ok;
}

/* ---- writing ---- */

/* What the build made of web/: BUILD/share/heddle, or PREFIX/share/heddle. */
static struct report make_report(struct store *s, const struct plan *plans, uint32_t count,
                                 struct strbuf *dir)
{
    strbuf_printf(dir, "%s/../share/heddle", cli_self_dir());
    return (struct report){s, plans, count, dir->data, HEDDLE_VERSION};
}

static void print_error(char *error)
{
    if (error) fprintf(stderr, "heddle: error: %s\n", error);
    free(error);
}

bool cli_write_report(struct store *s, const struct plan *plans, uint32_t count, const char *path)
{
    struct strbuf dir = {0};
    struct report r = make_report(s, plans, count, &dir);
    char *error = NULL;
    struct stat st;
    bool ok = report_write(&r, path, &error);
    print_error(error);
    if (ok && !stat(path, &st))
        printf("%s: %u experiment%s, %.1f MB; any browser opens it, no network needed\n", path, count,
               count == 1 ? "" : "s", (double)st.st_size / 1e6);
    strbuf_free(&dir);
    return ok;
}

static bool write_svg(struct store *s, const struct plan *plans, uint32_t count, const char *folder)
{
    struct strbuf dir = {0};
    struct report r = make_report(s, plans, count, &dir);
    char *error = NULL;
    bool ok = report_svg(&r, folder, &error);
    print_error(error);
    strbuf_free(&dir);
    return ok;
}

/* ---- the command ---- */

struct report_settings {
    const char *store, *page, *svg;
};

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* The first word is the store when it is a file that is no experiment's. */
static void take_store(struct report_settings *s, struct cli_list *words)
{
    if (s->store || !words->items.len) return;
    const char *first = words->items.data[0].text;
    if (ends_in(first, ".yaml") || (!ends_in(first, ".db") && access(first, F_OK))) return;
    s->store = first;
    words->items.len--;
    memmove(words->items.data, words->items.data + 1, words->items.len * sizeof *words->items.data);
}

static int write_all(const struct report_settings *s, struct store *store, const struct chosen *c)
{
    if (!c->plans.len) {
        fprintf(stderr,
                "heddle: error: %s has no run of any experiment\n  hint: heddle sweep NAME --store %s\n",
                s->store, s->store);
        return CLI_BAD_INPUT;
    }
    bool ok = true;
    if (s->page || !s->svg)
        ok = cli_write_report(store, c->plans.data, c->plans.len, s->page ? s->page : DEFAULT_PAGE);
    if (ok && s->svg) ok = write_svg(store, c->plans.data, c->plans.len, s->svg);
    return ok ? CLI_OK : CLI_FAILED;
}

static int make_all(const struct report_settings *s, const struct cli_list *names)
{
    char *error = NULL;
    struct store *store = store_open(s->store, false, &error);
    if (!store) {
        print_error(error);
        fprintf(stderr, "  hint: `heddle sweep NAME --store %s` makes a store\n", s->store);
        return CLI_BAD_INPUT;
    }
    struct chosen c = {0};
    int status = CLI_BAD_INPUT;
    if (cli_load_workloads(&c.workloads)) {
        bool ok = true;
        if (names->items.len)
            ok = add_named(&c, names);
        else
            add_present(&c, store);
        if (ok) status = write_all(s, store, &c);
    }
    chosen_free(&c);
    store_close(store);
    return status;
}

int cli_cmd_report(int argc, char **argv)
{
    struct report_settings s = {0};
    struct cli_option options[] = {
        {"--output", "-o", CLI_TEXT, &s.page, "FILE", "the page (default " DEFAULT_PAGE ")"},
        {"--store", NULL, CLI_TEXT, &s.store, "FILE", "results of sweeps (default " DEFAULT_STORE ")"},
        {"--svg", NULL, CLI_TEXT, &s.svg, "DIR",
         "write each figure as an SVG file here; the page too when -o is given (needs node)"},
        {0}};
    struct cli_parse p = {.command = cli_command("report"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else {
        take_store(&s, &p.words);
        if (!s.store) s.store = DEFAULT_STORE;
        status = make_all(&s, &p.words);
    }
    vec_free(&p.words.items);
    return status;
}
