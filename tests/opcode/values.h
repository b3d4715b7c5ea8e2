/* values.h: the operand values of a form: edge values of each type in all pairs, then seeded values of
 * several kinds. */
#ifndef OPCODE_VALUES_H
#define OPCODE_VALUES_H

#include "opcode_forms.h"

/* cells[k * f->n + i] = operand k of tuple i. The same on every host. */
void values_fill(const struct form *f, uint64_t *cells);

#endif
