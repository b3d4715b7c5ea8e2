/* experiment_columns.c: the columns of an experiment: one of each name, one for each value of `over`, or
 * the best of several. */
#include "lab/column_param.h"
#include "lab/experiment_read.h"

#include "heddle/rows.h"

#include <math.h>

enum { COLUMNS_MAX = 4096 };

/* ---- names ---- */

uint32_t experiment_column_find(const struct experiment_reading *r, const char *name)
{
    for (uint32_t i = 0; i < r->columns.len; i++)
        if (!strcmp(r->columns.data[i].name, name)) return i;
    return UINT32_MAX;
}

static void unknown_column(struct experiment_reading *r, const struct yaml_node *at)
{
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < r->groups.len; i++) vec_push(&names, r->groups.data[i].name);
    for (uint32_t i = 0; i < r->columns.len; i++) vec_push(&names, r->columns.data[i].name);
    experiment_unknown(r, at, "column", names.data, names.len,
                       "columns are named under 'columns:', above this one");
    vec_free(&names);
}

const struct column_group *experiment_columns(struct experiment_reading *r, const struct yaml_node *at)
{
    for (uint32_t i = 0; i < r->groups.len; i++)
        if (!strcmp(r->groups.data[i].name, at->text)) return &r->groups.data[i];
    unknown_column(r, at);
    return NULL;
}

uint32_t experiment_column(struct experiment_reading *r, const struct yaml_node *at)
{
    uint32_t column = experiment_column_find(r, at->text);
    if (column != UINT32_MAX) return column;
    for (uint32_t i = 0; i < r->groups.len; i++) {
        const struct column_group *g = &r->groups.data[i];
        if (strcmp(g->name, at->text) || !g->count) continue;
        char hint[160];
        snprintf(hint, sizeof hint, "name one of them, such as '%.80s'", r->columns.data[g->first].name);
        yaml_error(&r->e->file, at, r->diags, hint, "'%s' stands for %u columns", at->text, g->count);
        return UINT32_MAX;
    }
    unknown_column(r, at);
    return UINT32_MAX;
}

static bool name_is_free(struct experiment_reading *r, const char *name, const struct yaml_node *at)
{
    bool taken = !*name || experiment_column_find(r, name) != UINT32_MAX;
    for (uint32_t i = 0; i < r->groups.len; i++) taken = taken || !strcmp(r->groups.data[i].name, name);
    if (taken)
        yaml_error(&r->e->file, at, r->diags, "names must differ",
                   *name ? "there is a column '%s' already" : "a column without a name%s", name);
    return !taken;
}

/* ---- over: one column for each value ---- */

static void over_pick(struct over *o, uint32_t index)
{
    assert(index < o->count && o->map->count <= OVER_MAX);
    for (uint32_t k = o->map->count; k--;) { /* the last one runs fastest */
        const struct yaml_node *values = &o->map->items[k];
        o->place[k] = index % values->count;
        o->picked[k] = &values->items[o->place[k]];
        index /= values->count;
    }
}

static bool over_list(struct experiment_reading *r, const struct over *o, const struct yaml_node *n,
                      const char *key)
{
    if (!n || (n->kind == YAML_LIST && n->count == o->count)) return true;
    yaml_error(&r->e->file, n, r->diags, NULL, "'%s' must be a list of %u, one for each column of 'over'",
               key, o->count);
    return false;
}

static bool over_read(struct experiment_reading *r, const struct yaml_node *column, struct over *o)
{
    const char *hint = "for example over: {l1.mshrs: [32, 64, 128]}";
    o->map = yaml_get(column, "over");
    o->labels = yaml_get(column, "label");
    o->x = yaml_get(column, "x");
    if (o->map->kind != YAML_MAP || !o->map->count || o->map->count > OVER_MAX) {
        yaml_error(&r->e->file, o->map, r->diags, hint,
                   "'over' is a mapping of one to %d parameters to lists of values", OVER_MAX);
        return false;
    }
    uint64_t count = 1;
    for (uint32_t k = 0; k < o->map->count; k++) {
        const struct yaml_node *values = &o->map->items[k];
        bool ok = values->kind == YAML_LIST && values->count;
        for (uint32_t i = 0; ok && i < values->count; i++) ok = values->items[i].kind == YAML_TEXT;
        if (!ok) {
            yaml_error(&r->e->file, values, r->diags, hint, "'%s' takes a list of values",
                       o->map->keys[k].text);
            return false;
        }
        count *= values->count;
        if (count > COLUMNS_MAX) {
            yaml_error(&r->e->file, o->map, r->diags, NULL, "more than %d columns", COLUMNS_MAX);
            return false;
        }
    }
    o->count = (uint32_t)count;
    return over_list(r, o, o->labels, "label") && over_list(r, o, o->x, "x");
}

/* "latency=100"; with several parameters "grid=4,2"; or the label. */
static const char *over_name(struct experiment_reading *r, const struct over *o, const char *name,
                             uint32_t index)
{
    if (o->labels) return o->labels->items[index].text;
    struct strbuf s = {0};
    strbuf_printf(&s, "%s=", name);
    for (uint32_t k = 0; k < o->map->count; k++) strbuf_printf(&s, "%s%s", k ? "," : "", o->picked[k]->text);
    const char *out = arena_strdup(&r->e->arena, strbuf_text(&s));
    strbuf_free(&s);
    return out;
}

/* The column of what is picked. */
static bool over_one(struct experiment_reading *r, const struct over *o, const struct where *w,
                     const struct column_draft *common, const struct yaml_node *at, uint32_t index,
                     uint32_t first, bool hidden)
{
    struct lab_column c = {.name = over_name(r, o, at->text, index),
                           .x = NAN,
                           .hidden = hidden,
                           .sweep = first,
                           .conditions = w->later,
                           .condition_count = w->later_count};
    memcpy(c.place, o->place, sizeof c.place);
    if (o->map->count == 1) c.x = over_number(o->picked[0]->text);
    if (o->x && !experiment_number(r, &o->x->items[index], &c.x)) return false;
    if (!name_is_free(r, c.name, o->labels ? &o->labels->items[index] : at)) return false;
    struct column_draft *d = draft_copy(r, common);
    for (uint32_t k = 0; k < o->map->count; k++) draft_put(d, &o->map->keys[k], o->picked[k]);
    return draft_finish(r, d, &c);
}

/* ---- best: the best of several, for each workload ---- */

static void add_oracle(struct experiment_reading *r, const struct yaml_node *at, const uint32_t *choices,
                       uint32_t count)
{
    static const char *const nothing[] = {NULL};
    struct lab_column c = {.name = at->text, .machine = r->e->machine, .x = NAN, .sweep = COLUMN_ALONE};
    c.sets = c.mechs = c.mech_sets = nothing;
    c.choices = choices;
    c.choice_count = count;
    vec_push(&r->columns, c);
    vec_push(&r->drafts, NULL);
    vec_push(&r->groups, (struct column_group){at->text, r->columns.len - 1, 1});
}

/* ---- per: kernel: the best of several, for each launch ---- */

/* into: {tuple.file: [tuple.n, tuple.p]} */
static const struct lab_table *read_table(struct experiment_reading *r, const struct yaml_node *at,
                                          const struct yaml_node *into)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!into || into->kind != YAML_MAP || into->count != 1) {
        yaml_error(&r->e->file, into ? into : at, r->diags,
                   "for example into: {tuple.file: [tuple.n, tuple.p]}",
                   "'into' names the parameter that takes the table, and the parameters of its lines");
        return NULL;
    }
    if (!experiment_texts(r, &into->items[0], &items, &count)) return NULL;
    struct lab_table *t = ARENA_NEW(&r->e->arena, struct lab_table);
    const char **params = ARENA_ARRAY(&r->e->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) params[i] = items[i].text;
    t->key = into->keys[0].text;
    t->params = params;
    return t;
}

/* The file's parameter is the oracle's, those of the lines every choice's. */
static bool check_table(struct experiment_reading *r, const struct lab_column *c,
                        const struct yaml_node *into)
{
    const struct param_row *row = column_param_row(c, c->table->key);
    if (!row || row->type != PARAM_PATH) {
        yaml_error(&r->e->file, &into->keys[0], r->diags,
                   "name the mechanism that reads the table: mech: tuple",
                   "'%s' is not a parameter of this column that names a file", c->table->key);
        return false;
    }
    for (uint32_t i = 0; i < c->choice_count; i++)
        for (uint32_t k = 0; c->table->params[k]; k++) {
            const struct lab_column *choice = &r->columns.data[c->choices[i]];
            if (column_param_row(choice, c->table->params[k])) continue;
            yaml_error(&r->e->file, &into->items[0], r->diags, NULL, "column '%s' has no parameter '%s'",
                       choice->name, c->table->params[k]);
            return false;
        }
    return true;
}

/* It has a run of its own, of its settings and the table. */
static void add_kernel_oracle(struct experiment_reading *r, const struct yaml_node *at,
                              const struct yaml_node *n, const uint32_t *choices, uint32_t count)
{
    const struct yaml_node *into = yaml_get(n, "into");
    struct lab_column c = {
        .name = at->text, .x = NAN, .sweep = COLUMN_ALONE, .choices = choices, .choice_count = count};
    c.table = read_table(r, at, into);
    struct column_draft *d = c.table ? draft_read(r, at, n) : NULL;
    if (!d || !draft_finish(r, d, &c) || !check_table(r, &c, into)) return;
    vec_push(&r->groups, (struct column_group){at->text, r->columns.len - 1, 1});
}

static void read_best_of(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n)
{
    static const char *const pers[] = {"workload", "kernel"};
    static const char *const keys[] = {"of",  "best", "per",      "into", "machine",
                                       "set", "mech", "mech_set", "like"};
    static const char *const keys_without_run[] = {"of", "best", "per", "skip"};
    const struct yaml_node *items;
    uint32_t count, total = 0;
    const bool is_kernel = experiment_choice(r, n, "per", pers, ARRAY_LEN(pers), 0) == 1;
    if (is_kernel)
        experiment_only(r, n, keys, ARRAY_LEN(keys));
    else
        experiment_only(r, n, keys_without_run, ARRAY_LEN(keys_without_run));
    if (!experiment_texts(r, yaml_get(n, "of"), &items, &count)) return;
    uint32_t *choices = ARENA_ARRAY(&r->e->arena, uint32_t, COLUMNS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one = experiment_column_find(r, items[i].text);
        const struct column_group *g = one == UINT32_MAX ? experiment_columns(r, &items[i]) : NULL;
        if (one == UINT32_MAX && !g) return;
        for (uint32_t c = g ? g->first : one; c < (g ? g->first + g->count : one + 1) && total < COLUMNS_MAX;
             c++) {
            choices[total++] = c;
            if (!column_is_choice(&r->columns.data[c])) continue;
            yaml_error(&r->e->file, &items[i], r->diags, NULL, "'%s' is itself the best of several",
                       items[i].text);
            return;
        }
    }
    if (is_kernel)
        add_kernel_oracle(r, at, n, choices, total);
    else
        add_oracle(r, at, choices, total);
}

/* ---- one name of `columns:` ---- */

static void read_over(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n,
                      const struct column_draft *common)
{
    struct over o = {0};
    struct where w;
    const struct yaml_node *conditions = yaml_get(n, "where");
    bool is_oracle = yaml_get(n, "best") != NULL, holds;
    uint32_t first = r->columns.len;
    if (!over_read(r, n, &o) || !where_read(r, conditions, &o, &w)) return;
    for (uint32_t i = 0; i < o.count; i++) {
        over_pick(&o, i);
        if (!where_holds(r, conditions, &w, &o, &holds)) return;
        if (holds && !over_one(r, &o, &w, common, at, i, first, is_oracle))
            return; /* so would the others fail */
    }
    const uint32_t count = r->columns.len - first;
    if (!count) {
        yaml_error(&r->e->file, conditions, r->diags, NULL, "'where' leaves no column");
        return;
    }
    if (!is_oracle) {
        vec_push(&r->groups, (struct column_group){at->text, first, count});
        return;
    }
    uint32_t *choices = ARENA_ARRAY(&r->e->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) choices[i] = first + i;
    add_oracle(r, at, choices, count);
}

static void read_plain(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n,
                       struct column_draft *d)
{
    struct lab_column c = {.name = at->text, .x = NAN, .sweep = COLUMN_ALONE};
    const struct yaml_node *x = yaml_get(n, "x"), *label = yaml_get(n, "label");
    if (x) experiment_number(r, x, &c.x);
    if (label)
        yaml_error(&r->e->file, label, r->diags, "its name stands before the colon",
                   "'label' belongs to 'over'");
    uint32_t first = r->columns.len;
    draft_finish(r, d, &c);
    vec_push(&r->groups, (struct column_group){at->text, first, 1});
}

static void refuse_without_over(struct experiment_reading *r, const struct yaml_node *n)
{
    const struct yaml_node *best = yaml_get(n, "best"), *where = yaml_get(n, "where");
    if (best)
        yaml_error(&r->e->file, best, r->diags, "'over' or 'of' says among which",
                   "'best' needs columns to choose from");
    if (where)
        yaml_error(&r->e->file, where, r->diags, "for example over: {tuple.n: [1, 2, 4]}",
                   "'where' belongs to 'over'");
}

static void read_column(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n)
{
    static const char *const keys[] = {"machine", "set", "mech", "mech_set", "like",  "over",
                                       "label",   "x",   "best", "of",       "where", "skip"};
    if (!name_is_free(r, at->text, at)) return;
    if (n->kind == YAML_LIST || (n->kind == YAML_TEXT && *n->text)) {
        yaml_error(&r->e->file, n, r->diags, "for example L1: {set: {l1.mshrs: 128}}",
                   "a column is a mapping");
        return;
    }
    if (n->kind == YAML_MAP && yaml_get(n, "of")) {
        read_best_of(r, at, n);
        return;
    }
    if (n->kind == YAML_MAP) experiment_only(r, n, keys, ARRAY_LEN(keys));
    struct column_draft *d = draft_read(r, at, n);
    if (!d) return;
    if (yaml_get(n, "over")) {
        read_over(r, at, n, d);
        draft_free(d);
    } else {
        refuse_without_over(r, n);
        read_plain(r, at, n, d);
    }
}

static bool read_skip(struct experiment_reading *r, const struct yaml_node *n)
{
    static const char *const skips[] = {"none", "failed"};
    return experiment_choice(r, n, "skip", skips, ARRAY_LEN(skips), 0) == 1;
}

/* `skip` belongs to `best`. */
static void refuse_skip(struct experiment_reading *r, const struct yaml_node *n)
{
    const struct yaml_node *skip = n->kind == YAML_MAP ? yaml_get(n, "skip") : NULL;
    if (skip && !yaml_get(n, "best"))
        yaml_error(&r->e->file, skip, r->diags, "for example best: ipc",
                   "'skip' needs 'best': runs are left out of a choice");
}

/* The measures of oracles, once all columns have their names. */
static void read_bests(struct experiment_reading *r, const struct yaml_node *columns)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        uint32_t c = experiment_column_find(r, columns->keys[i].text);
        refuse_skip(r, &columns->items[i]);
        if (c == UINT32_MAX || !r->columns.data[c].choice_count) continue;
        r->columns.data[c].skips_failed = read_skip(r, &columns->items[i]);
        const struct yaml_node *best = yaml_get(&columns->items[i], "best");
        if (best)
            r->columns.data[c].best = experiment_expr(r, best, true);
        else
            yaml_error(&r->e->file, &columns->keys[i], r->diags, "for example best: ipc",
                       "'of' needs 'best': by which number");
    }
}

void experiment_read_columns(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const struct yaml_node *n = yaml_get(e->file.root, "columns"), *base = yaml_get(e->file.root, "baseline");
    if (!n || n->kind != YAML_MAP || !n->count) {
        yaml_error(&e->file, n ? n : e->file.root, r->diags,
                   "for example columns: {base: {}, gto: {mech: gto}}", "'columns' must name at least one");
        return;
    }
    if (!draft_check_machine(r)) return;
    for (uint32_t i = 0; i < n->count; i++) read_column(r, &n->keys[i], &n->items[i]);
    read_bests(r, n);
    if (base) e->baseline = experiment_column(r, base);
    e->columns = ARENA_ARRAY(&e->arena, struct lab_column, r->columns.len);
    e->column_count = r->columns.len;
    if (r->columns.len) memcpy(e->columns, r->columns.data, r->columns.len * sizeof *e->columns);
}
