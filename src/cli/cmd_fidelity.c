/* cmd_fidelity.c: heddle fidelity: the papers' figures of the workloads beside Heddle's. */
#include "cli/workloads.h"
#include "lab/fidelity.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

struct fidelity_settings {
    const char *size, *out, *runs, *paper;
    uint64_t jobs;
};

struct fidelity_progress {
    struct timespec start;
    bool terminal;
    uint32_t failed;
};

static void show_progress(void *context, uint32_t done, uint32_t all, const struct lab_run *last)
{
    struct fidelity_progress *p = context;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double elapsed = (double)(t.tv_sec - p->start.tv_sec) + (double)(t.tv_nsec - p->start.tv_nsec) * 1e-9;
    if (last->status) {
        p->failed++;
        fprintf(stderr, "%sheddle: %s on %s failed with status %d: see %s\n", p->terminal ? "\r\033[K" : "",
                last->workload, last->machine, last->status, last->log);
    }
    if (!p->terminal) return;
    fprintf(stderr, "\r\033[K%u of %u runs, about %.0f s left  (%s on %s)", done, all,
            done ? elapsed / done * (all - done) : 0, last->workload, last->machine);
    if (done == all) fputs("\r\033[K", stderr);
}

/* The workloads that were named, or all. */
static bool pick_workloads(struct workload_set *set, struct cli_parse *p, int argc, char **argv,
                           const struct workload ***out, uint32_t *count)
{
    uint32_t named = p->words.items.len;
    if (!cli_load_workloads(set) && !named) return false;
    *count = named ? named : set->items.len;
    *out = mem_alloc(MAX(*count, 1u) * sizeof **out);
    for (uint32_t i = 0; i < *count; i++) {
        const char *name = named ? p->words.items.data[i].text : set->items.data[i].name;
        if (!((*out)[i] = workload_find(set, name))) {
            cli_error(argc, argv, p->words.items.data[i].arg, 0, (int)strlen(name),
                      "`heddle list workloads` shows what there is", "no workload '%s'", name);
            return false;
        }
        if (!cli_check_program((*out)[i])) return false;
    }
    return true;
}

static int write_out(const char *path, const struct strbuf *text)
{
    FILE *f = path ? fopen(path, "w") : stdout;
    bool ok = f && fputs(strbuf_text(text), f) >= 0;
    if (f && f != stdout) ok = !fclose(f) && ok;
    if (!ok)
        fprintf(stderr, "heddle: error: cannot write %s: %s\n", path ? path : "the tables", strerror(errno));
    return ok ? CLI_OK : CLI_FAILED;
}

static int make_tables(const struct fidelity_settings *s, const struct workload *const *workloads,
                       uint32_t count)
{
    char folder[] = "/tmp/heddle-fidelity-XXXXXX";
    if (!s->runs && !mkdtemp(folder)) {
        fprintf(stderr, "heddle: error: cannot make a folder for the runs: %s\n", strerror(errno));
        return CLI_FAILED;
    }
    struct strbuf programs = {0}, out = {0};
    struct fidelity_progress progress = {.terminal = isatty(2)};
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    cli_programs_dir(&programs);
    struct lab_runner runner = {cli_self(),
                                strbuf_text(&programs),
                                s->runs ? s->runs : folder,
                                s->jobs ? (uint32_t)s->jobs : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                                s->runs != NULL,
                                show_progress,
                                &progress};
    const char *size = s->size ? s->size : CLI_DEFAULT_SIZE;
    strbuf_printf(&out,
                  "# The suite beside the papers: tables\n\nWritten by `heddle fidelity --size %s`; "
                  "docs/fidelity.md says what to make of them.\n",
                  size);
    bool ok = fidelity(&runner, workloads, count, &(struct fidelity_options){size, s->paper}, &out);
    int status = write_out(s->out, &out);
    if (!s->runs) fprintf(stderr, "heddle: the runs are in %s\n", folder);
    strbuf_free(&programs);
    strbuf_free(&out);
    return ok ? status : CLI_FAILED;
}

int cli_cmd_fidelity(int argc, char **argv)
{
    struct fidelity_settings s = {0};
    struct cli_option options[] = {
        {"--size", NULL, CLI_TEXT, &s.size, "NAME", "of the workloads (default " CLI_DEFAULT_SIZE ")"},
        {"--paper", NULL, CLI_TEXT, &s.paper, "NAME",
         "the figures of one paper: thesis-ch3, apres, ... (default all)"},
        {"--jobs", "-j", CLI_U64, &s.jobs, "N", "runs at a time (default: one for each core)"},
        {"--runs", NULL, CLI_TEXT, &s.runs, "DIR",
         "keep the runs' JSON files here, and use those that are current"},
        {"--output", "-o", CLI_TEXT, &s.out, "FILE", "write the tables here (default: standard output)"},
        {0}};
    struct cli_parse p = {.command = cli_command("fidelity"), .options = options};
    struct workload_set set = {0};
    const struct workload **workloads = NULL;
    uint32_t count = 0;
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (s.paper && !fidelity_knows(s.paper))
        fprintf(stderr,
                "heddle: error: no figures of paper '%s'\n  hint: thesis-ch3, thesis-ch4, thesis-ch5, "
                "linebacker, apres, finereg, morpheus\n",
                s.paper);
    else if (pick_workloads(&set, &p, argc, argv, &workloads, &count))
        status = make_tables(&s, workloads, count);
    free(workloads);
    workloads_free(&set);
    vec_free(&p.words.items);
    return status;
}
