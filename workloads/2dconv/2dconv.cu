/* 2dconv: a 3x3 convolution of a matrix as PolyBench-GPU does it: one thread an element, nine loads from
 * global memory, no staging in shared memory. The nine loads of a warp touch three rows, and the rows of a
 * block overlap but for two. */
#include "kit/device.h"

KERNEL convolution2D_kernel(const float *A, float *B, int ni, int nj)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= ni - 1 || j >= nj - 1) return;

    const float *above = A + (i - 1) * nj + j, *here = A + i * nj + j, *below = A + (i + 1) * nj + j;
    B[i * nj + j] = 0.2f * above[-1] + 0.5f * above[0] - 0.8f * above[1] /**/
                    - 0.3f * here[-1] + 0.6f * here[0] - 0.9f * here[1]  /**/
                    + 0.4f * below[-1] + 0.7f * below[0] + 0.1f * below[1];
}
