/* experiment_where.c: `where` of a column with `over`: which combinations of the swept parameters there are.
 *
 *     over: {tuple.n: [1, 2, 4], tuple.p: [1, 2, 4]}
 *     where: [tuple.p <= tuple.n, 'tuple.n <= base.resident.warps / 2']
 *
 * A name of `over` is the parameter. A condition on these alone is decided when the file is read: there is no
 * column where it does not hold. One that uses results of runs is decided for each workload, once they are
 * there: the column then has a run of this workload, or none. */
#include "lab/experiment_read.h"

#include <math.h>

double over_number(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    double v = strtod(text, &end);
    const char *unit = *end && end != text ? strchr(units, *end) : NULL;
    if (unit) v = ldexp(v, 10 * (int)(unit - units + 1));
    return end == text || (unit ? end[1] : *end) ? NAN : v;
}

static uint32_t position(const struct over *o, const char *name)
{
    for (uint32_t k = 0; k < o->map->count; k++)
        if (!strcmp(o->map->keys[k].text, name)) return k;
    return UINT32_MAX;
}

/* Must a run be known for it? */
static bool needs_run(void *over, const struct expr_leaf *leaf)
{
    return leaf->kind != EXPR_PARAM || leaf->owner || position(over, leaf->name) == UINT32_MAX;
}

bool where_read(struct experiment_reading *r, const struct yaml_node *n, const struct over *o,
                struct where *out)
{
    const struct yaml_node *items;
    uint32_t count;
    *out = (struct where){0};
    if (!n) return true;
    if (o->labels || o->x) {
        yaml_error(&r->e->file, o->labels ? o->labels : o->x, r->diags, NULL,
                   "'label' and 'x' do not go with 'where', which leaves columns out");
        return false;
    }
    if (!experiment_texts(r, n, &items, &count)) return false;
    out->own = ARENA_ARRAY(&r->e->arena, const struct expr *, count);
    out->later = ARENA_ARRAY(&r->e->arena, const struct expr *, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct expr *e = experiment_condition(r, &items[i], o->map);
        if (!e) return false;
        if (expr_any(e, needs_run, (void *)o))
            out->later[out->later_count++] = e;
        else
            out->own[out->own_count++] = e;
    }
    return true;
}

static double picked_value(void *over, const struct expr_leaf *leaf)
{
    const struct over *o = over;
    return over_number(o->picked[position(o, leaf->name)]->text);
}

bool where_holds(struct experiment_reading *r, const struct yaml_node *n, const struct where *w,
                 const struct over *o, bool *holds)
{
    *holds = true;
    for (uint32_t i = 0; i < w->own_count; i++) {
        const double value = expr_eval(w->own[i], picked_value, (void *)o);
        if (isnan(value)) {
            yaml_error(&r->e->file, n, r->diags, "compare numbers, such as tuple.p <= tuple.n",
                       "a condition has no value for '%s'", o->picked[0]->text);
            return false;
        }
        *holds = *holds && value != 0;
    }
    return true;
}
