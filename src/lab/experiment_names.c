/* experiment_names.c: what the names in an expression stand for: statistics, measures, parameters, the
 * paper's numbers. A wrong name is found when the file is read, not after the runs. */
#include "core/machine.h"
#include "core/mech/mech_host.h"
#include "lab/column_cost.h"
#include "lab/column_energy.h"
#include "lab/experiment_read.h"
#include "lab/run_stats.h"

#include <math.h>

struct binding {
    struct experiment_reading *r;
    bool oracle;
    /* In a condition: the parameters that are swept; else NULL. */
    const struct yaml_node *over;
};

static bool refuse(struct binding *b, const struct expr_leaf *leaf, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
static bool refuse(struct binding *b, const struct expr_leaf *leaf, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(b->r->diags, DIAG_ERROR, &b->r->e->file.src, leaf->line, leaf->col, leaf->len, hint, fmt, ap);
    va_end(ap);
    return false;
}

/* "name[3]" -> the length of "name"; the bin, or UINT32_MAX. */
static size_t split_bin(const char *name, uint32_t *bin)
{
    size_t len = strcspn(name, "[");
    *bin = name[len] ? (uint32_t)strtoul(name + len + 1, NULL, 10) : UINT32_MAX;
    return len;
}

static bool stat_is_known(const struct binding *b, const char *name)
{
    uint32_t bin;
    return map_get_n(&b->r->stats, name, split_bin(name, &bin)) != NULL;
}

static uint32_t measure_find(const struct binding *b, const char *name)
{
    for (uint32_t i = 0; !b->oracle && i < b->r->e->measure_count; i++)
        if (!strcmp(b->r->e->measures[i].name, name)) return i;
    return UINT32_MAX;
}

/* The numbers that only a whole run has. */
static bool is_of_run(const char *name)
{
    static const char *const kernels[] = {"cycles", "ipc", "thread_ipc"};
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++)
        if (!strcmp(name, kernels[i])) return false;
    for (uint32_t i = 0; run_stat_name(i); i++)
        if (!strcmp(name, run_stat_name(i))) return true;
    return false;
}

static bool bind_stat(struct binding *b, struct expr_leaf *leaf, const char *name)
{
    uint32_t bin, bins;
    size_t len = split_bin(name, &bin);
    if (leaf->kernel.launch && is_of_run(name))
        return refuse(b, leaf,
                      "a kernel has cycles, ipc, thread_ipc and the statistics of `heddle list stats`",
                      "'%s' is a number of the whole run", name);
    bins = (uint32_t)(uintptr_t)map_get_n(&b->r->stats, name, len) - 1;
    leaf->kind = EXPR_STAT;
    leaf->name = name;
    if (bin != UINT32_MAX && !bins) return refuse(b, leaf, NULL, "'%.*s' is not a histogram", (int)len, name);
    if (bin != UINT32_MAX && bin >= bins)
        return refuse(b, leaf, NULL, "'%.*s' has bins 0 to %u", (int)len, name, bins - 1);
    if (bin == UINT32_MAX && bins && !leaf->in_sum) {
        char hint[160];
        snprintf(hint, sizeof hint, "a bin is %.60s[0]; all together are sum(%.60s)", name, name);
        return refuse(b, leaf, hint, "'%s' is a histogram of %u bins", name, bins);
    }
    leaf->bins = bin == UINT32_MAX ? bins : 0;
    return true;
}

/* A statistic, or a measure above this one. */
static bool bind_number(struct binding *b, struct expr_leaf *leaf, const char *name)
{
    if (stat_is_known(b, name)) return bind_stat(b, leaf, name);
    leaf->measure = measure_find(b, name);
    if (leaf->measure == UINT32_MAX) return false;
    leaf->kind = EXPR_MEASURE;
    leaf->name = name;
    return true;
}

static bool is_number(const struct binding *b, const char *name)
{
    return stat_is_known(b, name) || measure_find(b, name) != UINT32_MAX;
}

static bool unknown_number(struct binding *b, const struct expr_leaf *leaf, const char *name)
{
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < b->r->stats.entries.len; i++) vec_push(&names, b->r->stats.entries.data[i].key);
    for (uint32_t i = 0; !b->oracle && i < b->r->e->measure_count; i++)
        vec_push(&names, b->r->e->measures[i].name);
    const char *near = diag_nearest(name, names.data, names.len);
    char hint[160] = "`heddle list stats` shows them";
    if (near) snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    vec_free(&names);
    return refuse(b, leaf, hint,
                  b->oracle ? "no statistic is called '%s'" : "no statistic or measure is called '%s'", name);
}

static bool bind_owner(struct binding *b, struct expr_leaf *leaf, const char *owner)
{
    leaf->column = experiment_column_find(b->r, owner);
    if (leaf->column == UINT32_MAX) {
        VEC(const char *) names = {0};
        for (uint32_t i = 0; i < b->r->columns.len; i++) vec_push(&names, b->r->columns.data[i].name);
        const char *near = diag_nearest(owner, names.data, names.len);
        char hint[160];
        if (near) snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
        vec_free(&names);
        return refuse(b, leaf, near ? hint : NULL, "no column is called '%s'", owner);
    }
    if (b->oracle && !b->over && column_is_choice(&b->r->columns.data[leaf->column]))
        return refuse(b, leaf, NULL, "'%s' is itself the best of several", owner);
    return true;
}

/* NAME, or COLUMN.NAME: a statistic's own name wins; of several columns the one with the longest name. */
static bool bind_name(struct binding *b, struct expr_leaf *leaf)
{
    if (leaf->owner) {
        if (!bind_owner(b, leaf, leaf->owner)) return false;
        return is_number(b, leaf->name) ? bind_number(b, leaf, leaf->name)
                                        : unknown_number(b, leaf, leaf->name);
    }
    if (is_number(b, leaf->name)) return bind_number(b, leaf, leaf->name);
    for (size_t at = strlen(leaf->name); at--;) {
        if (leaf->name[at] != '.') continue;
        const char *owner = arena_strndup(&b->r->e->arena, leaf->name, at), *name = leaf->name + at + 1;
        if (experiment_column_find(b->r, owner) == UINT32_MAX) continue;
        if (!bind_owner(b, leaf, owner)) return false;
        return is_number(b, name) ? bind_number(b, leaf, name) : unknown_number(b, leaf, name);
    }
    return unknown_number(b, leaf, leaf->name);
}

static const struct param_row *mech_param(const struct lab_column *c, const char *key)
{
    for (uint32_t i = 0; c->attached && i < mech_set_count(c->attached); i++) {
        const struct mechanism *m = mech_set_at(c->attached, i);
        const struct param_row *row = m->params ? param_find(m->params, key) : NULL;
        if (row) return row;
    }
    return NULL;
}

static bool bind_param(struct binding *b, struct expr_leaf *leaf)
{
    if (leaf->owner && !bind_owner(b, leaf, leaf->owner)) return false;
    const struct param_row *row = params_find(machine_groups, leaf->name, NULL);
    for (uint32_t i = 0; !row && i < b->r->columns.len; i++)
        row = mech_param(&b->r->columns.data[i], leaf->name);
    if (!row) {
        const char *near = params_nearest(machine_groups, leaf->name);
        char hint[160] = "`heddle list params` shows them";
        if (near) snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
        return refuse(b, leaf, hint, "unknown parameter '%s'", leaf->name);
    }
    if (row->type == PARAM_STRING) return refuse(b, leaf, NULL, "'%s' is a text, not a number", leaf->name);
    return true;
}

static bool refuse_cost(struct binding *b, const struct expr_leaf *leaf, enum cost_answer answer,
                        const char *parts)
{
    const int len = (int)strcspn(leaf->name, ".");
    char hint[200];
    snprintf(hint, sizeof hint, "%.*s stores %.150s", len, leaf->name, parts);
    switch (answer) {
    case COST_KNOWN: return true;
    case COST_NOT_HERE:
        return refuse(b, leaf, "as in cost(linebacker), cost(linebacker.vtt)",
                      "no column has a mechanism '%.*s'", len, leaf->name);
    case COST_NO_PART:
        return refuse(b, leaf, hint, "'%.*s' stores nothing called '%s'", len, leaf->name,
                      leaf->name + len + 1);
    case COST_NO_STORAGE:
        return refuse(b, leaf, "`heddle list mechanisms --cost` shows what each stores",
                      "'%s' declares no storage", leaf->name);
    case COST_MIXED:
        return refuse(b, leaf, hint, "'%s' stores on SMs and elsewhere: name a part", leaf->name);
    case COST_MISFIT: return refuse(b, leaf, NULL, "%s", parts);
    }
    UNREACHABLE("an answer that does not exist");
}

/* True: some column, or the owner's, has it. Otherwise the first column that has the mechanism gives the
 * reason. */
static bool bind_cost(struct binding *b, struct expr_leaf *leaf)
{
    enum cost_answer answer = COST_NOT_HERE;
    struct strbuf parts = {0};
    double bytes;
    if (leaf->owner && !bind_owner(b, leaf, leaf->owner)) return false;
    for (uint32_t i = 0; answer == COST_NOT_HERE && i < b->r->columns.len; i++)
        answer = column_cost(&b->r->columns.data[i], leaf->name, &bytes, &parts);
    const bool ok = refuse_cost(b, leaf, answer, strbuf_text(&parts));
    strbuf_free(&parts);
    return ok;
}

/* True: the tables of the columns' machines can be read, and at least one machine has a table. */
static bool check_tables(struct binding *b, const struct expr_leaf *leaf)
{
    const char *read = "";
    for (uint32_t i = 0; i < b->r->columns.len; i++) {
        const struct lab_column *c = &b->r->columns.data[i];
        const char *table = column_energy_table(c);
        struct energy_table t;
        struct diag_list diags = {0};
        if (!*table || !strcmp(table, read)) continue;
        read = table;
        const bool ok = column_energy_load(c, &t, &diags);
        if (!ok) refuse(b, leaf, NULL, "energy of '%s': %s", c->name, diags.items.data[0].message);
        diag_free(&diags);
        if (!ok) return false;
    }
    return *read ||
           refuse(b, leaf, "as in set: {energy: gpuwattch}", "no column's machine names a table of energies");
}

static bool bind_energy(struct binding *b, struct expr_leaf *leaf)
{
    VEC(const char *) names = {0};
    bool known = false;
    if (leaf->owner && !bind_owner(b, leaf, leaf->owner)) return false;
    for (uint32_t i = 0; i < b->r->columns.len && !known; i++)
        known = column_energy_knows(&b->r->columns.data[i], leaf->name);
    if (known) return check_tables(b, leaf);
    for (uint32_t i = 0; column_energy_name(i); i++) vec_push(&names, column_energy_name(i));
    const char *near = diag_nearest(leaf->name, names.data, names.len);
    char hint[160] =
        "a part such as l1 or dram, total, without_leakage, events, helper, seconds, or a mechanism's row";
    if (near) snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    vec_free(&names);
    return refuse(b, leaf, hint, "no part of the energy, and no row of a column's mechanisms, is called '%s'",
                  leaf->name);
}

static bool bind_paper(struct binding *b, struct expr_leaf *leaf)
{
    const struct experiment *e = b->r->e;
    VEC(const char *) names = {0};
    bool found = false;
    if (!*e->paper)
        return refuse(b, leaf, "for example paper: thesis-ch3", "paper() needs 'paper:' of the experiment");
    for (uint32_t i = 0; i < e->workload_count; i++) {
        const struct workload_paper *p = workload_paper(e->workloads[i], e->paper);
        found = found || !isnan(workload_figure(e->workloads[i], e->paper, leaf->name));
        for (uint32_t f = 0; p && f < p->figure_count; f++) vec_push(&names, p->figures[f].name);
    }
    const char *near = found ? NULL : diag_nearest(leaf->name, names.data, names.len);
    char hint[160] = "the workloads' descriptions have them under 'papers:'";
    if (near) snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    vec_free(&names);
    return found || refuse(b, leaf, hint, "%s has no '%s' for any of these workloads", e->paper, leaf->name);
}

/* A condition decides whether a run is made, so it cannot use results of that run. */
static bool bind_name_of_others(struct binding *b, struct expr_leaf *leaf)
{
    if (!bind_name(b, leaf)) return false;
    return !b->over || leaf->column != EXPR_THIS_COLUMN ||
           refuse(b, leaf, "name another column, as in base.resident.warps",
                  "'%s' is a result of the run that the condition decides about", leaf->name);
}

static bool bind_at(struct binding *b, struct expr_leaf *leaf)
{
    const struct experiment *e = b->r->e;
    VEC(const char *) names = {0};
    bool found = false;
    for (uint32_t i = 0; i < e->workload_count; i++) {
        found = found || !strcmp(e->workloads[i]->name, leaf->name);
        vec_push(&names, e->workloads[i]->name);
    }
    const char *near = found ? NULL : diag_nearest(leaf->name, names.data, names.len);
    char hint[160];
    if (near) snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    vec_free(&names);
    return found ||
           refuse(b, leaf, near ? hint : NULL, "no workload of this experiment is called '%s'", leaf->name);
}

static bool bind_weight(struct binding *b, struct expr_leaf *leaf)
{
    return model_weight(b->r->e, leaf->name, &leaf->weight) ||
           refuse(b, leaf, "as in weight(NAME.alpha.x1), with NAME from 'models:'; x8 is the constant",
                  "'%s' is not a weight of a model of this experiment", leaf->name);
}

static bool bind_leaf(void *context, struct expr_leaf *leaf)
{
    struct binding *b = context;
    if (b->over && leaf->kind == EXPR_NAME && !leaf->owner && yaml_get(b->over, leaf->name)) {
        leaf->kind = EXPR_PARAM;
        return true;
    }
    switch (leaf->kind) {
    case EXPR_PARAM: return bind_param(b, leaf);
    case EXPR_PAPER: return bind_paper(b, leaf);
    case EXPR_WEIGHT: return bind_weight(b, leaf);
    case EXPR_COST: return bind_cost(b, leaf);
    case EXPR_ENERGY: return bind_energy(b, leaf);
    case EXPR_AT: return bind_at(b, leaf);
    case EXPR_OVER:
    case EXPR_NEAR: return true;
    default: return bind_name_of_others(b, leaf);
    }
}

/* Where the text of a node begins in the file; not exact when the file has it in another form (folded, with
 * escapes). */
static struct expr_source source_of(const struct yaml_tree *t, const struct yaml_node *n)
{
    struct expr_source out = {&t->src, n->line, n->col, false};
    const char *at = t->src.text, *end = t->src.text + t->src.len;
    for (int line = 1; at && line < n->line; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    size_t len = strlen(n->text);
    if (!at || end - at < n->col) return out;
    at += n->col - 1;
    int quote = *at == '"' || *at == '\'';
    out.exact = (size_t)(end - at) >= len + (size_t)quote && !memcmp(at + quote, n->text, len);
    if (out.exact) out.col += quote;
    return out;
}

static const struct expr *read_expr(struct experiment_reading *r, const struct yaml_node *n,
                                    struct binding *b)
{
    if (n->kind != YAML_TEXT) {
        yaml_error(&r->e->file, n, r->diags, "put it in quotes when it has commas or brackets in it",
                   "an expression is one text");
        return NULL;
    }
    struct expr_source where = source_of(&r->e->file, n);
    struct expr *e = expr_parse(&r->e->arena, n->text, &where, r->diags);
    return e && expr_bind(e, bind_leaf, b) ? e : NULL;
}

const struct expr *experiment_expr(struct experiment_reading *r, const struct yaml_node *n, bool oracle)
{
    return read_expr(r, n, &(struct binding){.r = r, .oracle = oracle});
}

const struct expr *experiment_condition(struct experiment_reading *r, const struct yaml_node *n,
                                        const struct yaml_node *over)
{
    return read_expr(r, n, &(struct binding){.r = r, .oracle = true, .over = over});
}
