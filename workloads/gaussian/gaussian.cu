/* gaussian: Gaussian elimination as Rodinia does it: for each column t, Fan1 computes the multipliers of
 * the rows below and Fan2 subtracts row t from them. Fan2's CTAs are 4 x 4 threads with the row along x,
 * so half of each warp is empty and its lanes touch four rows, that is four lines. */
#include "kit/device.h"

KERNEL Fan1(float *m, const float *a, int n, int t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1 - t) return;
    m[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / a[n * t + t];
}

KERNEL Fan2(const float *m, float *a, float *b, int n, int t)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n - 1 - t || y >= n - t) return;

    int row = x + 1 + t;
    a[n * row + y + t] -= m[n * row + t] * a[n * t + y + t];
    if (y == 0) b[row] -= m[n * row + t] * b[t];
}
