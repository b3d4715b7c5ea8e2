/* query_table.c: a table, CSV (RFC 4180) or JSON. */
#include "cli/query_table.h"

#include "stats/json.h"

#include <ctype.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The least width of a column that was cut. */
enum { CELL_MIN = 8 };

bool query_table_row(void *context, int columns, const char *const *values, const char *const *names)
{
    struct query_table *t = context;
    for (int i = 0; i < columns && t->names.len < (uint32_t)columns; i++)
        vec_push(&t->names, mem_strdup(names[i]));
    for (int i = 0; i < columns; i++) vec_push(&t->cells, values[i] ? mem_strdup(values[i]) : NULL);
    return true;
}

uint32_t query_table_rows(const struct query_table *t)
{
    return t->names.len ? t->cells.len / t->names.len : 0;
}

void query_table_free(struct query_table *t)
{
    for (uint32_t i = 0; i < t->names.len; i++) free(t->names.data[i]);
    for (uint32_t i = 0; i < t->cells.len; i++) free(t->cells.data[i]);
    vec_free(&t->names);
    vec_free(&t->cells);
}

uint32_t query_terminal_width(void)
{
    struct winsize size;
    if (!isatty(1)) return 0;
    if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    return 80;
}

/* ---- a table ---- */

static bool is_number(const char *text)
{
    char *end;
    if (!text || !*text || isspace((unsigned char)*text)) return false;
    double v = strtod(text, &end);
    return !*end && isfinite(v) && strspn(text, "0123456789+-.eE") == strlen(text);
}

/* Keys and hashes are texts, also where their digits happen to look like a number: 77591e91. */
static bool is_text_column(const char *name) { return !strcmp(name, "key") || !strcmp(name, "hash"); }

/* Numbers with a point get five digits; line ends become spaces, control characters visible. */
static char *short_cell(const char *name, const char *text)
{
    struct strbuf out = {0};
    if (!is_text_column(name) && is_number(text) && strpbrk(text, ".eE"))
        strbuf_printf(&out, "%.5g", strtod(text, NULL));
    else
        strbuf_visible(&out, text ? text : "-", text ? strlen(text) : 1);
    for (char *c = out.data; c && *c; c++)
        if (isspace((unsigned char)*c)) *c = ' ';
    return out.data ? out.data : mem_strdup("");
}

/* Takes a character from the widest column, again and again, until the table fits or no column can become
 * narrower. */
static void fit_widths(uint32_t *widths, const bool *numeric, uint32_t columns, uint32_t width)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < columns; i++) all += widths[i] + 2;
    for (bool can = true; width && all > width + 2 && can;) {
        uint32_t widest = columns;
        for (uint32_t i = 0; i < columns; i++)
            if (!numeric[i] && widths[i] > CELL_MIN && (widest == columns || widths[i] > widths[widest]))
                widest = i;
        can = widest < columns;
        if (can) widths[widest]--, all--;
    }
}

static void print_cell(const char *text, uint32_t width, bool numeric, bool last, FILE *to)
{
    int w = (int)width;
    if (strlen(text) > width)
        fprintf(to, "%.*s..", w - 2, text);
    else if (numeric)
        fprintf(to, "%*s", w, text);
    else if (last)
        fputs(text, to);
    else
        fprintf(to, "%-*s", w, text);
    if (!last) fputs("  ", to);
}

static void print_table(const struct query_table *t, uint32_t width, FILE *to)
{
    uint32_t columns = t->names.len, rows = query_table_rows(t);
    uint32_t *widths = mem_zalloc((columns + 1) * sizeof *widths);
    bool *numeric = mem_zalloc((columns + 1) * sizeof *numeric);
    char **cells = mem_zalloc((t->cells.len + 1) * sizeof *cells);
    for (uint32_t i = 0; i < columns; i++) {
        widths[i] = (uint32_t)strlen(t->names.data[i]);
        numeric[i] = !is_text_column(t->names.data[i]);
    }
    for (uint32_t i = 0; i < rows * columns; i++) {
        cells[i] = short_cell(t->names.data[i % columns], t->cells.data[i]);
        widths[i % columns] = MAX(widths[i % columns], (uint32_t)strlen(cells[i]));
        if (t->cells.data[i] && !is_number(t->cells.data[i])) numeric[i % columns] = false;
    }
    fit_widths(widths, numeric, columns, width);
    for (uint32_t i = 0; i < columns; i++)
        print_cell(t->names.data[i], widths[i], numeric[i], i + 1 == columns, to);
    fputc('\n', to);
    for (uint32_t i = 0; i < rows * columns; i++) {
        bool last = (i + 1) % columns == 0;
        print_cell(cells[i], widths[i % columns], numeric[i % columns], last, to);
        if (last) fputc('\n', to);
        free(cells[i]);
    }
    free(cells);
    free(widths);
    free(numeric);
}

/* ---- for other programs ---- */

static void print_csv_cell(const char *text, bool last, FILE *to)
{
    if (text && strpbrk(text, ",\"\n\r")) {
        fputc('"', to);
        for (; *text; text++) {
            if (*text == '"') fputc('"', to);
            fputc(*text, to);
        }
        fputc('"', to);
    } else if (text) {
        fputs(text, to);
    }
    fputc(last ? '\n' : ',', to);
}

static void print_csv(const struct query_table *t, FILE *to)
{
    uint32_t columns = t->names.len;
    for (uint32_t i = 0; i < columns; i++) print_csv_cell(t->names.data[i], i + 1 == columns, to);
    for (uint32_t i = 0; i < t->cells.len; i++) print_csv_cell(t->cells.data[i], (i + 1) % columns == 0, to);
}

static bool is_json_number(const char *name, const char *text)
{
    if (is_text_column(name)) return false;
    const char *digits = text + (*text == '-');
    return is_number(text) && isdigit((unsigned char)*digits) &&
           !(*digits == '0' && isdigit((unsigned char)digits[1]));
}

static void print_json(const struct query_table *t, FILE *to)
{
    uint32_t columns = t->names.len, rows = query_table_rows(t);
    fputs("[", to);
    for (uint32_t r = 0; r < rows; r++) {
        struct strbuf line = {0};
        for (uint32_t c = 0; c < columns; c++) {
            const char *text = t->cells.data[r * columns + c];
            strbuf_puts(&line, c ? ", " : "{");
            json_string(&line, t->names.data[c]);
            strbuf_puts(&line, ": ");
            if (!text || is_json_number(t->names.data[c], text))
                strbuf_puts(&line, text ? text : "null");
            else
                json_string(&line, text);
        }
        fprintf(to, "%s\n  %s}", r ? "," : "", strbuf_text(&line));
        strbuf_free(&line);
    }
    fputs(rows ? "\n]\n" : "]\n", to);
}

void query_table_print(const struct query_table *t, enum query_format format, uint32_t width, FILE *to)
{
    switch (format) {
    case QUERY_TABLE: print_table(t, width, to); break;
    case QUERY_CSV: print_csv(t, to); break;
    case QUERY_JSON: print_json(t, to); break;
    }
}
