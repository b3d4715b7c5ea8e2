/* diag.c: gathers and renders diagnostics. */
#include "base/diag.h"

static char *diag_cut_line(const struct diag_source *src, int line)
{
    if (!src || !src->text || line < 1) return NULL;
    const char *p = src->text, *end = src->text + src->len;
    for (int n = 1; n < line; n++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p) return NULL;
        p++;
    }
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    size_t len = (size_t)((stop ? stop : end) - p);
    char *out = mem_alloc(len + 1);
    memcpy(out, p, len);
    out[len] = 0;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)out[i] < 32 && out[i] != '\t') out[i] = ' ';
    return out;
}

void diag_vadd(struct diag_list *d, enum diag_level level, const struct diag_source *src, int line, int col,
               int len, const char *hint, const char *fmt, va_list ap)
{
    if (level == DIAG_ERROR && d->errors++ >= DIAG_ERRORS_MAX) return;
    struct strbuf text = {0};
    strbuf_vprintf(&text, fmt, ap);
    struct diag item = {.level = level, .line = line, .col = col, .len = MAX(len, 1)};
    item.file = src && src->file ? mem_strdup(src->file) : NULL;
    item.message = mem_strdup(strbuf_text(&text));
    item.hint = hint ? mem_strdup(hint) : NULL;
    item.source = diag_cut_line(src, line);
    strbuf_free(&text);
    vec_push(&d->items, item);
}

void diag_add(struct diag_list *d, enum diag_level level, const struct diag_source *src, int line, int col,
              int len, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(d, level, src, line, col, len, hint, fmt, ap);
    va_end(ap);
}

/* Writes the line and the caret under it. Generated code can have very long lines: only a window is shown. */
static void diag_render_source(const struct diag *e, struct strbuf *out)
{
    enum { WINDOW = 100 };
    int total = (int)strlen(e->source), col = MIN(MAX(e->col, 1), total + 1);
    int first = col > WINDOW - 20 ? col - WINDOW / 2 : 1;
    strbuf_printf(out, "%6d | ", e->line);
    for (int c = first; c <= total && c < first + WINDOW; c++) strbuf_putc(out, e->source[c - 1]);
    if (e->col < 1) {
        strbuf_putc(out, '\n');
        return;
    }
    strbuf_puts(out, "\n       | ");
    for (int c = first; c < col; c++) strbuf_putc(out, c <= total && e->source[c - 1] == '\t' ? '\t' : ' ');
    strbuf_putc(out, '^');
    for (int i = 1; i < e->len && col + i <= total && col + i < first + WINDOW; i++) strbuf_putc(out, '~');
    if (e->hint) strbuf_printf(out, " %s", e->hint);
    strbuf_putc(out, '\n');
}

void diag_render(const struct diag_list *d, struct strbuf *out)
{
    static const char *const level_name[] = {"error", "warning", "note"};
    for (uint32_t i = 0; i < d->items.len; i++) {
        const struct diag *e = &d->items.data[i];
        if (e->file) strbuf_printf(out, "%s:", e->file);
        if (e->file && e->line) strbuf_printf(out, "%d:", e->line);
        if (e->file && e->line && e->col) strbuf_printf(out, "%d:", e->col);
        strbuf_printf(out, "%s%s: %s\n", e->file ? " " : "heddle: ", level_name[e->level], e->message);
        if (e->source) diag_render_source(e, out);
        if (e->hint && (!e->source || e->col < 1)) strbuf_printf(out, "  hint: %s\n", e->hint);
    }
    if (d->errors > DIAG_ERRORS_MAX)
        strbuf_printf(out, "... and %u more errors\n", d->errors - DIAG_ERRORS_MAX);
}

void diag_free(struct diag_list *d)
{
    for (uint32_t i = 0; i < d->items.len; i++) {
        free(d->items.data[i].file);
        free(d->items.data[i].message);
        free(d->items.data[i].hint);
        free(d->items.data[i].source);
    }
    vec_free(&d->items);
    d->errors = 0;
}

static size_t diag_edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t la = strlen(a), lb = strlen(b), row[LONGEST + 1];
    if (la > LONGEST || lb > LONGEST) return SIZE_MAX;
    for (size_t j = 0; j <= lb; j++) row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t above = row[j];
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = MIN(change, MIN(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[lb];
}

const char *diag_nearest(const char *text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = strlen(text) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = diag_edit_distance(text, names[i]);
        if (d <= best_distance && (!best || d < best_distance)) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
