/* experiment_columns.c: the columns of an experiment: one of each name, one for each value of `over`, or
 * the best of several. */
#include "lab/experiment_read.h"

#include <math.h>

enum { COLUMNS_MAX = 4096, OVER_MAX = 4 /* parameters of one `over` */ };

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

/* "0.5", "700000", "16K" as a number of an axis; NAN when it is not a number. */
static double axis_value(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    double v = strtod(text, &end);
    const char *unit = *end && end != text ? strchr(units, *end) : NULL;
    if (unit) v = ldexp(v, 10 * (int)(unit - units + 1));
    return end == text || (unit ? end[1] : *end) ? NAN : v;
}

struct over {
    const struct yaml_node *map;              /* parameters and their values */
    const struct yaml_node *labels, *x;       /* lists, or NULL */
    uint32_t count;                           /* of columns */
    const struct yaml_node *picked[OVER_MAX]; /* a value of each parameter */
};

static void over_pick(struct over *o, uint32_t index)
{
    assert(index < o->count && o->map->count <= OVER_MAX);
    for (uint32_t k = o->map->count; k--;) { /* the last one runs fastest */
        const struct yaml_node *values = &o->map->items[k];
        o->picked[k] = &values->items[index % values->count];
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

static bool over_one(struct experiment_reading *r, struct over *o, const struct column_draft *common,
                     const struct yaml_node *at, uint32_t index, bool hidden)
{
    over_pick(o, index);
    struct lab_column c = {.name = over_name(r, o, at->text, index), .x = NAN, .hidden = hidden};
    if (o->map->count == 1) c.x = axis_value(o->picked[0]->text);
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
    struct lab_column c = {.name = at->text, .machine = r->e->machine, .x = NAN};
    c.sets = c.mechs = c.mech_sets = nothing;
    c.choices = choices;
    c.choice_count = count;
    vec_push(&r->columns, c);
    vec_push(&r->drafts, NULL);
    vec_push(&r->groups, (struct column_group){at->text, r->columns.len - 1, 1});
}

static void read_best_of(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n)
{
    static const char *const keys[] = {"of", "best"};
    const struct yaml_node *items;
    uint32_t count, total = 0;
    experiment_only(r, n, keys, ARRAY_LEN(keys));
    if (!experiment_texts(r, yaml_get(n, "of"), &items, &count)) return;
    uint32_t *choices = ARENA_ARRAY(&r->e->arena, uint32_t, COLUMNS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one = experiment_column_find(r, items[i].text);
        const struct column_group *g = one == UINT32_MAX ? experiment_columns(r, &items[i]) : NULL;
        if (one == UINT32_MAX && !g) return;
        for (uint32_t c = g ? g->first : one; c < (g ? g->first + g->count : one + 1) && total < COLUMNS_MAX;
             c++) {
            choices[total++] = c;
            if (!r->columns.data[c].choice_count) continue;
            yaml_error(&r->e->file, &items[i], r->diags, NULL, "'%s' is itself the best of several",
                       items[i].text);
            return;
        }
    }
    add_oracle(r, at, choices, total);
}

/* ---- one name of `columns:` ---- */

static void read_over(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n,
                      const struct column_draft *common)
{
    struct over o;
    bool is_oracle = yaml_get(n, "best") != NULL;
    uint32_t first = r->columns.len;
    if (!over_read(r, n, &o)) return;
    for (uint32_t i = 0; i < o.count; i++)
        if (!over_one(r, &o, common, at, i, is_oracle)) return; /* the others would fail in the same way */
    if (!is_oracle) {
        vec_push(&r->groups, (struct column_group){at->text, first, o.count});
        return;
    }
    uint32_t *choices = ARENA_ARRAY(&r->e->arena, uint32_t, o.count);
    for (uint32_t i = 0; i < o.count; i++) choices[i] = first + i;
    add_oracle(r, at, choices, o.count);
}

static void read_plain(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n,
                       struct column_draft *d)
{
    struct lab_column c = {.name = at->text, .x = NAN};
    const struct yaml_node *x = yaml_get(n, "x"), *label = yaml_get(n, "label");
    if (x) experiment_number(r, x, &c.x);
    if (label)
        yaml_error(&r->e->file, label, r->diags, "its name stands before the colon",
                   "'label' belongs to 'over'");
    uint32_t first = r->columns.len;
    draft_finish(r, d, &c);
    vec_push(&r->groups, (struct column_group){at->text, first, 1});
}

static void read_column(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n)
{
    static const char *const keys[] = {"machine", "set",   "mech", "mech_set", "like",
                                       "over",    "label", "x",    "best",     "of"};
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
        const struct yaml_node *best = yaml_get(n, "best");
        if (best)
            yaml_error(&r->e->file, best, r->diags, "'over' or 'of' says among which",
                       "'best' needs columns to choose from");
        read_plain(r, at, n, d);
    }
}

/* The measures of oracles, once all columns have their names. */
static void read_bests(struct experiment_reading *r, const struct yaml_node *columns)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        uint32_t c = experiment_column_find(r, columns->keys[i].text);
        if (c == UINT32_MAX || !r->columns.data[c].choice_count) continue;
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
