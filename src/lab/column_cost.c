/* column_cost.c: see column_cost.h. */
#include "lab/column_cost.h"

#include "core/mech/mech_cost.h"

/* MECHANISM, or MECHANISM.PART: the index of the mechanism, or UINT32_MAX; its length in the name. */
static uint32_t find_mechanism(const struct lab_column *c, const char *name, size_t *len)
{
    *len = strcspn(name, ".");
    for (uint32_t i = 0; c->attached && i < mech_set_count(c->attached); i++) {
        const char *mech = mech_set_at(c->attached, i)->name;
        if (strlen(mech) == *len && !strncmp(mech, name, *len)) return i;
    }
    return UINT32_MAX;
}

static enum cost_answer sum_parts(const struct mech_cost *cost, double *bytes)
{
    if (!cost->count) return COST_NO_STORAGE;
    for (uint32_t i = 0; i < cost->count; i++) {
        if (cost->rows[i].scope != cost->rows[0].scope) return COST_MIXED;
        *bytes += mech_storage_bytes(&cost->rows[i]);
    }
    return COST_KNOWN;
}

static enum cost_answer find_part(const struct mech_cost *cost, const char *part, double *bytes)
{
    for (uint32_t i = 0; i < cost->count; i++) {
        if (strcmp(cost->rows[i].name, part)) continue;
        *bytes = mech_storage_bytes(&cost->rows[i]);
        return COST_KNOWN;
    }
    return COST_NO_PART;
}

enum cost_answer column_cost(const struct lab_column *c, const char *name, double *bytes,
                             struct strbuf *parts)
{
    size_t len;
    const uint32_t i = find_mechanism(c, name, &len);
    *bytes = 0;
    if (i == UINT32_MAX || !c->resolved) return COST_NOT_HERE;
    const struct mech_machine machine = mech_machine_of(c->resolved);
    struct mech_cost cost;
    struct diag_list diags = {0};
    const bool fits = mech_cost_of(c->attached, i, &machine, &cost, &diags);
    if (!fits && parts) strbuf_puts(parts, diags.items.data[0].message);
    diag_free(&diags);
    if (!fits) return COST_MISFIT;
    for (uint32_t k = 0; parts && k < cost.count; k++)
        strbuf_printf(parts, "%s%s", k ? ", " : "", cost.rows[k].name);
    return name[len] ? find_part(&cost, name + len + 1, bytes) : sum_parts(&cost, bytes);
}
