/* cmd_config.c: heddle config: a machine's parameters as YAML (dump), and machines out of other
 * simulators' files (import). */
#include "base/output.h"
#include "cli/run_flags.h"
#include "config/gpgpusim.h"

#include <errno.h>

static size_t section_length(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

static bool same_section(const char *a, const char *b)
{
    return section_length(a) == section_length(b) && !strncmp(a, b, section_length(a));
}

/* Is this the first row of its section, over all groups? */
static bool begins_section(const struct param_row *row)
{
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++)
            if (same_section(r->name, row->name)) return r == row;
    return false;
}

static void dump_row(const struct param_row *r, const void *object)
{
    size_t section = section_length(r->name);
    struct strbuf value = {0};
    char line[PARAM_PATH_BYTES + PARAM_STRING_BYTES];
    param_format(r, object, &value);
    bool quoted =
        (r->type == PARAM_STRING || r->type == PARAM_PATH) && strpbrk(strbuf_text(&value), ":;#,&*");
    snprintf(line, sizeof line, quoted ? "%s%s: \"%s\"" : "%s%s: %s", section ? "  " : "",
             section ? r->name + section + 1 : r->name, strbuf_text(&value));
    printf("%-36s # %s%s%s\n", line, r->help, *r->unit ? ", " : "", r->unit);
    strbuf_free(&value);
}

/* All rows of the section, whichever component they belong to: a key stands in a YAML mapping once. */
static void dump_section(const struct machine *m, const struct param_row *first)
{
    if (section_length(first->name)) printf("%.*s:\n", (int)section_length(first->name), first->name);
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++)
            if (same_section(r->name, first->name)) dump_row(r, (const char *)m + g->offset);
}

static void config_dump(const struct machine *m)
{
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++)
            if (begins_section(r)) dump_section(m, r);
}

/* ---- import ---- */

static void print_left(const struct gpgpusim_import *im)
{
    if (im->left.len) fputs("not carried over:\n", stderr);
    for (uint32_t i = 0; i < im->left.len; i++)
        fprintf(stderr, "  %s: %s\n", im->left.data[i].option, im->left.data[i].reason);
    if (im->mech) fprintf(stderr, "the scheduler has parameters of its own: run with %s\n", im->mech);
}

/* The values were checked one by one; this checks that they fit together. */
static bool check_machine(const struct machine *m, struct diag_list *diags)
{
    struct addrmap *map = addrmap_create(&m->addrmap, diags);
    bool ok =
        map && dram_check(&m->dram, map, diags) && l2_check(&m->l2, diags) && l1_params_check(&m->l1, diags);
    addrmap_destroy(map);
    return ok;
}

static bool write_text(const char *path, const struct strbuf *text)
{
    if (!path) return fputs(strbuf_text(text), stdout) >= 0; /* main() reports a failure */
    if (output_text(path, text)) return true;
    fprintf(stderr, "heddle: error: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

static int config_import(const struct cli_list *words, const char *output)
{
    VEC(const char *) paths = {0};
    for (uint32_t i = 1; i < words->items.len; i++) vec_push(&paths, words->items.data[i].text);
    struct machine m;
    memset(&m, 0, sizeof m);
    params_set_defaults(machine_groups, &m);
    const struct config_target target = {machine_groups, &m, machine_data_dir()};
    struct gpgpusim_import im = {0};
    struct diag_list diags = {0};
    bool ok = gpgpusim_read(&im, paths.data, paths.len, &diags) && gpgpusim_map(&im, &target, &diags) &&
              check_machine(&m, &diags);
    cli_print_diags(&diags);
    int status = ok ? CLI_OK : CLI_BAD_INPUT;
    if (ok) {
        struct strbuf text = {0};
        gpgpusim_write(&im, machine_groups, &text);
        print_left(&im);
        if (!write_text(output, &text)) status = CLI_FAILED;
        strbuf_free(&text);
    }
    diag_free(&diags);
    gpgpusim_free(&im);
    vec_free(&paths);
    return status;
}

static int config_show(const struct run_options *o)
{
    struct machine m;
    if (!cli_load_machine(o, &m)) return CLI_BAD_INPUT;
    config_dump(&m);
    return CLI_OK;
}

int cli_cmd_config(int argc, char **argv)
{
    static const struct cli_run_pick picks[] = {{"machine", "dump: ", NULL}, {"set", "dump: ", NULL}, {0}};
    const char *output = NULL;
    struct cli_run run = {0};
    const struct cli_option own[] = {{"--output", "-o", CLI_STRING, &output, "FILE",
                                      "import: write the machine file there (default: to the terminal)"},
                                     {0}};
    struct cli_option *options = cli_run_pick_options(&run, picks, own);
    struct cli_parse p = {.command = cli_command("config"), .options = options};
    int status = CLI_BAD_INPUT;
    bool parsed = cli_parse(&p, argc, argv);
    const char *word = parsed && p.words.items.len ? p.words.items.data[0].text : "";
    if (!parsed)
        status = p.status;
    else if (!strcmp(word, "dump") && p.words.items.len == 1)
        status = config_show(&run.options);
    else if (!strcmp(word, "import") && p.words.items.len > 1)
        status = config_import(&p.words, output);
    else if (!strcmp(word, "import"))
        cli_error(argc, argv, argc, 0, 1, "heddle config import gpgpusim.config -o machine.yaml",
                  "import takes the files to read, in the order of GPGPU-Sim's -config");
    else
        cli_error(argc, argv, p.words.items.len ? p.words.items.data[0].arg : argc, 0, 1,
                  "heddle config dump", "config takes dump, or import and files");
    vec_free(&p.words.items);
    cli_run_free(&run);
    free(options);
    return status;
}
