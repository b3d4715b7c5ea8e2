/* cmd_compare.c: heddle compare: mechanisms side by side on some workloads: an experiment (lab/compare.h),
 * swept and printed as every other. */
#include "cli/lab.h"
#include "cli/report_page.h"
#include "cli/run_flags.h"
#include "cli/workloads.h"
#include "core/mech/mech_set.h"
#include "lab/compare.h"

struct compare_settings {
    struct cli_sweep sweep;
    /* the machine and its settings, settings of mechanisms, energy */
    struct cli_run run;
    const char *mech, *page;
    struct cli_list shown;
    bool json;
};

/* Memory for the names of the comparison. */
struct compare_input {
    struct comparison comparison;
    VEC(struct compare_column) columns;
    VEC(const char *) workloads, shown;
    struct arena arena;
};

static void input_free(struct compare_input *in)
{
    vec_free(&in->columns);
    vec_free(&in->workloads);
    vec_free(&in->shown);
    arena_free(&in->arena);
}

/* ---- the columns ---- */

/* Where --mech's value stands in argv. */
static int find_arg(int argc, char **argv, const char *value)
{
    for (int i = 1; i < argc; i++)
        if (value >= argv[i] && value <= argv[i] + strlen(argv[i])) return i;
    return argc;
}

/* A mechanism's name, or a file's, which is opened later; an error points at argv[arg] + at. */
static bool check_name(int argc, char **argv, int arg, int at, const char *name)
{
    if (strchr(name, '/') || strstr(name, ".so") || mech_builtin_find(name)) return true;
    const char *near = *name ? mech_builtin_nearest(name) : NULL;
    char hint[200] = "`heddle list mechanisms` shows them; a plug-in is named by its file: ./mine.so";
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    cli_error(argc, argv, arg, at, (int)MAX(strlen(name), 1u), hint,
              *name ? "no mechanism is called '%s'" : "the name of a mechanism is missing%s", name);
    return false;
}

/* "A+B" */
static bool check_names(struct compare_input *in, int argc, char **argv, int arg, int at, const char *named)
{
    if (!strcmp(named, COMPARE_NONE)) return true;
    for (const char *name = named;; name++) {
        size_t len = strcspn(name, "+");
        if (!check_name(argc, argv, arg, at + (int)(name - named), arena_strndup(&in->arena, name, len)))
            return false;
        name += len;
        if (!*name) return true;
    }
}

static bool is_new(const struct compare_input *in, const char *named)
{
    for (uint32_t i = 0; i < in->columns.len; i++)
        if (!strcmp(in->columns.data[i].name, named)) return false;
    return true;
}

static bool add_column(struct compare_input *in, const char *named)
{
    struct diag_list diags = {0};
    struct compare_column c;
    bool ok = compare_column_read(&c, named, &in->arena, &diags);
    if (ok) vec_push(&in->columns, c);
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

static bool read_columns(struct compare_input *in, int argc, char **argv, const char *mech)
{
    int arg = find_arg(argc, argv, mech);
    int base = (int)(mech - argv[arg]);
    for (const char *at = mech;; at++) {
        size_t len = strcspn(at, ",");
        const char *named = arena_strndup(&in->arena, at, len);
        if (!check_names(in, argc, argv, arg, base + (int)(at - mech), named)) return false;
        if (!is_new(in, named)) {
            cli_error(argc, argv, arg, base + (int)(at - mech), (int)len, NULL, "'%s' is there twice", named);
            return false;
        }
        if (!add_column(in, named)) return false;
        at += len;
        if (!*at) break;
    }
    if (in->columns.len > 1) return true;
    cli_error(argc, argv, arg, base, (int)strlen(mech),
              "as in --mech gto,swl: the first one is what the others are compared with; '" COMPARE_NONE
              "' is the machine as it is",
              "there is nothing to compare '%s' with", mech);
    return false;
}

/* ---- the rest of the command line ---- */

static bool read_workloads(struct compare_input *in, struct cli_lab *lab, int argc, char **argv,
                           const struct cli_list *words, const char *size)
{
    for (uint32_t i = 0; i < words->items.len; i++) {
        int arg = words->items.data[i].arg;
        const struct workload *w = cli_find_workload(&lab->workloads, argc, argv, arg);
        if (!w || (size && !cli_find_size(w, size))) return false;
        vec_push(&in->workloads, arena_strdup(&in->arena, w->name));
    }
    return true;
}

/* The word of argv that is a setting, or ends in `=` and the setting. */
static int find_setting(int argc, char **argv, const char *setting)
{
    const size_t length = strlen(setting);
    for (int i = 1; i < argc; i++) {
        const size_t all = strlen(argv[i]), before = MAX(all, length) - length;
        if (!strcmp(argv[i] + before, setting) && (!before || argv[i][before - 1] == '=')) return i;
    }
    return argc;
}

/* Every setting of a mechanism must reach one. */
static bool check_mech_sets(const struct compare_input *in, int argc, char **argv,
                            const char *const *settings)
{
    for (uint32_t i = 0; settings[i]; i++) {
        bool is_taken = false;
        for (uint32_t k = 0; k < in->columns.len; k++)
            is_taken = is_taken || compare_takes(&in->columns.data[k], settings[i]);
        if (is_taken) continue;
        const int arg = find_setting(argc, argv, settings[i]);
        cli_error(argc, argv, arg, 0, arg < argc ? (int)strlen(argv[arg]) : 1, "as in --mech-set swl.warps=4",
                  "'%s' sets a mechanism that no column has", settings[i]);
        return false;
    }
    return true;
}

static bool read_shown(struct compare_input *in, int argc, char **argv, const struct cli_list *list)
{
    for (uint32_t i = 0; i < list->items.len; i++) {
        const struct cli_value *v = &list->items.data[i];
        for (uint32_t k = 0; k < in->shown.len; k++)
            if (!strcmp(in->shown.data[k], v->text)) {
                cli_error(argc, argv, v->arg, 0, (int)strlen(argv[v->arg]), NULL, "'%s' is there twice",
                          v->text);
                return false;
            }
        vec_push(&in->shown, v->text);
    }
    return true;
}

static bool read_input(struct compare_input *in, struct cli_lab *lab, int argc, char **argv,
                       const struct compare_settings *s, const struct cli_list *words)
{
    const struct run_options *run = &s->run.options;
    if (!read_columns(in, argc, argv, s->mech) ||
        !read_workloads(in, lab, argc, argv, words, s->sweep.size) ||
        !check_mech_sets(in, argc, argv, run->mech_sets) || !read_shown(in, argc, argv, &s->shown))
        return false;
    in->comparison = (struct comparison){.machine = run->machine,
                                         .size = s->sweep.size,
                                         .workloads = in->workloads.data,
                                         .sets = run->sets,
                                         .mech_sets = run->mech_sets,
                                         .shown = in->shown.data,
                                         .workload_count = in->workloads.len,
                                         .set_count = run_list_count(run->sets),
                                         .mech_set_count = run_list_count(run->mech_sets),
                                         .shown_count = in->shown.len,
                                         .columns = in->columns.data,
                                         .column_count = in->columns.len,
                                         .has_energy = run->timed.energy,
                                         .has_parts = s->page != NULL};
    return true;
}

/* ---- the comparison ---- */

static bool show(const struct compare_input *in, struct cli_lab *lab, struct store *store,
                 const struct compare_settings *s)
{
    if (!cli_lab_figures(lab, store)) return false;
    if (s->json) {
        struct strbuf out = {0};
        compare_json(&in->comparison, &lab->figures.data[0], &out);
        fputs(strbuf_text(&out), stdout);
        strbuf_free(&out);
    } else {
        cli_print_figures(lab, true);
    }
    if (!s->page) return true;
    if (!s->json) putchar('\n');
    return cli_write_report(store, lab, s->page, false);
}

/* The command that makes the comparison again, since its experiment is not in a file. */
static void put_command(int argc, char **argv, struct strbuf *out)
{
    strbuf_puts(out, "heddle compare");
    for (int i = 1; i < argc; i++) {
        strbuf_putc(out, ' ');
        job_put_word(argv[i], out);
    }
}

static int compare(int argc, char **argv, struct compare_settings *s, const struct cli_list *words)
{
    struct cli_lab lab = {0};
    struct compare_input in = {0};
    struct strbuf text = {0}, command = {0};
    struct store *store = NULL;
    int status = CLI_BAD_INPUT;
    if (cli_load_workloads(&lab.workloads) && read_input(&in, &lab, argc, argv, s, words)) {
        compare_write(&in.comparison, &text);
        put_command(argc, argv, &command);
        if (cli_lab_add(&lab, "compare", strbuf_text(&text))) {
            lab.experiments.data[0]->command = strbuf_text(&command);
            status = cli_sweep(&s->sweep, &lab, &store);
        }
    }
    if (store && status <= CLI_FAILED && !show(&in, &lab, store, s)) status = CLI_FAILED;
    if (store) store_close(store);
    strbuf_free(&text);
    cli_lab_free(&lab);
    strbuf_free(&command);
    input_free(&in);
    return status;
}

int cli_cmd_compare(int argc, char **argv)
{
    static const struct cli_run_pick picks[] = {
        {"machine", NULL, NULL},
        {"set", "in every column: ", NULL},
        {"mech_set", "in every column that has it: ", NULL},
        {"energy", NULL,
         "further tables: energy over the baseline's and power; with -o the parts, too (docs/energy.md)"},
        {0}};
    struct compare_settings s = {0};
    const struct cli_option own[] = {
        {"--mech", NULL, CLI_STRING, &s.mech, "A,B+C,...",
         "the columns: mechanisms, several at once with +; 'none' is the machine as it is. The first is the "
         "baseline"},
        {"--show", NULL, CLI_LIST, &s.shown, "STATISTIC", "a further table: this statistic of each column"},
        {"--output", "-o", CLI_STRING, &s.page, "FILE", "write the page with the figures as well"},
        {"--json", NULL, CLI_FLAG, &s.json, NULL, "write the numbers (with -n: the list) as JSON"},
        {0}};
    struct cli_option *behind = cli_batch_options(&s.sweep, own);
    struct cli_option *options = cli_run_pick_options(&s.run, picks, behind);
    free(behind);
    struct cli_parse p = {.command = cli_command("compare"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (!p.words.items.len)
        cli_error(argc, argv, argc, 0, 1, "`heddle list workloads` shows them", "no workload is named");
    else if (!s.mech)
        cli_error(argc, argv, argc, 0, 1, "as in --mech gto,swl: the first one is the baseline",
                  "no mechanism is named");
    else if (s.json && s.page)
        cli_error(argc, argv, argc, 0, 1, "one at a time: the runs are made once",
                  "--json and --output do not go together");
    else {
        s.sweep.json = s.json && s.sweep.dry_run;
        status = compare(argc, argv, &s, &p.words);
    }
    vec_free(&p.words.items);
    vec_free(&s.shown.items);
    cli_run_free(&s.run);
    free(options);
    return status;
}
