/* myocyte: host side. */
#include "kit/kit.h"

typedef double real;
#define CELL_FUNCTION static
#include "cell.cuh"

#define BLOCK    32
#define ATTEMPTS 12
#define STAGES   13

/* A cell at rest: Shannon and Bers's initial values of the first 40, calmodulin mostly free of calcium. */
static const float at_rest[EQUATIONS] = {1.405627e-3f,
                                         9.867005e-1f,
                                         9.915620e-1f,
                                         7.175662e-6f,
                                         1.000681f,
                                         2.421991e-2f,
                                         1.452605e-2f,
                                         4.051574e-3f,
                                         9.945511e-1f,
                                         4.051574e-3f,
                                         9.945511e-1f,
                                         8.641386e-3f,
                                         5.412034e-3f,
                                         8.884332e-1f,
                                         8.156628e-7f,
                                         1.024274e-7f,
                                         3.539892f,
                                         7.720854e-1f,
                                         8.773191e-3f,
                                         1.078283e-1f,
                                         1.524002e-2f,
                                         2.911916e-4f,
                                         1.298754e-3f,
                                         1.381982e-1f,
                                         2.143165e-3f,
                                         9.566355e-3f,
                                         1.110363e-1f,
                                         7.347888e-3f,
                                         7.297378e-2f,
                                         1.242988f,
                                         5.545201e-1f,
                                         8.803290f,
                                         8.807330f,
                                         8.808530f,
                                         135.0f,
                                         1.737475e-4f,
                                         1.031812e-4f,
                                         8.597401e-5f,
                                         -85.56885f,
                                         9.945511e-1f,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         /* dyad */ 4.05f,
                                         1.1e-2f,
                                         6e-5f,
                                         380.0f,
                                         25.0f,
                                         7.0f,
                                         1e-3f,
                                         1e-3f,
                                         1e-5f,
                                         1e-9f,
                                         1e-5f,
                                         1e-4f,
                                         1e-5f,
                                         2e-3f,
                                         3.6f,
                                         /* below the membrane */ 0.031f,
                                         2.4e-5f,
                                         6e-9f,
                                         5.4f,
                                         0.12f,
                                         9e-2f,
                                         2e-6f,
                                         2e-6f,
                                         1e-8f,
                                         1e-12f,
                                         1e-8f,
                                         1e-5f,
                                         1e-7f,
                                         3e-5f,
                                         2.9e-3f,
                                         /* cytosol */ 0.031f,
                                         1.7e-5f,
                                         3e-9f,
                                         5.4f,
                                         0.1f,
                                         8e-2f,
                                         1.5e-6f,
                                         1.5e-6f,
                                         1e-8f,
                                         1e-12f,
                                         1e-8f,
                                         9e-6f,
                                         1e-7f,
                                         2e-5f,
                                         2.9e-3f};

/* For each place calmodulin, its buffers, kinase, calcineurin and phosphatase in all; then cycle length,
 * potassium, magnesium. */
static const float parameters[PARAMETERS] = {418,     1.857e3f, 120,   3.617f, 96.5f, 5.65f,
                                             24.2f,   0.1007f,  3e-3f, 0.57f,  5.65f, 24.2f,
                                             0.1007f, 3e-3f,    0.57f, 1000,   135,   1};

/* Fehlberg's table in one piece: times, weights of the stages before, and the sum that makes the step. */
static const double stage_time[STAGES] = {0,       2.0 / 27, 1.0 / 9, 1.0 / 6, 5.0 / 12, 0.5, 5.0 / 6,
                                          1.0 / 6, 2.0 / 3,  1.0 / 3, 1,       0,        1};
static const double stage_weight[STAGES][STAGES] = {
    {0},
    {2.0 / 27},
    {1.0 / 36, 1.0 / 12},
    {1.0 / 24, 0, 1.0 / 8},
    {5.0 / 12, 0, -25.0 / 16, 25.0 / 16},
    {1.0 / 20, 0, 0, 1.0 / 4, 1.0 / 5},
    {-25.0 / 108, 0, 0, 125.0 / 108, -65.0 / 27, 125.0 / 54},
    {31.0 / 300, 0, 0, 0, 61.0 / 225, -2.0 / 9, 13.0 / 900},
    {2, 0, 0, -53.0 / 6, 704.0 / 45, -107.0 / 9, 67.0 / 90, 3},
    {-91.0 / 108, 0, 0, 23.0 / 108, -976.0 / 135, 311.0 / 54, -19.0 / 60, 17.0 / 6, -1.0 / 12},
    {2383.0 / 4100, 0, 0, -341.0 / 164, 4496.0 / 1025, -301.0 / 82, 2133.0 / 4100, 45.0 / 82, 45.0 / 164,
     18.0 / 41},
    {3.0 / 205, 0, 0, 0, 0, -6.0 / 41, -3.0 / 205, -3.0 / 41, 3.0 / 41, 6.0 / 41},
    {-1777.0 / 4100, 0, 0, -341.0 / 164, 4496.0 / 1025, -289.0 / 82, 2193.0 / 4100, 51.0 / 82, 33.0 / 164,
     12.0 / 41, 0, 1}};
static const double step_weight[STAGES] = {41.0 / 840, 0,        0,         0,         0,         34.0 / 105,
                                           9.0 / 35,   9.0 / 35, 9.0 / 280, 9.0 / 280, 41.0 / 840};

static void step_cpu(double h, double time, const double *y, const double *params, double *next,
                     double *error)
{
    double rates[STAGES][EQUATIONS], at[EQUATIONS], com[3];
    for (int s = 0; s < STAGES; s++) {
        memcpy(at, y, sizeof at);
        for (int b = 0; b < s; b++)
            for (int i = 0; i < EQUATIONS; i++) at[i] += h * stage_weight[s][b] * rates[b][i];
        cell_rates(time + stage_time[s] * h, at, params, rates[s], com);
    }
    for (int i = 0; i < EQUATIONS; i++) {
        next[i] = y[i];
        for (int s = 0; s < STAGES; s++) next[i] += h * step_weight[s] * rates[s][i];
        error[i] = fabs(41.0 / 840 * (rates[0][i] + rates[10][i] - rates[11][i] - rates[12][i]));
    }
}

/* Each step again from where the device stood before it, with the step length that the device ended with:
 * paths may part for the last bit of an error, single steps do not. The step must also be one that the solver
 * may accept. */
static void check_cell(int cell, int steps, const float *x, const float *y, const float *params)
{
    double from[EQUATIONS], want[EQUATIONS], error[EQUATIONS], p[PARAMETERS], tolerance = 10.0 / steps;
    for (int i = 0; i < PARAMETERS; i++) p[i] = params[i];
    for (int k = 1; k <= steps; k++) {
        double h = (double)x[k] - k, excess = 0;
        for (int i = 0; i < EQUATIONS; i++) from[i] = y[(k - 1) * EQUATIONS + i];
        step_cpu(h, k, from, p, want, error);
        for (int i = 0; i < EQUATIONS; i++) {
            double got = y[k * EQUATIONS + i],
                   slack = 2e-3 * fabs(want[i]) + 1e-5 * fabs(want[i] - from[i]) + 1e-6;
            kit_check(fabs(got - want[i]) <= slack, "cell %d, step %d: value %d is %.9g, the CPU says %.9g",
                      cell, k, i, got, want[i]);
            excess = fmax(excess, error[i] / (tolerance * (from[i] == 0 ? tolerance : fabs(from[i]))));
        }
        kit_check(h == 0 || excess < 1.05, "cell %d, step %d: a step of %g errs %g times what it may", cell,
                  k, h, excess);
    }
}

int main(int argc, char **argv)
{
    kit_open("myocyte", argc, argv);
    int cells = (const int[]){4, 100, 100}[kit_size()], steps = (const int[]){2, 2, 100}[kit_size()];
    size_t row = EQUATIONS * sizeof(float), history = (size_t)cells * (steps + 1);
    float *x = kit_host(history * sizeof *x), *y = kit_host(history * row),
          *params = kit_host(cells * sizeof parameters);
    for (int cell = 0; cell < cells; cell++) {
        float *first = y + (size_t)cell * (steps + 1) * EQUATIONS;
        for (int i = 0; i < EQUATIONS; i++) first[i] = at_rest[i] * (float)kit_uniform(0.999, 1.001);
        memcpy(params + cell * PARAMETERS, parameters, sizeof parameters);
    }
    CUdeviceptr dx = kit_upload(x, history * sizeof *x), dy = kit_upload(y, history * row);
    CUdeviceptr dparams = kit_upload(params, cells * sizeof parameters),
                com = kit_alloc(cells * 3 * sizeof(float));
    CUdeviceptr error = kit_alloc(cells * row), scale = kit_alloc(cells * row), size = kit_alloc(cells * row);
    CUdeviceptr at = kit_alloc(cells * row), rates = kit_alloc(cells * STAGES * row);
    KIT_LAUNCH("solver_2", KIT_DIM((cells + BLOCK - 1) / BLOCK), KIT_DIM(BLOCK), 0, cells, steps, dx, dy,
               dparams, com, error, scale, size, at, rates);
    kit_download(x, dx, history * sizeof *x);
    kit_download(y, dy, history * row);
    kit_note("cell 0 took a step of %g, its potential is %g mV", x[1] - 1, y[EQUATIONS + 38]);
    for (int cell = 0; kit_checking() && cell < cells; cell++)
        check_cell(cell, steps, x + cell * (steps + 1), y + (size_t)cell * (steps + 1) * EQUATIONS,
                   params + cell * PARAMETERS);
    return kit_close();
}
