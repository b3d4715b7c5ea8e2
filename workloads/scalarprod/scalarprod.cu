/* scalarprod: scalar products of pairs of vectors, as the CUDA SDK's scalarProd. A block takes a pair at a
 * time; 1024 accumulators in shared memory, four for each of its 256 threads, stride through the pair and
 * are summed as a tree. */
#include "kit/device.h"

#define ACCUM_N 1024

KERNEL scalarProdGPU(float *c, const float *a, const float *b, int vectors, int elements)
{
    __shared__ float sums[ACCUM_N];
    for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
        int first = __mul24(elements, v), end = first + elements;
        for (int k = threadIdx.x; k < ACCUM_N; k += blockDim.x) {
            float sum = 0;
#pragma unroll 1 /* compilers of the time unrolled loops of known length only */
            for (int i = first + k; i < end; i += ACCUM_N) sum += a[i] * b[i];
            sums[k] = sum;
        }
        for (int stride = ACCUM_N / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int k = threadIdx.x; k < stride; k += blockDim.x) sums[k] += sums[stride + k];
        }
        __syncthreads(); /* as later releases: sums[1] is read before its thread may begin the next pair */
        if (threadIdx.x == 0) c[v] = sums[0];
    }
}
