/* srad1: speckle reducing anisotropic diffusion, version 1 of Rodinia: the image lies column by column, a
 * thread has one pixel of a one-dimensional grid of 512-thread CTAs, and finds its neighbours' rows and
 * columns in four index arrays. Arithmetic with literals is double, as in the original. */
#include "kit/device.h"

#define THREADS 512

KERNEL extract(long count, float *image)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) image[i] = expf(image[i] / 255);
}

KERNEL prepare(long count, const float *image, float *sums, float *squares)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    sums[i] = image[i];
    squares[i] = image[i] * image[i];
}

/* Adds up pairs 1, 2, 4, ... apart among the first `n` threads (a power of two); the total ends in thread
 * n - 1. */
KIT_INLINE void add_tree(float *sum, float *square, int n)
{
    int x = threadIdx.x;
    for (int step = 2; step <= n; step *= 2) {
        if ((x + 1) % step == 0 && x < n) {
            sum[x] += sum[x - step / 2];
            square[x] += square[x - step / 2];
        }
        __syncthreads();
    }
}

/* Each CTA adds 512 of `count` values that lie `stride` apart, and leaves the sum where its first value
 * was. */
KERNEL reduce(long elements, int count, int stride, float *sums, float *squares)
{
    __shared__ float sum[THREADS], square[THREADS];
    int x = threadIdx.x;
    int first = blockIdx.x * THREADS, i = first + x;
    if (i < count) {
        sum[x] = sums[i * stride];
        square[x] = squares[i * stride];
    }
    __syncthreads();

    int here = min(count - first, THREADS); /* less than 512 in the last CTA only */
    int power = 1;
    while (power * 2 <= here) power *= 2;
    add_tree(sum, square, power);
    if (x != power - 1) return;
#pragma unroll 1
    for (int k = first + power; k < first + here; k++) { /* what is beyond the power of two */
        sum[x] += sums[k * stride];
        square[x] += squares[k * stride];
    }
    sums[first * stride] = sum[x];
    squares[first * stride] = square[x];
}

/* Differences to the four neighbours and the diffusion coefficient of each pixel. */
KERNEL srad(float lambda, int rows, int columns, long count, const int *north, const int *south,
            const int *east, const int *west, float *dn, float *ds, float *de, float *dw, float q0sqr,
            float *coefficient, const float *image)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int row = i % rows, column = i / rows;
    if (i >= count) return;

    float here = image[i];
    float n = image[north[row] + rows * column] - here;
    float s = image[south[row] + rows * column] - here;
    float w = image[row + rows * west[column]] - here;
    float e = image[row + rows * east[column]] - here;

    float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    float laplacian = (n + s + w + e) / here;
    float over = (0.5 * gradient) - ((1.0 / 16.0) * (laplacian * laplacian));
    float under = 1 + (0.25 * laplacian);
    float qsqr = over / (under * under);
    under = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0 / (1.0 + under);
    if (c < 0)
        c = 0;
    else if (c > 1)
        c = 1;

    dn[i] = n;
    ds[i] = s;
    dw[i] = w;
    de[i] = e;
    coefficient[i] = c;
}

/* One step of the diffusion, with the coefficients of the pixel itself, of its south and of its east
 * neighbour. */
KERNEL srad2(float lambda, int rows, int columns, long count, const int *south, const int *east,
             const float *dn, const float *ds, const float *de, const float *dw, const float *coefficient,
             float *image)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int row = i % rows, column = i / rows;
    if (i >= count) return;

    float cn = coefficient[i];
    float cs = coefficient[south[row] + rows * column];
    float cw = coefficient[i];
    float ce = coefficient[row + rows * east[column]];
    float divergence = cn * dn[i] + cs * ds[i] + cw * dw[i] + ce * de[i];
    image[i] = image[i] + 0.25 * lambda * divergence;
}

KERNEL compress(long count, float *image)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) image[i] = logf(image[i]) * 255;
}
