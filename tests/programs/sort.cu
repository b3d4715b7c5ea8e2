/* sort: bitonic sort of 64-bit keys in shared memory blocks, then merge steps in global memory; heavy
 * divergence. */
#include "test_program.h"
#define KERNELS(K, V) K(bitonic_shared) K(bitonic_global)
PROGRAM(KERNELS)

#ifdef __CUDACC__
__device__ static void order(unsigned long long *a, unsigned long long *b, bool up)
{
    if ((*a > *b) == up) {
        unsigned long long t = *a;
        *a = *b;
        *b = t;
    }
}
extern "C" __global__ void bitonic_shared(unsigned long long *keys)
{
    __shared__ unsigned long long s[512];
    unsigned base = blockIdx.x * 512;
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) s[i] = keys[base + i];
    for (unsigned k = 2; k <= 512; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            unsigned i = 2 * threadIdx.x - (threadIdx.x & (j - 1));
            order(&s[i], &s[i + j], ((base + i) & k) == 0);
        }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) keys[base + i] = s[i];
}
extern "C" __global__ void bitonic_global(unsigned long long *keys, unsigned j, unsigned k)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (j - 1));
    order(&keys[i], &keys[i + j], (i & k) == 0);
}
#endif

static int compare(const void *a, const void *b)
{
    unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    unsigned n = 4096;
    unsigned long long *keys = (unsigned long long *)malloc(n * 8);
    for (unsigned i = 0; i < n; i++)
        keys[i] = (unsigned long long)program_hash(i) << 29 ^ program_hash(i + n);
    unsigned long long *d = (unsigned long long *)program_device(keys, n * 8);
    LAUNCH(bitonic_shared, n / 512, 256, 0, d);
    for (unsigned k = 1024; k <= n; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) LAUNCH(bitonic_global, n / 512, 256, 0, d, j, k);
    qsort(keys, n, 8, compare);
    return program_end("sort", program_same("keys", program_fetch(d, n * 8), keys, n * 2));
}
