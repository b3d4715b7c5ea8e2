/* montecarlo: host side. */
#include "kit/kit.h"

#define THREADS     256
#define OPTIONS_MAX 2048

/* An option: price today, strike, years, riskless rate, volatility. */
struct terms {
    double S, X, T, R, V;
};
struct option {
    float S, X, drift, spread;
};
struct sums {
    float payoff, square;
};

static double normal_below(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

/* The i-th sample must cut (i + 1) / (paths + 1) off the distribution, as nearly as a float can name that
 * fraction. */
static void check_samples(const float *samples, int paths)
{
    double worst = 0;
    int at = 0;
    for (int i = 0; i < paths; i++) {
        double miss = fabs(normal_below(samples[i]) - (i + 1) / (paths + 1.0));
        if (miss > worst || isnan(miss)) worst = miss, at = i;
    }
    kit_check(worst < 1e-6, "sample %d is %g: off by %g of probability", at, samples[at], worst);
}

/* Sums of payoffs and squares in double, the terms of which are taken at the samples that the device made. */
static void check_sums(const struct terms *t, const struct sums *got, int options, const float *samples,
                       int paths)
{
    float *have = kit_host(2 * options * sizeof *have), *want = kit_host(2 * options * sizeof *want);
    for (int o = 0; o < options; o++) {
        double payoff = 0, square = 0;
        for (int i = 0; i < paths; i++) {
            double growth = (t[o].R - t[o].V * t[o].V / 2) * t[o].T + t[o].V * sqrt(t[o].T) * samples[i];
            double gain = fmax(t[o].S * exp(growth) - t[o].X, 0);
            payoff += gain;
            square += gain * gain;
        }
        have[2 * o] = got[o].payoff, have[2 * o + 1] = got[o].square;
        want[2 * o] = (float)payoff, want[2 * o + 1] = (float)square;
    }
    /* A path near the strike of a worthless option may gain a rounding error of S. */
    kit_check_floats("sums", have, want, 2 * options, 1e-4, 1e-4);
}

/* Black and Scholes know the price; the samples leave the tails out, hence a thousandth of the share's
 * price. */
static void check_prices(const struct terms *t, const struct sums *got, int options, int paths)
{
    for (int o = 0; o < options; o++) {
        double spread = t[o].V * sqrt(t[o].T), discount = exp(-t[o].R * t[o].T);
        double d1 = (log(t[o].S / t[o].X) + t[o].R * t[o].T) / spread + spread / 2;
        double want = t[o].S * normal_below(d1) - t[o].X * discount * normal_below(d1 - spread);
        double price = discount * got[o].payoff / paths;
        kit_check(fabs(price - want) < 1e-3 * t[o].S, "option %d costs %g, not %g", o, want, price);
    }
}

static const struct size {
    const char *name;
    int options, paths;
} sizes[] = {{"tiny", 24, 4096}, {"small", 256, 49152}, {"paper", 256, 262144}, {"fill", 384, 32768}};

int main(int argc, char **argv)
{
    kit_open("montecarlo", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int options = size->options, paths = size->paths;
    unsigned npaths = (unsigned)paths;
    struct terms *terms = kit_host(options * sizeof *terms);
    struct option *data = kit_host(OPTIONS_MAX * sizeof *data);
    for (int o = 0; o < options; o++) { /* the original's ranges */
        terms[o] = (struct terms){kit_uniform(5, 50), kit_uniform(10, 25), kit_uniform(1, 5), 0.06, 0.10};
        struct terms t = terms[o];
        data[o] = (struct option){(float)t.S, (float)t.X, (float)((t.R - t.V * t.V / 2) * t.T),
                                  (float)(t.V * sqrt(t.T))};
    }

    CUdeviceptr dsamples = kit_alloc(paths * sizeof(float));
    KIT_LAUNCH("inverseCNDKernel", KIT_DIM(128), KIT_DIM(128), 0, dsamples, npaths);
    kit_set_symbol("d_OptionData", data, OPTIONS_MAX * sizeof *data);
    KIT_LAUNCH("MonteCarloOneBlockPerOption", KIT_DIM(options), KIT_DIM(THREADS), 0, dsamples, paths);
    struct sums *sums = kit_host(options * sizeof *sums);
    kit_download(sums, kit_symbol("d_CallValue"), options * sizeof *sums);

    if (kit_checking()) {
        float *samples = kit_host(paths * sizeof *samples);
        kit_download(samples, dsamples, paths * sizeof *samples);
        check_samples(samples, paths);
        check_sums(terms, sums, options, samples, paths);
        check_prices(terms, sums, options, paths);
    }
    return kit_close();
}
