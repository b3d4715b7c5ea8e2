/* experiment_measures.c: the measures of an experiment, and the statistics that they may use. */
#include "core/stat_tables.h"
#include "lab/experiment_read.h"
#include "lab/run_stats.h"

#include <math.h>

/* ---- which statistics there are ---- */

void experiment_add_stats(struct map *stats, const struct stat_row *rows)
{
    for (; rows && rows->name; rows++)
        map_put(stats, rows->name, (void *)(uintptr_t)(rows->type == STAT_HISTOGRAM ? rows->length + 1 : 1));
}

void experiment_stats(struct map *stats)
{
    struct stats_table t;
    for (uint32_t i = 0; run_stat_name(i); i++) map_put(stats, run_stat_name(i), (void *)(uintptr_t)1);
    for (uint32_t i = 0; machine_stats_at(i, &t); i++) experiment_add_stats(stats, t.rows);
}

/* ---- the measures ---- */

/* Is the leaf of all workloads together, or of one that it names? */
static bool is_over(void *experiment, const struct expr_leaf *leaf)
{
    const struct experiment *e = experiment;
    return leaf->kind == EXPR_OVER || leaf->kind == EXPR_AT ||
           (leaf->kind == EXPR_MEASURE && e->measures[leaf->measure].is_over);
}

/* Is the leaf of the workload that the measure is asked for? */
static bool is_of_workload(void *experiment, const struct expr_leaf *leaf)
{
    const bool is_of_column =
        leaf->kind == EXPR_PARAM || leaf->kind == EXPR_COST || leaf->kind == EXPR_WEIGHT;
    return !is_of_column && !is_over(experiment, leaf);
}

static void read_measure(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n)
{
    static const char *const keys[] = {"value", "title", "unit", "threshold", "classes", "words"};
    struct experiment *e = r->e;
    struct lab_measure m = {.name = at->text, .title = at->text, .unit = "", .threshold = NAN};
    const struct yaml_node *value = n;
    if (n->kind == YAML_MAP) {
        experiment_only(r, n, keys, ARRAY_LEN(keys));
        m.title = yaml_text(&e->file, n, "title", m.title, r->diags);
        m.unit = yaml_text(&e->file, n, "unit", "", r->diags);
        experiment_read_judging(r, &m, n);
        value = yaml_get(n, "value");
        if (!value)
            yaml_error(&e->file, at, r->diags, "for example gain: {value: ipc / base.ipc - 1}",
                       "measure '%s' has no value", at->text);
    }
    m.value = value ? experiment_expr(r, value, false) : NULL;
    m.is_over =
        m.value && expr_any_outside(m.value, is_over, e) && !expr_any_outside(m.value, is_of_workload, e);
    e->measures[e->measure_count++] = m;
}

void experiment_read_measures(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const struct yaml_node *n = yaml_get(e->file.root, "measures");
    if (!n || n->kind != YAML_MAP || !n->count) {
        yaml_error(&e->file, n ? n : e->file.root, r->diags, "for example measures: {ipc: ipc}",
                   "'measures' must name at least one");
        return;
    }
    e->measures = ARENA_ARRAY(&e->arena, struct lab_measure, n->count);
    for (uint32_t i = 0; i < n->count; i++) read_measure(r, &n->keys[i], &n->items[i]);
}
