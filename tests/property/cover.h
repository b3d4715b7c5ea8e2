/* cover.h: few rows of values that together hold every pair of values. A value belongs to a parameter; a row
 * has at most one value of each parameter. Rows go to several machines. A machine may refuse a value, or a
 * pair of values, which shows only when it is tried: later rows for that machine leave it out.
 *
 * (1) A pair is covered when a machine took a row with both, or when a row of these two alone was tried.
 * (2) A value that hides others is alone of its kind in a row, which covers only the pairs with that value.
 * (3) A value that makes a machine slow is alone of its kind in a row: two of them multiply. Where a row was
 *     too slow nevertheless, the next rows with that value are shorter.
 *
 * A struct cover has no pointers, so that it can lie in memory that processes share. */
#ifndef HEDDLE_COVER_H
#define HEDDLE_COVER_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

enum { COVER_ROW = 96, COVER_VALUES_MAX = 1024, COVER_MACHINES_MAX = 8 };

struct cover_row {
    uint32_t machine, count;
    uint16_t values[COVER_ROW];
};

struct cover {
    struct rng rng;
    uint32_t values, machines;
    /* of the machines */
    uint32_t turn;
    /* machines that take none of the pairs that are left: a bit each */
    uint32_t exhausted;
    /* no pair (a, b) with b < a < first is left */
    uint32_t first;
    uint16_t params[COVER_VALUES_MAX];
    bool hides[COVER_VALUES_MAX], slows[COVER_VALUES_MAX];
    /* values of a row with this one */
    uint16_t row_max[COVER_VALUES_MAX];
    /* by itself: a bit for each machine */
    uint8_t refused[COVER_VALUES_MAX];
    uint8_t refused_pairs[COVER_VALUES_MAX][COVER_VALUES_MAX];
    bool covered[COVER_VALUES_MAX][COVER_VALUES_MAX];
};

/* c is zeroed. Values are numbered in the order in which they are added. */
void cover_init(struct cover *c, uint32_t machines, uint64_t seed);
void cover_add_value(struct cover *c, uint16_t param, bool hides);
void cover_set_slow(struct cover *c, uint32_t value);
/* The next row to try. Returns whether a pair was left. The pair for which the row was made comes first. */
bool cover_next(struct cover *c, struct cover_row *out);
/* The row was taken, or it is of two values and was tried. */
void cover_took(struct cover *c, const struct cover_row *row);
/* The row takes too long. */
void cover_too_slow(struct cover *c, const struct cover_row *row);
/* The machine refuses these values together, and takes each smaller set of them. */
void cover_refused(struct cover *c, const struct cover_row *culprits);
/* Pairs that are left. */
uint64_t cover_left(const struct cover *c);

#endif
