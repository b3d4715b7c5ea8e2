/* sweeps.c: a sweep from the command line: store and folder, signals, Slurm's options, and what is said at
 * the end. */
#include "base/map.h"
#include "cli/lab.h"
#include "lab/host.h"
#include "stats/json.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <unistd.h>

#define SAME_SIGNAL_SECONDS 0.5

struct cli_option *cli_batch_options(struct cli_sweep *s, const struct cli_option *own)
{
    const struct cli_option options[] = {
        {"--store", NULL, CLI_STRING, &s->store, "FILE",
         "the store of results (default " CLI_DEFAULT_STORE "); runs that it has are not made again"},
        {"--dry-run", "-n", CLI_FLAG, &s->dry_run, NULL,
         "list the runs, which of them the store has, and how long the others will take"},
        {"--jobs", "-j", CLI_NUMBER64, &s->jobs, "N", "runs at a time (default: as cores and memory allow)"},
        {"--again", NULL, CLI_FLAG, &s->again, NULL, "make failed runs again"},
        {"--size", NULL, CLI_STRING, &s->size, "NAME",
         "of all workloads: tiny, small, paper (default: what the experiment says, or small)"},
        {0}};
    return cli_join_options(options, own);
}

struct cli_option *cli_sweep_options(struct cli_sweep *s, const struct cli_option *own)
{
    const struct cli_option more[] = {
        {"--workloads", NULL, CLI_STRING, &s->workloads, "A,B", "these workloads alone"},
        {"--simulator", NULL, CLI_STRING, &s->simulator, "HASH", CLI_SIMULATOR_HELP "; nothing is run"},
        {"--slurm", NULL, CLI_MAYBE, &s->slurm, "[=OPTIONS]",
         "submit a job array to Slurm, with these options of sbatch; without -j, Slurm says how many run at "
         "a time"},
        {"--slurm-detach", NULL, CLI_FLAG, &s->detach, NULL,
         "submit to Slurm and leave; the same command without it gathers"},
        {"--json", NULL, CLI_FLAG, &s->json, NULL, "write the list or the outcome as JSON"},
        {0}};
    struct cli_option *behind = cli_join_options(more, own), *all = cli_batch_options(s, behind);
    free(behind);
    return all;
}

/* The signal that stopped the sweep. */
static volatile int stopped;
/* Written by the handler alone. */
static double stopped_at;

/* The first signal asks the sweep to stop; a later one ends it at once. `timeout` and job systems signal a
 * process and then its group, so that two signals in a row count as one. */
static void on_signal(int number)
{
    const double now = host_now();
    if (!stopped) {
        stopped = number;
        stopped_at = now;
    } else if (now - stopped_at > SAME_SIGNAL_SECONDS) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) sigaction(numbers[i], &a, NULL);
}

/* STORE.work beside the store, by its whole path: jobs of a cluster start elsewhere. */
static char *work_folder(const char *store)
{
    char *copy = mem_strdup(store), *base = mem_strdup(store);
    char *folder = realpath(dirname(copy), NULL);
    struct strbuf out = {0};
    if (folder) strbuf_printf(&out, "%s/%s.work", folder, basename(base));
    free(copy);
    free(base);
    free(folder);
    return out.data;
}

/* Words of a text, as a shell would split it: quotes keep spaces. The words lie in `text`, which is
 * changed. */
static bool split_words(char *text, struct cli_list *out)
{
    char *to = text;
    for (char *from = text; *from;) {
        while (*from == ' ' || *from == '\t') from++;
        if (!*from) break;
        char *word = to, quote = 0;
        for (; *from && (quote || (*from != ' ' && *from != '\t')); from++) {
            if (quote ? *from == quote : (*from == '\'' || *from == '"'))
                quote = quote ? 0 : *from;
            else
                *to++ = *from;
        }
        if (quote) return false;
        if (*from) from++;
        *to++ = 0;
        vec_push(&out->items, (struct cli_value){word, 0});
    }
    return true;
}

/* ---- failures ---- */

struct failures {
    /* of the plans */
    struct map keys;
    uint32_t count;
    bool json;
};

static bool failure_row(void *context, int columns, const char *const *values, const char *const *names)
{
    struct failures *f = context;
    if (!map_get(&f->keys, values[0])) return true;
    if (f->json) {
        struct strbuf out = {0};
        for (int i = 0; i < columns; i++) {
            strbuf_printf(&out, "%s\"%s\": ", i ? ", " : "", names[i]);
            json_string(&out, values[i] ? values[i] : "");
        }
        printf("%s\n  {%s}", f->count ? "," : "", strbuf_text(&out));
        strbuf_free(&out);
    } else {
        struct strbuf error = {0};
        if (values[3]) strbuf_visible(&error, values[3], strlen(values[3]));
        fprintf(stderr, "  %.8s  %-15s %-6s %s\n", values[0], values[1], values[2], strbuf_text(&error));
        strbuf_free(&error);
    }
    f->count++;
    return true;
}

static void print_failures(const struct cli_lab *lab, struct store *store, bool json)
{
    struct failures f = {.json = json};
    char *error = NULL;
    for (uint32_t p = 0; p < lab->plans.len; p++)
        for (uint32_t j = 0; j < lab->plans.data[p].job_count; j++)
            map_put(&f.keys, lab->plans.data[p].jobs[j].key, &f);
    if (!store_query(store,
                     "SELECT key, workload, size, error, command FROM run WHERE state = 'failed' ORDER BY "
                     "workload, size, key",
                     failure_row, &f, &error))
        fprintf(stderr, "heddle: error: %s\n", error ? error : "the store cannot be read");
    free(error);
    map_free(&f.keys);
}

/* False: the figures, of which bars are made, cannot be computed; the errors were printed. */
static bool print_json(const struct cli_sweep *s, struct cli_lab *lab, struct store *store,
                       const struct sweep_result *r)
{
    const bool ok = !s->bars || cli_lab_figures(lab, store);
    struct strbuf bars = {0}, scores = {0}, name = {0};
    printf("{\"made\": %u, \"had\": %u, \"failed\": %u, \"elsewhere\": %u, \"seconds\": %.1f, "
           "\"failures\": [",
           r->made, r->had, r->failed, r->elsewhere, r->seconds);
    print_failures(lab, store, true);
    putchar(']');
    if (lab->simulator) {
        fputs(",\n \"simulator\": ", stdout);
        json_string(&name, lab->simulator->name);
        printf("%s, \"missing\": %u", strbuf_text(&name), r->missing);
    }
    if (s->bars && ok) {
        bars_json(lab->bars.data, lab->bars.len, &bars);
        scores_json(&lab->scores, &scores);
        printf(",\n \"papers\": %s,\n \"bars\": %s", strbuf_text(&scores), strbuf_text(&bars));
    }
    puts("}");
    strbuf_free(&bars);
    strbuf_free(&scores);
    strbuf_free(&name);
    return ok;
}

static void print_result(const struct cli_lab *lab, struct store *store, const struct sweep_result *r,
                         const char *store_path)
{
    fprintf(stderr, "heddle: %u runs made, %u were in %s, ", r->made, r->had, store_path);
    if (r->elsewhere) fprintf(stderr, "%u are another sweep's, ", r->elsewhere);
    fprintf(stderr, "%u failed; %.1f s\n", r->failed, r->seconds);
    if (!r->failed) return;
    print_failures(lab, store, false);
    fprintf(stderr,
            "  `heddle query %s --run KEY` shows one with its log and command; --again makes them again\n",
            store_path);
}

/* ---- the sweep ---- */

bool cli_lab_advance(struct cli_lab *lab, struct store *store, const char *store_path)
{
    struct diag_list diags = {0};
    char *folder = work_folder(store_path);
    bool ok = true;
    for (uint32_t i = 0; i < lab->plans.len && ok; i++)
        ok = plan_advance(&lab->plans.data[i], store, folder ? folder : "", &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    free(folder);
    return ok;
}

static int list_runs(const struct cli_sweep *s, struct cli_lab *lab, const char *path)
{
    char *error = NULL;
    struct store *store = access(path, F_OK) ? NULL : store_open(path, false, &error);
    struct strbuf out = {0};
    if (error) {
        fprintf(stderr, "heddle: error: %s\n", error);
        free(error);
        return CLI_BAD_INPUT;
    }
    if (store && !cli_lab_advance(lab, store, path)) {
        store_close(store);
        return CLI_FAILED;
    }
    sweep_list(store, lab->plans.data, lab->plans.len, (uint32_t)s->jobs, s->json, &out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
    if (store) store_close(store);
    return CLI_OK;
}

static int run_sweep(const struct cli_sweep *s, struct cli_lab *lab, struct store **store, const char *path,
                     const char *folder, const struct cli_list *slurm)
{
    VEC(const char *) words = {0};
    struct sweep_result result;
    const char *term = getenv("TERM");
    for (uint32_t i = 0; i < slurm->items.len; i++) vec_push(&words, slurm->items.data[i].text);
    vec_push(&words, NULL);
    struct sweep_options o = {.heddle = cli_self(),
                              .folder = folder,
                              .workers = (uint32_t)s->jobs,
                              .again = s->again,
                              .is_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb"),
                              .slurm = s->detach  ? SWEEP_SLURM_DETACH
                                       : s->slurm ? SWEEP_SLURM
                                                  : SWEEP_HERE,
                              .slurm_options = words.data,
                              .stop = &stopped};
    struct diag_list diags = {0};
    catch_signals();
    bool ok = sweep_stages(*store, lab->plans.data, lab->plans.len, &o, &result, &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    vec_free(&words);
    if (!ok) { /* nothing to show */
        store_close(*store);
        *store = NULL;
        return CLI_FAILED;
    }
    if (!s->json)
        print_result(lab, *store, &result, path);
    else if (!print_json(s, lab, *store, &result))
        return CLI_FAILED;
    if (stopped) {
        fputs("heddle: stopped; what was finished is kept, and the same command goes on from here\n", stderr);
        return 128 + stopped;
    }
    return result.failed ? CLI_FAILED : CLI_OK;
}

/* ---- runs of another version: looked at, never made ---- */

/* Prints what the store lacks; the figures of the existing runs follow. */
static int print_missing(const struct cli_lab *lab, const struct sweep_result *r, const char *path)
{
    fprintf(stderr, "heddle: %u runs of simulator %s are in %s, %u of them failed, %u are missing\n",
            r->had + r->failed, lab->simulator->name, path, r->failed, r->missing);
    if (!r->missing) return r->failed ? CLI_FAILED : CLI_OK;
    fprintf(stderr,
            "heddle: error: only that version of the simulator can make the missing runs; this one is %s\n"
            "  hint: without --simulator this version makes all runs of its own\n",
            job_simulator());
    return CLI_FAILED;
}

static int look_at_runs(const struct cli_sweep *s, struct cli_lab *lab, struct store **store,
                        const char *path)
{
    if (s->again || s->slurm || s->detach) {
        fputs("heddle: error: --again and --slurm make runs, and only their own version of the simulator can "
              "make those of --simulator\n",
              stderr);
        return CLI_BAD_INPUT;
    }
    *store = cli_open_store(path);
    if (!*store) return CLI_BAD_INPUT;
    struct sweep_result r;
    bool ok = cli_lab_advance(lab, *store, path);
    if (ok) sweep_look(*store, lab->plans.data, lab->plans.len, &r);
    const int status = ok ? print_missing(lab, &r, path) : CLI_FAILED;
    if (ok && s->json) ok = print_json(s, lab, *store, &r);
    if (!ok) {
        store_close(*store);
        *store = NULL;
    }
    return ok ? status : CLI_FAILED;
}

int cli_sweep(const struct cli_sweep *s, struct cli_lab *lab, struct store **store)
{
    const char *path = s->store ? s->store : CLI_DEFAULT_STORE;
    *store = NULL;
    if (s->dry_run) return list_runs(s, lab, path);
    if (lab->simulator) return look_at_runs(s, lab, store, path);
    char *error = NULL, *options = mem_strdup(s->slurm ? s->slurm : ""), *folder = work_folder(path);
    struct cli_list slurm = {0};
    int status = CLI_BAD_INPUT;
    if (!folder)
        fprintf(stderr, "heddle: error: cannot keep results in %s: %s\n", path, strerror(errno));
    else if (!split_words(options, &slurm))
        fprintf(stderr, "heddle: error: --slurm=%s: a quote is not closed\n", s->slurm);
    else if (!(*store = store_open(path, true, &error)))
        status = cli_store_refused(error);
    else
        status = run_sweep(s, lab, store, path, folder, &slurm);
    vec_free(&slurm.items);
    free(options);
    free(folder);
    free(error);
    return status;
}
