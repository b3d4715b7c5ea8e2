/* params_pairs.h: every pair of parameters at every pair of bounds. */
#ifndef HEDDLE_PARAMS_PAIRS_H
#define HEDDLE_PARAMS_PAIRS_H

#include "property/params_values.h"

/* Rows take turns on the machines. Another seed makes other rows of the same pairs. Ends after rows_max rows.
 * Says what became of them, and returns how many failed. */
uint64_t pairs_run(const struct values *v, const char *const *machines, uint32_t machine_count, uint64_t seed,
                   uint64_t rows_max);

#endif
