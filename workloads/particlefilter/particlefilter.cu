/* particlefilter: tracks a disk through noisy frames with a cloud of weighted guesses, as Rodinia's
 * "float" version does it: one thread a particle, doubles throughout. The likelihood of a particle writes
 * and then reads back one row of `ind`, a table with a row of `ones` ints a particle, so that the lanes of
 * a warp sit a row (276 bytes) apart: 32 lines a load, each of which serves the next 31 rounds of the loop
 * if the L1 can hold it that long. */
#include "kit/device.h"

#define BLOCK   512
#define MODULUS 2147483647 /* of the linear congruential generator */

/* A uniform number in [0, 1) out of the particle's own generator. */
KIT_INLINE double draw_uniform(int *seed, int i)
{
    int next = (int)(1103515245u * (unsigned)seed[i] + 12345u);
    seed[i] = next % MODULUS;
    return fabs(seed[i] / (double)MODULUS);
}

/* Box and Muller's transformation; it wants two uniform numbers and keeps one normal one. */
KIT_INLINE double draw_normal(int *seed, int i)
{
    double u = draw_uniform(seed, i);
    double v = draw_uniform(seed, i);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* How much more the pixels under the disk look like the object (228) than like the background (100). */
KIT_INLINE double likelihood_sum(const unsigned char *video, const int *ind, int ones, int i)
{
    double sum = 0;
#pragma unroll 1 /* one static load of ind, as the compilers of the original's day made it */
    for (int y = 0; y < ones; y++) {
        double above = video[ind[i * ones + y]] - 100, below = video[ind[i * ones + y]] - 228;
        sum += (above * above - below * below) / 50.0;
    }
    return sum;
}

KERNEL likelihood_kernel(double *x, double *y, const double *xj, const double *yj, int *ind, const int *disk,
                         double *likelihood, const unsigned char *video, double *weights, int particles,
                         int ones, int pixels, int frame, int columns, int frames, int *seed,
                         double *partial_sums)
{
    __shared__ double buffer[BLOCK];
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < particles) {
        x[i] = xj[i];
        y[i] = yj[i];
        weights[i] = 1 / (double)particles;
        x[i] = x[i] + 1.0 + 5.0 * draw_normal(seed, i);
        y[i] = y[i] - 2.0 + 2.0 * draw_normal(seed, i);
    }
    __syncthreads();

    if (i < particles) {
#pragma unroll 1
        for (int p = 0; p < ones; p++) {
            int row = (int)x[i] + disk[p * 2 + 1];
            int column = (int)y[i] + disk[p * 2];
            ind[i * ones + p] = abs(row * columns * frames + column * frames + frame);
            if (ind[i * ones + p] >= pixels) ind[i * ones + p] = 0;
        }
        likelihood[i] = likelihood_sum(video, ind, ones, i);
        likelihood[i] = likelihood[i] / ones;
        weights[i] = weights[i] * exp(likelihood[i]);
    }
    buffer[threadIdx.x] = 0;
    __syncthreads();

    if (i < particles) buffer[threadIdx.x] = weights[i];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = buffer[0];
}

/* One thread adds up the blocks' sums, and draws the start of the comb that the particles are drawn anew
 * with. */
KERNEL sum_kernel(double *partial_sums, int particles, double *u, int *seed)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i != 0) return;
    double sum = 0;
#pragma unroll 1
    for (int b = 0; b < (particles + BLOCK - 1) / BLOCK; b++) sum += partial_sums[b];
    partial_sums[0] = sum;
    u[0] = 1 / (double)particles * draw_uniform(seed, 0);
}

KERNEL normalize_weights_kernel(double *weights, int particles, const double *partial_sums, double *u)
{
    __shared__ double start, sum;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0) {
        sum = partial_sums[0];
        start = u[0]; /* the one thread that stores u[0] stores this very value */
    }
    __syncthreads();
    if (i < particles) {
        weights[i] = weights[i] / sum;
        u[i] = start + i / (double)particles;
    }
}

/* One thread alone, as in the original's normalize_weights_kernel. */
KERNEL cdf_kernel(double *cdf, const double *weights, int particles)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i != 0) return;
    cdf[0] = weights[0];
#pragma unroll 1
    for (int x = 1; x < particles; x++) cdf[x] = weights[x] + cdf[x - 1];
}

/* Each thread searches the distribution from its beginning. */
KERNEL find_index_kernel(const double *x, const double *y, const double *cdf, const double *u, double *xj,
                         double *yj, int particles)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= particles) return;
    int index = particles - 1;
#pragma unroll 1
    for (int p = 0; p < particles; p++) {
        if (cdf[p] >= u[i]) {
            index = p;
            break;
        }
    }
    xj[i] = x[index];
    yj[i] = y[index];
}
