/* column_param.h: the values of the parameters of a column's machine and mechanisms. */
#ifndef HEDDLE_COLUMN_PARAM_H
#define HEDDLE_COLUMN_PARAM_H

#include "base/strbuf.h"
#include "lab/experiment.h"

struct param_row;

/* As a number: `true` is 1, a choice its position. NAN: neither its machine nor its mechanisms have such a
 * parameter. */
double column_param(const struct lab_column *c, const char *key);
/* As text, as a setting has it. False: there is no such parameter. */
bool column_param_text(const struct lab_column *c, const char *key, struct strbuf *out);
/* NULL: there is no such parameter. */
const struct param_row *column_param_row(const struct lab_column *c, const char *key);

#endif
