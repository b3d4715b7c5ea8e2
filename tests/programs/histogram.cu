/* histogram: 256 bins by shared-memory atomics, then global; and by one global atomic a byte. */
#include "test_program.h"
#define KERNELS(K, V) K(hist_shared) K(hist_global)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void hist_shared(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i]) atomicAdd(&bins[i], local[i]);
}
extern "C" __global__ void hist_global(const unsigned char *bytes, unsigned *bins, int n4)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    uchar4 v = ((const uchar4 *)bytes)[i];
    atomicAdd(&bins[v.x], 1u);
    atomicAdd(&bins[v.y], 1u);
    atomicAdd(&bins[v.z], 1u);
    atomicInc(&bins[v.w], 0xffffffffu);
}
#endif

int main(void)
{
    int n = 40000, n4 = n / 4;
    unsigned char *in = (unsigned char *)malloc(n);
    unsigned want[256] = {0};
    for (int i = 0; i < n; i++) want[in[i] = (unsigned char)(program_hash(i) & program_hash(i + 1))]++;
    unsigned char *din = (unsigned char *)program_device(in, n);
    unsigned *a = (unsigned *)program_device(NULL, 1024), *b = (unsigned *)program_device(NULL, 1024);
    LAUNCH(hist_shared, 13, 192, 0, din, a, n);
    LAUNCH(hist_global, (n4 + 127) / 128, 128, 0, din, b, n4);
    return program_end("histogram", program_same("shared", program_fetch(a, 1024), want, 256) &
                                        program_same("global", program_fetch(b, 1024), want, 256));
}
