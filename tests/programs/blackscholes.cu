/* blackscholes: European options; logf, expf, sqrtf, erf and their double versions, divisions. */
#include "test_program.h"
#define KERNELS(K, V) K(blackscholes_f32) K(blackscholes_f64) K(blackscholes_fast)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void blackscholes_f32(const float *price, const float *strike, const float *years,
                                            float *call, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], k = strike[i], t = years[i], v = 0.3f, r = 0.02f, root = sqrtf(t);
    float d1 = (logf(s / k) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
    call[i] = s * normcdff(d1) - k * expf(-r * t) * normcdff(d2);
}
extern "C" __global__ void blackscholes_f64(const float *price, const float *strike, const float *years,
                                            float *call, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double s = price[i], k = strike[i], t = years[i], v = 0.3, r = 0.02, root = sqrt(t);
    double d1 = (log(s / k) + (r + 0.5 * v * v) * t) / (v * root), d2 = d1 - v * root;
    call[i] = (float)(s * normcdf(d1) - k * exp(-r * t) * normcdf(d2));
}
extern "C" __global__ void blackscholes_fast(const float *price, const float *strike, const float *years,
                                             float *call, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], k = strike[i], t = years[i], v = 0.3f, r = 0.02f, root = __fsqrt_rn(t);
    float d1 = __fdividef(__logf(__fdividef(s, k)) + (r + 0.5f * v * v) * t, v * root), d2 = d1 - v * root;
    call[i] = s * (0.5f + 0.5f * erff(d1 * 0.70710678f)) -
              k * __expf(-r * t) * (0.5f + 0.5f * erff(d2 * 0.70710678f));
}
#endif

int main(void)
{
    int n = 3000;
    size_t bytes = n * 4;
    float *price = (float *)malloc(bytes), *strike = (float *)malloc(bytes), *years = (float *)malloc(bytes),
          *want = (float *)malloc(bytes);
    for (int i = 0; i < n; i++) {
        price[i] = 5.0f + 25.0f * program_unit(1, i);
        strike[i] = 1.0f + 99.0f * program_unit(2, i);
        years[i] = 0.25f + 9.75f * program_unit(3, i);
        double s = (double)price[i], k = (double)strike[i], t = (double)years[i], v = 0.3, r = 0.02;
        double d1 = (log(s / k) + (r + 0.5 * v * v) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
        want[i] = (float)(s * 0.5 * erfc(-d1 / sqrt(2.0)) - k * exp(-r * t) * 0.5 * erfc(-d2 / sqrt(2.0)));
    }
    float *dp = (float *)program_device(price, bytes), *dk = (float *)program_device(strike, bytes),
          *dt = (float *)program_device(years, bytes);
    float *a = (float *)program_device(NULL, bytes), *b = (float *)program_device(NULL, bytes),
          *c = (float *)program_device(NULL, bytes);
    LAUNCH(blackscholes_f32, (n + 127) / 128, 128, 0, dp, dk, dt, a, n);
    LAUNCH(blackscholes_f64, (n + 127) / 128, 128, 0, dp, dk, dt, b, n);
    LAUNCH(blackscholes_fast, (n + 127) / 128, 128, 0, dp, dk, dt, c, n);
    int ok = program_near("f32", (float *)program_fetch(a, bytes), want, n, 1e-5f) &
             program_near("f64", (float *)program_fetch(b, bytes), want, n, 1e-6f) &
             program_near("fast", (float *)program_fetch(c, bytes), want, n, 1e-4f);
    return program_end("blackscholes", ok);
}
