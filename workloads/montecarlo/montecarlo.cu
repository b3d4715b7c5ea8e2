/* montecarlo: European call options by Monte Carlo, as the CUDA SDK's MonteCarlo of the 3.x releases. One
 * kernel makes normally distributed samples; then each option has a block, whose 256 threads stride
 * through all the samples and sum the payoffs and their squares as a tree. Every block reads the same
 * samples, in the same order. */
#include "kit/device.h"

#define OPTIONS_MAX 2048
#define THREADS     256

/* Of a Brownian motion after time T: S exp(drift + spread * sample), against the strike X. */
struct option {
    float S, X, drift, spread;
};
struct sums {
    float payoff, square;
};

__constant__ option d_OptionData[OPTIONS_MAX];
__device__ sums d_CallValue[OPTIONS_MAX];

/* Inverse of the normal distribution by Beasley, Springer and Moro (Risk 8, 1995): a fraction in the
 * middle, a polynomial of log(-log p) in the tails. */
KIT_INLINE float inverse_normal(float p)
{
    float y = p - 0.5f;
    if (fabsf(y) < 0.42f) {
        float q = y * y;
        return y * (((-25.44106049637f * q + 41.39119773534f) * q - 18.61500062529f) * q + 2.50662823884f) /
               ((((3.13082909833f * q - 21.06224101826f) * q + 23.08336743743f) * q - 8.4735109309f) * q + 1);
    }
    float r = __logf(-__logf(y > 0 ? 1 - p : p));
    float tail = 3.960315187e-7f;
    tail = 2.888167364e-7f + r * tail;
    tail = 3.21767881768e-5f + r * tail;
    tail = 3.951896511919e-4f + r * tail;
    tail = 3.8405729373609e-3f + r * tail;
    tail = 2.76438810333863e-2f + r * tail;
    tail = 0.160797971491821f + r * tail;
    tail = 0.976169019091719f + r * tail;
    tail = 0.337475482272615f + r * tail;
    return y < 0 ? -tail : tail;
}

/* Samples at even distances of probability, not random ones: a stratified set, the same for every option. */
KERNEL inverseCNDKernel(float *samples, unsigned paths)
{
    float step = 1.0f / (float)(paths + 1);
    unsigned threads = blockDim.x * gridDim.x;
    for (unsigned i = blockDim.x * blockIdx.x + threadIdx.x; i < paths; i += threads)
        samples[i] = inverse_normal((float)(i + 1) * step);
}

KERNEL MonteCarloOneBlockPerOption(const float *samples, int paths)
{
    __shared__ float payoffs[THREADS], squares[THREADS];
    option o = d_OptionData[blockIdx.x];
    for (int k = threadIdx.x; k < THREADS; k += blockDim.x) {
        sums sum = {0, 0};
#pragma unroll 1 /* compilers of the time unrolled loops of known length only */
        for (int i = k; i < paths; i += THREADS) {
            float gain = o.S * __expf(o.drift + o.spread * samples[i]) - o.X;
            if (!(gain > 0)) gain = 0;
            sum.payoff += gain;
            sum.square += gain * gain;
        }
        payoffs[k] = sum.payoff;
        squares[k] = sum.square;
    }
    for (int stride = THREADS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        for (int k = threadIdx.x; k < stride; k += blockDim.x) {
            payoffs[k] += payoffs[k + stride];
            squares[k] += squares[k + stride];
        }
    }
    if (threadIdx.x == 0) d_CallValue[blockIdx.x] = {payoffs[0], squares[0]};
}
