/* cmd_list.c: heddle list, heddle explain: what there is and what it means, read from the tables. */
#include "cli/cli.h"
#include "cli/workloads.h"
#include "core/stat_tables.h"

#include <dirent.h>

static int list_compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void print_machine(const struct machine *m)
{
    struct strbuf about = {0};
    bool in_mb = m->l2_bytes >= 1 << 20 && m->l2_bytes % (1 << 20) == 0;
    int col = printf("%-11s %4u %5u %6u %4uKB %4u%s  ", m->name, m->sm_count, m->sm_warps, m->sm_registers,
                     (unsigned)(m->sm_shared_bytes >> 10), (unsigned)(m->l2_bytes >> (in_mb ? 20 : 10)),
                     in_mb ? "MB" : "KB");
    strbuf_printf(&about, "%s%s", strcmp(m->name, CLI_DEFAULT_MACHINE) ? "" : "(default) ", m->summary);
    cli_print_wrapped(strbuf_text(&about), col, col);
    strbuf_free(&about);
}

static int list_machines(void)
{
    struct strbuf dir = {0};
    strbuf_printf(&dir, "%s/machines", machine_data_dir());
    DIR *d = opendir(strbuf_text(&dir));
    if (!d) {
        fprintf(stderr,
                "heddle: error: cannot read %s\n  hint: set HEDDLE_HOME to the folder that holds machines/\n",
                strbuf_text(&dir));
        strbuf_free(&dir);
        return CLI_BAD_INPUT;
    }
    VEC(char *) names = {0};
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n <= 5 || strcmp(e->d_name + n - 5, ".yaml")) continue;
        char *name = mem_strdup(e->d_name);
        name[n - 5] = 0;
        vec_push(&names, name);
    }
    closedir(d);
    strbuf_free(&dir);
    if (names.len) qsort(names.data, names.len, sizeof *names.data, list_compare);
    puts("machine      SMs warps   regs shared     L2");
    int status = CLI_OK;
    for (uint32_t i = 0; i < names.len; i++) {
        struct machine m;
        if (cli_load_machine(names.data[i], &(struct cli_list){0}, &m))
            print_machine(&m);
        else
            status = CLI_BAD_INPUT;
        free(names.data[i]);
    }
    vec_free(&names);
    return status;
}

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

static bool list_one(const char *what, bool markdown, bool json, int *status)
{
    *status = CLI_OK;
    if (!strcmp(what, "machines"))
        *status = list_machines();
    else if (!strcmp(what, "params"))
        list_params("");
    else if (!strcmp(what, "mechanisms"))
        cli_list_mechanisms();
    else if (!strcmp(what, "workloads"))
        *status = cli_list_workloads(json);
    else if (!strcmp(what, "experiments"))
        *status = cli_list_experiments();
    else if (!strcmp(what, "stats"))
        list_stats(markdown);
    else
        return false;
    return true;
}

int cli_cmd_list(int argc, char **argv)
{
    bool markdown = false, json = false;
    struct cli_option options[] = {
        {"--markdown", NULL, CLI_FLAG, &markdown, NULL, "stats: as the page docs/statistics.md"},
        {"--json", NULL, CLI_FLAG, &json, NULL, "workloads: everything that their descriptions say"},
        {0}};
    struct cli_parse p = {.command = cli_command("list"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else if (p.words.items.len != 1 || !list_one(p.words.items.data[0].text, markdown, json, &status)) {
        status = CLI_BAD_INPUT;
        static const char *const kinds[] = {"experiments", "machines", "mechanisms",
                                            "params",      "stats",    "workloads"};
        int at = p.words.items.len ? p.words.items.data[0].arg : argc;
        const char *near = at < argc ? diag_nearest(argv[at], kinds, ARRAY_LEN(kinds)) : NULL;
        char hint[64] = "try: heddle list machines";
        if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
        cli_error(argc, argv, at, 0, at < argc ? (int)strlen(argv[at]) : 1, hint,
                  "list takes one of: experiments, machines, mechanisms, params, stats, workloads");
    }
    vec_free(&p.words.items);
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
    if (r->type == PARAM_U32 || r->type == PARAM_U64 || r->type == PARAM_BYTES)
        printf("  from %llu to %llu\n", (unsigned long long)r->min, (unsigned long long)r->max);
    if (r->type == PARAM_MILLI) explain_fraction(r);
    for (uint32_t i = 0; r->type == PARAM_ENUM && r->choices[i]; i++)
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
