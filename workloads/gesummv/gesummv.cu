/* gesummv: y = alpha A x + beta B x as PolyBench-GPU computes it: one thread a row of both matrices. The lanes sit
 * a row apart, so that a load of A or B touches 32 lines: 64 lines a warp, which the next 31 iterations use again.
 * */
#include "kit/device.h"

KERNEL gesummv_kernel(const float *A, const float *B, float *tmp, const float *x, float *y, float alpha,
                      float beta, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    for (int j = 0; j < columns; j++) {
        tmp[i] += A[i * columns + j] * x[j];
        y[i] += B[i * columns + j] * x[j];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
}
