/* reduce: a sum in three ways: shared-memory tree, warp shuffles, and one atomic a thread; dynamic shared
 * memory. */
#include "test_program.h"
#define KERNELS(K, V) K(reduce_tree) K(reduce_shuffle) K(reduce_atomic)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void reduce_tree(const int *in, int *out, int n)
{
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
extern "C" __global__ void reduce_shuffle(const int *in, int *out, int n)
{
    __shared__ int part[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, s);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}
extern "C" __global__ void reduce_atomic(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&out[0], in[i]);
        atomicMax(&out[1], in[i]);
        atomicMin(&out[2], in[i]);
        atomicXor(&out[3], in[i]);
    }
}
#endif

int main(void)
{
    int n = 20011;
    int *in = (int *)malloc(n * sizeof(int)), want[6] = {0, 0, INT32_MIN, INT32_MAX, 0};
    for (int i = 0; i < n; i++) {
        in[i] = (int)(program_hash(i) % 20001) - 10000;
        want[0] += in[i];
        want[2] = in[i] > want[2] ? in[i] : want[2];
        want[3] = in[i] < want[3] ? in[i] : want[3];
        want[4] ^= in[i];
    }
    want[1] = want[0];
    int first[4] = {0, INT32_MIN, INT32_MAX, 0};
    int *din = (int *)program_device(in, n * sizeof(int)), *tree = (int *)program_device(NULL, 4),
        *shuffle = (int *)program_device(NULL, 4), *atomic = (int *)program_device(first, sizeof first);
    LAUNCH(reduce_tree, (n + 255) / 256, 256, 256 * sizeof(int), din, tree, n);
    LAUNCH(reduce_shuffle, 10, 128, 0, din, shuffle, n);
    LAUNCH(reduce_atomic, (n + 95) / 96, 96, 0, din, atomic, n);
    int *got = (int *)program_fetch(atomic, 16);
    int ok = program_same("tree", program_fetch(tree, 4), want, 1) &
             program_same("shuffle", program_fetch(shuffle, 4), want, 1) & program_same("sum", got, want, 1) &
             program_same("max, min, xor", got + 1, want + 2, 3);
    return program_end("reduce", ok);
}
