/* cmd_map.c: heddle map: how fast a workload or a program is at all warp tuples {N, p}, and the path that
 * Poise takes over them.
 *
 * A program without a description gets one for the time of this command, so that its runs are those of a
 * workload: in the store, and not made again. */
#include "cli/profiling.h"
#include "cli/workloads.h"
#include "lab/tuple_map.h"
#include "stats/json.h"

#include <errno.h>
#include <libgen.h>
#include <unistd.h>

struct map_settings {
    struct cli_profiling runs;
    const char *model, *output;
    bool json, no_poise;
};

/* What is mapped, and the description that was made for it ("": none). */
struct map_target {
    struct profile_workload workload;
    struct arena arena;
    char folder[32], description[64];
};

#define PROGRAM_SIZE "given"

/* ---- the program ---- */

static void describe(const char *name, const char *program, char *const *args, int count, struct strbuf *out)
{
    strbuf_puts(out, "name: ");
    json_string(out, name);
    strbuf_puts(out, "\nprogram: ");
    json_string(out, program);
    strbuf_puts(out, "\nsizes: {" PROGRAM_SIZE ": {args: [");
    for (int i = 0; i < count; i++) {
        if (i) strbuf_puts(out, ", ");
        json_string(out, args[i]);
    }
    strbuf_puts(out, "]}}\n");
}

/* HEDDLE_WORKLOADS names it, for this command and for the runs. */
static bool add_description(struct map_target *t, const struct strbuf *text)
{
    struct strbuf more = {0};
    const char *before = getenv("HEDDLE_WORKLOADS");
    snprintf(t->folder, sizeof t->folder, "/tmp/heddle-map-XXXXXX");
    if (!mkdtemp(t->folder)) {
        fprintf(stderr, "heddle: error: cannot make a folder in /tmp: %s\n", strerror(errno));
        t->folder[0] = 0;
        return false;
    }
    snprintf(t->description, sizeof t->description, "%s/workload.yaml", t->folder);
    if (cli_write_text(t->description, text) != CLI_OK) return false;
    strbuf_printf(&more, "%s%s%s", t->description, before && *before ? ":" : "", before ? before : "");
    setenv("HEDDLE_WORKLOADS", strbuf_text(&more), 1);
    strbuf_free(&more);
    return true;
}

static bool find_program(struct map_target *t, int argc, char **argv, int rest)
{
    struct strbuf path = {0}, text = {0};
    char *whole = cli_find_program(argv[rest], &path) ? realpath(strbuf_text(&path), NULL) : NULL;
    if (!whole) {
        cli_error(argc, argv, rest, 0, (int)strlen(argv[rest]), NULL, "cannot run '%s': %s", argv[rest],
                  strchr(argv[rest], '/') ? strerror(errno) : "not found in PATH");
        strbuf_free(&path);
        return false;
    }
    char *base = mem_strdup(whole);
    t->workload = (struct profile_workload){arena_printf(&t->arena, "%s.app", basename(base)), PROGRAM_SIZE};
    describe(t->workload.name, whole, argv + rest + 1, argc - rest - 1, &text);
    const bool ok = add_description(t, &text);
    free(base);
    free(whole);
    strbuf_free(&text);
    strbuf_free(&path);
    return ok;
}

static bool find_workload(struct map_target *t, int argc, char **argv, int arg, const char *size)
{
    struct workload_set set = {0};
    const struct workload *w = cli_find_workload(&set, argc, argv, arg);
    const struct workload_size *s = w ? cli_find_size(w, size) : NULL;
    const bool ok = s && cli_check_program(w);
    if (ok)
        t->workload =
            (struct profile_workload){arena_strdup(&t->arena, w->name), arena_strdup(&t->arena, s->name)};
    workloads_free(&set);
    return ok;
}

static void target_free(struct map_target *t)
{
    if (*t->description) unlink(t->description);
    if (*t->folder) rmdir(t->folder);
    arena_free(&t->arena);
}

/* ---- the map ---- */

/* Adds what the run with Poise did, unless it failed. */
static void add_poise(struct tuple_map *m, const struct cli_profiled *got)
{
    const struct plan *plan = &got->lab.plans.data[0];
    for (uint32_t c = 0; c < plan->experiment->column_count; c++) {
        struct strbuf text = {0};
        struct json_tree tree = {0};
        struct diag_list diags = {0};
        if (strcmp(plan->experiment->columns[c].name, PROFILE_POISE) != 0) continue;
        if (store_document(got->store, plan->jobs[plan_job(plan, 0, c)].key, &text) &&
            json_tree_parse(&tree, PROFILE_POISE, strbuf_text(&text), text.len, &diags))
            tuple_map_add_poise(m, &got->profile, tree.root);
        cli_print_diags(&diags);
        diag_free(&diags);
        json_tree_free(&tree);
        strbuf_free(&text);
    }
}

static int show(const struct map_settings *s, const struct cli_profiled *got)
{
    struct tuple_map m;
    struct strbuf text = {0}, picture = {0};
    tuple_map_make(&m, &got->profile);
    add_poise(&m, got);
    if (s->json)
        tuple_map_json(&m, &text);
    else
        tuple_map_print(&m, &text);
    int status = cli_write_text(NULL, &text);
    if (s->output) {
        tuple_map_svg(&m, &picture);
        status = cli_write_text(s->output, &picture);
    }
    strbuf_free(&text);
    strbuf_free(&picture);
    tuple_map_free(&m);
    return status;
}

static int map(struct map_settings *s, const struct map_target *t)
{
    struct cli_profiled got = {0};
    struct strbuf model = {0};
    VEC(const char *) poise = {0};
    for (const char *const *set = s->runs.run.options.mech_sets; *set; set++) vec_push(&poise, *set);
    strbuf_printf(&model, "poise.model=%s", s->model ? s->model : "");
    if (s->model) vec_push(&poise, strbuf_text(&model));
    vec_push(&poise, NULL);
    if (!s->no_poise) s->runs.poise_sets = poise.data;
    int status = cli_profile_runs(&s->runs, &t->workload, 1, &got);
    if (cli_profiled_has_some(&got, status)) {
        const int shown = show(s, &got);
        status = status ? status : shown;
    }
    cli_profiled_free(&got);
    vec_free(&poise);
    strbuf_free(&model);
    return status;
}

static bool find_target(struct map_target *t, const struct map_settings *s, const struct cli_parse *p,
                        int argc, char **argv)
{
    const uint32_t words = p->words.items.len;
    const bool is_program = p->rest < argc;
    if (words + is_program != 1) {
        cli_error(argc, argv, words ? p->words.items.data[words - 1].arg : argc, 0, 1,
                  "heddle map NAME (heddle list workloads), or heddle map -- ./app ARGS",
                  (words + is_program) ? "one workload or one program is mapped" : "there is nothing to map");
        return false;
    }
    if (!is_program) return find_workload(t, argc, argv, p->words.items.data[0].arg, s->runs.sweep.size);
    if (!s->runs.sweep.size) return find_program(t, argc, argv, p->rest);
    fprintf(stderr, "heddle: error: --size is for workloads: heddle map NAME --size %s\n",
            s->runs.sweep.size);
    return false;
}

int cli_cmd_map(int argc, char **argv)
{
    static const struct cli_run_pick picks[] = {
        {"machine", NULL, NULL}, {"set", NULL, NULL}, {"mech_set", "for Poise: ", NULL}, {0}};
    struct map_settings s = {.runs = {.cycles_min = 1}};
    const struct cli_option own[] = {
        {"--model", NULL, CLI_STRING, &s.model, "FILE", "Poise's model (default: the published weights)"},
        {"--no-poise", NULL, CLI_FLAG, &s.no_poise, NULL, "the tuples alone"},
        {"--output", "-o", CLI_STRING, &s.output, "FILE.svg", "write the map as a picture too"},
        {"--json", NULL, CLI_FLAG, &s.json, NULL, "write the map and Poise's whole path as JSON"},
        {0}};
    struct cli_option *options = cli_profiling_options(&s.runs, own, picks);
    struct cli_parse p = {.command = cli_command("map"), .options = options};
    struct map_target t = {0};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (s.runs.step > PROFILE_WARPS_MAX)
        cli_error(argc, argv, argc, 0, 1, "1 tries every tuple", "--step is a number from 1 to 64");
    else if (find_target(&t, &s, &p, argc, argv))
        status = map(&s, &t);
    target_free(&t);
    vec_free(&p.words.items);
    cli_profiling_free(&s.runs);
    free(options);
    return status;
}
