/* figure_table.c: a figure's numbers as texts in columns. */
#include "lab/figure_table.h"

#include <math.h>

/* ---- texts in columns ---- */

struct text_column *text_table_add(struct text_table *t, bool left)
{
    vec_push(&t->columns, (struct text_column){.left = left});
    return &t->columns.data[t->columns.len - 1];
}

void text_column_put(struct text_column *c, const char *text)
{
    vec_push(&c->cells, mem_strdup(text));
    c->width = MAX(c->width, (uint32_t)strlen(text));
}

void text_table_free(struct text_table *t)
{
    for (uint32_t i = 0; i < t->columns.len; i++) {
        struct text_column *c = &t->columns.data[i];
        for (uint32_t k = 0; k < c->cells.len; k++) free(c->cells.data[k]);
        vec_free(&c->cells);
    }
    vec_free(&t->columns);
}

/* ---- values ---- */

void figure_format(const struct lab_figure *f, const struct lab_measure *m, double v,
                   char out[TABLE_TEXT_BYTES])
{
    if (isnan(v))
        snprintf(out, TABLE_TEXT_BYTES, "-");
    else if (m && m->words && v >= 0 && v < m->word_count)
        snprintf(out, TABLE_TEXT_BYTES, "%s", m->words[(uint32_t)v]);
    else if (f->percent)
        snprintf(out, TABLE_TEXT_BYTES, "%.*f%%", f->digits < 0 ? 1 : f->digits, 100 * v);
    else if (f->digits >= 0)
        snprintf(out, TABLE_TEXT_BYTES, "%.*f", f->digits, v);
    else
        snprintf(out, TABLE_TEXT_BYTES, fabs(v) >= 10000 ? "%.0f" : fabs(v) >= 100 ? "%.1f" : "%.3f", v);
}

/* What an oracle chose: the last part of "best-swl=4". */
static const char *choice_text(const struct experiment *e, const struct figure_cell *c)
{
    const char *name = e->columns[c->chosen].name, *equals = strchr(name, '=');
    return equals ? equals + 1 : name;
}

/* What stands in a column of the table beside another. */
enum part { PART_OURS, PART_PAPER, PART_AGREEMENT, PARTS };

static void cell_text(const struct experiment *e, const struct lab_figure *f, const struct figure_cell *c,
                      enum part part, char out[2 * TABLE_TEXT_BYTES])
{
    const struct lab_measure *m = &e->measures[c->measure];
    char value[TABLE_TEXT_BYTES];
    figure_format(f, m, part == PART_PAPER ? c->paper : c->value, value);
    if (part == PART_AGREEMENT)
        snprintf(out, 2 * TABLE_TEXT_BYTES, "%s", agreement_text(c->agreement));
    else if (part == PART_PAPER)
        snprintf(out, 2 * TABLE_TEXT_BYTES, "%s", c->paper_class ? c->paper_class : value);
    else if (c->chosen != c->column)
        snprintf(out, 2 * TABLE_TEXT_BYTES, "%s (%.60s)", value, choice_text(e, c));
    else if (c->class_of)
        snprintf(out, 2 * TABLE_TEXT_BYTES, "%s: %.60s", value, c->class_of);
    else
        snprintf(out, 2 * TABLE_TEXT_BYTES, "%s", value);
}

static const struct figure_cell *cell_at(const struct figure_data *d, uint32_t row, uint32_t column,
                                         uint32_t measure)
{
    const struct lab_figure *f = d->figure;
    return &d->cells[(row * f->column_count + column) * f->measure_count + measure];
}

static uint32_t row_count(const struct figure_data *d)
{
    return d->cell_count / MAX(d->figure->column_count * d->figure->measure_count, 1u);
}

static void row_name(const struct experiment *e, const struct lab_figure *f, uint32_t i, struct strbuf *out)
{
    const struct figure_row row = figure_row(e, f, i);
    if (row.workload != FIGURE_MEAN)
        strbuf_puts(out, e->workloads[row.workload]->name);
    else if (row.class_of)
        strbuf_printf(out, "mean of %s", row.class_of);
    else
        strbuf_puts(out, !e->workload_count ? "value" : f->mean == MEAN_NONE ? "all" : mean_title(f->mean));
}

static bool has_part(const struct experiment *e, const struct lab_figure *f, uint32_t column,
                     uint32_t measure, enum part part)
{
    const struct lab_measure *m = &e->measures[f->measures[measure]];
    bool has_paper = f->papers[column * f->measure_count + measure] || m->class_count;
    return part == PART_OURS || (has_paper && (part == PART_PAPER || m->class_count || !isnan(m->threshold)));
}

static void put_head(struct text_column *t, const struct experiment *e, const struct lab_figure *f,
                     uint32_t column, uint32_t measure, enum part part)
{
    const char *name = e->columns[f->columns[column]].name;
    bool by_column = f->column_count > 1 || f->measure_count == 1;
    const char *what = part == PART_OURS    ? e->measures[f->measures[measure]].name
                       : part == PART_PAPER ? "(paper)"
                                            : "";
    if (by_column) text_column_put(t, part != PART_OURS && f->measure_count == 1 ? what : name);
    if (!by_column || f->measure_count > 1) text_column_put(t, what);
}

static void put_part(struct text_table *t, const struct experiment *e, const struct figure_data *d,
                     uint32_t column, uint32_t measure, enum part part)
{
    const struct lab_figure *f = d->figure;
    struct text_column *c = text_table_add(t, part == PART_AGREEMENT);
    put_head(c, e, f, column, measure, part);
    for (uint32_t row = 0; row < row_count(d); row++) {
        char text[2 * TABLE_TEXT_BYTES];
        cell_text(e, f, cell_at(d, row, column, measure), part, text);
        text_column_put(c, text);
    }
}

static void put_rows(struct text_table *t, const struct experiment *e, const struct lab_figure *f)
{
    struct text_column *c = text_table_add(t, true);
    text_column_put(c, "workload");
    if (t->head == 2) text_column_put(c, "");
    for (uint32_t i = 0; i < figure_row_count(e, f); i++) {
        struct strbuf name = {0};
        row_name(e, f, i, &name);
        text_column_put(c, strbuf_text(&name));
        strbuf_free(&name);
    }
}

void figure_table(const struct plan *p, const struct figure_data *d, struct text_table *t)
{
    const struct experiment *e = p->experiment;
    const struct lab_figure *f = d->figure;
    if (f->axes[0]) {
        figure_map(p, d, t);
        return;
    }
    *t = (struct text_table){.head = f->column_count > 1 && f->measure_count > 1 ? 2 : 1};
    put_rows(t, e, f);
    for (uint32_t c = 0; c < f->column_count; c++)
        for (uint32_t m = 0; m < f->measure_count; m++)
            for (enum part part = PART_OURS; part < PARTS; part++)
                if (has_part(e, f, c, m, part)) put_part(t, e, d, c, m, part);
}

bool figure_agreements(const struct figure_data *d, struct strbuf *out)
{
    static const char *const words[AGREEMENTS] = {[AGREEMENT_SAME_CLASS] = "the same",
                                                  [AGREEMENT_QUARTER] = "within a quarter",
                                                  [AGREEMENT_SIDE] = "on the same side",
                                                  [AGREEMENT_NOT] = "different"};
    uint32_t count[AGREEMENTS] = {0};
    size_t begin = out->len;
    for (uint32_t i = 0; i < d->cell_count; i++) count[d->cells[i].agreement]++;
    for (enum agreement a = AGREEMENT_NONE + 1; a < AGREEMENTS; a++)
        if (count[a]) strbuf_printf(out, "%s%u %s", out->len > begin ? ", " : "", count[a], words[a]);
    return out->len > begin;
}
