/* experiment_bars.c: the bars of an experiment or a study: how many values or claims should agree with the
 * paper. */
#include "lab/experiment_read.h"

#include <ctype.h>

#define AIM_HINT "for example aim: 16, aim: 2/3 or aim: all"

/* ---- the aim ---- */

/* Reads digits at the beginning of the text; *end is after them. */
static bool read_count(const char *text, char **end, uint32_t *out)
{
    enum { COUNT_MAX = 1000000 };
    unsigned long v = isdigit((unsigned char)*text) ? strtoul(text, end, 10) : COUNT_MAX + 1ul;
    *out = (uint32_t)MIN(v, (unsigned long)UINT32_MAX);
    return v <= COUNT_MAX;
}

/* "16", "2/3" or "all" */
static bool aim_of_text(const char *text, struct lab_bar *b)
{
    char *end = NULL;
    if (!strcmp(text, "all")) {
        b->aim = b->aim_of = 1;
        return true;
    }
    if (!read_count(text, &end, &b->aim)) return false;
    if (!*end) return true;
    return *end == '/' && read_count(end + 1, &end, &b->aim_of) && !*end && b->aim_of && b->aim <= b->aim_of;
}

static void read_aim(struct experiment_reading *r, struct lab_bar *b, const struct yaml_node *n)
{
    const struct yaml_node *aim = yaml_get(n, "aim"), *most = yaml_get(n, "at_most"), *is = aim ? aim : most;
    b->is_most = most != NULL;
    if (!aim == !most) {
        yaml_error(&r->e->file, is ? is : n, r->diags, AIM_HINT,
                   "bar '%s' needs an 'aim' or an 'at_most', one of them", b->name);
        return;
    }
    b->aim_text = is->text;
    if (is->kind != YAML_TEXT || !aim_of_text(is->text, b) || (most && b->aim_of))
        yaml_error(&r->e->file, is, r->diags, aim ? AIM_HINT : "for example at_most: 5",
                   aim ? "'aim' is a number, a share or 'all'" : "'at_most' is a number");
}

/* ---- what it counts ---- */

static uint32_t read_bar_figure(struct experiment_reading *r, const struct yaml_node *at)
{
    VEC(const char *) ids = {0};
    uint32_t found = BAR_ALL;
    if (!at) return BAR_ALL;
    for (uint32_t i = 0; i < r->e->figure_count; i++) {
        if (!strcmp(r->e->figures[i].id, at->text)) found = i;
        vec_push(&ids, r->e->figures[i].id);
    }
    if (found == BAR_ALL)
        experiment_unknown(r, at, "figure", ids.data, ids.len, "figures have their names under 'id:'");
    vec_free(&ids);
    return found;
}

/* Does the figure have anything for the bar to count in this column and measure? */
static bool cell_counts(const struct experiment *e, const struct lab_figure *f, uint32_t cell,
                        const struct lab_bar *b)
{
    const uint32_t column = f->columns[cell / f->measure_count],
                   measure = f->measures[cell % f->measure_count];
    if (!bar_takes(b, column, measure)) return false;
    return b->count == BAR_SAME_CLASS ? e->measures[measure].class_count != 0 : f->papers[cell] != NULL;
}

static bool figure_counts(const struct experiment *e, const struct lab_figure *f, const struct lab_bar *b)
{
    const uint32_t cells = f->column_count * f->measure_count;
    if (bar_counts_claims(b)) {
        for (uint32_t i = 0; i < f->claim_count; i++)
            if (!f->claims[i].excuse && bar_takes(b, f->claims[i].column, f->claims[i].measure)) return true;
        return false;
    }
    for (uint32_t i = 0; i < cells; i++)
        if (cell_counts(e, f, i, b)) return true;
    return false;
}

static void check_counts(struct experiment_reading *r, const struct lab_bar *b, const struct yaml_node *at)
{
    const struct experiment *e = r->e;
    for (uint32_t i = 0; i < e->figure_count; i++)
        if ((b->figure == BAR_ALL || b->figure == i) && figure_counts(e, &e->figures[i], b)) return;
    yaml_error(&e->file, at, r->diags,
               bar_counts_claims(b)         ? "figures name them under 'claims:'"
               : b->count == BAR_SAME_CLASS ? "the measure needs 'classes:'"
                                            : "figures name the paper's numbers under 'paper:'",
               "bar '%s' has nothing to count", b->name);
}

/* A study has no figures of its own: its bars count those of its experiments, all of them. */
static void read_scope(struct experiment_reading *r, struct lab_bar *b, const struct yaml_node *n)
{
    const struct yaml_node *column = yaml_get(n, "column"), *measure = yaml_get(n, "measure");
    const uint32_t errors = r->diags->errors;
    b->figure = b->column = b->measure = BAR_ALL;
    if (r->e->study) return;
    b->figure = read_bar_figure(r, yaml_get(n, "figure"));
    if (column) b->column = experiment_column(r, column);
    if (measure) b->measure = experiment_measure(r, measure);
    if (r->diags->errors == errors) check_counts(r, b, n);
}

/* ---- the list ---- */

static void read_bar(struct experiment_reading *r, struct lab_bar *b, const struct yaml_node *n)
{
    static const char *const counts[] = {"same class", "within a quarter", "reproduced", "not reproduced"};
    static const char *const keys[] = {"name", "count", "aim", "at_most", "figure", "column", "measure"};
    const size_t study_keys = 4; /* the first ones */
    struct experiment *e = r->e;
    *b = (struct lab_bar){.name = "", .aim_text = ""};
    if (n->kind != YAML_MAP || !yaml_get(n, "name") || !yaml_get(n, "count")) {
        yaml_error(&e->file, n, r->diags, "for example {name: P_inf, count: within a quarter, aim: 16}",
                   "a bar is a mapping with a 'name', a 'count' and an 'aim'");
        return;
    }
    experiment_only(r, n, keys, e->study ? study_keys : ARRAY_LEN(keys));
    b->name = yaml_text(&e->file, n, "name", "", r->diags);
    b->count = (enum bar_count)experiment_choice(r, n, "count", counts, ARRAY_LEN(counts), BAR_SAME_CLASS);
    b->count_text = counts[b->count];
    read_aim(r, b, n);
    read_scope(r, b, n);
}

void experiment_read_bars(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const struct yaml_node *n = yaml_get(e->file.root, "bars");
    if (!n) return;
    if (n->kind != YAML_LIST) {
        yaml_error(&e->file, n, r->diags,
                   "for example bars: [{name: P_inf, count: within a quarter, aim: 16}]",
                   "'bars' takes a list");
        return;
    }
    e->bars = ARENA_ARRAY(&e->arena, struct lab_bar, n->count);
    e->bar_count = n->count;
    for (uint32_t i = 0; i < n->count; i++) read_bar(r, &e->bars[i], &n->items[i]);
}
