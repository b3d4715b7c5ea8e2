/* figure_map.c: a heat map over two parameters of its columns, as a table: the values of the second parameter
 * from top to bottom, the largest first, those of the first from left to right. */
#include "lab/column_param.h"
#include "lab/figure_table.h"

#include <math.h>

typedef VEC(double) number_list;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The values that a parameter has in the cells that have, or will have, a run: each once, the smallest
 * first. */
static number_list values_of(const struct plan *p, const struct figure_data *d, const char *param)
{
    number_list out = {0};
    for (uint32_t i = 0; i < d->cell_count; i++) {
        const struct figure_cell *cell = &d->cells[i];
        if (plan_job(p, cell->workload, cell->chosen) == PLAN_NO_JOB) continue;
        const double value = column_param(&p->experiment->columns[cell->column], param);
        uint32_t k = 0;
        while (k < out.len && out.data[k] != value) k++;
        if (k == out.len && !isnan(value)) vec_push(&out, value);
    }
    if (out.len) qsort(out.data, out.len, sizeof *out.data, ascending);
    return out;
}

static const struct figure_cell *cell_at(const struct experiment *e, const struct figure_data *d, double x,
                                         double y)
{
    for (uint32_t i = 0; i < d->cell_count; i++) {
        const struct lab_column *c = &e->columns[d->cells[i].column];
        if (column_param(c, d->figure->axes[0]) == x && column_param(c, d->figure->axes[1]) == y)
            return &d->cells[i];
    }
    return NULL;
}

static void put_column(struct text_table *t, const struct experiment *e, const struct figure_data *d,
                       double x, const number_list *ys)
{
    struct text_column *c = text_table_add(t, false);
    char text[TABLE_TEXT_BYTES];
    snprintf(text, sizeof text, "%g", x);
    text_column_put(c, text);
    for (uint32_t i = ys->len; i--;) {
        const struct figure_cell *cell = cell_at(e, d, x, ys->data[i]);
        text[0] = 0;
        if (cell && !isnan(cell->value))
            figure_format(d->figure, &e->measures[cell->measure], cell->value, text);
        text_column_put(c, text);
    }
}

void figure_map(const struct plan *p, const struct figure_data *d, struct text_table *t)
{
    const struct experiment *e = p->experiment;
    const struct lab_figure *f = d->figure;
    number_list xs = values_of(p, d, f->axes[0]), ys = values_of(p, d, f->axes[1]);
    char text[TABLE_TEXT_BYTES];
    *t = (struct text_table){.head = 1};
    struct text_column *first = text_table_add(t, false);
    snprintf(text, sizeof text, "%.40s / %.40s", f->axes[1], f->axes[0]);
    text_column_put(first, text);
    for (uint32_t i = ys.len; i--;) {
        snprintf(text, sizeof text, "%g", ys.data[i]);
        text_column_put(first, text);
    }
    for (uint32_t i = 0; i < xs.len; i++) put_column(t, e, d, xs.data[i], &ys);
    vec_free(&xs);
    vec_free(&ys);
}
