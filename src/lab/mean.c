/* mean.c: see mean.h. */
#include "lab/mean.h"

#include <math.h>

const char *const mean_names[MEAN_KINDS] = {[MEAN_NONE] = "none",           [MEAN_ARITHMETIC] = "arithmetic",
                                            [MEAN_GEOMETRIC] = "geometric", [MEAN_HARMONIC] = "harmonic",
                                            [MEAN_GAINS] = "gains",         [MEAN_SMALLEST] = "smallest",
                                            [MEAN_LARGEST] = "largest",     [MEAN_TOTAL] = "total"};

const char *mean_title(enum mean_kind kind)
{
    const bool is_mean = kind < MEAN_SMALLEST;
    return is_mean ? "mean" : mean_names[kind];
}

/* The term of a value in the sum for this mean. */
static double term(enum mean_kind kind, double v)
{
    switch (kind) {
    case MEAN_ARITHMETIC:
    case MEAN_TOTAL: return v;
    case MEAN_GEOMETRIC: return v > 0 ? log(v) : NAN; /* this and the next are of ratios only */
    case MEAN_HARMONIC: return v > 0 ? 1 / v : NAN;
    case MEAN_GAINS: return v > -1 ? log1p(v) : NAN;
    default: return NAN;
    }
}

static double extreme(bool largest, const double *values, uint32_t count)
{
    double out = values[0];
    for (uint32_t i = 1; i < count; i++)
        if (largest ? values[i] > out : values[i] < out) out = values[i];
    return out;
}

double mean_of(enum mean_kind kind, const double *values, uint32_t count)
{
    double sum = 0;
    if (!count) return NAN;
    if (kind == MEAN_SMALLEST || kind == MEAN_LARGEST) return extreme(kind == MEAN_LARGEST, values, count);
    for (uint32_t i = 0; i < count; i++) sum += term(kind, values[i]);
    switch (kind) {
    case MEAN_TOTAL: return sum;
    case MEAN_GEOMETRIC: return exp(sum / count);
    case MEAN_HARMONIC: return count / sum;
    case MEAN_GAINS: return expm1(sum / count);
    default: return sum / count;
    }
}

static double of_pearson(const double *x, const double *y, uint32_t count)
{
    const double mean_x = mean_of(MEAN_ARITHMETIC, x, count), mean_y = mean_of(MEAN_ARITHMETIC, y, count);
    double xy = 0, xx = 0, yy = 0;
    for (uint32_t i = 0; i < count; i++) {
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static double of_mape(const double *x, const double *y, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += y[i] == 0 ? NAN : fabs(x[i] - y[i]) / fabs(y[i]);
    return count ? sum / count : NAN;
}

const struct over_function *over_function_at(uint32_t i)
{
    static const struct over_function functions[] = {
        {"arithmetic", 1, MEAN_ARITHMETIC, NULL}, {"geometric", 1, MEAN_GEOMETRIC, NULL},
        {"harmonic", 1, MEAN_HARMONIC, NULL},     {"gains", 1, MEAN_GAINS, NULL},
        {"smallest", 1, MEAN_SMALLEST, NULL},     {"largest", 1, MEAN_LARGEST, NULL},
        {"total", 1, MEAN_TOTAL, NULL},           {"pearson", 2, MEAN_NONE, of_pearson},
        {"mape", 2, MEAN_NONE, of_mape},
    };
    return i < ARRAY_LEN(functions) ? &functions[i] : NULL;
}

double over_function_value(const struct over_function *f, const double *x, const double *y, uint32_t count)
{
    return f->of ? f->of(x, y, count) : mean_of(f->mean, x, count);
}
