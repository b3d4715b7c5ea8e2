/* cmd_list.c: heddle list, heddle explain: what there is and what it means, read from the tables. */
#include "cli/list.h"
#include "cli/run_flags.h"
#include "core/stat_tables.h"

static void list_params(const char *prefix)
{
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++)
            if (!strncmp(r->name, prefix, strlen(prefix)))
                printf("%-22s %-14s default %-10s %s\n", r->name, r->unit, r->default_text, r->help);
}

static void list_stats(bool markdown)
{
    struct strbuf out = {0};
    if (markdown)
        stats_docs(machine_stats_at, &out);
    else
        stats_list(machine_stats_at, &out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
}

static int print_params(void)
{
    list_params("");
    return CLI_OK;
}

static int print_options(void)
{
    for (const struct run_option *r = run_option_rows; r->name; r++) {
        int col = printf("%-15s %-20s ", r->flag, r->variable ? r->variable : "");
        cli_print_wrapped(r->help, col, col);
    }
    return CLI_OK;
}

static int print_stats(void)
{
    list_stats(false);
    return CLI_OK;
}

/* What can be listed: for people, and as JSON. */
static const struct list_kind {
    const char *name;
    int (*print)(void);
    bool (*json)(struct strbuf *out);
} list_kinds[] = {
    {"experiments", cli_list_experiments, list_json_experiments},
    {"machines", cli_list_machines, list_json_machines},
    {"mechanisms", cli_list_mechanisms, list_json_mechanisms},
    {"options", print_options, list_json_options},
    {"params", print_params, list_json_params},
    {"stats", print_stats, list_json_stats},
    {"workloads", cli_list_workloads, list_json_workloads},
};

static int list_one(const struct list_kind *kind, bool markdown, bool json)
{
    if (markdown) {
        list_stats(true);
        return CLI_OK;
    }
    if (!json) return kind->print();
    struct strbuf out = {0};
    bool ok = kind->json(&out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}

static const struct list_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(list_kinds); i++)
        if (!strcmp(list_kinds[i].name, name)) return &list_kinds[i];
    return NULL;
}

/* Reports that the word at `at` names nothing that can be listed; at == argc: there is no word. */
static void unknown_kind(int argc, char **argv, int at)
{
    const char *names[ARRAY_LEN(list_kinds)];
    struct strbuf all = {0};
    for (size_t i = 0; i < ARRAY_LEN(list_kinds); i++) {
        names[i] = list_kinds[i].name;
        strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = at < argc ? diag_nearest(argv[at], names, ARRAY_LEN(names)) : NULL;
    char hint[64] = "try: heddle list machines";
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    cli_error(argc, argv, at, 0, at < argc ? (int)strlen(argv[at]) : 1, hint, "list takes one of: %s",
              strbuf_text(&all));
    strbuf_free(&all);
}

struct list_flags {
    bool markdown, cost, json;
    struct cli_run run;
};

/* Reports flags that do not apply to what is listed. */
static bool flags_fit(const struct list_flags *f, const char *kind)
{
    const char *wrong = NULL;
    if (f->markdown && strcmp(kind, "stats"))
        wrong = "--markdown is for stats: heddle list stats --markdown";
    else if (f->cost && strcmp(kind, "mechanisms"))
        wrong = "--cost is for mechanisms: heddle list mechanisms --cost";
    else if (cli_run_is_given(&f->run) && !f->cost)
        wrong = "--machine, --set, --mech and --mech-set go with --cost: heddle list mechanisms --cost";
    if (wrong) fprintf(stderr, "heddle: error: %s\n", wrong);
    return !wrong;
}

int cli_cmd_list(int argc, char **argv)
{
    static const struct cli_run_pick picks[] = {
        {"machine", "--cost: ", NULL},
        {"set", "--cost: ", NULL},
        {"mech", "--cost: ", "of these alone: names (heddle list mechanisms) or ./file.so"},
        {"mech_set", "--cost: ", NULL},
        {0}};
    struct list_flags f = {0};
    const struct cli_option own[] = {
        {"--markdown", NULL, CLI_FLAG, &f.markdown, NULL, "stats: as the page docs/statistics.md"},
        {"--json", NULL, CLI_FLAG, &f.json, NULL, "everything that is known of each, as a JSON list"},
        {"--cost", NULL, CLI_FLAG, &f.cost, NULL, "mechanisms: their storage, part by part"},
        {0}};
    struct cli_option *options = cli_run_pick_options(&f.run, picks, own);
    struct cli_parse p = {.command = cli_command("list"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else {
        const struct cli_value *word = p.words.items.data;
        const struct list_kind *kind = p.words.items.len == 1 ? find_kind(word->text) : NULL;
        if (!kind)
            unknown_kind(argc, argv, p.words.items.len ? word->arg : argc);
        else if (flags_fit(&f, kind->name))
            status = f.cost ? cli_list_cost(&(struct list_cost){&f.run.options, f.json})
                            : list_one(kind, f.markdown, f.json);
    }
    vec_free(&p.words.items);
    cli_run_free(&f.run);
    free(options);
    return status;
}

static void explain_fraction(const struct param_row *r)
{
    struct strbuf bounds = {0};
    strbuf_puts(&bounds, "  from ");
    param_format_milli(r->min, &bounds);
    strbuf_puts(&bounds, " to ");
    param_format_milli(r->max, &bounds);
    printf("%s, with at most three decimals\n", strbuf_text(&bounds));
    strbuf_free(&bounds);
}

static bool explain_param(const char *name)
{
    const struct param_row *r = params_find(machine_groups, name, NULL);
    if (!r) return false;
    printf("%s: %s\n  unit: %s\n  default: %s\n", r->name, r->help, *r->unit ? r->unit : "none",
           r->default_text);
    if (r->type == PARAM_NUMBER || r->type == PARAM_NUMBER64 || r->type == PARAM_SIZE)
        printf("  from %llu to %llu\n", (unsigned long long)r->min, (unsigned long long)r->max);
    if (r->type == PARAM_FRACTION) explain_fraction(r);
    for (uint32_t i = 0; r->type == PARAM_CHOICE && r->choices[i]; i++)
        printf("%s%s%s", i ? ", " : "  one of: ", r->choices[i], r->choices[i + 1] ? "" : "\n");
    printf("  set by: --set %s=VALUE, or in a machine file\n", r->name);
    return true;
}

static bool explain_stat(const char *name)
{
    struct strbuf out = {0};
    bool found = stats_explain(machine_stats_at, name, &out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
    return found;
}

static bool explain_section(const char *name)
{
    struct strbuf prefix = {0};
    bool found = false;
    strbuf_printf(&prefix, "%s.", name);
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++)
            found = found || !strncmp(r->name, strbuf_text(&prefix), prefix.len);
    if (found) list_params(strbuf_text(&prefix));
    strbuf_free(&prefix);
    return found;
}

int cli_cmd_explain(int argc, char **argv)
{
    struct cli_option options[] = {{0}};
    struct cli_parse p = {.command = cli_command("explain"), .options = options};
    if (!cli_parse(&p, argc, argv)) return p.status;
    int status = CLI_OK;
    if (!p.words.items.len) {
        list_params("");
        list_stats(false);
    }
    for (uint32_t i = 0; i < p.words.items.len; i++) {
        struct cli_value w = p.words.items.data[i];
        bool is_param = explain_param(w.text), is_stat = explain_stat(w.text);
        if (is_param || is_stat || explain_section(w.text)) continue;
        const char *names[] = {params_nearest(machine_groups, w.text),
                               stats_nearest(machine_stats_at, w.text)};
        const char *near = names[0] && names[1] ? diag_nearest(w.text, names, 2)
                           : names[0]           ? names[0]
                                                : names[1];
        char hint[96] = "heddle explain lists all";
        if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
        cli_error(argc, argv, w.arg, 0, (int)strlen(w.text), hint, "nothing is called '%s'", w.text);
        status = CLI_BAD_INPUT;
    }
    vec_free(&p.words.items);
    return status;
}
