/* bar.c: the bar. It changes only the terminal's lines below the cursor, so that nothing has to be restored
 * when the sweep is killed. */
#include "lab/bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define DRAW_SECONDS 0.25
#define TELL_SECONDS 60.0

enum { COLUMNS_DEFAULT = 80, ROWS_DEFAULT = 24, BAR_MIN = 8, BAR_MAX = 40, TIME_BYTES = 24 };

void bar_time(double seconds, char out[TIME_BYTES])
{
    if (!(seconds >= 0)) {
        snprintf(out, TIME_BYTES, "?");
        return;
    }
    unsigned s = (unsigned)(MIN(seconds, 3599999.0) + 0.5);
    if (s >= 3600)
        snprintf(out, TIME_BYTES, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, TIME_BYTES, "%u:%02u", s / 60, s % 60);
}

/* The text after the counts. */
static void rest_text(const struct bar_view *v, struct strbuf *out)
{
    char left[TIME_BYTES];
    bar_time(v->left, left);
    if (v->failed) strbuf_printf(out, ", %u failed", v->failed);
    if (v->elsewhere) strbuf_printf(out, ", %u elsewhere", v->elsewhere);
    if (*v->where) strbuf_printf(out, ", %s", v->where);
    strbuf_printf(out, ", left %s", left);
}

/* Cuts a line so that the terminal does not wrap it. */
static void put_line(const char *text, uint32_t columns, struct strbuf *out)
{
    strbuf_add(out, text, MIN(strlen(text), (size_t)columns - 1));
    strbuf_putc(out, '\n');
}

static void bar_line(const struct bar_view *v, uint32_t columns, struct strbuf *out)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%u/%u", v->done, v->all);
    rest_text(v, &text);
    int room = (int)columns - 1 - (int)text.len - 3, bar = MIN(room, BAR_MAX);
    if (bar >= BAR_MIN) {
        int full = (int)(v->share * bar);
        strbuf_putc(out, '[');
        for (int i = 0; i < bar; i++) strbuf_putc(out, i < full ? '#' : '.');
        strbuf_puts(out, "] ");
    }
    put_line(strbuf_text(&text), columns, out);
    strbuf_free(&text);
}

/* The most important text comes first, since a narrow terminal cuts the end off. */
static void worker_line(const struct bar_worker *w, uint32_t columns, struct strbuf *out)
{
    char line[256], time[TIME_BYTES], of[TIME_BYTES + 4] = "";
    bar_time(w->seconds, time);
    if (w->expected > 0) {
        strcpy(of, "of ");
        bar_time(w->expected, of + 3);
    }
    snprintf(line, sizeof line, "  %7s %-11s %-15s %-6s %s", time, of, w->workload, w->size, w->column);
    put_line(line, columns, out);
}

void bar_frame(const struct bar_view *v, const struct bar_worker *workers, uint32_t count, uint32_t columns,
               uint32_t rows, struct strbuf *out, uint32_t *lines)
{
    assert(columns && rows);
    uint32_t shown = MIN(count, rows > 3 ? rows - 3 : 0u);
    char more[32];
    snprintf(more, sizeof more, "  and %u more", count - shown);
    bar_line(v, columns, out);
    for (uint32_t i = 0; i < shown; i++) worker_line(&workers[i], columns, out);
    if (shown < count && shown) put_line(more, columns, out);
    *lines = 1 + shown + (shown < count && shown);
}

bool bar_due(const struct bar *p, const struct bar_view *v, double now)
{
    if (p->is_terminal) return !p->began || now - p->drawn_at >= DRAW_SECONDS;
    return !p->began || (uint32_t)(v->share * 10) > p->told || now - p->drawn_at >= TELL_SECONDS;
}

void bar_clear(struct bar *p)
{
    if (p->lines) fprintf(stderr, "\r\033[%uA\033[J", p->lines);
    p->lines = 0;
    fflush(stderr);
}

static void draw_terminal(struct bar *p, const struct bar_view *v, const struct bar_worker *workers,
                          uint32_t count)
{
    struct winsize w = {0};
    struct strbuf frame = {0}, out = {0};
    ioctl(STDERR_FILENO, TIOCGWINSZ, &w);
    uint32_t lines;
    bar_frame(v, workers, count, w.ws_col ? w.ws_col : COLUMNS_DEFAULT, w.ws_row ? w.ws_row : ROWS_DEFAULT,
              &frame, &lines);
    /* one write, so that a frame is shown at once */
    if (p->lines) strbuf_printf(&out, "\r\033[%uA\033[J", p->lines);
    strbuf_add(&out, strbuf_text(&frame), frame.len);
    fputs(strbuf_text(&out), stderr);
    fflush(stderr);
    p->lines = lines;
    strbuf_free(&frame);
    strbuf_free(&out);
}

static void tell(struct bar *p, const struct bar_view *v)
{
    struct strbuf text = {0};
    char elapsed[TIME_BYTES];
    bar_time(v->elapsed, elapsed);
    rest_text(v, &text);
    fprintf(stderr, "heddle: %u of %u runs after %s%s\n", v->done, v->all, elapsed, strbuf_text(&text));
    p->told = (uint32_t)(v->share * 10);
    strbuf_free(&text);
}

void bar_draw(struct bar *p, const struct bar_view *v, const struct bar_worker *workers, uint32_t count,
              double now)
{
    assert(v->done <= v->all && v->failed <= v->done);
    if (p->is_terminal)
        draw_terminal(p, v, workers, count);
    else
        tell(p, v);
    p->drawn_at = now;
    p->began = true;
}
