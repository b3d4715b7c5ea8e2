/* mean.h: one number for the values of many workloads: means, smallest, largest, and how well two series
 * agree. */
#ifndef HEDDLE_MEAN_H
#define HEDDLE_MEAN_H

#include "base/base.h"

/* MEAN_GAINS: the geometric mean of 1 + the value, less 1. */
enum mean_kind {
    MEAN_NONE,
    MEAN_ARITHMETIC,
    MEAN_GEOMETRIC,
    MEAN_HARMONIC,
    MEAN_GAINS,
    MEAN_SMALLEST,
    MEAN_LARGEST,
    MEAN_TOTAL,
    MEAN_KINDS
};

/* As files and figures call them. */
extern const char *const mean_names[MEAN_KINDS];

/* The name of its row in tables. */
const char *mean_title(enum mean_kind kind);
/* NAN without values, and where such a mean does not exist, as the geometric mean of a negative number. */
double mean_of(enum mean_kind kind, const double *values, uint32_t count);

/* A function over all workloads, as expressions call it: the means, and
 *     pearson(x, y)  the correlation of two series, from -1 to 1
 *     mape(x, y)     the mean of |x - y| / |y|: how far predictions x are from y */
struct over_function {
    const char *name;
    uint32_t args;
    /* With one argument: which mean; with two: `of`. */
    enum mean_kind mean;
    double (*of)(const double *x, const double *y, uint32_t count);
};

/* The i-th; NULL: there are no more. */
const struct over_function *over_function_at(uint32_t i);
/* `y` is read where it takes two arguments. */
double over_function_value(const struct over_function *f, const double *x, const double *y, uint32_t count);

#endif
