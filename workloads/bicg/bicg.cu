/* bicg: s = A^T r and q = A p, the two products of the BiCG solver, as PolyBench-GPU computes them: one
 * thread a column for s, one thread a row for q. The lanes of the second kernel sit a row apart: a load of
 * A touches 32 lines, which the next 31 iterations use again. */
#include "kit/device.h"

KERNEL bicg_kernel1(const float *A, const float *r, float *s, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
    s[j] = 0;
#pragma unroll 1
    for (int i = 0; i < nx; i++) s[j] += A[i * ny + j] * r[i];
}

/* The first ny elements of each of nx rows, which stand `stride` elements apart. */
KERNEL bicg_kernel2(const float *A, const float *p, float *q, int nx, int ny, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    q[i] = 0;
#pragma unroll 1
    for (int j = 0; j < ny; j++) q[i] += A[i * stride + j] * p[j];
}
