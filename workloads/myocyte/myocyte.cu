/* myocyte: the differential equations of many heart cells, one thread a cell, as the second way of
 * Rodinia's myocyte: each thread runs the whole solver (Runge-Kutta-Fehlberg 7(8), 13 evaluations an
 * attempt) on its own rows of global arrays. A cell's values are contiguous, so that the lanes of a warp
 * sit 364 bytes (one row of 91 floats) or 4732 bytes (13 rows) apart. */
#include "kit/device.h"

typedef float real;
#define CELL_FUNCTION KIT_INLINE
#include "cell.cuh"

#define BLOCK    32
#define ATTEMPTS 12
#define STAGES   13

/* A stage of Fehlberg's method: when, and where to, by the rates of the stages before. */
#define R(before) rates[(before)*EQUATIONS + i]
#define STAGE(number, when, sum)                                                                             \
    case number:                                                                                             \
        time += (when)*h;                                                                                    \
        for (int i = 0; i < EQUATIONS; i++) at[i] = y[i] + h * (sum);                                        \
        break

/* y at x + h from y at x, and the error of each value. */
KIT_INLINE void fehlberg_step(float h, float x, const float *y, float *y_next, const float *params,
                              float *error, float *at, float *rates, float *com)
{
    for (int stage = 0; stage < STAGES; stage++) {
        float time = x;
        switch (stage) {
            STAGE(0, 0.0f, 0.0f);
            STAGE(1, 2.0f / 27, 2.0f / 27 * R(0));
            STAGE(2, 1.0f / 9, 1.0f / 36 * R(0) + 3.0f / 36 * R(1));
            STAGE(3, 1.0f / 6, 1.0f / 24 * R(0) + 3.0f / 24 * R(2));
            STAGE(4, 5.0f / 12, 20.0f / 48 * R(0) + -75.0f / 48 * R(2) + 75.0f / 48 * R(3));
            STAGE(5, 1.0f / 2, 1.0f / 20 * R(0) + 5.0f / 20 * R(3) + 4.0f / 20 * R(4));
            STAGE(6, 5.0f / 6,
                  -25.0f / 108 * R(0) + 125.0f / 108 * R(3) + -260.0f / 108 * R(4) + 250.0f / 108 * R(5));
            STAGE(7, 1.0f / 6,
                  31.0f / 300 * R(0) + 61.0f / 225 * R(4) + -2.0f / 9 * R(5) + 13.0f / 900 * R(6));
            STAGE(8, 2.0f / 3,
                  2.0f * R(0) + -53.0f / 6 * R(3) + 704.0f / 45 * R(4) + -107.0f / 9 * R(5) +
                      67.0f / 90 * R(6) + 3.0f * R(7));
            STAGE(9, 1.0f / 3,
                  -91.0f / 108 * R(0) + 23.0f / 108 * R(3) + -976.0f / 135 * R(4) + 311.0f / 54 * R(5) +
                      -19.0f / 60 * R(6) + 17.0f / 6 * R(7) + -1.0f / 12 * R(8));
            STAGE(10, 1.0f,
                  2383.0f / 4100 * R(0) + -341.0f / 164 * R(3) + 4496.0f / 1025 * R(4) + -301.0f / 82 * R(5) +
                      2133.0f / 4100 * R(6) + 45.0f / 82 * R(7) + 45.0f / 164 * R(8) + 18.0f / 41 * R(9));
            STAGE(11, 0.0f,
                  3.0f / 205 * R(0) + -6.0f / 41 * R(5) + -3.0f / 205 * R(6) + -3.0f / 41 * R(7) +
                      3.0f / 41 * R(8) + 6.0f / 41 * R(9));
            STAGE(12, 1.0f,
                  -1777.0f / 4100 * R(0) + -341.0f / 164 * R(3) + 4496.0f / 1025 * R(4) +
                      -289.0f / 82 * R(5) + 2193.0f / 4100 * R(6) + 51.0f / 82 * R(7) + 33.0f / 164 * R(8) +
                      12.0f / 41 * R(9) + R(11));
        }
        cell_rates(time, at, params, &rates[stage * EQUATIONS], com);
    }
    for (int i = 0; i < EQUATIONS; i++)
        y_next[i] = y[i] + h * (41.0f / 840 * (rates[i] + rates[10 * EQUATIONS + i]) +
                                34.0f / 105 * rates[5 * EQUATIONS + i] +
                                9.0f / 35 * (rates[6 * EQUATIONS + i] + rates[7 * EQUATIONS + i]) +
                                9.0f / 280 * (rates[8 * EQUATIONS + i] + rates[9 * EQUATIONS + i]));
    for (int i = 0; i < EQUATIONS; i++)
        error[i] = fabsf(
            -41.0f / 840 *
            (rates[i] + rates[10 * EQUATIONS + i] - rates[11 * EQUATIONS + i] - rates[12 * EQUATIONS + i]));
}

KERNEL solver_2(int cells, int steps, float *x, float *y, const float *params, float *com, float *error,
                float *scale, float *size, float *at, float *rates)
{
    int cell = blockIdx.x * BLOCK + threadIdx.x;
    if (cell >= cells) return;
    float tolerance = 10 / (float)steps;
    error += cell * EQUATIONS, scale += cell * EQUATIONS, size += cell * EQUATIONS, at += cell * EQUATIONS;
    rates += cell * STAGES * EQUATIONS, params += cell * PARAMETERS, com += cell * 3;
    y += cell * (steps + 1) * EQUATIONS, x += cell * (steps + 1);

    for (int k = 1; k <= steps; k++) {
        float *from = y + (k - 1) * EQUATIONS, *to = y + k * EQUATIONS, h = 1;
        int attempt;
        x[k] = (float)k;
        for (attempt = 0; attempt < ATTEMPTS; attempt++) {
            bool wrong = false, outside = false;
            float smallest = 4;
            fehlberg_step(h, x[k], from, to, params, error, at, rates, com);
            for (int i = 0; i < EQUATIONS; i++)
                if (error[i] > 0) wrong = true;
            if (!wrong) break;
            for (int i = 0; i < EQUATIONS; i++) {
                size[i] = from[i] == 0 ? tolerance : fabsf(from[i]);
                scale[i] = 0.8f * powf(tolerance * size[i] / error[i], 1.0f / 7);
                if (scale[i] < smallest) smallest = scale[i];
            }
            for (int i = 0; i < EQUATIONS; i++)
                if (error[i] > tolerance * size[i]) outside = true;
            if (!outside) break;
            h = h * fminf(fmaxf(smallest, 0.125f), 4.0f);
            if (h >= 0.9f) h = 0.9f;
            if (x[k] + h > (float)steps)
                h = (float)steps - x[k];
            else if (x[k] + h + 0.5f * h > (float)steps)
                h = 0.5f * h;
        }
        x[k] = x[k] + h;
        if (attempt >= ATTEMPTS) return;
    }
}
