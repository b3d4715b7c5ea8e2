/* column_cost.h: what the mechanisms of a column store: cost(MECHANISM), cost(MECHANISM.PART). */
#ifndef HEDDLE_COLUMN_COST_H
#define HEDDLE_COLUMN_COST_H

#include "lab/experiment.h"

enum cost_answer {
    COST_KNOWN,
    /* the column does not have the mechanism */
    COST_NOT_HERE,
    /* the mechanism has no such part; no part at all; parts of different scopes, which have no sum; or its
     * parameters do not fit the machine */
    COST_NO_PART,
    COST_NO_STORAGE,
    COST_MIXED,
    COST_MISFIT
};

/* Bytes of an SM, of a slice of the L2 or of the GPU, as the parts are. `parts`, if it is not NULL, gets the
 * names of the mechanism's parts, or why it does not fit. */
enum cost_answer column_cost(const struct lab_column *c, const char *name, double *bytes,
                             struct strbuf *parts);

#endif
