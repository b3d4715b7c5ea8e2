/* syrk: C = alpha A A^T + beta C as PolyBench-GPU computes it: one thread an element of C, blocks of 32 x
 * 8. A warp is a piece of a row of C: its lanes share row i of A and have a row j each, so that one load
 * of the two touches one line, the other 32 lines, which the next 31 iterations use again. The eight warps
 * of a block walk the same rows j. */
#include "kit/device.h"

KERNEL syrk_kernel(const float *A, float *C, float alpha, float beta, int ni, int nj)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ni || j >= ni) return;
    C[i * ni + j] *= beta;
#pragma unroll 1
    for (int k = 0; k < nj; k++) C[i * ni + j] += alpha * A[i * nj + k] * A[j * nj + k];
}
