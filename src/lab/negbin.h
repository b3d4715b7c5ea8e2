/* negbin.h: negative binomial regression with a logarithmic link (thesis 5.5.4): ln of the mean of y is a
 * weighted sum of the columns of x; the variance is mean + dispersion * mean^2.
 *
 * The weights of greatest likelihood are found by iteratively reweighted least squares; GSL solves the
 * weighted least squares of each step by a singular value decomposition. */
#ifndef HEDDLE_NEGBIN_H
#define HEDDLE_NEGBIN_H

#include "base/base.h"

enum { NEGBIN_COLUMNS_MAX = 32 };

/* `rows` observations: x[row * columns + column], y[row] >= 0, which need not be whole. */
struct negbin_data {
    const double *x, *y;
    uint32_t rows, columns;
};

struct negbin_fit {
    double weights[NEGBIN_COLUMNS_MAX];
    double dispersion, deviance, log_likelihood;
    uint32_t iterations;
};

/* With this dispersion; 0 is Poisson regression. NULL, or what is wrong, in words: fewer rows than columns,
 * columns that depend on each other, no convergence. */
const char *negbin_fit(const struct negbin_data *d, double dispersion, struct negbin_fit *out);
/* With the dispersion of greatest likelihood, from NEGBIN_DISPERSION_MIN to NEGBIN_DISPERSION_MAX. */
const char *negbin_fit_likeliest(const struct negbin_data *d, struct negbin_fit *out);
#define NEGBIN_DISPERSION_MIN 1e-6
#define NEGBIN_DISPERSION_MAX 1e2

#endif
