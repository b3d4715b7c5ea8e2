/* cmd_profile.c: heddle profile: kernels at all warp tuples {N, p}, as a table that a model is trained on. */
#include "cli/profiling.h"
#include "cli/workloads.h"
#include "lab/profile_table.h"

struct profile_settings {
    struct cli_profiling runs;
    const char *output;
};

struct profile_names {
    VEC(struct profile_workload) items;
    struct arena arena;
};

/* argv[arg] is NAME, or NAME:SIZE. */
static bool add_workload(struct profile_names *names, struct workload_set *set, int argc, char **argv,
                         int arg, const char *size)
{
    char *colon = strrchr(argv[arg], ':');
    if (colon) *colon = 0;
    const struct workload *w = cli_find_workload(set, argc, argv, arg);
    const struct workload_size *s = w ? cli_find_size(w, colon ? colon + 1 : size) : NULL;
    if (colon) *colon = ':';
    if (!s || !cli_check_program(w)) return false;
    vec_push(&names->items, (struct profile_workload){arena_strdup(&names->arena, w->name),
                                                      arena_strdup(&names->arena, s->name)});
    return true;
}

static bool read_workloads(struct profile_names *names, int argc, char **argv, const struct cli_list *words,
                           const char *size)
{
    struct workload_set set = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < words->items.len; i++)
        ok = add_workload(names, &set, argc, argv, words->items.data[i].arg, size);
    workloads_free(&set);
    return ok;
}

/* Writes the file and prints its content as a table; without a file, prints the file's text. */
static int show(const struct profile_settings *s, const struct cli_profiled *got)
{
    struct strbuf text = {0}, table = {0};
    profile_write(&got->profile, &text);
    int status = cli_write_text(s->output, &text);
    if (s->output && status == CLI_OK) {
        profile_print(&got->profile, &table);
        fputs(strbuf_text(&table), stdout);
        fprintf(stderr, "heddle: wrote %s: %u launches\n", s->output, got->profile.kernels.len);
    }
    if (got->missing)
        fprintf(stderr, "heddle: %u runs are missing or failed: the profile lacks their tuples\n",
                got->missing);
    strbuf_free(&text);
    strbuf_free(&table);
    return status;
}

static int profile(struct profile_settings *s, int argc, char **argv, const struct cli_list *words)
{
    struct profile_names names = {0};
    struct cli_profiled got = {0};
    int status = CLI_BAD_INPUT;
    if (read_workloads(&names, argc, argv, words, s->runs.sweep.size))
        status = cli_profile_runs(&s->runs, names.items.data, names.items.len, &got);
    if (cli_profiled_has_some(&got, status)) {
        const int shown = show(s, &got);
        status = status ? status : shown;
    }
    cli_profiled_free(&got);
    vec_free(&names.items);
    arena_free(&names.arena);
    return status;
}

int cli_cmd_profile(int argc, char **argv)
{
    /* thesis, Table 5.5 */
    enum { TRAINING_CYCLES = 10000 };
    static const struct cli_run_pick picks[] = {{"machine", NULL, NULL}, {"set", NULL, NULL}, {0}};
    struct profile_settings s = {.runs = {.step = 1, .cycles_min = TRAINING_CYCLES}};
    const struct cli_option own[] = {
        {"--output", "-o", CLI_STRING, &s.output, "FILE", "where the table goes (default: standard output)"},
        {0}};
    struct cli_option *options = cli_profiling_options(&s.runs, own, picks);
    struct cli_parse p = {.command = cli_command("profile"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (!p.words.items.len)
        cli_error(argc, argv, argc, 0, 1, "`heddle list workloads` shows them", "no workload is named");
    else if (!s.runs.step || s.runs.step > PROFILE_WARPS_MAX)
        cli_error(argc, argv, argc, 0, 1, "1 tries every tuple", "--step is a number from 1 to 64");
    else
        status = profile(&s, argc, argv, &p.words);
    vec_free(&p.words.items);
    cli_profiling_free(&s.runs);
    free(options);
    return status;
}
