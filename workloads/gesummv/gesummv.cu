/* gesummv: y = alpha A x + beta B x as PolyBench-GPU computes it: one thread a row of both matrices. The
 * lanes sit a row apart, so that a load of A or B touches 32 lines: 64 lines a warp, which the next 31
 * iterations use again.
 * */
#include "kit/device.h"

/* The first `columns` elements of each row; rows stand `stride` elements apart. */
KERNEL gesummv_kernel(const float *A, const float *B, float *tmp, const float *x, float *y, float alpha,
                      float beta, int rows, int columns, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
#pragma unroll 1
    for (int j = 0; j < columns; j++) {
        tmp[i] += A[i * stride + j] * x[j];
        y[i] += B[i * stride + j] * x[j];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
}
