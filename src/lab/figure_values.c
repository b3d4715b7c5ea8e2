/* figure_values.c: the value of a measure for a workload and a column; the choice of an oracle; means. */
#include "core/machine.h"
#include "core/mech/mech_set.h"
#include "lab/expr.h"
#include "lab/figure_impl.h"

#include <math.h>

enum job_known { JOB_UNASKED, JOB_THERE, JOB_MISSING };
#define NOT_CHOSEN UINT32_MAX
#define NO_CHOICE  (UINT32_MAX - 1)

void figure_values_open(struct figure_values *v, const struct plan *p, struct store *s)
{
    size_t cells = (size_t)p->experiment->workload_count * p->experiment->column_count;
    *v = (struct figure_values){.plan = p, .store = s};
    v->state = mem_zalloc(MAX(p->job_count, 1u));
    v->chosen = mem_alloc(MAX(cells, (size_t)1) * sizeof *v->chosen);
    for (size_t i = 0; i < cells; i++) v->chosen[i] = NOT_CHOSEN;
}

void figure_values_close(struct figure_values *v)
{
    free(v->state);
    free(v->chosen);
    free(v->error);
}

/* What an expression is evaluated for. */
struct spot {
    struct figure_values *v;
    uint32_t workload, column;
};

static double leaf_value(void *context, const struct expr_leaf *leaf);

/* A store that cannot be read is not one without the number. */
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

static bool job_is_there(struct figure_values *v, uint32_t job)
{
    assert(job < v->plan->job_count);
    if (v->state[job] == JOB_UNASKED) {
        bool there = store_state(v->store, v->plan->jobs[job].key) == STORE_DONE;
        note_error(v);
        v->state[job] = there ? JOB_THERE : JOB_MISSING;
        v->missing += !there;
    }
    return v->state[job] == JOB_THERE;
}

/* ---- oracles ---- */

static uint32_t choose(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const struct lab_column *c = &v->plan->experiment->columns[column];
    uint32_t best = NO_CHOICE;
    double best_value = 0;
    bool was_open = v->open;
    v->open = false;
    for (uint32_t i = 0; i < c->choice_count; i++) {
        struct spot spot = {v, workload, c->choices[i]};
        double value = expr_eval(c->best, leaf_value, &spot);
        if (isnan(value) || (best != NO_CHOICE && value <= best_value)) continue;
        best = c->choices[i];
        best_value = value;
    }
    if (v->open) best = NO_CHOICE; /* the missing one might have been the best */
    v->open = v->open || was_open;
    return best;
}

/* The column whose run counts: itself, or the one that it chooses. NO_CHOICE: that is not known yet. */
static uint32_t settled(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const struct experiment *e = v->plan->experiment;
    if (!e->columns[column].choice_count) return column;
    if (workload == FIGURE_MEAN) return NO_CHOICE;
    uint32_t *chosen = &v->chosen[workload * e->column_count + column];
    if (*chosen == NOT_CHOSEN) *chosen = choose(v, workload, column);
    if (*chosen == NO_CHOICE) v->open = true;
    return *chosen;
}

/* ---- leaves ---- */

static double stat_value_of(const struct spot *s, const struct expr_leaf *leaf, uint32_t column)
{
    struct figure_values *v = s->v;
    if (s->workload == FIGURE_MEAN) return NAN;
    uint32_t job = plan_job(v->plan, s->workload, column);
    assert(job != PLAN_NO_JOB);
    if (!job_is_there(v, job)) {
        v->open = true;
        return NAN;
    }
    const char *key = v->plan->jobs[job].key;
    if (!leaf->bins) return stat_of_run(v, key, leaf->name);
    double sum = 0;
    struct strbuf name = {0};
    for (uint32_t i = 0; i < leaf->bins; i++) {
        name.len = 0;
        strbuf_printf(&name, "%s[%u]", leaf->name, i);
        sum += stat_of_run(v, key, strbuf_text(&name));
    }
    strbuf_free(&name);
    return sum;
}

static double row_value(const struct param_row *row, const void *object)
{
    const char *at = (const char *)object + row->offset;
    uint32_t u32;
    uint64_t u64;
    switch (row->type) {
    case PARAM_BOOL: return *(const bool *)at;
    case PARAM_U32:
    case PARAM_ENUM: memcpy(&u32, at, sizeof u32); return u32;
    case PARAM_U64:
    case PARAM_BYTES: memcpy(&u64, at, sizeof u64); return (double)u64;
    case PARAM_MILLI: memcpy(&u32, at, sizeof u32); return u32 / 1000.0;
    case PARAM_TEXT:
    case PARAM_FILE: break; /* refused when the file was read */
    }
    return NAN;
}

static double param_value(const struct lab_column *c, const char *key)
{
    size_t offset;
    const struct param_row *row = params_find(machine_groups, key, &offset);
    if (row) return row_value(row, (const char *)c->resolved + offset);
    for (uint32_t i = 0; i < mech_set_count(c->attached); i++) {
        const struct mechanism *m = mech_set_at(c->attached, i);
        if (m->params && (row = param_find(m->params, key)))
            return row_value(row, mech_set_params(c->attached, i));
    }
    return NAN; /* the mechanism is not attached here */
}

static double leaf_value(void *context, const struct expr_leaf *leaf)
{
    struct spot s = *(struct spot *)context;
    const struct experiment *e = s.v->plan->experiment;
    if (leaf->kind == EXPR_PAPER)
        return s.workload == FIGURE_MEAN ? NAN
                                         : workload_figure(e->workloads[s.workload], e->paper, leaf->name);
    s.column = settled(s.v, s.workload, leaf->column == EXPR_THIS_COLUMN ? s.column : leaf->column);
    if (s.column == NO_CHOICE) return NAN;
    switch (leaf->kind) {
    case EXPR_PARAM: return param_value(&e->columns[s.column], leaf->name);
    case EXPR_MEASURE: return expr_eval(e->measures[leaf->measure].value, leaf_value, &s);
    case EXPR_STAT: return stat_value_of(&s, leaf, s.column);
    default: UNREACHABLE("a name that was not bound");
    }
}

/* ---- values and means ---- */

double figure_value(struct figure_values *v, uint32_t workload, uint32_t column, uint32_t measure,
                    uint32_t *chosen)
{
    assert(workload == FIGURE_MEAN || workload < v->plan->experiment->workload_count);
    assert(column < v->plan->experiment->column_count && measure < v->plan->experiment->measure_count);
    const struct experiment *e = v->plan->experiment;
    v->open = false;
    struct spot s = {v, workload, settled(v, workload, column)};
    if (chosen) *chosen = s.column == NO_CHOICE ? column : s.column;
    return s.column == NO_CHOICE ? NAN : expr_eval(e->measures[measure].value, leaf_value, &s);
}

double mean_of(enum mean_kind kind, const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool positive = values[i] > 0;
        switch (kind) {
        case MEAN_ARITHMETIC: sum += values[i]; break;
        case MEAN_GEOMETRIC: sum += positive ? log(values[i]) : NAN; break; /* these two are of ratios only */
        case MEAN_HARMONIC: sum += positive ? 1 / values[i] : NAN; break;
        case MEAN_GAINS: sum += values[i] > -1 ? log1p(values[i]) : NAN; break;
        case MEAN_NONE: sum = NAN; break;
        }
    }
    if (!count) return NAN;
    if (kind == MEAN_GAINS) return expm1(sum / count);
    return kind == MEAN_GEOMETRIC ? exp(sum / count) : kind == MEAN_HARMONIC ? count / sum : sum / count;
}

double figure_mean(struct figure_values *v, enum mean_kind kind, uint32_t column, uint32_t measure)
{
    const struct experiment *e = v->plan->experiment;
    if (!e->workload_count)
        return figure_value(v, FIGURE_MEAN, column, measure, NULL); /* of parameters alone */
    double *values = mem_alloc(e->workload_count * sizeof *values);
    uint32_t count = 0;
    bool open = false;
    for (uint32_t w = 0; w < e->workload_count; w++) {
        double value = figure_value(v, w, column, measure, NULL);
        open = open || v->open;
        if (!isnan(value)) values[count++] = value;
    }
    double mean = open ? NAN : mean_of(kind, values, count);
    free(values);
    v->open = open;
    return mean;
}
