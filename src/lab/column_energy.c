/* column_energy.c: see column_energy.h. */
#include "lab/column_energy.h"

#include "core/machine.h"
#include "core/mech/mech_energy.h"

#include <math.h>

/* ---- names ---- */

static const char *const sums[] = {"total", "without_leakage", "events", "helper", "seconds"};

const char *column_energy_name(uint32_t i)
{
    if (i < ARRAY_LEN(sums)) return sums[i];
    i -= ARRAY_LEN(sums);
    return i < ENERGY_PARTS ? energy_part_words[i] : NULL;
}

/* Is the row of this mechanism, or itself of this name? */
static bool row_is_of(const struct energy_row *r, const char *name)
{
    const size_t len = strlen(name);
    return !strncmp(r->name, name, len) && (!r->name[len] || (r->name[len] == '.' && !strchr(name, '.')));
}

bool column_energy_knows(const struct lab_column *c, const char *name)
{
    for (uint32_t i = 0; column_energy_name(i); i++)
        if (!strcmp(column_energy_name(i), name)) return true;
    for (uint32_t i = 0; c->attached && i < mech_set_count(c->attached); i++)
        for (const struct energy_row *r = mech_set_at(c->attached, i)->energy; r && r->name; r++)
            if (row_is_of(r, name)) return true;
    return false;
}

/* ---- tables ---- */

const char *column_energy_table(const struct lab_column *c)
{
    return c->resolved && c->attached ? c->resolved->energy : "";
}

bool column_energy_load(const struct lab_column *c, struct energy_table *t, struct diag_list *diags)
{
    return mech_energy_load(t, column_energy_table(c), c->attached, diags);
}

/* ---- values ---- */

/* A statistic that the run does not have is 0: its machine has no such part. */
static double run_value(void *context, const char *name)
{
    const struct column_run *r = context;
    const double v = r->value(r->context, name);
    return isnan(v) ? 0 : v;
}

static double events_of(struct energy_sum e)
{
    e.joules[ENERGY_ALWAYS] = 0;
    return energy_total(&e, false);
}

static double sum_of(const struct energy_sum *e, const char *name)
{
    if (!strcmp(name, "total")) return energy_total(e, true);
    if (!strcmp(name, "without_leakage")) return energy_total(e, false);
    if (!strcmp(name, "events")) return events_of(*e);
    if (!strcmp(name, "helper")) return e->helper;
    return !strcmp(name, "seconds") ? e->seconds : NAN;
}

static double rows_of(const struct energy_table *t, const struct energy_source *s, const char *name)
{
    double joules = 0;
    bool is_there = false;
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (!row_is_of(s->rows[i], name)) continue;
        joules += energy_row_joules(t, s, s->rows[i]);
        is_there = true;
    }
    return is_there ? joules : NAN;
}

static double find(const struct energy_table *t, const struct energy_source *s, const char *name)
{
    struct energy_sum e;
    energy_of(t, s, &e);
    const double sum = sum_of(&e, name);
    if (!isnan(sum)) return sum;
    for (enum energy_part p = 0; p < ENERGY_PARTS; p++)
        if (!strcmp(energy_part_words[p], name)) return e.joules[p];
    return rows_of(t, s, name);
}

/* A run whose energy is asked for. */
struct energy_run {
    struct column_run run;
    struct mech_energy rows;
    struct energy_source source;
};

/* False: it has no cycles. */
static bool run_open(struct energy_run *e, const struct column_run *r)
{
    if (isnan(r->value(r->context, "gpu.cycles"))) return false;
    e->run = *r;
    mech_energy_gather(&e->rows, r->column->attached);
    e->source = mech_energy_source(r->machine, &e->rows);
    e->source.value = run_value;
    e->source.context = &e->run;
    return true;
}

bool column_energy_sum(const struct column_run *r, const struct energy_table *t, struct energy_sum *out)
{
    struct energy_run e;
    if (!run_open(&e, r)) return false;
    energy_of(t, &e.source, out);
    mech_energy_free(&e.rows);
    return true;
}

double column_energy(const struct column_run *r, const struct energy_table *t, const char *name)
{
    struct energy_run e;
    if (!run_open(&e, r)) return NAN;
    const double joules = find(t, &e.source, name);
    mech_energy_free(&e.rows);
    return joules;
}
