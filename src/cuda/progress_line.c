/* progress_line.c: kernel, CTAs, cycles, speed and time left on one line, redrawn a few times a second. It is
 * never as wide as the terminal, which would wrap it, and it is cleared at the end of the run. */
#include "cuda/progress_line.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_NS = 250000000, COLUMNS_DEFAULT = 80, NAME_MIN = 8, NUMBER_BYTES = 24 };

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t terminal_columns(void)
{
    struct winsize w;
    return !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : COLUMNS_DEFAULT;
}

/* 1234567 -> 1.23M */
static void shorten(double n, char out[NUMBER_BYTES])
{
    static const char units[] = " kMGTP";
    uint32_t u = 0;
    for (; n >= 1000 && u + 2 < sizeof units; u++) n /= 1000;
    snprintf(out, NUMBER_BYTES, u ? "%.2f%.1s" : "%.0f", n, &units[u]);
}

static void time_text(double seconds, char out[NUMBER_BYTES])
{
    if (seconds < 0) {
        snprintf(out, NUMBER_BYTES, "?");
        return;
    }
    unsigned s = (unsigned)MIN(seconds, 3599999.0);
    if (s >= 3600)
        snprintf(out, NUMBER_BYTES, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, NUMBER_BYTES, "%u:%02u", s / 60, s % 60);
}

void progress_line(const struct timed_progress *p, double insts_per_second, double seconds_left,
                   uint32_t columns, char out[PROGRESS_BYTES])
{
    enum { REST_BYTES = 128, NAME_MAX_BYTES = PROGRESS_BYTES - REST_BYTES - 2 };
    char cycles[NUMBER_BYTES], rate[NUMBER_BYTES], left[NUMBER_BYTES], rest[REST_BYTES];
    shorten((double)p->cycles, cycles);
    shorten(insts_per_second, rate);
    time_text(seconds_left, left);
    int len = snprintf(rest, sizeof rest, ": %llu/%llu CTAs, %s cycles, %s insts/s, left %s",
                       (unsigned long long)p->ctas_done, (unsigned long long)p->ctas, cycles, rate, left);
    int room = MIN(MAX((int)columns - len, NAME_MIN), NAME_MAX_BYTES);
    bool fits = (int)strlen(p->kernel) <= room;
    snprintf(out, PROGRESS_BYTES, "%.*s%s%s", fits ? room : room - 2, p->kernel, fits ? "" : "..", rest);
    if (columns < PROGRESS_BYTES) out[columns] = 0;
}

static void show(void *ctx, const struct timed_progress *p)
{
    struct gpu_progress *shown = ctx;
    uint64_t now = wall_ns();
    if (p->kernel_id != shown->kernel) {
        shown->kernel = p->kernel_id;
        shown->kernel_ns = now;
    }
    if (!shown->at_ns) shown->at_ns = now; /* a short run shows no line */
    if (now - shown->at_ns < PROGRESS_NS) return;
    double spent = (double)(now - shown->kernel_ns);
    double left = p->ctas_done ? spent * 1e-9 * (double)(p->ctas - p->ctas_done) / (double)p->ctas_done : -1;
    double rate = (double)(p->warp_insts - shown->insts) * 1e9 / (double)(now - shown->at_ns);
    char line[PROGRESS_BYTES];
    progress_line(p, rate, left, terminal_columns() - 1, line);
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
    shown->at_ns = now;
    shown->insts = p->warp_insts;
    shown->visible = true;
}

void progress_attach(struct gpu_progress *shown, struct timed_options *o)
{
    const char *term = getenv("TERM");
    if (!isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb")) return;
    o->progress = show;
    o->progress_ctx = shown;
}

void progress_clear(struct gpu_progress *shown)
{
    if (shown->visible) fputs("\r\033[K", stderr);
    shown->visible = false;
}
