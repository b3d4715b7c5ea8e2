/* param.h: a parameter is declared once, as a row of a table in the file that uses it. The YAML reader,
 * --set, the dump, `heddle explain` and the docs page are all read from those rows. */
#ifndef HEDDLE_PARAM_H
#define HEDDLE_PARAM_H

#include "base/diag.h"

enum param_type {
    PARAM_BOOL,
    PARAM_U32,
    PARAM_U64,
    PARAM_BYTES /* u64; K, M, G suffixes */,
    PARAM_TEXT /* char[64] */,
    PARAM_ENUM /* u32; choices in row.choices */
};

struct param_row {
    const char *name; /* "sm.count"; NULL ends a table */
    enum param_type type;
    size_t offset;            /* in the struct that the table describes */
    const char *unit;         /* "cycles", "bytes", ""... */
    const char *default_text; /* as it would be written */
    uint64_t min, max;
    const char *const *choices; /* ENUM: names, NULL-terminated; value = position */
    const char *help;           /* one line */
};

#define PARAM_ROW(type, st, field, nm, unit, def, lo, hi, help)                                              \
    {                                                                                                        \
        nm, type, offsetof(struct st, field), unit, def, lo, hi, NULL, help                                  \
    }

enum { PARAM_TEXT_BYTES = 64 };

void param_set_defaults(const struct param_row *rows, void *object);
/* Sets one parameter from text. False with a diagnostic at the place when the name or the value is wrong. */
bool param_set(const struct param_row *rows, void *object, const char *name, const char *value,
               const struct diag_source *src, int line, int col, int value_col, struct diag_list *diags);
const struct param_row *param_find(const struct param_row *rows, const char *name);
const char *param_nearest(const struct param_row *rows, const char *name);
void param_format(const struct param_row *row, const void *object, struct strbuf *out);

#endif
