/* mvt: x1 += A y1 and x2 += A^T y2 as PolyBench-GPU computes them: one thread a row for the first product,
 * one thread a column for the second. The lanes of the first kernel sit a row apart: a load of A touches
 * 32 lines, which the next 31 iterations use again. */
#include "kit/device.h"

/* The first `columns` elements of each row; rows stand `stride` elements apart. */
KERNEL mvt_kernel1(const float *A, float *x1, const float *y1, int rows, int columns, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
#pragma unroll 1
    for (int j = 0; j < columns; j++) x1[i] += A[i * stride + j] * y1[j];
}

KERNEL mvt_kernel2(const float *A, float *x2, const float *y2, int rows, int columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
#pragma unroll 1
    for (int i = 0; i < rows; i++) x2[j] += A[i * columns + j] * y2[i];
}
