/* negbin.c: see negbin.h.
 *
 * A step: with means mu = exp(eta), the weighted least squares of z = eta + (y - mu) / mu on x, with weights
 * mu / (1 + dispersion mu), gives the next weights. A step that raises the deviance is halved. */
#include "lab/negbin.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

enum { ITERATIONS_MAX = 200, HALVINGS_MAX = 30, SEARCH_STEPS = 80 };
/* Singular values below this share of the largest one count as zero. */
#define RANK_TOLERANCE 1e-10
/* The iteration ends when no weight changes by more than this share. */
#define WEIGHT_TOLERANCE 1e-11
/* The most that rounding can add to the deviance. */
#define DEVIANCE_TOLERANCE 1e-13

struct negbin_solver {
    const struct negbin_data *d;
    double dispersion;
    gsl_matrix *x, *covariance;
    gsl_vector *weight, *z, *b;
    gsl_multifit_linear_workspace *work;
    /* logarithms of the means */
    double *eta;
    double b_now[NEGBIN_COLUMNS_MAX];
};

/* ---- likelihood ---- */

static double deviance_of(double y, double mu, double a)
{
    const double from_zero = y > 0 ? y * log(y / mu) : 0;
    if (a == 0) return 2 * (from_zero - (y - mu));
    return 2 * (from_zero - (y + 1 / a) * log((1 + a * y) / (1 + a * mu)));
}

static double log_likelihood_of(double y, double mu, double a)
{
    if (a == 0) return y * log(mu) - mu - lgamma(y + 1);
    return lgamma(y + 1 / a) - lgamma(1 / a) - lgamma(y + 1) + y * log(a * mu) -
           (y + 1 / a) * log(1 + a * mu);
}

typedef double (*negbin_term)(double y, double mu, double a);

static double sum_of(const struct negbin_solver *s, negbin_term term)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->d->rows; i++) sum += term(s->d->y[i], exp(s->eta[i]), s->dispersion);
    return sum;
}

/* ---- a step ---- */

static void solver_open(struct negbin_solver *s, const struct negbin_data *d, double dispersion)
{
    *s = (struct negbin_solver){.d = d, .dispersion = dispersion};
    s->x = gsl_matrix_alloc(d->rows, d->columns);
    s->covariance = gsl_matrix_alloc(d->columns, d->columns);
    s->weight = gsl_vector_alloc(d->rows);
    s->z = gsl_vector_alloc(d->rows);
    s->b = gsl_vector_alloc(d->columns);
    s->work = gsl_multifit_linear_alloc(d->rows, d->columns);
    s->eta = mem_zalloc(d->rows * sizeof *s->eta);
    for (uint32_t i = 0; i < d->rows; i++)
        for (uint32_t k = 0; k < d->columns; k++) gsl_matrix_set(s->x, i, k, d->x[i * d->columns + k]);
}

static void solver_close(struct negbin_solver *s)
{
    gsl_matrix_free(s->x);
    gsl_matrix_free(s->covariance);
    gsl_vector_free(s->weight);
    gsl_vector_free(s->z);
    gsl_vector_free(s->b);
    gsl_multifit_linear_free(s->work);
    free(s->eta);
}

/* Starts with means between the data and their average, so that none is 0. False: all data are 0. */
static bool start_eta(struct negbin_solver *s)
{
    double mean = 0;
    for (uint32_t i = 0; i < s->d->rows; i++) mean += s->d->y[i] / s->d->rows;
    if (mean <= 0) return false;
    for (uint32_t i = 0; i < s->d->rows; i++) s->eta[i] = log((s->d->y[i] + mean) / 2);
    return true;
}

static void set_eta(struct negbin_solver *s, const double *b)
{
    for (uint32_t i = 0; i < s->d->rows; i++) {
        s->eta[i] = 0;
        for (uint32_t k = 0; k < s->d->columns; k++) s->eta[i] += s->d->x[i * s->d->columns + k] * b[k];
    }
}

/* The weighted least squares; the outcome is in s->b. */
static const char *solve(struct negbin_solver *s)
{
    double residue;
    size_t rank;
    for (uint32_t i = 0; i < s->d->rows; i++) {
        const double mu = exp(s->eta[i]);
        gsl_vector_set(s->weight, i, mu / (1 + s->dispersion * mu));
        gsl_vector_set(s->z, i, s->eta[i] + (s->d->y[i] - mu) / mu);
    }
    if (gsl_multifit_wlinear_tsvd(s->x, s->weight, s->z, RANK_TOLERANCE, s->b, s->covariance, &residue, &rank,
                                  s->work))
        return "the least squares of a step cannot be solved";
    return rank < s->d->columns ? "the features depend on each other in these data" : NULL;
}

static bool is_near(const struct negbin_solver *s, const double *b)
{
    for (uint32_t k = 0; k < s->d->columns; k++)
        if (fabs(b[k] - s->b_now[k]) > WEIGHT_TOLERANCE * (1 + fabs(b[k]))) return false;
    return true;
}

/* From b_now towards s->b, half as far each time until the deviance is no larger than before. */
static const char *advance(struct negbin_solver *s, double before, double *after, bool *is_still)
{
    double b[NEGBIN_COLUMNS_MAX], share = 1;
    for (int halvings = 0; halvings <= HALVINGS_MAX; halvings++, share /= 2) {
        for (uint32_t k = 0; k < s->d->columns; k++)
            b[k] = s->b_now[k] + share * (gsl_vector_get(s->b, k) - s->b_now[k]);
        set_eta(s, b);
        *after = sum_of(s, deviance_of);
        if (isfinite(*after) && *after <= before + DEVIANCE_TOLERANCE * (1 + fabs(before))) {
            *is_still = is_near(s, b);
            memcpy(s->b_now, b, sizeof b[0] * s->d->columns);
            return NULL;
        }
    }
    return "the regression does not converge";
}

static const char *iterate(struct negbin_solver *s, struct negbin_fit *out)
{
    double deviance = INFINITY;
    if (!start_eta(s)) return "all counts are zero";
    for (out->iterations = 1; out->iterations <= ITERATIONS_MAX; out->iterations++) {
        bool is_still;
        const char *wrong = solve(s);
        if (!wrong) wrong = advance(s, deviance, &deviance, &is_still);
        if (wrong) return wrong;
        if (!is_still) continue;
        memcpy(out->weights, s->b_now, sizeof out->weights[0] * s->d->columns);
        out->dispersion = s->dispersion;
        out->deviance = deviance;
        out->log_likelihood = sum_of(s, log_likelihood_of);
        return NULL;
    }
    return "the regression does not converge";
}

const char *negbin_fit(const struct negbin_data *d, double dispersion, struct negbin_fit *out)
{
    struct negbin_solver s;
    assert(d->columns && d->columns <= NEGBIN_COLUMNS_MAX && dispersion >= 0);
    *out = (struct negbin_fit){0};
    if (d->rows < d->columns) return "there are fewer rows than weights";
    gsl_error_handler_t *before = gsl_set_error_handler_off(); /* statuses are checked */
    solver_open(&s, d, dispersion);
    const char *wrong = iterate(&s, out);
    solver_close(&s);
    gsl_set_error_handler(before);
    return wrong;
}

/* ---- the dispersion ---- */

/* Golden section over the dispersion's logarithm: the likelihood of the best weights has one maximum, which
 * may lie at a bound. */
const char *negbin_fit_likeliest(const struct negbin_data *d, struct negbin_fit *out)
{
    const double golden = (sqrt(5) - 1) / 2;
    double low = log(NEGBIN_DISPERSION_MIN), high = log(NEGBIN_DISPERSION_MAX);
    const char *wrong = NULL;
    for (int i = 0; i < SEARCH_STEPS && !wrong; i++) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        struct negbin_fit left, right;
        wrong = negbin_fit(d, exp(a), &left);
        if (!wrong) wrong = negbin_fit(d, exp(b), &right);
        if (wrong) break;
        if (left.log_likelihood > right.log_likelihood)
            high = b;
        else
            low = a;
    }
    return wrong ? wrong : negbin_fit(d, exp((low + high) / 2), out);
}
