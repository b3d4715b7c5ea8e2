/* column_param.c: see column_param.h. */
#include "lab/column_param.h"

#include "config/param_value.h"
#include "core/machine.h"
#include "core/mech/mech_set.h"

#include <math.h>

/* The row of a parameter and the object that holds its value; NULL: the column does not have it. */
static const struct param_row *find(const struct lab_column *c, const char *key, const void **object)
{
    size_t offset;
    const struct param_row *row = c->resolved ? params_find(machine_groups, key, &offset) : NULL;
    if (row) {
        *object = (const char *)c->resolved + offset;
        return row;
    }
    for (uint32_t i = 0; c->attached && i < mech_set_count(c->attached); i++) {
        const struct mechanism *m = mech_set_at(c->attached, i);
        *object = mech_set_params(c->attached, i);
        if (m->params && (row = param_find(m->params, key))) return row;
    }
    return NULL;
}

static double row_value(const struct param_row *row, const void *object)
{
    const char *at = (const char *)object + row->offset;
    uint32_t u32;
    uint64_t u64;
    switch (row->type) {
    case PARAM_FLAG: return *(const bool *)at;
    case PARAM_NUMBER:
    case PARAM_CHOICE: memcpy(&u32, at, sizeof u32); return u32;
    case PARAM_NUMBER64:
    case PARAM_SIZE: memcpy(&u64, at, sizeof u64); return (double)u64;
    case PARAM_FRACTION: memcpy(&u32, at, sizeof u32); return u32 / 1000.0;
    case PARAM_STRING:
    case PARAM_PATH: break; /* refused when the file was read */
    }
    return NAN;
}

double column_param(const struct lab_column *c, const char *key)
{
    const void *object;
    const struct param_row *row = find(c, key, &object);
    return row ? row_value(row, object) : NAN;
}

bool column_param_text(const struct lab_column *c, const char *key, struct strbuf *out)
{
    const void *object;
    const struct param_row *row = find(c, key, &object);
    if (row) param_format(row, object, out);
    return row != NULL;
}

const struct param_row *column_param_row(const struct lab_column *c, const char *key)
{
    const void *object;
    return find(c, key, &object);
}
