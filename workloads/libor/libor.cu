/* libor: a portfolio of swaptions in the LIBOR market model, as ISPASS-2009's LIB (after Giles, 2007). One
 * thread a path, blocks of 64. A path's forward rates, its normal variates and, for the sensitivities, the
 * rates after every step live in local memory: 14 KB a thread, which the machine interleaves so that a
 * warp's access is one line. */
#include "kit/device.h"

#define RATES_MAX   80
#define STEPS_MAX   40
#define OPTIONS_MAX 15

/* Constants are doubles where the original's are, and so are the terms around them. Loops are kept rolled:
 * the compiler knows the length of none, and those of the time unrolled loops of known length only (their
 * programming guide). */
__constant__ int rates, steps, options, maturities[OPTIONS_MAX];
__constant__ float delta, swaprates[OPTIONS_MAX], lambda[RATES_MAX];

KIT_INLINE void path_start(float *L, float *z)
{
#pragma unroll 1
    for (int i = 0; i < rates; i++) {
        z[i] = 0.3f; /* the original's constants, in place of a random generator */
        L[i] = 0.05f;
    }
}

/* One step of one rate; `v` gathers the drift over the rates before it. */
KIT_INLINE float rate_next(float L, float lam, float sqez, float *v)
{
    float con = delta * lam;
    *v += __fdividef(con * L, 1.0 + delta * L);
    return L * __expf(con * *v + lam * (sqez - 0.5 * con));
}

KIT_INLINE void path_calc(float *L, const float *z)
{
#pragma unroll 1
    for (int n = 0; n < steps; n++) {
        float sqez = sqrtf(delta) * z[n], v = 0;
#pragma unroll 1
        for (int i = n + 1; i < rates; i++) L[i] = rate_next(L[i], lambda[i - n - 1], sqez, &v);
    }
}

/* The same, and every step's rates are kept for the way back. */
KIT_INLINE void path_calc_b1(float *L, const float *z, float *kept)
{
#pragma unroll 1
    for (int i = 0; i < rates; i++) kept[i] = L[i];
#pragma unroll 1
    for (int n = 0; n < steps; n++) {
        float sqez = sqrtf(delta) * z[n], v = 0;
#pragma unroll 1
        for (int i = n + 1; i < rates; i++) {
            L[i] = rate_next(L[i], lambda[i - n - 1], sqez, &v);
            kept[i + (n + 1) * rates] = L[i];
        }
    }
}

/* The way back: sensitivities to the rates after a step become those to the rates before it. */
KIT_INLINE void path_calc_b2(float *Lb, const float *kept)
{
#pragma unroll 1
    for (int n = steps - 1; n >= 0; n--) {
        float v = 0;
#pragma unroll 1
        for (int i = rates - 1; i > n; i--) {
            float lam = lambda[i - n - 1];
            v += lam * kept[i + (n + 1) * rates] * Lb[i];
            float factor = __fdividef(delta, 1.0 + delta * kept[i + n * rates]);
            Lb[i] = Lb[i] * __fdividef(kept[i + (n + 1) * rates], kept[i + n * rates]) +
                    v * lam * factor * factor;
        }
    }
}

KIT_INLINE float portfolio(const float *L)
{
    float B[STEPS_MAX], S[STEPS_MAX], b = 1, s = 0, v = 0;
#pragma unroll 1
    for (int n = steps; n < rates; n++) {
        b = b / (1.0 + delta * L[n]);
        s = s + delta * b;
        B[n - steps] = b;
        S[n - steps] = s;
    }
#pragma unroll 1
    for (int i = 0; i < options; i++) {
        int m = maturities[i] - 1;
        float swap = B[m] + swaprates[i] * S[m] - 1.0;
        if (swap < 0) v += -100.0 * swap;
    }
    b = 1;
#pragma unroll 1
    for (int n = 0; n < steps; n++) b = b / (1.0 + delta * L[n]);
    return b * v;
}

/* The same, and the sensitivities of the value to the rates. Lb may be L itself: each rate is read before
 * its place is written. */
KIT_INLINE float portfolio_b(const float *L, float *Lb)
{
    float B[STEPS_MAX], S[STEPS_MAX], Bb[STEPS_MAX], Sb[STEPS_MAX], b = 1, s = 0, v = 0;
#pragma unroll 1
    for (int m = 0; m < rates - steps; m++) {
        b = __fdividef(b, 1.0 + delta * L[m + steps]);
        s = s + delta * b;
        B[m] = b;
        S[m] = s;
    }
#pragma unroll 1
    for (int m = 0; m < rates - steps; m++) {
        Bb[m] = 0;
        Sb[m] = 0;
    }
#pragma unroll 1
    for (int i = 0; i < options; i++) {
        int m = maturities[i] - 1;
        float swap = B[m] + swaprates[i] * S[m] - 1.0;
        if (swap < 0) {
            v += -100 * swap;
            Sb[m] += -100 * swaprates[i];
            Bb[m] += -100;
        }
    }
#pragma unroll 1
    for (int m = rates - steps - 1; m >= 0; m--) {
        int n = m + steps;
        double growth = 1.0 + delta * L[n];
        Bb[m] += delta * Sb[m];
        Lb[n] = -Bb[m] * B[m] * __fdividef(delta, growth);
        if (m > 0) {
            Sb[m - 1] += Sb[m];
            Bb[m - 1] += __fdividef(Bb[m], growth);
        }
    }
    b = 1;
#pragma unroll 1
    for (int n = 0; n < steps; n++) b = b / (1.0 + delta * L[n]);
    v = b * v;
#pragma unroll 1
    for (int n = 0; n < steps; n++) Lb[n] = -v * delta / (1.0 + delta * L[n]);
#pragma unroll 1
    for (int n = steps; n < rates; n++) Lb[n] = b * Lb[n];
    return v;
}

KERNEL Pathcalc_Portfolio_KernelGPU(float *value, float *sensitivity, int paths)
{
    float L[RATES_MAX], kept[RATES_MAX * (STEPS_MAX + 1)], z[RATES_MAX];
#pragma unroll 1
    for (int path = blockDim.x * blockIdx.x + threadIdx.x; path < paths; path += blockDim.x * gridDim.x) {
        path_start(L, z);
        path_calc_b1(L, z, kept);
        value[path] = portfolio_b(L, L);
        path_calc_b2(L, kept);
        sensitivity[path] = L[rates - 1];
    }
}

KERNEL Pathcalc_Portfolio_KernelGPU2(float *value, int paths)
{
    float L[RATES_MAX], z[RATES_MAX];
#pragma unroll 1
    for (int path = blockDim.x * blockIdx.x + threadIdx.x; path < paths; path += blockDim.x * gridDim.x) {
        path_start(L, z);
        path_calc(L, z);
        value[path] = portfolio(L);
    }
}
