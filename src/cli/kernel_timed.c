/* kernel_timed.c: runs one launch on the timed GPU and writes what it counted. Ctrl-C ends it with what
 * there is so far. */
#include "cli/kernel_timed.h"

#include "base/output.h"
#include "cli/cli.h"
#include "cuda/helper_compile.h"
#include "stats/print.h"
#include "trace/timeline.h"

#include <errno.h>

/* A signal handler has nothing but globals. */
static volatile sig_atomic_t stop_asked;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    stop_asked = 1;
}

bool kernel_timed_open(struct kernel_timed *k, const struct machine *m, struct emu_device *d,
                       const struct run_options *run)
{
    struct timed_options o = run->timed;
    o.stop = &stop_asked;
    o.compile = helper_compile;
    if (!run->quiet) progress_attach(&k->progress, &o);
    struct diag_list diags = {0};
    k->gpu = timed_create(m, d, &o, &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    return k->gpu != NULL;
}

enum emu_fault_kind kernel_timed_run(struct kernel_timed *k, const struct emu_launch *l,
                                     struct emu_stats *stats, struct emu_fault *fault)
{
    struct sigaction mine = {.sa_handler = on_interrupt}, old;
    sigaction(SIGINT, &mine, &old);
    timed_launch(k->gpu, l, 0);
    enum emu_fault_kind kind = timed_sync(k->gpu, UINT64_MAX, fault);
    sigaction(SIGINT, &old, NULL);
    progress_clear(&k->progress);
    if (kind != EMU_OK && strlen(timed_report(k->gpu)) >= sizeof fault->message) {
        fputs(timed_report(k->gpu), stderr);
        fault->message[0] = 0;
    }
    if (timed_kernel_count(k->gpu)) *stats = *timed_kernel_emu(k->gpu, 0);
    return kind;
}

static bool write_text(const char *path, const struct strbuf *text)
{
    if (!path) return fputs(strbuf_text(text), stdout) >= 0; /* main() tells of a failure */
    if (output_text(path, text)) return true;
    fprintf(stderr, "heddle: error: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

bool kernel_timed_write(const struct kernel_timed *k, const struct run_options *run)
{
    static stats_printer *const printers[] = {[RUN_FORMAT_JSON] = view_print_json,
                                              [RUN_FORMAT_GPGPUSIM] = view_print_gpgpusim,
                                              [RUN_FORMAT_LOADS] = view_print_loads};
    struct strbuf text = {0};
    bool ok = true, on_terminal = !run->quiet && run->format != RUN_FORMAT_JSON;
    stats_printer *print =
        run->format == RUN_FORMAT_TABLE ? stats_printer_for(run->stats) : printers[run->format];
    timed_print(k->gpu, print, &text);
    if (run->stats || on_terminal) ok = write_text(run->stats, &text);
    text.len = 0;
    if (run->timeline) {
        timed_print(k->gpu, timeline_print, &text);
        ok = write_text(run->timeline, &text) && ok;
    }
    strbuf_free(&text);
    return ok;
}

void kernel_timed_close(struct kernel_timed *k) { timed_destroy(k->gpu); }
