/* figure_print.c: a figure's numbers and claims as tables for a terminal. A table that is too wide goes on below itself. */
#include "lab/figure_impl.h"

#include <math.h>

enum { GAP = 2 /* spaces between columns */, TEXT_MAX = 96 };

struct text_column {
    bool left;
    uint32_t width;
    VEC(char *) cells; /* the head first */
};

static void put_cell(struct text_column *c, const char *text)
{
    vec_push(&c->cells, mem_strdup(text));
    c->width = MAX(c->width, (uint32_t)strlen(text));
}

static void free_columns(struct text_column *columns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < columns[i].cells.len; k++) free(columns[i].cells.data[k]);
        vec_free(&columns[i].cells);
    }
}

static void print_cell(const struct text_column *c, uint32_t row, struct strbuf *out)
{
    int width = (int)c->width;
    if (c->left)
        strbuf_printf(out, "%-*.*s", width, width, c->cells.data[row]);
    else
        strbuf_printf(out, "%*.*s", width, width, c->cells.data[row]);
}

static void end_line(struct strbuf *out)
{
    while (out->len && out->data[out->len - 1] == ' ') out->data[--out->len] = 0;
    strbuf_putc(out, '\n');
}

/* The first column stands before every part of the table. */
static void print_columns(const struct text_column *columns, uint32_t count, uint32_t width,
                          struct strbuf *out)
{
    for (uint32_t first = 1, last; first < count; first = last) {
        uint32_t used = columns[0].width;
        for (last = first; last < count && (last == first || used + GAP + columns[last].width <= width);
             last++)
            used += GAP + columns[last].width;
        if (first > 1) strbuf_putc(out, '\n');
        for (uint32_t row = 0; row < columns[0].cells.len; row++) {
            print_cell(&columns[0], row, out);
            for (uint32_t c = first; c < last; c++) {
                strbuf_puts(out, "  ");
                print_cell(&columns[c], row, out);
            }
            end_line(out);
        }
    }
}

static void format_value(const struct lab_figure *f, double v, char out[TEXT_MAX])
{
    if (isnan(v))
        snprintf(out, TEXT_MAX, "-");
    else if (f->percent)
        snprintf(out, TEXT_MAX, "%.1f%%", 100 * v);
    else
        snprintf(out, TEXT_MAX, fabs(v) >= 10000 ? "%.0f" : fabs(v) >= 100 ? "%.1f" : "%.3f", v);
}

/* ---- the values ---- */

static const struct figure_cell *cell_at(const struct figure_data *d, uint32_t row, uint32_t column,
                                         uint32_t measure)
{
    const struct lab_figure *f = d->figure;
    return &d->cells[(row * f->column_count + column) * f->measure_count + measure];
}

/* What an oracle chose: the last part of "best-swl=4". */
static const char *choice_text(const struct experiment *e, const struct figure_cell *c)
{
    const char *name = e->columns[c->chosen].name, *equals = strchr(name, '=');
    return equals ? equals + 1 : name;
}

static void put_values(struct text_column *t, const struct experiment *e, const struct figure_data *d,
                       uint32_t column, uint32_t measure, bool is_paper)
{
    const struct lab_figure *f = d->figure;
    uint32_t rows = d->cell_count / MAX(f->column_count * f->measure_count, 1u);
    for (uint32_t row = 0; row < rows; row++) {
        const struct figure_cell *c = cell_at(d, row, column, measure);
        char text[TEXT_MAX], with_choice[TEXT_MAX * 2];
        format_value(f, is_paper ? figure_paper(e, d, c) : c->value, text);
        snprintf(with_choice, sizeof with_choice, "%s (%.60s)", text, choice_text(e, c));
        put_cell(t, c->chosen != c->column && !is_paper ? with_choice : text);
    }
}

static void put_head(struct text_column *t, const struct experiment *e, const struct lab_figure *f,
                     uint32_t column, uint32_t measure, bool is_paper)
{
    const char *name = e->columns[f->columns[column]].name;
    bool by_column = f->column_count > 1 || f->measure_count == 1;
    const char *what = is_paper ? "(paper)" : e->measures[f->measures[measure]].name;
    if (by_column) put_cell(t, is_paper && f->measure_count == 1 ? "(paper)" : name);
    if (!by_column || f->measure_count > 1) put_cell(t, what);
}

static void put_rows(struct text_column *t, const struct experiment *e, const struct figure_data *d)
{
    const struct lab_figure *f = d->figure;
    bool two_lines = f->column_count > 1 && f->measure_count > 1;
    t->left = true;
    put_cell(t, "workload");
    if (two_lines) put_cell(t, "");
    for (uint32_t w = 0; w < e->workload_count; w++) put_cell(t, e->workloads[w]->name);
    if (!e->workload_count || f->mean != MEAN_NONE) put_cell(t, e->workload_count ? "mean" : "value");
}

void figure_print_table(const struct plan *p, const struct figure_data *d, uint32_t width, struct strbuf *out)
{
    const struct experiment *e = p->experiment;
    const struct lab_figure *f = d->figure;
    uint32_t count = 1;
    struct text_column *columns =
        mem_zalloc((1 + 2 * (size_t)f->column_count * f->measure_count) * sizeof *columns);
    put_rows(&columns[0], e, d);
    for (uint32_t c = 0; c < f->column_count; c++)
        for (uint32_t m = 0; m < f->measure_count; m++)
            for (int is_paper = 0; is_paper <= (f->papers[c] != NULL); is_paper++) {
                put_head(&columns[count], e, f, c, m, is_paper);
                put_values(&columns[count++], e, d, c, m, is_paper);
            }
    print_columns(columns, count, width, out);
    free_columns(columns, count);
    free(columns);
}

/* ---- the claims ---- */

enum { CLAIM_ID, CLAIM_METRIC, CLAIM_PAPER, CLAIM_OURS, CLAIM_VERDICT, CLAIM_COLUMNS };

/* What is not reproduced says why. */
static void verdict_words(const struct figure_claim *c, char out[TEXT_MAX])
{
    const char *why = c->verdict != VERDICT_NOT ? ""
                      : c->sign                 ? ": order"
                      : c->order                ? ": sign"
                                                : ": sign, order";
    snprintf(out, TEXT_MAX, "%s%s", verdict_text(c->verdict), why);
}

void figure_print_claims(const struct figure_data *d, uint32_t width, struct strbuf *out)
{
    enum { METRIC_MIN = 8 };
    struct text_column columns[CLAIM_COLUMNS] = {
        [CLAIM_ID] = {.left = true}, [CLAIM_METRIC] = {.left = true}, [CLAIM_VERDICT] = {.left = true}};
    static const char *const heads[] = {"claim", "of", "paper", "ours", "verdict"};
    if (!d->claim_count) return;
    for (int i = 0; i < CLAIM_COLUMNS; i++) put_cell(&columns[i], heads[i]);
    for (uint32_t i = 0; i < d->claim_count; i++) {
        const struct figure_claim *c = &d->claims[i];
        char text[TEXT_MAX];
        put_cell(&columns[CLAIM_ID], c->claim->id);
        put_cell(&columns[CLAIM_METRIC], c->metric);
        format_value(d->figure, c->paper, text);
        put_cell(&columns[CLAIM_PAPER], text);
        format_value(d->figure, c->ours, text);
        put_cell(&columns[CLAIM_OURS], text);
        verdict_words(c, text);
        put_cell(&columns[CLAIM_VERDICT], text);
    }
    uint32_t used = (CLAIM_COLUMNS - 1) * GAP;
    for (int i = 0; i < CLAIM_COLUMNS; i++) used += i == CLAIM_METRIC ? 0 : columns[i].width;
    uint32_t room =
        width > used ? width - used : 0; /* the metric is cut first: the id tells the same to who knows it */
    columns[CLAIM_METRIC].width = MAX(MIN(columns[CLAIM_METRIC].width, room), (uint32_t)METRIC_MIN);
    print_columns(columns, CLAIM_COLUMNS, MAX(width, used + METRIC_MIN), out);
    free_columns(columns, CLAIM_COLUMNS);
}
