/* gpu_timed.c: driving the timed GPU: progress on a terminal, Ctrl-C, the summary. */
#include "cuda/gpu_timed.h"

#include "stats/print.h"
#include "trace/timeline.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* A signal handler has nothing but globals. */
static volatile sig_atomic_t stop_asked;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    stop_asked = 1;
}

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- life ---- */

bool gpu_timed_open(struct gpu *g)
{
    struct timed_options o = g->options.timed;
    o.stop = &stop_asked;
    if (!g->options.quiet) progress_attach(&g->progress, &o);
    struct diag_list diags = {0};
    g->timed = timed_create(&g->machine, g->device, &o, &diags);
    struct strbuf text = {0};
    diag_render(&diags, &text);
    fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    diag_free(&diags);
    return g->timed != NULL;
}

void gpu_timed_close(struct gpu *g)
{
    timed_destroy(g->timed);
    g->timed = NULL;
}

static void end_interrupted(struct gpu *g)
{
    gpu_stats_write(g);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
    _exit(130); /* where the signal is blocked */
}

/* The program cannot go on: the machine stands in the middle of a cycle. A hook that crashed may have left
 * the heap locked or broken, so that writing hangs: then a signal ends the process. */
static void end_failed(struct gpu *g)
{
    enum { WRITING_SECONDS_MAX = 60 };
    signal(SIGALRM, SIG_DFL);
    alarm(WRITING_SECONDS_MAX);
    fputs(timed_report(g->timed), stderr);
    gpu_stats_write(g);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

enum gpu_status gpu_timed_run(struct gpu *g, enum gpu_goal goal, uint64_t which)
{
    if (!timed_pending(g->timed)) return g->sticky;
    struct sigaction mine = {.sa_handler = on_interrupt}, old;
    sigaction(SIGINT, NULL, &old);
    bool take = old.sa_handler == SIG_DFL; /* a program that handles Ctrl-C itself keeps it */
    if (take) sigaction(SIGINT, &mine, NULL);
    fflush(stdout); /* what device printf writes comes after what the program wrote before */
    struct emu_fault *fault = mem_zalloc(sizeof *fault);
    uint64_t begin = wall_ns();
    enum emu_fault_kind kind = goal == GPU_MARK
                                   ? timed_sync_mark(g->timed, which, fault)
                                   : timed_sync(g->timed, goal == GPU_ALL ? UINT64_MAX : which, fault);
    g->stats.wall_ns += wall_ns() - begin;
    if (take) sigaction(SIGINT, &old, NULL);
    progress_clear(&g->progress);
    free(fault);
    if (kind == EMU_INTERRUPTED) end_interrupted(g);
    if (kind == EMU_BAD_MECHANISM) end_failed(g);
    if (kind != EMU_OK) {
        const char *text = timed_report(g->timed);
        size_t len = strlen(text);
        fprintf(stderr, "%s%s", text, len && text[len - 1] == '\n' ? "" : "\n");
        if (g->sticky == GPU_OK) g->sticky = gpu_status_of_fault(kind);
    }
    return g->sticky;
}

/* ---- the summary ---- */

void gpu_timed_write(const struct gpu *g, struct strbuf *out)
{
    stats_printer *print = stats_printer_for(g->options.stats);
    if (g->options.format == RUN_FORMAT_GPGPUSIM) print = view_print_gpgpusim;
    if (g->options.format == RUN_FORMAT_JSON) print = view_print_json;
    timed_print(g->timed, print, out);
}

static void write_file(const char *path, const struct strbuf *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(strbuf_text(text), 1, text->len, f) != text->len)
        gpu_complain("cannot write %s: %s", path, strerror(errno));
    if (f) fclose(f);
}

void gpu_timed_write_files(const struct gpu *g)
{
    if (!g->options.timeline) return;
    struct strbuf text = {0};
    timed_print(g->timed, timeline_print, &text);
    write_file(g->options.timeline, &text);
    strbuf_free(&text);
}
