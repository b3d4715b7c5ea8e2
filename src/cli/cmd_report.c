/* cmd_report.c: `heddle report`: experiments of a store as a page, or their figures as files. */
#define _GNU_SOURCE /* strverscmp */
#include "base/output.h"
#include "cli/lab.h"
#include "cli/report_page.h"
#include "lab/claims_page.h"
#include "lab/report.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PAGE "report.html"

/* ---- which experiments ---- */

struct report_settings {
    const char *store, *page, *svg, *tables, *claims, *workloads, *size, *simulator;
    bool is_brief;
    /* The version that `simulator` names; NULL: this one. */
    const struct simulator *version;
};

static bool any_run(const struct plan *p, struct store *s)
{
    for (uint32_t i = 0; i < p->job_count; i++)
        if (store_state(s, p->jobs[i].key) != STORE_ABSENT) return true;
    return false;
}

/* An experiment with errors is reported and left out: the figures of the others are still shown. */
static bool is_present(const struct report_settings *s, const char *name, struct store *store)
{
    struct cli_lab lab = {.simulator = s->version};
    struct cli_list names = {0};
    vec_push(&names.items, (struct cli_value){.text = name});
    bool ok = cli_lab_load(&lab, &names, s->workloads, s->size);
    if (!ok) fprintf(stderr, "heddle: warning: the report goes without %s\n", name);
    ok = ok && any_run(&lab.plans.data[0], store);
    cli_lab_free(&lab);
    vec_free(&names.items);
    return ok;
}

/* fig3.2 before fig3.10 */
static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds the experiments of the data folder of which the store has a run. Studies are left out, since their
 * experiments are added. */
static void add_present(const struct report_settings *s, struct store *store, struct cli_list *names,
                        struct arena *arena)
{
    const char **all;
    uint32_t count = experiment_names(arena, &all);
    qsort(all, count, sizeof *all, compare_names);
    for (uint32_t i = 0; i < count; i++)
        if (!experiment_is_study(all[i]) && is_present(s, all[i], store))
            vec_push(&names->items, (struct cli_value){.text = all[i]});
}

/* ---- writing ---- */

/* What the build made of web/: BUILD/share/heddle, or PREFIX/share/heddle. */
static struct report make_report(struct store *s, const struct cli_lab *lab, struct strbuf *dir)
{
    assert(lab->figures.len == lab->plans.len); /* cli_lab_figures() was called */
    strbuf_printf(dir, "%s/../share/heddle", cli_self_dir());
    return (struct report){.store = s,
                           .experiments = lab->figures.data,
                           .experiment_count = lab->figures.len,
                           .page_dir = dir->data,
                           .version = HEDDLE_VERSION,
                           .simulator = cli_lab_simulator(lab)};
}

static void print_error(char *error)
{
    if (error) fprintf(stderr, "heddle: error: %s\n", error);
    free(error);
}

bool cli_write_report(struct store *s, const struct cli_lab *lab, const char *path, bool is_brief)
{
    struct strbuf dir = {0};
    struct report r = make_report(s, lab, &dir);
    r.is_brief = is_brief;
    char *error = NULL;
    struct stat st;
    bool ok = report_write(&r, path, &error);
    print_error(error);
    if (ok && !stat(path, &st))
        printf("%s: %u experiment%s, %.1f MB; any browser opens it, no network needed\n", path,
               lab->figures.len, lab->figures.len == 1 ? "" : "s", (double)st.st_size / 1e6);
    if (ok && lab->simulator) printf("its runs are of simulator %s\n", lab->simulator->name);
    strbuf_free(&dir);
    return ok;
}

static bool write_svg(struct store *s, const struct cli_lab *lab, const char *folder)
{
    struct strbuf dir = {0};
    struct report r = make_report(s, lab, &dir);
    char *error = NULL;
    bool ok = report_svg(&r, folder, &error);
    print_error(error);
    strbuf_free(&dir);
    return ok;
}

static bool write_markdown(const char *path, struct strbuf *out)
{
    bool ok = output_text(path, out);
    if (!ok) fprintf(stderr, "heddle: error: cannot write %s: %s\n", path, strerror(errno));
    strbuf_free(out);
    return ok;
}

static void put_head(const struct cli_lab *lab, const char *title, const char *option, struct strbuf *out)
{
    strbuf_printf(
        out, "# %s\n\nMade by `heddle report %s`; [experiments.md](experiments.md) explains the words.\n",
        title, option);
    strbuf_printf(out, "The runs are of simulator `%s`.\n", cli_lab_simulator(lab));
}

static bool write_tables(const struct cli_lab *lab, const char *path)
{
    struct strbuf out = {0};
    put_head(lab, "Figures as tables", "--tables", &out);
    for (uint32_t i = 0; i < lab->figures.len; i++)
        for (uint32_t f = 0; f < lab->figures.data[i].count; f++)
            figure_print_markdown(lab->figures.data[i].plan, &lab->figures.data[i].figures[f], &out);
    scores_print_markdown(&lab->scores, &out);
    if (lab->bars.len) bars_print_markdown(lab->bars.data, lab->bars.len, &out);
    return write_markdown(path, &out);
}

static bool write_claims(const struct cli_lab *lab, const char *path)
{
    struct strbuf out = {0};
    put_head(lab, "The papers' claims, and ours", "--claims", &out);
    scores_print_markdown(&lab->scores, &out);
    claims_page(lab->figures.data, lab->figures.len, &out);
    return write_markdown(path, &out);
}

/* ---- the command ---- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* The first word is the store when it is a file, and not an experiment's. */
static void take_store(struct report_settings *s, struct cli_list *words)
{
    if (s->store || !words->items.len) return;
    const char *first = words->items.data[0].text;
    if (ends_in(first, ".yaml") || (!ends_in(first, ".db") && access(first, F_OK))) return;
    s->store = first;
    words->items.len--;
    memmove(words->items.data, words->items.data + 1, words->items.len * sizeof *words->items.data);
}

static int write_all(const struct report_settings *s, struct store *store, struct cli_lab *lab)
{
    if (!lab->plans.len) {
        fprintf(stderr,
                "heddle: error: %s has no run of any experiment by this version of the simulator\n"
                "  hint: heddle sweep NAME --store %s makes them; heddle query %s --simulators shows\n"
                "  the versions whose runs are there, for --simulator\n",
                s->store, s->store, s->store);
        return CLI_BAD_INPUT;
    }
    bool ok = cli_lab_figures(lab, store);
    if (ok && (s->page || !(s->svg || s->tables || s->claims)))
        ok = cli_write_report(store, lab, s->page ? s->page : DEFAULT_PAGE, s->is_brief);
    if (ok && s->svg) ok = write_svg(store, lab, s->svg);
    if (ok && s->tables) ok = write_tables(lab, s->tables);
    if (ok && s->claims) ok = write_claims(lab, s->claims);
    return ok ? CLI_OK : CLI_FAILED;
}

/* From the experiments of an open store to the files. */
static int make_from(const struct report_settings *s, struct store *store, struct cli_list *names)
{
    struct cli_lab lab = {.simulator = s->version};
    struct arena arena = {0}; /* of the names */
    int status = CLI_BAD_INPUT;
    if (!names->items.len) add_present(s, store, names, &arena);
    if (cli_lab_load(&lab, names, s->workloads, s->size))
        status = cli_lab_advance(&lab, store, s->store) ? write_all(s, store, &lab) : CLI_FAILED;
    cli_lab_free(&lab);
    arena_free(&arena);
    return status;
}

static int make_all(struct report_settings *s, struct cli_list *names)
{
    struct store *store = cli_open_store(s->store);
    if (!store) return CLI_BAD_INPUT;
    struct simulator v;
    int status = CLI_BAD_INPUT;
    if (cli_find_simulator(&v, store, s->store, s->simulator)) {
        s->version = v.name ? &v : NULL;
        status = make_from(s, store, names);
    }
    s->version = NULL;
    simulator_free(&v);
    store_close(store);
    return status;
}

int cli_cmd_report(int argc, char **argv)
{
    struct report_settings s = {0};
    struct cli_option options[] = {
        {"--output", "-o", CLI_STRING, &s.page, "FILE", "the page (default " DEFAULT_PAGE ")"},
        {"--store", NULL, CLI_STRING, &s.store, "FILE", "results of sweeps (default " CLI_DEFAULT_STORE ")"},
        {"--size", NULL, CLI_STRING, &s.size, "NAME", "of a sweep that was made with another size"},
        {"--workloads", NULL, CLI_STRING, &s.workloads, "A,B", "these workloads alone"},
        {"--simulator", NULL, CLI_STRING, &s.simulator, "HASH", CLI_SIMULATOR_HELP},
        {"--brief", NULL, CLI_FLAG, &s.is_brief, NULL,
         "a small page: of each run what it is, cycles and IPC, but no statistics"},
        {"--svg", NULL, CLI_STRING, &s.svg, "DIR",
         "write each figure as an SVG file here; the page too when -o is given (needs node)"},
        {"--tables", NULL, CLI_STRING, &s.tables, "FILE",
         "write each figure as a table of a Markdown file; the page too when -o is given"},
        {"--claims", NULL, CLI_STRING, &s.claims, "FILE",
         "write the papers' claims, each with its verdict, as a Markdown file; the page too when -o is "
         "given"},
        {0}};
    struct cli_parse p = {.command = cli_command("report"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else {
        take_store(&s, &p.words);
        if (!s.store) s.store = CLI_DEFAULT_STORE;
        status = make_all(&s, &p.words);
    }
    vec_free(&p.words.items);
    return status;
}
