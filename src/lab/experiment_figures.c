/* experiment_figures.c: the figures of an experiment and the claims that they test. */
#include "lab/column_param.h"
#include "lab/experiment_read.h"

#include <math.h>

static const char *const kind_names[] = {"bars", "stacked", "lines", "heatmap", "scatter", "table"};

uint32_t experiment_choice(struct experiment_reading *r, const struct yaml_node *map, const char *key,
                           const char *const *names, size_t count, uint32_t absent)
{
    const struct yaml_node *n = yaml_get(map, key);
    if (!n) return absent;
    for (uint32_t i = 0; n->kind == YAML_TEXT && i < count; i++)
        if (!strcmp(names[i], n->text)) return i;
    struct strbuf all = {0};
    for (size_t i = 0; i < count; i++) strbuf_printf(&all, "%s%s", i ? ", " : "one of ", names[i]);
    yaml_error(&r->e->file, n, r->diags, strbuf_text(&all), "'%s' cannot be '%s'", key, n->text);
    strbuf_free(&all);
    return absent;
}

static bool read_flag(struct experiment_reading *r, const struct yaml_node *map, const char *key)
{
    static const char *const names[] = {"false", "true"};
    return experiment_choice(r, map, key, names, ARRAY_LEN(names), 0) == 1;
}

/* ---- columns and measures ---- */

static void default_columns(struct experiment_reading *r, struct lab_figure *f, uint32_t *columns)
{
    const struct experiment *e = r->e;
    for (uint32_t i = 0; i < e->column_count; i++)
        if (!e->columns[i].hidden && i != e->baseline) columns[f->column_count++] = i;
    if (!f->column_count && e->column_count) columns[f->column_count++] = e->baseline;
}

static bool add_column(struct experiment_reading *r, struct lab_figure *f, uint32_t *columns, uint32_t column,
                       const struct yaml_node *at)
{
    for (uint32_t i = 0; i < f->column_count; i++)
        if (columns[i] == column) {
            yaml_error(&r->e->file, at, r->diags, NULL, "column '%s' is named twice",
                       r->e->columns[column].name);
            return false;
        }
    columns[f->column_count++] = column;
    return true;
}

static void read_figure_columns(struct experiment_reading *r, struct lab_figure *f, const struct yaml_node *n)
{
    const struct yaml_node *items;
    uint32_t count;
    uint32_t *columns = ARENA_ARRAY(&r->e->arena, uint32_t, r->e->column_count);
    f->columns = columns;
    if (!n) {
        default_columns(r, f, columns);
        return;
    }
    if (!experiment_texts(r, n, &items, &count)) return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one = experiment_column_find(r, items[i].text);
        struct column_group single = {items[i].text, one, 1};
        const struct column_group *g = one != UINT32_MAX ? &single : experiment_columns(r, &items[i]);
        for (uint32_t k = 0; g && k < g->count; k++)
            if (!add_column(r, f, columns, g->first + k, &items[i])) return;
    }
}

uint32_t experiment_measure(struct experiment_reading *r, const struct yaml_node *at)
{
    VEC(const char *) names = {0};
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < r->e->measure_count; i++) {
        if (!strcmp(r->e->measures[i].name, at->text)) found = i;
        vec_push(&names, r->e->measures[i].name);
    }
    if (found == UINT32_MAX)
        experiment_unknown(r, at, "measure", names.data, names.len, "measures are named under 'measures:'");
    vec_free(&names);
    return found;
}

static void read_figure_measures(struct experiment_reading *r, struct lab_figure *f,
                                 const struct yaml_node *n, const struct yaml_node *figure)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!n) {
        uint32_t *only = ARENA_NEW(&r->e->arena, uint32_t);
        f->measures = only;
        f->measure_count = 1;
        if (r->e->measure_count > 1)
            yaml_error(&r->e->file, figure, r->diags, "measures: [NAME]",
                       "figure '%s' must say which measures it shows", f->id);
        return;
    }
    if (!experiment_texts(r, n, &items, &count)) return;
    uint32_t *measures = ARENA_ARRAY(&r->e->arena, uint32_t, count);
    f->measures = measures;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t m = experiment_measure(r, &items[i]);
        if (m != UINT32_MAX) measures[f->measure_count++] = m;
    }
}

/* ---- the paper's numbers ---- */

static bool paper_has(const struct experiment *e, const char *figure)
{
    for (uint32_t w = 0; w < e->workload_count; w++)
        if (!isnan(workload_figure(e->workloads[w], e->paper, figure))) return true;
    return false;
}

/* Puts the paper's number beside every cell of this column, or else of this measure; gives how many. */
static uint32_t put_paper(const struct experiment *e, struct lab_figure *f, const char *name,
                          const char *figure)
{
    uint32_t count = 0;
    for (int by_measure = 0; by_measure <= 1 && !count; by_measure++)
        for (uint32_t i = 0; i < f->column_count * f->measure_count; i++) {
            const char *column = e->columns[f->columns[i / f->measure_count]].name;
            const char *measure = e->measures[f->measures[i % f->measure_count]].name;
            if (strcmp(by_measure ? measure : column, name)) continue;
            f->papers[i] = figure;
            count++;
        }
    return count;
}

/* paper: {infinite: p_inf}: the paper's table has a value of each workload to stand beside this column's. */
static void read_papers(struct experiment_reading *r, struct lab_figure *f, const struct yaml_node *n)
{
    const struct experiment *e = r->e;
    f->papers = ARENA_ARRAY(&r->e->arena, const char *, f->column_count * f->measure_count);
    if (!n) return;
    if (n->kind != YAML_MAP || !*e->paper) {
        yaml_error(&e->file, n, r->diags,
                   "paper: {COLUMN: FIGURE}, and 'paper: NAME' for the whole experiment",
                   "'paper' of a figure says which of the paper's figures belongs to a column or a measure");
        return;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const struct yaml_node *name = &n->keys[i], *figure = &n->items[i];
        if (!paper_has(e, figure->text))
            yaml_error(&e->file, figure, r->diags, "the workloads' descriptions have them under 'papers:'",
                       "%s has no '%s' for any of these workloads", e->paper, figure->text);
        else if (!put_paper(e, f, name->text, figure->text))
            yaml_error(&e->file, name, r->diags, NULL,
                       "no column and no measure of this figure is called '%s'", name->text);
    }
}

/* ---- claims ---- */

static void read_claim_column(struct experiment_reading *r, const struct lab_figure *f, struct lab_claim *c,
                              const struct yaml_node *n)
{
    const struct yaml_node *column = yaml_get(n, "column"), *measure = yaml_get(n, "measure");
    if (column)
        c->column = experiment_column(r, column);
    else if (f->column_count == 1)
        c->column = f->columns[0];
    else
        yaml_error(&r->e->file, n, r->diags, "column: NAME", "which column is claim '%s' about?", c->id);
    if (measure)
        c->measure = experiment_measure(r, measure);
    else if (f->measure_count == 1)
        c->measure = f->measures[0];
    else
        yaml_error(&r->e->file, n, r->diags, "measure: NAME", "which measure is claim '%s' about?", c->id);
}

/* One of the experiment's; NULL with an error, or where `n` is. */
static const char *read_workload(struct experiment_reading *r, const struct yaml_node *n)
{
    const struct experiment *e = r->e;
    const char *found = NULL;
    VEC(const char *) names = {0};
    if (!n) return NULL;
    for (uint32_t i = 0; i < e->workload_count; i++) {
        if (!strcmp(e->workloads[i]->name, n->text)) found = e->workloads[i]->name;
        vec_push(&names, e->workloads[i]->name);
    }
    if (!found) experiment_unknown(r, n, "workload of this experiment", names.data, names.len, NULL);
    vec_free(&names);
    return found;
}

/* A class that the paper puts a workload of the experiment into; NULL with an error. */
static const char *read_class(struct experiment_reading *r, const struct yaml_node *n)
{
    const struct experiment *e = r->e;
    const char *found = NULL;
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < e->workload_count; i++) {
        const struct workload_paper *p = workload_paper(e->workloads[i], e->paper);
        if (!p || !*p->class_of) continue;
        if (!strcmp(p->class_of, n->text)) found = p->class_of;
        vec_push(&names, p->class_of);
    }
    if (!found)
        experiment_unknown(r, n, "class of these workloads", names.data, names.len,
                           "'paper:' of the experiment says whose classes they are");
    vec_free(&names);
    return found;
}

static void read_claim_row(struct experiment_reading *r, const struct lab_figure *f, struct lab_claim *c,
                           const struct yaml_node *n)
{
    const struct yaml_node *class_of = yaml_get(n, "class");
    const struct experiment *e = r->e;
    const bool is_over = c->measure < e->measure_count && e->measures[c->measure].is_over;
    c->workload = read_workload(r, yaml_get(n, "workload"));
    c->mean = (enum mean_kind)experiment_choice(r, n, "mean", mean_names, MEAN_KINDS, MEAN_NONE);
    if (class_of) c->class_of = read_class(r, class_of);
    if (yaml_get(n, "workload") && (c->mean != MEAN_NONE || class_of))
        yaml_error(&e->file, n, r->diags, "leave out 'mean' and 'class', or 'workload'",
                   "claim '%s' is about a workload or about a mean", c->id);
    if (yaml_get(n, "workload") || f->workload || is_over || c->mean != MEAN_NONE) return;
    if (f->mean == MEAN_NONE && e->workload_count)
        yaml_error(&e->file, n, r->diags,
                   "give the figure or the claim 'mean: arithmetic', or the claim 'workload: NAME'",
                   "claim '%s' is about a mean, and the figure has none", c->id);
}

/* relation: above, or below. */
static void read_claim_relation(struct experiment_reading *r, struct lab_claim *c, const struct yaml_node *n)
{
    static const char *const words[] = {
        [CLAIM_ABOUT] = "about", [CLAIM_ABOVE] = "above", [CLAIM_BELOW] = "below"};
    const struct yaml_node *relation = yaml_get(n, "relation");
    if (!relation) return;
    for (uint32_t i = CLAIM_ABOVE; i < ARRAY_LEN(words); i++)
        if (relation->kind == YAML_TEXT && !strcmp(relation->text, words[i]))
            c->relation = (enum claim_relation)i;
    if (c->relation == CLAIM_ABOUT)
        yaml_error(&r->e->file, relation, r->diags,
                   "for example {id: apres.cs, column: APRES, relation: above}",
                   "'relation' is above or below: ours against the paper's number");
    else if (yaml_get(n, "neutral"))
        yaml_error(&r->e->file, relation, r->diags, NULL,
                   "a claim has a 'relation' or a 'neutral': the paper's number is a bound, or a value");
}

/* not_comparable: REASON, in place of all that says what ours is. */
static void read_excuse(struct experiment_reading *r, struct lab_claim *c, const struct yaml_node *n)
{
    static const char *const keys[] = {"id", "not_comparable"};
    const struct yaml_node *excuse = yaml_get(n, "not_comparable");
    experiment_only(r, n, keys, ARRAY_LEN(keys));
    c->column = c->measure = UINT32_MAX;
    c->excuse = excuse->kind == YAML_TEXT ? excuse->text : "";
    if (!*c->excuse)
        yaml_error(&r->e->file, excuse, r->diags, "not_comparable: an input of the areas above",
                   "'not_comparable' takes the reason");
}

static bool read_claim(struct experiment_reading *r, const struct lab_figure *f, struct lab_claim *c,
                       const struct yaml_node *n)
{
    static const char *const keys[] = {"id",      "column", "measure",  "workload",      "mean",
                                       "neutral", "class",  "relation", "not_comparable"};
    const struct yaml_node *id = yaml_get(n, "id"), *neutral = yaml_get(n, "neutral");
    c->neutral = NAN;
    if (!id || id->kind != YAML_TEXT) {
        yaml_error(&r->e->file, n, r->diags, "for example {id: bw.x4.l1, column: L1, neutral: 0}",
                   "a claim is a mapping with an id");
        return false;
    }
    c->id = id->text;
    c->fact = claims_find(&r->e->claims, id->text);
    if (!c->fact) {
        const char *near = claims_nearest(&r->e->claims, id->text);
        experiment_unknown(r, id, "claim", &near, near ? 1 : 0, "claims.tsv has them");
        return false;
    }
    if (yaml_get(n, "not_comparable")) {
        read_excuse(r, c, n);
        return true;
    }
    experiment_only(r, n, keys, ARRAY_LEN(keys));
    read_claim_column(r, f, c, n);
    read_claim_row(r, f, c, n);
    if (neutral) experiment_number(r, neutral, &c->neutral);
    read_claim_relation(r, c, n);
    return true;
}

static void read_claims(struct experiment_reading *r, struct lab_figure *f, const struct yaml_node *n)
{
    if (!n) return;
    if (n->kind != YAML_LIST) {
        yaml_error(&r->e->file, n, r->diags, "for example claims: [{id: bw.x4.l1, column: L1}]",
                   "'claims' takes a list");
        return;
    }
    struct lab_claim *claims = ARENA_ARRAY(&r->e->arena, struct lab_claim, n->count);
    f->claims = claims;
    for (uint32_t i = 0; i < n->count; i++)
        if (read_claim(r, f, &claims[f->claim_count], &n->items[i])) f->claim_count++;
}

/* ---- a figure ---- */

static int read_digits(struct experiment_reading *r, const struct yaml_node *map)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6"};
    return (int)experiment_choice(r, map, "digits", names, ARRAY_LEN(names), UINT32_MAX);
}

static void read_classes(struct experiment_reading *r, struct lab_figure *f, const struct yaml_node *n)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!n || !experiment_texts(r, n, &items, &count)) return;
    const char **classes = ARENA_ARRAY(&r->e->arena, const char *, count + 1);
    f->classes = classes;
    for (uint32_t i = 0; i < count; i++) {
        const char *found = read_class(r, &items[i]);
        if (found) classes[f->class_count++] = found;
    }
    if (f->mean == MEAN_NONE)
        yaml_error(&r->e->file, n, r->diags, "for example mean: geometric",
                   "'classes' have means: the figure must say which");
}

/* kernel: 112, or kernel: Mapper, or kernel: [Mapper, 2]. */
static void read_kernel(struct experiment_reading *r, struct lab_figure *f, const struct yaml_node *n)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!n || !experiment_texts(r, n, &items, &count)) return;
    char *end;
    const unsigned long number = strtoul(items[count - 1].text, &end, 10);
    const bool is_number = !*end && number > 0 && number < UINT32_MAX;
    if (!f->workload || count > 2 || (count == 2 && !is_number)) {
        yaml_error(
            &r->e->file, n, r->diags, "workload: mr-ii, kernel: [Mapper, 2], or kernel: 112",
            "'kernel' is a launch of the figure's 'workload': its number from 1, or the name and which "
            "of that name");
        return;
    }
    f->kernel.launch = is_number ? (uint32_t)number : 1;
    if (count == 2 || !is_number) f->kernel.name = items[0].text;
}

static bool axis_is_known(struct experiment_reading *r, const struct lab_figure *f,
                          const struct yaml_node *at)
{
    for (uint32_t i = 0; i < f->column_count; i++) {
        const struct lab_column *c = &r->e->columns[f->columns[i]];
        if (column_param_row(c, at->text)) continue;
        yaml_error(&r->e->file, at, r->diags, "an axis is a parameter that every column of the figure has",
                   "column '%s' has no parameter '%s'", c->name, at->text);
        return false;
    }
    return true;
}

/* axes: [tuple.n, tuple.p]: columns stand where their parameters say. */
static void read_axes(struct experiment_reading *r, struct lab_figure *f, const struct yaml_node *n)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!n || !experiment_texts(r, n, &items, &count)) return;
    if (count != 2 || f->kind != FIGURE_HEATMAP || !f->workload || f->measure_count != 1) {
        yaml_error(&r->e->file, n, r->diags,
                   "draw: heatmap, workload: bfs, axes: [tuple.n, tuple.p], columns: NAME, measures: speedup",
                   "'axes' are two parameters of a heat map of one workload and one measure");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (axis_is_known(r, f, &items[i])) f->axes[i] = items[i].text;
    if (!f->axes[0] || !f->axes[1]) f->axes[0] = f->axes[1] = NULL;
}

static void read_figure(struct experiment_reading *r, struct lab_figure *f, const struct yaml_node *n)
{
    static const char *const keys[] = {"id",     "title",   "where",    "draw",   "columns", "measures",
                                       "mean",   "percent", "digits",   "x",      "y",       "note",
                                       "claims", "paper",   "workload", "kernel", "axes",    "classes"};
    struct experiment *e = r->e;
    if (n->kind != YAML_MAP) {
        yaml_error(&e->file, n, r->diags, "for example - {id: ipc, draw: bars, measures: [ipc]}",
                   "a figure is a mapping");
        return;
    }
    experiment_only(r, n, keys, ARRAY_LEN(keys));
    f->id = yaml_text(&e->file, n, "id", e->name, r->diags);
    f->title = yaml_text(&e->file, n, "title", e->title, r->diags);
    f->where = yaml_text(&e->file, n, "where", "", r->diags);
    f->kind =
        (enum figure_kind)experiment_choice(r, n, "draw", kind_names, ARRAY_LEN(kind_names), FIGURE_BARS);
    f->mean = (enum mean_kind)experiment_choice(r, n, "mean", mean_names, MEAN_KINDS, MEAN_NONE);
    f->workload = read_workload(r, yaml_get(n, "workload"));
    f->percent = read_flag(r, n, "percent");
    f->digits = read_digits(r, n);
    f->x_title = yaml_text(&e->file, n, "x", "", r->diags);
    f->y_title = yaml_text(&e->file, n, "y", "", r->diags);
    f->note = yaml_text(&e->file, n, "note", "", r->diags);
    for (const struct lab_figure *other = e->figures; other < f; other++)
        if (!strcmp(other->id, f->id))
            yaml_error(&e->file, yaml_get(n, "id") ? yaml_get(n, "id") : n, r->diags,
                       "give each figure its own 'id:'", "there is a figure '%s' already", f->id);
    read_figure_columns(r, f, yaml_get(n, "columns"));
    read_figure_measures(r, f, yaml_get(n, "measures"), n);
    read_kernel(r, f, yaml_get(n, "kernel"));
    read_axes(r, f, yaml_get(n, "axes"));
    read_classes(r, f, yaml_get(n, "classes"));
    read_papers(r, f, yaml_get(n, "paper"));
    read_claims(r, f, yaml_get(n, "claims"));
}

void experiment_read_figures(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const struct yaml_node *n = yaml_get(e->file.root, "figures");
    if (!n || n->kind != YAML_LIST || !n->count) {
        yaml_error(&e->file, n ? n : e->file.root, r->diags,
                   "for example figures: [{id: ipc, draw: bars, measures: [ipc]}]",
                   "'figures' must be a list of at least one");
        return;
    }
    e->figures = ARENA_ARRAY(&e->arena, struct lab_figure, n->count);
    e->figure_count = n->count;
    for (uint32_t i = 0; i < n->count; i++) {
        e->figures[i].id = "";
        read_figure(r, &e->figures[i], &n->items[i]);
    }
}
