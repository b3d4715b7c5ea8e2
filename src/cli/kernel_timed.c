/* kernel_timed.c: runs one launch on the timed GPU and writes what it counted. Ctrl-C ends it with what there is so far. */
#include "cli/kernel_timed.h"

#include "stats/print.h"
#include "trace/timeline.h"

#include <errno.h>

static volatile sig_atomic_t stop_asked; /* a signal handler has nothing but globals */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    stop_asked = 1;
}

bool kernel_timed_open(struct kernel_timed *k, const struct machine *m, struct emu_device *d,
                       const struct cli_timed *t)
{
    cli_timed_texts(t, &k->texts);
    struct timed_options o = {.mechs = k->texts.mechs.data,
                              .mech_count = k->texts.mechs.len,
                              .mech_settings = k->texts.settings.data,
                              .mech_setting_count = k->texts.settings.len,
                              .no_skip = t->no_skip,
                              .sample_cycles = t->sample,
                              .threads = (uint32_t)t->threads,
                              .timeline = t->timeline != NULL,
                              .stop = &stop_asked};
    if (!t->quiet) progress_attach(&k->progress, &o);
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
    FILE *f = path ? fopen(path, "w") : stdout;
    bool ok = f && fwrite(strbuf_text(text), 1, text->len, f) == text->len;
    if (f && path) ok = !fclose(f) && ok;
    if (!ok) fprintf(stderr, "heddle: error: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

bool kernel_timed_write(const struct kernel_timed *k, const struct cli_timed *t)
{
    struct strbuf text = {0};
    bool to_file = t->stats && !cli_timed_is_gpgpusim(t), ok = true;
    stats_printer *print = t->json ? view_print_json : stats_printer_for(t->stats);
    if (cli_timed_is_gpgpusim(t)) print = view_print_gpgpusim;
    timed_print(k->gpu, print, &text);
    if (to_file || !(t->quiet || t->json)) ok = write_text(to_file ? t->stats : NULL, &text);
    text.len = 0;
    if (t->timeline) {
        timed_print(k->gpu, timeline_print, &text);
        ok = write_text(t->timeline, &text) && ok;
    }
    strbuf_free(&text);
    return ok;
}

void kernel_timed_close(struct kernel_timed *k)
{
    struct cli_timed none = {0};
    timed_destroy(k->gpu);
    cli_timed_free(&none, &k->texts);
}
