/* syr2k: C = alpha (A B^T + B A^T) + beta C as PolyBench-GPU computes it: one thread an element of C,
 * blocks of 32 x 8. A warp is a piece of a row of C: its lanes share row i of A and of B and have a row j
 * of each, so that two of the four loads touch one line and two touch 32 lines, which the next 31
 * iterations use again. */
#include "kit/device.h"

KERNEL syr2k_kernel(const float *A, const float *B, float *C, float alpha, float beta, int ni, int nj)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ni || j >= ni) return;
    C[i * ni + j] *= beta;
#pragma unroll 1
    for (int k = 0; k < nj; k++)
        C[i * ni + j] += alpha * A[i * nj + k] * B[j * nj + k] + alpha * B[i * nj + k] * A[j * nj + k];
}
