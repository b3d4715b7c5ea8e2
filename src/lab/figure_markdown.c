/* figure_markdown.c: a figure as a section of a Markdown page: title, note, what its columns are, the
 * values, the paper's claims. */
#include "lab/figure_claims.h"

/* A text of the experiment's: nothing in it is HTML, and nothing ends a cell. */
static void put_text(const char *text, struct strbuf *out)
{
    for (; *text; text++) switch (*text) {
        case '<': strbuf_puts(out, "&lt;"); break;
        case '&': strbuf_puts(out, "&amp;"); break;
        case '|': strbuf_puts(out, "\\|"); break;
        case '\n': strbuf_putc(out, ' '); break;
        default: strbuf_putc(out, *text);
        }
}

static void put_settings(const struct lab_column *c, struct strbuf *out)
{
    const char *const *lists[] = {c->sets, c->mechs, c->mech_sets};
    strbuf_printf(out, "%s: machine `%s`", c->name, c->machine);
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (const char *const *text = lists[l]; *text; text++) strbuf_printf(out, ", `%s`", *text);
    strbuf_putc(out, '.');
}

/* The column's settings; an oracle has those of its choices, which its name says. */
static void put_columns(const struct experiment *e, const struct lab_figure *f, struct strbuf *out)
{
    for (uint32_t i = 0; i < f->column_count; i++) {
        const struct lab_column *c = &e->columns[f->columns[i]];
        if (column_is_choice(c)) continue;
        if (i) strbuf_putc(out, ' ');
        put_settings(c, out);
    }
}

/* The experiment's size, and which workloads have another. */
static void put_sizes(const struct experiment *e, struct strbuf *out)
{
    strbuf_printf(out, "`%s`", e->size);
    for (uint32_t i = 0; i < e->workload_count; i++) {
        uint32_t first = 0;
        while (strcmp(e->sizes[first], e->sizes[i]) != 0) first++;
        if (first < i || !strcmp(e->sizes[i], e->size)) continue;
        strbuf_printf(out, "; `%s`:", e->sizes[i]);
        for (uint32_t k = i; k < e->workload_count; k++)
            if (!strcmp(e->sizes[k], e->sizes[i]))
                strbuf_printf(out, "%s %s", k > i ? "," : "", e->workloads[k]->name);
    }
}

static void put_row(const struct text_table *t, uint32_t row, bool bold_differs, struct strbuf *out)
{
    for (uint32_t c = 0; c < t->columns.len; c++) {
        const char *text = t->columns.data[c].cells.data[row];
        bool bold = bold_differs && !strcmp(text, agreement_text(AGREEMENT_NOT));
        strbuf_puts(out, bold ? "| **" : "| ");
        put_text(text, out);
        strbuf_puts(out, bold ? "** " : " ");
    }
    strbuf_puts(out, "|\n");
}

void text_table_markdown(const struct text_table *t, struct strbuf *out)
{
    put_row(t, 0, false, out);
    for (uint32_t c = 0; c < t->columns.len; c++) strbuf_puts(out, t->columns.data[c].left ? "|---" : "|--:");
    strbuf_puts(out, "|\n");
    for (uint32_t row = 1; row < t->columns.data[0].cells.len; row++) put_row(t, row, row >= t->head, out);
}

static void put_claims(const struct figure_data *d, struct strbuf *out)
{
    struct text_table t;
    struct strbuf excuses = {0};
    if (!d->claim_count) return;
    strbuf_putc(out, '\n');
    figure_claims_table(d, &t);
    text_table_markdown(&t, out);
    text_table_free(&t);
    figure_claims_excuses(d, &excuses);
    if (excuses.len) strbuf_printf(out, "\n%s", strbuf_text(&excuses));
    strbuf_free(&excuses);
}

void figure_print_markdown(const struct plan *p, const struct figure_data *d, struct strbuf *out)
{
    const struct experiment *e = p->experiment;
    const struct lab_figure *f = d->figure;
    struct text_table t;
    strbuf_puts(out, "\n## ");
    put_text(f->title, out);
    if (*f->where) strbuf_printf(out, " (%s)", f->where);
    strbuf_puts(out, "\n\n");
    if (*f->note) strbuf_printf(out, "%s\n\n", f->note);
    strbuf_printf(out, "`%s`, size ", e->name);
    put_sizes(e, out);
    strbuf_puts(out, ". ");
    put_columns(e, f, out);
    strbuf_puts(out, "\n\n");
    figure_table(p, d, &t);
    text_table_markdown(&t, out);
    text_table_free(&t);
    if (d->missing)
        strbuf_printf(out, "\n%u run%s missing or failed.\n", d->missing, d->missing == 1 ? " is" : "s are");
    strbuf_putc(out, '\n');
    if (figure_agreements(d, out)) strbuf_puts(out, ".\n");
    put_claims(d, out);
}
