/* figure.c: the cells of a figure and its claims, filled in from the store. */
#include "lab/figure.h"

#include "lab/figure_impl.h"

#include <math.h>

static uint32_t workload_at(const struct experiment *e, const char *name)
{
    for (uint32_t i = 0; i < e->workload_count; i++)
        if (!strcmp(e->workloads[i]->name, name)) return i;
    return UINT32_MAX;
}

/* ---- rows: workloads, means of classes, the mean ---- */

/* Measures over all workloads have one row. */
static bool is_over(const struct experiment *e, const struct lab_figure *f)
{
    for (uint32_t i = 0; i < f->measure_count; i++)
        if (!e->measures[f->measures[i]].is_over) return false;
    return f->measure_count > 0;
}

/* A single workload that experiment_narrow() left out has no row. */
static uint32_t workload_rows(const struct experiment *e, const struct lab_figure *f)
{
    if (is_over(e, f)) return 0;
    return f->workload ? workload_at(e, f->workload) != UINT32_MAX : e->workload_count;
}

uint32_t figure_row_count(const struct experiment *e, const struct lab_figure *f)
{
    const bool has_mean = f->mean != MEAN_NONE || !e->workload_count || is_over(e, f);
    return workload_rows(e, f) + f->class_count + has_mean;
}

struct figure_row figure_row(const struct experiment *e, const struct lab_figure *f, uint32_t i)
{
    const uint32_t workloads = workload_rows(e, f);
    assert(i < figure_row_count(e, f));
    if (i < workloads) return (struct figure_row){f->workload ? workload_at(e, f->workload) : i, NULL};
    i -= workloads;
    return (struct figure_row){FIGURE_MEAN, i < f->class_count ? f->classes[i] : NULL};
}

static void add_cell(struct figure_data *d, struct figure_values *v, struct figure_row row, uint32_t column,
                     uint32_t measure)
{
    struct figure_cell *c = &d->cells[d->cell_count++];
    *c = (struct figure_cell){.workload = row.workload,
                              .column = column,
                              .measure = measure,
                              .class_mean = row.class_of,
                              .chosen = column};
    c->value = row.workload == FIGURE_MEAN ? figure_mean(v, d->figure->mean, row.class_of, column, measure)
                                           : figure_value(v, row.workload, column, measure, &c->chosen);
}

static void add_row(struct figure_data *d, struct figure_values *v, struct figure_row row)
{
    const struct lab_figure *f = d->figure;
    for (uint32_t c = 0; c < f->column_count; c++)
        for (uint32_t m = 0; m < f->measure_count; m++) add_cell(d, v, row, f->columns[c], f->measures[m]);
}

/* ---- claims ---- */

static void fill_claim(struct figure_claim *c, struct figure_values *v, const struct lab_figure *f)
{
    const struct lab_claim *claim = c->claim;
    c->metric = claim->fact->metric;
    c->where = claim->fact->where;
    c->note = claim->fact->note;
    c->paper = claim->fact->value;
    c->ours = NAN;
    if (claim->excuse) {
        c->note = claim->excuse;
        return;
    }
    const char *name = claim->workload ? claim->workload : f->workload;
    if (!name || claim->mean != MEAN_NONE) {
        c->ours = figure_mean(v, claim->mean != MEAN_NONE ? claim->mean : f->mean, claim->class_of,
                              claim->column, claim->measure);
        c->has_none = isnan(c->ours) && !v->open;
        return;
    }
    /* experiment_narrow() may have left it out */
    uint32_t workload = workload_at(v->plan->experiment, name);
    if (workload == UINT32_MAX) return;
    c->ours = figure_value(v, workload, claim->column, claim->measure, NULL);
    c->has_none = isnan(c->ours) && !v->open;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

/* Is the claim about this row? */
static bool is_row_of(const struct experiment *e, const struct lab_figure *f, const struct lab_claim *claim,
                      const struct figure_cell *c)
{
    const char *name = claim->workload ? claim->workload : f->workload;
    if (claim->excuse) return false;
    if (c->workload != FIGURE_MEAN) return same_text(name, e->workloads[c->workload]->name);
    return !name && claim->mean == MEAN_NONE && same_text(claim->class_of, c->class_mean);
}

/* The paper's value of a cell: that of a claim, or of the paper's table of workloads; NAN where it has
 * none. */
static double paper_value(const struct experiment *e, const struct figure_data *d,
                          const struct figure_cell *c)
{
    const struct lab_figure *f = d->figure;
    for (uint32_t i = 0; i < f->claim_count; i++) {
        const struct lab_claim *claim = &f->claims[i];
        bool same_row = is_row_of(e, f, claim, c);
        if (same_row && claim->column == c->column && claim->measure == c->measure) return claim->fact->value;
    }
    for (uint32_t i = 0; c->workload != FIGURE_MEAN && i < f->column_count * f->measure_count; i++)
        if (f->columns[i / f->measure_count] == c->column &&
            f->measures[i % f->measure_count] == c->measure && f->papers[i])
            return workload_figure(e->workloads[c->workload], e->paper, f->papers[i]);
    return NAN;
}

bool figure_make(struct figure_data *d, const struct plan *p, const struct lab_figure *f, struct store *s,
                 struct diag_list *diags)
{
    const struct experiment *e = p->experiment;
    struct figure_values v;
    assert(f >= e->figures && f < e->figures + e->figure_count);
    figure_values_open(&v, p, s);
    v.kernel = f->kernel;
    const uint32_t rows = figure_row_count(e, f);
    *d = (struct figure_data){.figure = f, .claim_count = f->claim_count};
    d->cells =
        mem_zalloc(MAX((size_t)rows * f->column_count * f->measure_count, (size_t)1) * sizeof *d->cells);
    d->claims = mem_zalloc(MAX(f->claim_count, 1u) * sizeof *d->claims);
    for (uint32_t i = 0; i < rows; i++) add_row(d, &v, figure_row(e, f, i));
    for (uint32_t i = 0; i < d->cell_count; i++) {
        d->cells[i].paper = paper_value(e, d, &d->cells[i]);
        if (d->cells[i].workload != FIGURE_MEAN) cell_judge(&d->cells[i], e);
    }
    for (uint32_t i = 0; i < f->claim_count; i++) {
        d->claims[i].claim = &f->claims[i];
        fill_claim(&d->claims[i], &v, f);
    }
    claims_judge(f, d->claims, d->claim_count);
    d->missing = v.missing;
    bool ok = !v.error;
    if (!ok) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "the store cannot be read: %s", v.error);
        figure_free(d);
    }
    figure_values_close(&v);
    return ok;
}

void figure_free(struct figure_data *d)
{
    free(d->cells);
    free(d->claims);
    *d = (struct figure_data){0};
}

bool figures_make(struct figure_set *set, const struct plan *p, struct store *s, struct diag_list *diags)
{
    const struct experiment *e = p->experiment;
    *set = (struct figure_set){.plan = p};
    set->figures = mem_zalloc(MAX(e->figure_count, 1u) * sizeof *set->figures);
    for (; set->count < e->figure_count; set->count++)
        if (!figure_make(&set->figures[set->count], p, &e->figures[set->count], s, diags)) {
            figures_free(set);
            return false;
        }
    return true;
}

void figures_free(struct figure_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) figure_free(&set->figures[i]);
    free(set->figures);
    *set = (struct figure_set){0};
}
