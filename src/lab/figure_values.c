/* figure_values.c: the value of a measure for a workload and a column; the choice of an oracle; means. */
#include "lab/column_cost.h"
#include "lab/column_energy.h"
#include "lab/column_param.h"
#include "lab/figure_impl.h"

#include <math.h>

enum job_known { JOB_UNASKED, JOB_THERE, JOB_MISSING };
#define NOT_CHOSEN UINT32_MAX

void figure_values_open(struct figure_values *v, const struct plan *p, struct store *s)
{
    size_t cells = (size_t)p->experiment->workload_count * p->experiment->column_count;
    *v = (struct figure_values){.plan = p, .store = s};
    /* The cells, then the jobs; the plan may get one more job for each cell while this is open. */
    v->state = mem_zalloc(cells + p->job_count + cells + 1);
    v->chosen = mem_alloc(MAX(cells, (size_t)1) * sizeof *v->chosen);
    for (size_t i = 0; i < cells; i++) v->chosen[i] = NOT_CHOSEN;
}

void figure_values_close(struct figure_values *v)
{
    free(v->state);
    free(v->chosen);
    free(v->error);
    for (uint32_t i = 0; i < v->tables.len; i++) free(v->tables.data[i]);
    vec_free(&v->tables);
}

/* The cell for which an expression is evaluated. */
struct spot {
    struct figure_values *v;
    uint32_t workload, column;
    /* The launch that is asked for; launch 0: the whole run. */
    struct expr_kernel kernel;
};

static double leaf_value(void *context, const struct expr_leaf *leaf);

/* Keeps an error of the store: that it cannot be read must not look as if the number were missing. */
static void note_error(struct figure_values *v)
{
    const char *error = store_error(v->store);
    if (error && !v->error) v->error = mem_strdup(error);
}

static double stat_of_run(struct figure_values *v, const char *key, const char *name)
{
    double value = store_stat(v->store, key, name);
    note_error(v);
    return value;
}

/* Is the run of a cell there? One that is not planned yet is missing too. */
static bool run_is_there(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const uint32_t job = plan_job(v->plan, workload, column);
    assert(job != PLAN_NO_JOB);
    const bool is_later = job == PLAN_LATER;
    const struct experiment *e = v->plan->experiment;
    const size_t cell = (size_t)workload * e->column_count + column;
    const size_t cells = (size_t)e->workload_count * e->column_count;
    uint8_t *state = &v->state[is_later ? cell : cells + job];
    if (*state == JOB_UNASKED) {
        bool there = !is_later && store_state(v->store, v->plan->jobs[job].key) == STORE_DONE;
        note_error(v);
        *state = there ? JOB_THERE : JOB_MISSING;
        v->missing += !there;
    }
    return *state == JOB_THERE;
}

bool figure_has_run(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const bool there = run_is_there(v, workload, column);
    v->open = v->open || !there;
    return there;
}

/* ---- oracles ---- */

static bool has_failed(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const uint32_t job = plan_job(v->plan, workload, column);
    if (job == PLAN_NO_JOB || job == PLAN_LATER) return false;
    const bool failed = store_state(v->store, v->plan->jobs[job].key) == STORE_FAILED;
    note_error(v);
    return failed;
}

static uint32_t choose(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const struct lab_column *c = &v->plan->experiment->columns[column];
    uint32_t best = FIGURE_NO_CHOICE;
    double best_value = 0;
    bool was_open = v->open;
    v->open = false;
    for (uint32_t i = 0; i < c->choice_count; i++) {
        if (c->skips_failed && has_failed(v, workload, c->choices[i])) continue;
        struct spot spot = {v, workload, c->choices[i], v->kernel};
        double value = expr_eval(c->best, leaf_value, &spot);
        if (isnan(value) || (best != FIGURE_NO_CHOICE && value <= best_value)) continue;
        best = c->choices[i];
        best_value = value;
    }
    if (v->open) best = FIGURE_NO_CHOICE; /* the missing run might be the best */
    v->open = v->open || was_open;
    return best;
}

uint32_t figure_choice(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const struct experiment *e = v->plan->experiment;
    if (!column_is_choice(&e->columns[column])) return column;
    if (workload == FIGURE_MEAN) return FIGURE_NO_CHOICE;
    uint32_t *chosen = &v->chosen[workload * e->column_count + column];
    if (*chosen == NOT_CHOSEN) *chosen = choose(v, workload, column);
    if (*chosen == FIGURE_NO_CHOICE) v->open = true;
    return *chosen;
}

/* ---- leaves ---- */

/* A number of a run, or of the launch that the spot asks for. */
static double number_of(const struct spot *s, const char *key, const char *name)
{
    struct figure_values *v = s->v;
    uint64_t launch = s->kernel.launch;
    if (!launch) return stat_of_run(v, key, name);
    if (s->kernel.name) launch = store_kernel_launch(v->store, key, s->kernel.name, s->kernel.launch);
    const double value = launch ? store_kernel_stat(v->store, key, launch, name) : NAN;
    note_error(v);
    return value;
}

static double stat_value_of(const struct spot *s, const struct expr_leaf *leaf)
{
    struct figure_values *v = s->v;
    if (s->workload == FIGURE_MEAN) return NAN;
    const uint32_t job = plan_job(v->plan, s->workload, s->column);
    if (job == PLAN_NO_JOB || !figure_has_run(v, s->workload, s->column)) return NAN;
    const char *key = v->plan->jobs[job].key;
    if (!leaf->bins) return number_of(s, key, leaf->name);
    double sum = 0;
    struct strbuf name = {0};
    for (uint32_t i = 0; i < leaf->bins; i++) {
        name.len = 0;
        strbuf_printf(&name, "%s[%u]", leaf->name, i);
        sum += number_of(s, key, strbuf_text(&name));
    }
    strbuf_free(&name);
    return sum;
}

/* A parameter of the column; one that another column decides, of what that one chose. */
static double param_value(const struct spot *s, const char *key)
{
    const struct lab_column *c = &s->v->plan->experiment->columns[s->column];
    for (uint32_t i = 0; i < c->chosen_count; i++) {
        if (strcmp(c->chosen[i].key, key)) continue;
        const uint32_t choice = figure_choice(s->v, s->workload, c->chosen[i].column);
        return choice == FIGURE_NO_CHOICE
                   ? NAN
                   : column_param(&s->v->plan->experiment->columns[choice], c->chosen[i].param);
    }
    return column_param(c, key);
}

/* Bytes that a mechanism of the column stores; NAN: the column does not have it, or another column decides
 * its parameters. */
static double cost_value(const struct spot *s, const char *name)
{
    const struct lab_column *c = &s->v->plan->experiment->columns[s->column];
    const size_t len = strcspn(name, ".");
    double bytes;
    for (uint32_t i = 0; i < c->chosen_count; i++)
        if (!strncmp(c->chosen[i].key, name, len) && c->chosen[i].key[len] == '.') return NAN;
    return column_cost(c, name, &bytes, NULL) == COST_KNOWN ? bytes : NAN;
}

/* The table of a column's machine, read once; NULL: it names none, or it cannot be read any more. */
static const struct energy_table *table_of(struct figure_values *v, const struct lab_column *c)
{
    const char *name = column_energy_table(c);
    struct diag_list diags = {0};
    for (uint32_t i = 0; i < v->tables.len; i++)
        if (!strcmp(v->tables.data[i]->name, name)) return v->tables.data[i];
    if (!*name) return NULL;
    struct energy_table *t = mem_alloc(sizeof *t);
    if (column_energy_load(c, t, &diags)) {
        vec_push(&v->tables, t);
    } else {
        if (!v->error) v->error = mem_strdup(diags.items.data[0].message);
        free(t);
        t = NULL;
    }
    diag_free(&diags);
    return t;
}

/* A run, or a launch of it, whose statistics are asked for. */
struct run_at {
    const struct spot *spot;
    const char *key;
};

static double run_number(void *context, const char *name)
{
    const struct run_at *r = context;
    return number_of(r->spot, r->key, name);
}

static double energy_value(const struct spot *s, const char *name)
{
    struct figure_values *v = s->v;
    const struct lab_column *c = &v->plan->experiment->columns[s->column];
    if (s->workload == FIGURE_MEAN) return NAN;
    const uint32_t job = plan_job(v->plan, s->workload, s->column);
    if (job == PLAN_NO_JOB || !figure_has_run(v, s->workload, s->column)) return NAN;
    const struct energy_table *t = table_of(v, c);
    struct run_at at = {s, v->plan->jobs[job].key};
    const struct column_run run = {c, v->plan->jobs[job].machine, run_number, &at};
    return t ? column_energy(&run, t, name) : NAN;
}

/* One number of the values for all workloads; those for which one does not exist are left out. */
static double over_value(const struct spot *s, const struct expr_leaf *leaf)
{
    const uint32_t workloads = s->v->plan->experiment->workload_count;
    double *x = mem_alloc(MAX(workloads, 1u) * sizeof *x), *y = mem_alloc(MAX(workloads, 1u) * sizeof *y);
    uint32_t count = 0;
    bool open = s->v->open;
    s->v->open = false;
    for (uint32_t w = 0; w < workloads; w++) {
        struct spot one = {s->v, w, s->column, s->kernel};
        x[count] = expr_eval(leaf->x, leaf_value, &one);
        y[count] = leaf->y ? expr_eval(leaf->y, leaf_value, &one) : 0;
        count += !isnan(x[count]) && !isnan(y[count]);
    }
    const double value = s->v->open ? NAN : over_function_value(leaf->over, x, y, count);
    s->v->open = s->v->open || open;
    free(x);
    free(y);
    return value;
}

/* A workload that experiment_narrow() left out has an open value. */
static uint32_t workload_named(struct figure_values *v, const char *name)
{
    const struct experiment *e = v->plan->experiment;
    for (uint32_t i = 0; i < e->workload_count; i++)
        if (!strcmp(e->workloads[i]->name, name)) return i;
    v->open = true;
    return UINT32_MAX;
}

/* How many steps two columns of an `over` are apart in each parameter, in sum; UINT32_MAX: more than one in
 * some parameter, or they are not of one `over`. */
static uint32_t distance(const struct lab_column *a, const struct lab_column *b)
{
    uint32_t sum = 0;
    if (a->sweep == COLUMN_ALONE || a->sweep != b->sweep) return a == b ? 0 : UINT32_MAX;
    for (uint32_t k = 0; k < OVER_MAX; k++) {
        const uint32_t x = a->place[k], y = b->place[k], steps = x > y ? x - y : y - x;
        if (steps > 1) return UINT32_MAX;
        sum += steps;
    }
    return sum;
}

/* The thesis's score (Eq. 5.12): a step away halves the weight; a neighbour that is not there has none. */
static double near_value(const struct spot *s, const struct expr_leaf *leaf)
{
    const struct experiment *e = s->v->plan->experiment;
    double sum = 0, weights = 0;
    for (uint32_t c = 0; c < e->column_count; c++) {
        const uint32_t steps = distance(&e->columns[s->column], &e->columns[c]);
        if (steps == UINT32_MAX || plan_job(s->v->plan, s->workload, c) == PLAN_NO_JOB) continue;
        struct spot one = {s->v, s->workload, c, s->kernel};
        const double value = expr_eval(leaf->x, leaf_value, &one), weight = ldexp(1, -(int)steps);
        if (isnan(value)) continue;
        sum += weight * value;
        weights += weight;
    }
    return weights > 0 ? sum / weights : NAN;
}

static double leaf_value(void *context, const struct expr_leaf *leaf)
{
    struct spot s = *(struct spot *)context;
    const struct experiment *e = s.v->plan->experiment;
    if (leaf->kind == EXPR_OVER) return over_value(&s, leaf);
    if (leaf->kind == EXPR_AT) {
        s.workload = workload_named(s.v, leaf->name);
        return s.workload == UINT32_MAX ? NAN : expr_eval(leaf->x, leaf_value, &s);
    }
    if (leaf->kind == EXPR_WEIGHT) return leaf->weight;
    if (leaf->kind == EXPR_NEAR) return s.workload == FIGURE_MEAN ? NAN : near_value(&s, leaf);
    if (leaf->kind == EXPR_PAPER)
        return s.workload == FIGURE_MEAN ? NAN
                                         : workload_figure(e->workloads[s.workload], e->paper, leaf->name);
    if (leaf->column != EXPR_THIS_COLUMN) s.column = leaf->column;
    if (leaf->kind == EXPR_MEASURE && e->measures[leaf->measure].is_over)
        return expr_eval(e->measures[leaf->measure].value, leaf_value,
                         &s); /* of columns as the file has them */
    s.column = figure_choice(s.v, s.workload, s.column);
    if (s.column == FIGURE_NO_CHOICE) return NAN;
    if (leaf->kernel.launch) s.kernel = leaf->kernel;
    switch (leaf->kind) {
    case EXPR_PARAM: return param_value(&s, leaf->name);
    case EXPR_COST: return cost_value(&s, leaf->name);
    case EXPR_ENERGY: return energy_value(&s, leaf->name);
    case EXPR_MEASURE: return expr_eval(e->measures[leaf->measure].value, leaf_value, &s);
    case EXPR_STAT: return stat_value_of(&s, leaf);
    default: UNREACHABLE("a name that was not bound");
    }
}

/* ---- values and means ---- */

double figure_value(struct figure_values *v, uint32_t workload, uint32_t column, uint32_t measure,
                    uint32_t *chosen)
{
    assert(workload == FIGURE_MEAN || workload < v->plan->experiment->workload_count);
    assert(column < v->plan->experiment->column_count && measure < v->plan->experiment->measure_count);
    const struct lab_measure *m = &v->plan->experiment->measures[measure];
    v->open = false;
    struct spot s = {v, workload, m->is_over ? column : figure_choice(v, workload, column), v->kernel};
    if (chosen) *chosen = s.column == FIGURE_NO_CHOICE ? column : s.column;
    return s.column == FIGURE_NO_CHOICE ? NAN : expr_eval(m->value, leaf_value, &s);
}

double figure_kernel_expr(struct figure_values *v, uint32_t workload, uint32_t column,
                          struct expr_kernel kernel, const struct expr *e)
{
    struct spot s = {v, workload, column, kernel};
    return expr_eval(e, leaf_value, &s);
}

double figure_expr(struct figure_values *v, uint32_t workload, uint32_t column, const struct expr *e)
{
    return figure_kernel_expr(v, workload, column, v->kernel, e);
}

static bool is_in_class(const struct experiment *e, uint32_t workload, const char *class_of)
{
    const struct workload_paper *p = workload_paper(e->workloads[workload], e->paper);
    return !class_of || (p && !strcmp(p->class_of, class_of));
}

double figure_mean(struct figure_values *v, enum mean_kind kind, const char *class_of, uint32_t column,
                   uint32_t measure)
{
    const struct experiment *e = v->plan->experiment;
    if (!e->workload_count || e->measures[measure].is_over) /* of parameters alone, or of all together */
        return figure_value(v, FIGURE_MEAN, column, measure, NULL);
    double *values = mem_alloc(e->workload_count * sizeof *values);
    uint32_t count = 0;
    bool open = false;
    for (uint32_t w = 0; w < e->workload_count; w++) {
        if (!is_in_class(e, w, class_of)) continue;
        double value = figure_value(v, w, column, measure, NULL);
        open = open || v->open;
        if (!isnan(value)) values[count++] = value;
    }
    double mean = open ? NAN : mean_of(kind, values, count);
    free(values);
    v->open = open;
    return mean;
}
