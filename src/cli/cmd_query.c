/* cmd_query.c: heddle query: what a store holds. */
#include "cli/lab.h"
#include "cli/query_filter.h"
#include "cli/query_run.h"
#include "cli/query_table.h"

struct query_options {
    const char *sql, *show, *sort, *run, *simulator;
    bool csv, json, legend, document, simulators;
    uint64_t limit;
};

#define DEFAULT_SHOW "key,workload,size,machine,with,state,cycles,ipc,seconds"

static enum query_format format_of(const struct query_options *o)
{
    return o->csv ? QUERY_CSV : o->json ? QUERY_JSON : QUERY_TABLE;
}

static int ask(struct store *s, const struct query_options *o, const char *sql, const char *empty)
{
    struct query_table t = {0};
    char *error = NULL;
    bool ok = store_query(s, sql, query_table_row, &t, &error);
    if (!ok)
        fprintf(stderr, "heddle: error: %s\n", error);
    else if (!query_table_rows(&t) && format_of(o) == QUERY_TABLE)
        puts(empty);
    else
        query_table_print(&t, format_of(o), query_terminal_width(), stdout);
    free(error);
    query_table_free(&t);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}

/* ---- the table of runs ---- */

/* Where a text of the command line stands. */
static struct query_place place_of(int argc, char **argv, const char *text)
{
    struct query_place at = {.argc = argc, .argv = argv, .arg = argc};
    for (int i = 0; i < argc; i++)
        if (text >= argv[i] && text <= argv[i] + strlen(argv[i]))
            at.arg = i, at.offset = (int)(text - argv[i]);
    return at;
}

/* "ipc,l1.aml" as columns of a SELECT. Errors point into the list. */
static bool add_columns(struct store *s, const struct query_options *o, const struct query_place *at,
                        const char *list, struct strbuf *sql)
{
    bool ok = true;
    for (const char *name = list; *name && ok;) {
        size_t len = strcspn(name, ",");
        struct query_place here = *at;
        struct strbuf field = {0};
        here.offset += (int)(name - list);
        if (len == 3 && !strncmp(name, "key", 3) && format_of(o) == QUERY_TABLE)
            strbuf_puts(&field, "substr(run.key, 1, 8)"); /* enough for --run, and it leaves room */
        else
            ok = query_field(s, &here, name, len, &field);
        strbuf_printf(sql, "%s%s AS \"%.*s\"", name == list ? "" : ", ", strbuf_text(&field), (int)len, name);
        strbuf_free(&field);
        name += len + (name[len] == ',');
    }
    return ok;
}

/* "-ipc": the largest first. */
static bool add_order(struct store *s, const struct query_options *o, int argc, char **argv,
                      struct strbuf *sql)
{
    if (!o->sort) {
        strbuf_puts(sql, " ORDER BY run.workload, run.size, run.machine, run.mechs, run.settings,"
                         " run.mech_settings, run.id");
        return true;
    }
    const char *name = o->sort + (*o->sort == '-');
    struct query_place at = place_of(argc, argv, name);
    strbuf_puts(sql, " ORDER BY ");
    bool ok = query_field(s, &at, name, strlen(name), sql);
    strbuf_printf(sql, "%s, run.id", *o->sort == '-' ? " DESC" : "");
    return ok;
}

/* --simulator: the runs of one version. */
static bool add_simulator(struct store *s, const struct query_options *o, const char *path,
                          struct strbuf *sql)
{
    struct simulator v;
    if (!o->simulator) return true;
    if (!cli_find_simulator(&v, s, path, o->simulator)) return false;
    const char *name = v.name ? v.name : job_simulator();
    strbuf_puts(sql, " AND run.simulator = ");
    query_quote(name, strlen(name), sql);
    simulator_free(&v);
    return true;
}

static int show_runs(struct store *s, const struct query_options *o, const struct cli_list *words, int argc,
                     char **argv)
{
    struct strbuf sql = {0};
    const char *show = o->show ? o->show : DEFAULT_SHOW;
    struct query_place at = place_of(argc, argv, show);
    strbuf_puts(&sql, "SELECT ");
    bool ok = add_columns(s, o, &at, show, &sql);
    strbuf_puts(&sql, " FROM run WHERE 1");
    ok = ok && add_simulator(s, o, words->items.data[0].text, &sql);
    for (uint32_t i = 1; i < words->items.len && ok; i++) {
        struct query_place here = {argc, argv, words->items.data[i].arg, 0};
        strbuf_puts(&sql, " AND ");
        ok = query_term(s, &here, words->items.data[i].text, &sql);
    }
    ok = ok && add_order(s, o, argc, argv, &sql);
    if (o->limit) strbuf_printf(&sql, " LIMIT %llu", (unsigned long long)o->limit);
    int status = ok ? ask(s, o, strbuf_text(&sql), "no runs") : CLI_BAD_INPUT;
    strbuf_free(&sql);
    return status;
}

/* ---- the other questions ---- */

static int show_run(struct store *s, const struct query_options *o, int argc, char **argv)
{
    char key[JOB_KEY_CHARS + 1];
    struct query_place at = place_of(argc, argv, o->run);
    if (!query_find_run(s, &at, o->run, key)) return CLI_BAD_INPUT;
    if (!o->json && !o->document)
        return query_print_run(s, key, query_terminal_width()) ? CLI_OK : CLI_BAD_INPUT;
    struct strbuf text = {0};
    bool ok = o->document ? store_document(s, key, &text) : store_run_json(s, key, STORE_WHOLE, &text);
    if (ok)
        puts(strbuf_text(&text));
    else
        fprintf(stderr, "heddle: error: %s\n",
                store_error(s) ? store_error(s) : "this run has no statistics");
    strbuf_free(&text);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}

/* The versions, and which of them is this one. */
static int show_simulators(struct store *s, const struct query_options *o)
{
    struct strbuf sql = {0};
    const char *own = strrchr(job_simulator(), ' ') + 1;
    strbuf_puts(&sql, "SELECT *, CASE simulator WHEN ");
    query_quote(own, strlen(own), &sql);
    strbuf_printf(&sql, " THEN 'this version' ELSE '' END AS note FROM (%s)", simulator_versions_sql);
    int status = ask(s, o, strbuf_text(&sql), "no runs");
    strbuf_free(&sql);
    return status;
}

/* Options that ask different questions, in the order of the help. */
static bool check_options(const struct query_options *o, const struct cli_list *words, int argc, char **argv)
{
    int questions = (o->sql != NULL) + (o->run != NULL) + o->legend + o->simulators;
    const char *wrong = !words->items.len ? "which store?"
                        : questions > 1
                            ? "--sql, --run, --legend and --simulators are four questions: ask one"
                        : questions && words->items.len > 1 ? "a filter goes with the table of runs alone"
                        : questions && (o->show || o->sort || o->simulator)
                            ? "--show, --sort and --simulator go with the table of runs alone"
                        : o->csv && o->json      ? "--csv or --json: one of them"
                        : o->document && !o->run ? "--document goes with --run"
                        : o->csv && o->run       ? "--run has no CSV: --json, or --show"
                                                 : NULL;
    if (!wrong) return true;
    cli_error(argc, argv, words->items.len > 1 ? words->items.data[1].arg : argc, 0, 1,
              "heddle query results.db workload=bfs --show ipc,l1.aml", "%s", wrong);
    return false;
}

static int answer(const struct query_options *o, const struct cli_list *words, int argc, char **argv)
{
    struct store *s = cli_open_store(words->items.data[0].text);
    if (!s) return CLI_BAD_INPUT;
    int status = o->sql   ? ask(s, o, o->sql, "no rows")
                 : o->run ? show_run(s, o, argc, argv)
                 : o->legend
                     ? ask(s, o, "SELECT name, unit, help FROM legend ORDER BY name", "no run is done")
                 : o->simulators ? show_simulators(s, o)
                                 : show_runs(s, o, words, argc, argv);
    store_close(s);
    return status;
}

int cli_cmd_query(int argc, char **argv)
{
    struct query_options o = {0};
    struct cli_option options[] = {
        {"--show", NULL, CLI_STRING, &o.show, "FIELD,...",
         "columns: statistics (ipc, l1.aml), set:PARAMETER, workload, size, machine, with, mech, state, "
         "error, "
         "seconds, peak_bytes, host, finished, command, ..."},
        {"--sort", NULL, CLI_STRING, &o.sort, "FIELD", "order of the rows; -FIELD: the largest first"},
        {"--limit", NULL, CLI_NUMBER64, &o.limit, "N", "the first N rows"},
        {"--csv", NULL, CLI_FLAG, &o.csv, NULL, "as CSV"},
        {"--json", NULL, CLI_FLAG, &o.json, NULL, "as JSON"},
        {"--run", NULL, CLI_STRING, &o.run, "KEY",
         "everything of one run; the first digits of its key are enough"},
        {"--document", NULL, CLI_FLAG, &o.document, NULL, "with --run: the JSON that the run's --stats left"},
        {"--simulator", NULL, CLI_STRING, &o.simulator, "HASH",
         "the runs of this version of the simulator alone; the first digits are enough"},
        {"--simulators", NULL, CLI_FLAG, &o.simulators, NULL,
         "the versions of the simulator that made the runs: how many, and when the last"},
        {"--legend", NULL, CLI_FLAG, &o.legend, NULL, "what the statistics mean"},
        {"--sql", NULL, CLI_STRING, &o.sql, "SELECT", "any question in SQL (docs/store.md has the tables)"},
        {0}};
    struct cli_parse p = {.command = cli_command("query"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (check_options(&o, &p.words, argc, argv))
        status = answer(&o, &p.words, argc, argv);
    vec_free(&p.words.items);
    return status;
}
