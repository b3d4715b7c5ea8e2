/* gpu_timed.c: driving the timed GPU: progress on a terminal, Ctrl-C, the summary. */
#include "cuda/gpu_timed.h"

#include "stats/print.h"
#include "trace/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

/* A signal handler has nothing but globals. */
static volatile sig_atomic_t stop_asked;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    stop_asked = 1;
}

/* ---- the progress line ---- */

enum { PROGRESS_NS = 250000000 };

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void show_progress(void *ctx, const struct timed_progress *p)
{
    struct gpu_progress *shown = ctx;
    uint64_t now = wall_ns();
    if (now - shown->at_ns < PROGRESS_NS) return;
    double seconds = (double)(now - shown->at_ns) * 1e-9;
    double rate = shown->at_ns ? (double)(p->warp_insts - shown->insts) / seconds : 0;
    char left[32] = "";
    if (p->kernel_id != shown->kernel) {
        shown->kernel = p->kernel_id;
        shown->kernel_ns = now;
    } else if (p->ctas_done) {
        double spent = (double)(now - shown->kernel_ns) * 1e-9;
        snprintf(left, sizeof left, ", %.0f s left",
                 spent * (double)(p->ctas - p->ctas_done) / (double)p->ctas_done);
    }
    fprintf(stderr,
            "\r\033[Kheddle: %.40s: %" PRIu64 "/%" PRIu64 " CTAs, %" PRIu64 " cycles, %.2f M warp insts/s%s",
            p->kernel, p->ctas_done, p->ctas, p->cycles, rate * 1e-6, left);
    fflush(stderr);
    shown->at_ns = now;
    shown->insts = p->warp_insts;
    shown->visible = true;
}

static void clear_progress(struct gpu_progress *shown)
{
    if (shown->visible) fputs("\r\033[K", stderr);
    shown->visible = false;
}

/* ---- life ---- */

bool gpu_timed_open(struct gpu *g)
{
    const struct gpu_env *e = &g->env;
    struct timed_options o = {.mechs = e->mechs,
                              .mech_count = e->mech_count,
                              .mech_settings = e->mech_settings,
                              .mech_setting_count = e->mech_setting_count,
                              .no_skip = e->no_skip,
                              .sample_cycles = e->sample_cycles,
                              .timeline = e->timeline_path != NULL,
                              .stop = &stop_asked,
                              .progress_ctx = &g->progress};
    if (!e->quiet && isatty(STDERR_FILENO)) o.progress = show_progress;
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

void gpu_timed_launch(struct gpu *g, const struct emu_launch *l, uint64_t stream)
{
    enum { STREAM_LEGACY = 1 }; /* another name of the default stream in both APIs */
    timed_launch(g->timed, l, stream == STREAM_LEGACY ? 0 : stream);
    g->queued = true;
}

static void end_interrupted(struct gpu *g)
{
    gpu_stats_write(g);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
    _exit(130); /* where the signal is blocked */
}

enum emu_fault_kind gpu_timed_run(struct gpu *g)
{
    if (!g->queued) return EMU_OK;
    g->queued = false;
    struct sigaction mine = {.sa_handler = on_interrupt}, old;
    sigaction(SIGINT, NULL, &old);
    bool take = old.sa_handler == SIG_DFL; /* a program that handles Ctrl-C itself keeps it */
    if (take) sigaction(SIGINT, &mine, NULL);
    fflush(stdout); /* what device printf writes comes after what the program wrote before */
    struct emu_fault *fault = mem_zalloc(sizeof *fault);
    uint64_t begin = wall_ns();
    enum emu_fault_kind kind = timed_sync(g->timed, UINT64_MAX, fault);
    g->stats.wall_ns += wall_ns() - begin;
    if (take) sigaction(SIGINT, &old, NULL);
    clear_progress(&g->progress);
    free(fault);
    if (kind == EMU_INTERRUPTED) end_interrupted(g);
    if (kind != EMU_OK) {
        const char *text = timed_report(g->timed);
        size_t len = strlen(text);
        fprintf(stderr, "%s%s", text, len && text[len - 1] == '\n' ? "" : "\n");
    }
    return kind;
}

/* ---- the summary ---- */

void gpu_timed_write(const struct gpu *g, struct strbuf *out)
{
    stats_printer *print = stats_printer_for(g->env.stats_path);
    if (g->env.format == STATS_GPGPUSIM) print = view_print_gpgpusim;
    if (g->env.format == STATS_JSON) print = view_print_json;
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
    if (!g->env.timeline_path) return;
    struct strbuf text = {0};
    timed_print(g->timed, timeline_print, &text);
    write_file(g->env.timeline_path, &text);
    strbuf_free(&text);
}
