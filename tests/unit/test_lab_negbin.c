/* test_lab_negbin.c: negative binomial regression beside Newton's method on the likelihood
 * (negbin_fixture.py), on data whose weights are known, and on data that determine none. */
#include "lab/negbin.h"

#include "negbin_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct negbin_data fixture = {fixture_x, fixture_y, FIXTURE_ROWS, FIXTURE_COLUMNS};

static void near(double got, double want, double share, const char *what)
{
    if (fabs(got - want) > share * (1 + fabs(want))) fail_msg("%s: %.12g instead of %.12g", what, got, want);
}

static void weights_are_those_of_newtons_method(void **unused)
{
    for (size_t i = 0; i < ARRAY_LEN(fixture_fits); i++) {
        struct negbin_fit fit;
        assert_null(negbin_fit(&fixture, fixture_fits[i].dispersion, &fit));
        for (int k = 0; k < FIXTURE_COLUMNS; k++)
            near(fit.weights[k], fixture_fits[i].weights[k], 1e-7, "weight");
        near(fit.log_likelihood, fixture_fits[i].log_likelihood, 1e-9, "log likelihood");
        assert_true(fit.dispersion == fixture_fits[i].dispersion);
        assert_true(fit.iterations < 30);
    }
}

static void the_likeliest_dispersion_is_found(void **unused)
{
    const size_t last = ARRAY_LEN(fixture_fits) - 1;
    struct negbin_fit fit;
    assert_null(negbin_fit_likeliest(&fixture, &fit));
    near(fit.dispersion, fixture_fits[last].dispersion, 1e-6, "dispersion");
    for (int k = 0; k < FIXTURE_COLUMNS; k++)
        near(fit.weights[k], fixture_fits[last].weights[k], 1e-6, "weight");
}

/* ---- data whose weights are known ---- */

enum { ROWS = 4000, COLUMNS = 3 };
static double made_x[ROWS * COLUMNS], made_y[ROWS];
static const double made_weights[COLUMNS] = {1.25, -0.5, 2};

static uint64_t seed;
static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return ldexp((double)(seed >> 11), -53);
}

/* Means of 2 to 26, and a noise of that mean: 1, or exponential (dispersion 1). */
static void make_data(uint32_t rows, bool is_noisy)
{
    seed = 5;
    for (uint32_t i = 0; i < rows; i++) {
        double *x = &made_x[i * COLUMNS], sum = 0;
        x[0] = draw();
        x[1] = 2 * draw();
        x[2] = 1;
        for (int k = 0; k < COLUMNS; k++) sum += made_weights[k] * x[k];
        made_y[i] = exp(sum) * (is_noisy ? -log(1 - draw()) : 1);
    }
}

static void exact_data_give_their_weights(void **unused)
{
    const struct negbin_data d = {made_x, made_y, 20, COLUMNS};
    struct negbin_fit fit;
    make_data(20, false);
    for (double a = 0; a < 3; a += 1) {
        assert_null(negbin_fit(&d, a, &fit));
        for (int k = 0; k < COLUMNS; k++) near(fit.weights[k], made_weights[k], 1e-9, "weight");
        assert_true(fabs(fit.deviance) < 1e-9);
    }
}

static void noisy_data_give_their_weights_nearly(void **unused)
{
    const struct negbin_data d = {made_x, made_y, ROWS, COLUMNS};
    struct negbin_fit fit;
    make_data(ROWS, true);
    assert_null(negbin_fit(&d, 1, &fit));
    for (int k = 0; k < COLUMNS; k++)
        if (fabs(fit.weights[k] - made_weights[k]) > 0.15) fail_msg("weight %d: %g", k, fit.weights[k]);
}

static void zeros_are_counts_too(void **unused)
{
    static const double x[] = {0, 1, 1, 1, 2, 1, 3, 1}, y[] = {0, 0, 3, 8};
    struct negbin_fit fit;
    assert_null(negbin_fit(&(struct negbin_data){x, y, 4, 2}, 1, &fit));
    assert_true(fit.weights[0] > 0 && isfinite(fit.deviance));
    const double none[4] = {0};
    assert_string_equal(negbin_fit(&(struct negbin_data){x, none, 4, 2}, 1, &fit), "all counts are zero");
}

/* ---- data that determine no weights ---- */

static void fewer_rows_than_weights_are_refused(void **unused)
{
    struct negbin_data few = fixture;
    struct negbin_fit fit;
    few.rows = FIXTURE_COLUMNS - 1;
    assert_string_equal(negbin_fit(&few, 1, &fit), "there are fewer rows than weights");
    assert_string_equal(negbin_fit_likeliest(&few, &fit), "there are fewer rows than weights");
}

static void columns_that_depend_on_each_other_are_refused(void **unused)
{
    double x[30];
    struct negbin_fit fit;
    seed = 9;
    for (int i = 0; i < 10; i++) {
        x[3 * i] = draw();
        x[3 * i + 1] = 1000 * (1 - 2 * x[3 * i]);
        x[3 * i + 2] = 1;
    }
    const char *wrong = negbin_fit(&(struct negbin_data){x, fixture_y, 10, 3}, 1, &fit);
    assert_string_equal(wrong, "the features depend on each other in these data");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_newtons_method),
        cmocka_unit_test(the_likeliest_dispersion_is_found),
        cmocka_unit_test(exact_data_give_their_weights),
        cmocka_unit_test(noisy_data_give_their_weights_nearly),
        cmocka_unit_test(zeros_are_counts_too),
        cmocka_unit_test(fewer_rows_than_weights_are_refused),
        cmocka_unit_test(columns_that_depend_on_each_other_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
