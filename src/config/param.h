/* param.h: a parameter is declared once, as a row of a table in the file that uses it. The YAML reader,
 * --set, the dump, `heddle explain` and the docs page are all read from those rows. */
#ifndef HEDDLE_PARAM_H
#define HEDDLE_PARAM_H

#include "base/diag.h"
#include "config/param_value.h"

/* A table and the offset of its struct in a larger one: one file, --set and the dump cover the parameters
 * of many components. An array of groups ends with rows == NULL. Names are unique over all groups. */
struct param_group {
    const struct param_row *rows;
    size_t offset;
};

void param_set_defaults(const struct param_row *rows, void *object);
/* Sets one parameter from text. False with a diagnostic that shows where the name or the value is wrong. */
bool param_set(const struct param_row *rows, void *object, const char *name, const char *value,
               const struct diag_source *src, int line, int col, int value_col, struct diag_list *diags);
const struct param_row *param_find(const struct param_row *rows, const char *name);
/* The name nearest to a wrong one, for a hint; NULL where none is near. */
const char *param_nearest(const struct param_row *rows, const char *name);

/* The functions over groups; object is the larger struct. */
void params_set_defaults(const struct param_group *groups, void *object);
bool params_set(const struct param_group *groups, void *object, const char *name, const char *value,
                const struct diag_source *src, int line, int col, int value_col, struct diag_list *diags);
/* *offset becomes that of the group; offset may be NULL. */
const struct param_row *params_find(const struct param_group *groups, const char *name, size_t *offset);
const char *params_nearest(const struct param_group *groups, const char *name);

#endif
