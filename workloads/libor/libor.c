/* libor: host side. */
#include "kit/kit.h"

#define BLOCK       64
#define RATES_MAX   80
#define STEPS_MAX   40
#define OPTIONS_MAX 15

struct model {
    int rates, steps, options, maturities[OPTIONS_MAX];
    float delta, swaprates[OPTIONS_MAX], lambda[RATES_MAX];
};

/* The original's portfolio: three strikes for each of five maturities; of a shorter horizon those that it
 * reaches. */
static struct model model_make(int rates, int steps)
{
    static const int maturities[] = {4, 8, 20, 28, 40};
    static const float strikes[] = {.045f, .05f, .055f};
    struct model m = {.rates = rates, .steps = steps, .delta = 0.25f};
    for (int i = 0; i < 5 && maturities[i] <= rates - steps; i++)
        for (int k = 0; k < 3; k++) {
            m.maturities[m.options] = maturities[i];
            m.swaprates[m.options++] = strikes[k];
        }
    for (int i = 0; i < RATES_MAX; i++) m.lambda[i] = 0.2f;
    return m;
}

static void model_put(const struct model *m)
{
    kit_set_symbol("rates", &m->rates, sizeof m->rates);
    kit_set_symbol("steps", &m->steps, sizeof m->steps);
    kit_set_symbol("options", &m->options, sizeof m->options);
    kit_set_symbol("delta", &m->delta, sizeof m->delta);
    kit_set_symbol("maturities", m->maturities, sizeof m->maturities);
    kit_set_symbol("swaprates", m->swaprates, sizeof m->swaprates);
    kit_set_symbol("lambda", m->lambda, sizeof m->lambda);
}

/* The portfolio's value in double: logarithms of the rates are moved on, and each swap is the sum of its
 * payments. */
static double value_cpu(const struct model *m, double bump_of_last)
{
    double log_rate[RATES_MAX], before[RATES_MAX], total = 0, discount = 1, delta = m->delta;
    for (int i = 0; i < m->rates; i++) log_rate[i] = log(0.05f + (i == m->rates - 1 ? bump_of_last : 0));
    for (int n = 0; n < m->steps; n++) {
        memcpy(before, log_rate, sizeof before);
        for (int i = n + 1; i < m->rates; i++) {
            double sigma = m->lambda[i - n - 1], drift = 0;
            for (int j = n + 1; j <= i; j++)
                drift += delta * m->lambda[j - n - 1] / (exp(-before[j]) + delta);
            log_rate[i] += sigma * (delta * (drift - sigma / 2) + sqrt(delta) * 0.3f);
        }
    }
    for (int o = 0; o < m->options; o++) {
        double bond = 1, coupons = 0;
        for (int k = 0; k < m->maturities[o]; k++) {
            bond /= 1 + delta * exp(log_rate[m->steps + k]);
            coupons += delta * m->swaprates[o] * bond;
        }
        total += 100 * fmax(1 - bond - coupons, 0);
    }
    for (int n = 0; n < m->steps; n++) discount /= 1 + delta * exp(log_rate[n]);
    return discount * total;
}

static void check_all(const char *what, const float *got, int paths, double want)
{
    float *wanted = kit_host(paths * sizeof *wanted);
    for (int i = 0; i < paths; i++) wanted[i] = (float)want;
    kit_check_floats(what, got, wanted, paths, 1e-4, 0);
}

static const struct size {
    const char *name;
    unsigned blocks;
    int rates, steps;
} sizes[] = {{"tiny", 4, 16, 8}, {"small", 64, 40, 20}, {"paper", 64, 80, 40}, {"fill", 960, 12, 6}};

int main(int argc, char **argv)
{
    kit_open("libor", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    struct model m = model_make(size->rates, size->steps);
    unsigned blocks = size->blocks;
    int paths = (int)blocks * BLOCK;
    size_t bytes = paths * sizeof(float);
    float *plain = kit_host(bytes), *value = kit_host(bytes), *sensitivity = kit_host(bytes);

    model_put(&m);
    CUdeviceptr dvalue = kit_alloc(bytes), dsensitivity = kit_alloc(bytes);
    KIT_LAUNCH("Pathcalc_Portfolio_KernelGPU2", KIT_DIM(blocks), KIT_DIM(BLOCK), 0, dvalue, paths);
    kit_download(plain, dvalue, bytes);
    KIT_LAUNCH("Pathcalc_Portfolio_KernelGPU", KIT_DIM(blocks), KIT_DIM(BLOCK), 0, dvalue, dsensitivity,
               paths);
    kit_download(value, dvalue, bytes);
    kit_download(sensitivity, dsensitivity, bytes);

    if (kit_checking()) {
        const double bump = 1e-5;
        check_all("value", plain, paths, value_cpu(&m, 0));
        check_all("value with sensitivities", value, paths, value_cpu(&m, 0));
        check_all("sensitivity", sensitivity, paths,
                  (value_cpu(&m, bump) - value_cpu(&m, -bump)) / (2 * bump));
    }
    return kit_close();
}
