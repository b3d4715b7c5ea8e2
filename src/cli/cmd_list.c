/* cmd_list.c: heddle list, heddle explain, heddle config: what there is and what it means, read from the
 * tables. */
#include "cli/cli.h"

#include <dirent.h>

static int list_compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

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
    printf("%-14s %4s %6s %9s %8s %7s  %s\n", "machine", "SMs", "warps", "registers", "shared", "L2", "");
    int status = CLI_OK;
    for (uint32_t i = 0; i < names.len; i++) {
        struct machine m;
        if (cli_load_machine(names.data[i], &(struct cli_list){0}, &m))
            printf("%-14s %4u %6u %9u %6uKB %5uKB  %s%s\n", m.name, m.sm_count, m.sm_warps, m.sm_registers,
                   (unsigned)(m.sm_shared_bytes >> 10), (unsigned)(m.l2_bytes >> 10), m.summary,
                   strcmp(m.name, CLI_DEFAULT_MACHINE) ? "" : " (default)");
        else
            status = CLI_BAD_INPUT;
        free(names.data[i]);
    }
    vec_free(&names);
    return status;
}

static void list_params(const char *prefix)
{
    for (const struct param_row *r = machine_rows; r->name; r++)
        if (!strncmp(r->name, prefix, strlen(prefix)))
            printf("%-20s %-13s default %-12s %s\n", r->name, r->unit, r->default_text, r->help);
}

int cli_cmd_list(int argc, char **argv)
{
    struct cli_option options[] = {{0}};
    struct cli_parse p = {.command = cli_command("list"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else if (p.words.items.len == 1 && !strcmp(p.words.items.data[0].text, "machines")) {
        status = list_machines();
    } else if (p.words.items.len == 1 && !strcmp(p.words.items.data[0].text, "params")) {
        list_params("");
        status = CLI_OK;
    } else {
        int at = p.words.items.len ? p.words.items.data[0].arg : argc;
        cli_error(argc, argv, at, 0, at < argc ? (int)strlen(argv[at]) : 1, "try: heddle list machines",
                  "list takes one of: machines, params");
    }
    vec_free(&p.words.items);
    return status;
}

int cli_cmd_explain(int argc, char **argv)
{
    struct cli_option options[] = {{0}};
    struct cli_parse p = {.command = cli_command("explain"), .options = options};
    if (!cli_parse(&p, argc, argv)) return p.status;
    int status = CLI_OK;
    if (!p.words.items.len) list_params("");
    for (uint32_t i = 0; i < p.words.items.len; i++) {
        struct cli_value w = p.words.items.data[i];
        const struct param_row *r = param_find(machine_rows, w.text);
        struct strbuf prefix = {0};
        strbuf_printf(&prefix, "%s.", w.text);
        bool is_section = false;
        for (const struct param_row *q = machine_rows; q->name && !r; q++)
            is_section = is_section || !strncmp(q->name, strbuf_text(&prefix), prefix.len);
        if (r) {
            printf("%s: %s\n  unit: %s\n  default: %s\n", r->name, r->help, *r->unit ? r->unit : "none",
                   r->default_text);
            if (r->type == PARAM_U32 || r->type == PARAM_U64 || r->type == PARAM_BYTES)
                printf("  from %llu to %llu\n", (unsigned long long)r->min, (unsigned long long)r->max);
            printf("  set by: --set %s=VALUE, or in a machine file\n", r->name);
        } else if (is_section) {
            list_params(strbuf_text(&prefix));
        } else {
            const char *near = param_nearest(machine_rows, w.text);
            char hint[96] = "heddle explain lists all";
            if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
            cli_error(argc, argv, w.arg, 0, (int)strlen(w.text), hint, "nothing is called '%s'", w.text);
            status = CLI_BAD_INPUT;
        }
        strbuf_free(&prefix);
    }
    vec_free(&p.words.items);
    return status;
}

static void config_dump(const struct machine *m)
{
    char section[64] = "";
    for (const struct param_row *r = machine_rows; r->name; r++) {
        const char *dot = strchr(r->name, '.');
        struct strbuf value = {0};
        param_format(r, m, &value);
        if (dot && (strncmp(section, r->name, (size_t)(dot - r->name)) || section[dot - r->name])) {
            snprintf(section, sizeof section, "%.*s", (int)(dot - r->name), r->name);
            printf("%s:\n", section);
        }
        char line[160];
        snprintf(line, sizeof line, "%s%s: %s", dot ? "  " : "", dot ? dot + 1 : r->name,
                 strbuf_text(&value));
        printf("%-36s # %s%s%s\n", line, r->help, *r->unit ? ", " : "", r->unit);
        strbuf_free(&value);
    }
}

int cli_cmd_config(int argc, char **argv)
{
    const char *machine = NULL;
    struct cli_list sets = {0};
    struct cli_option options[] = {{"--machine", "-m", CLI_TEXT, &machine, "NAME",
                                    "machine (default " CLI_DEFAULT_MACHINE ") or a .yaml file"},
                                   {"--set", NULL, CLI_LIST, &sets, "KEY=VALUE", "change one parameter"},
                                   {0}};
    struct cli_parse p = {.command = cli_command("config"), .options = options};
    int status = CLI_BAD_INPUT;
    struct machine m;
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else if (p.words.items.len != 1 || strcmp(p.words.items.data[0].text, "dump")) {
        cli_error(argc, argv, p.words.items.len ? p.words.items.data[0].arg : argc, 0, 1,
                  "heddle config dump", "config takes one word: dump");
    } else if (cli_load_machine(machine, &sets, &m)) {
        config_dump(&m);
        status = CLI_OK;
    }
    vec_free(&p.words.items);
    vec_free(&sets.items);
    return status;
}
