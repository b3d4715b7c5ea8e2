/* catalog.c: `heddle explain` and `heddle list stats` for statistics: read from the rows. */
#include "stats/catalog.h"

#include "base/diag.h"
#include "base/vec.h"

#include <string.h>

static const char *type_text(const struct stat_row *r)
{
    switch (r->type) {
    case STAT_COUNT: return "count; kernels and instances add up";
    case STAT_LARGEST: return "the largest value seen since the run began";
    case STAT_HISTOGRAM: return "histogram; kernels and instances add up";
    case STAT_RATIO: return "ratio of two counts";
    }
    UNREACHABLE("statistic type");
}

/* The counter at an offset: what a ratio divides. */
static const char *counter_at(const struct stat_row *rows, size_t offset)
{
    for (const struct stat_row *r = rows; r->name; r++)
        if (r->type != STAT_RATIO && r->offset == offset) return r->name;
    return NULL;
}

static void explain_row(const struct stats_table *t, const struct stat_row *r, struct strbuf *out)
{
    strbuf_printf(out, "%s\n  %s\n", r->name, r->help);
    strbuf_printf(out, "  unit     %s\n", r->unit && *r->unit ? r->unit : "none");
    strbuf_printf(out, "  kind     %s\n", type_text(r));
    if (r->type == STAT_RATIO) {
        const char *num = counter_at(t->rows, r->offset), *den = counter_at(t->rows, r->offset2);
        if (num && den) strbuf_printf(out, "  ratio    %s / %s\n", num, den);
    }
    if (r->type == STAT_HISTOGRAM) strbuf_printf(out, "  buckets  %u\n", r->length);
    strbuf_printf(out, "  counted  %s (%s)\n", t->what, t->where);
    strbuf_printf(out, "  ncu      %s\n", r->ncu ? r->ncu : "no Nsight Compute metric is near");
}

bool stats_explain(stats_tables *tables, const char *name, struct strbuf *out)
{
    struct stats_table t;
    for (uint32_t i = 0; tables(i, &t); i++)
        for (const struct stat_row *r = t.rows; r->name; r++)
            if (!strcmp(r->name, name)) {
                explain_row(&t, r, out);
                return true;
            }
    return false;
}

const char *stats_nearest(stats_tables *tables, const char *name)
{
    VEC(const char *) names = {0};
    struct stats_table t;
    for (uint32_t i = 0; tables(i, &t); i++)
        for (const struct stat_row *r = t.rows; r->name; r++) vec_push(&names, r->name);
    const char *near = diag_nearest(name, names.data, names.len);
    vec_free(&names);
    return near;
}

void stats_list(stats_tables *tables, struct strbuf *out)
{
    struct stats_table t;
    for (uint32_t i = 0; tables(i, &t); i++)
        for (const struct stat_row *r = t.rows; r->name; r++)
            strbuf_printf(out, "%-26s %-18s %s\n", r->name, r->unit, r->help);
}
