/* gpu_timed.c: driving the timed GPU: progress on a terminal, Ctrl-C, the summary. */
#include "cuda/gpu_timed.h"

#include "cuda/helper_compile.h"
#include "stats/print.h"
#include "trace/timeline.h"

#include <time.h>
#include <unistd.h>

/* A signal handler has nothing but globals: the signal that asked for the end. */
static volatile sig_atomic_t stop_asked;

static void on_stop(int signal_number) { stop_asked = signal_number; }

/* Signals that end a run with the statistics so far. */
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* A program that handles a signal itself, or ignores it, keeps it. */
static void take_signals(struct sigaction old[ARRAY_LEN(stop_signals)])
{
    struct sigaction mine = {.sa_handler = on_stop};
    for (size_t i = 0; i < ARRAY_LEN(stop_signals); i++) {
        sigaction(stop_signals[i], NULL, &old[i]);
        if (old[i].sa_handler == SIG_DFL) sigaction(stop_signals[i], &mine, NULL);
    }
}

static void give_signals_back(const struct sigaction old[ARRAY_LEN(stop_signals)])
{
    for (size_t i = 0; i < ARRAY_LEN(stop_signals); i++)
        if (old[i].sa_handler == SIG_DFL) sigaction(stop_signals[i], &old[i], NULL);
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
    o.kernel_ended = gpu_keep_kernel_ended;
    o.kernel_ended_ctx = g;
    o.compile = helper_compile;
    if (!g->options.quiet) progress_attach(&g->progress, &o);
    struct diag_list diags = {0};
    struct machine whole = g->machine;
    whole.sm_count += g->cache_sms;
    g->timed = timed_create(&whole, g->device, &o, &diags);
    struct strbuf text = {0};
    diag_render(&diags, &text);
    fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    diag_free(&diags);
    if (!g->timed) return false;
    g->cache_sms = timed_sm_count(g->timed) - timed_compute_sms(g->timed);
    g->machine.sm_count = timed_compute_sms(g->timed); /* what programs see */
    /* a GPU that shows the run of a journal has no device */
    if (g->device) emu_device_limits(g->device)->sm_count = g->machine.sm_count;
    return true;
}

void gpu_timed_close(struct gpu *g)
{
    timed_destroy(g->timed);
    g->timed = NULL;
}

static void end_interrupted(struct gpu *g)
{
    int number = stop_asked;
    gpu_stats_write(g);
    gpu_keep_done(g);
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number); /* where the signal is blocked */
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
    gpu_keep_done(g);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

enum gpu_status gpu_timed_run(struct gpu *g, enum gpu_goal goal, uint64_t which)
{
    if (!timed_pending(g->timed)) return g->sticky;
    struct sigaction old[ARRAY_LEN(stop_signals)];
    take_signals(old);
    fflush(stdout); /* what device printf writes comes after what the program wrote before */
    struct emu_fault *fault = mem_zalloc(sizeof *fault);
    uint64_t begin = wall_ns();
    enum emu_fault_kind kind = goal == GPU_MARK
                                   ? timed_sync_mark(g->timed, which, fault)
                                   : timed_sync(g->timed, goal == GPU_ALL ? UINT64_MAX : which, fault);
    g->stats.wall_ns += wall_ns() - begin;
    progress_clear(&g->progress);
    free(fault);
    if (kind == EMU_INTERRUPTED) end_interrupted(g); /* a second signal does not end the writing */
    if (kind == EMU_BAD_MECHANISM) end_failed(g);
    give_signals_back(old);
    gpu_keep_update(g);
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
    if (g->options.format == RUN_FORMAT_LOADS) print = view_print_loads;
    timed_print(g->timed, print, out);
}

bool gpu_timed_write_files(const struct gpu *g)
{
    if (!g->options.timeline) return true;
    struct strbuf text = {0};
    timed_print(g->timed, timeline_print, &text);
    bool ok = gpu_write_file(g->options.timeline, &text);
    strbuf_free(&text);
    return ok;
}
