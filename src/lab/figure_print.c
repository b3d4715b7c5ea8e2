/* figure_print.c: a figure's numbers and claims as tables for a terminal. A table that is too wide is
 * continued below. */
#include "lab/figure_claims.h"

/* Spaces between columns. */
enum { GAP = 2 };

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
void text_table_print(const struct text_table *t, uint32_t width, struct strbuf *out)
{
    const struct text_column *columns = t->columns.data;
    uint32_t count = t->columns.len;
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

void figure_print_table(const struct plan *p, const struct figure_data *d, uint32_t width, struct strbuf *out)
{
    struct text_table t;
    figure_table(p, d, &t);
    text_table_print(&t, width, out);
    if (figure_agreements(d, out)) strbuf_putc(out, '\n');
    text_table_free(&t);
}

void figure_print_claims(const struct figure_data *d, uint32_t width, struct strbuf *out)
{
    enum { METRIC_MIN = 8 };
    struct text_table t;
    if (!d->claim_count) return;
    figure_claims_table(d, &t);
    uint32_t used = (CLAIM_COLUMNS - 1) * GAP;
    for (int i = 0; i < CLAIM_COLUMNS; i++) used += i == CLAIM_METRIC ? 0 : t.columns.data[i].width;
    uint32_t room = width > used ? width - used : 0; /* the metric is cut first, since the id has the same
                                                      * information */
    uint32_t *metric = &t.columns.data[CLAIM_METRIC].width;
    *metric = MAX(MIN(*metric, room), (uint32_t)METRIC_MIN);
    text_table_print(&t, MAX(width, used + METRIC_MIN), out);
    text_table_free(&t);
    figure_claims_excuses(d, out);
}
