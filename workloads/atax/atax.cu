/* atax: y = A^T (A x), as PolyBench-GPU computes it: one thread a row for A x, one thread a column for A^T
 * tmp. The lanes of the first kernel sit a row apart, so each load of A touches 32 lines, which are used
 * again by the next 31 iterations. */
#include "kit/device.h"

/* The first ny elements of each of nx rows, which stand `stride` elements apart. */
KERNEL atax_kernel1(const float *A, const float *x, float *tmp, int nx, int ny, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
#pragma unroll 1
    for (int j = 0; j < ny; j++) tmp[i] += A[i * stride + j] * x[j];
}

KERNEL atax_kernel2(const float *A, float *y, const float *tmp, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
#pragma unroll 1
    for (int i = 0; i < nx; i++) y[j] += A[i * ny + j] * tmp[i];
}
