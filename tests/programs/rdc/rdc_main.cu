/* rdc_main.cu: relocatable device code: the kernel is here; a function, a variable and a constant are in
 * rdc_other.cu. */
#include "../test_program.h"

extern __device__ int scale_by(int x);
extern __device__ int calls;
extern __constant__ int offsets[4];
static __device__ int mine = 5; /* another `mine` is in rdc_other.cu: both must keep their own */

__global__ void rdc_kernel(int *out)
{
    int i = threadIdx.x;
    out[i] = scale_by(i) + offsets[i & 3] + mine;
    atomicAdd(&calls, 1);
}

int main(void)
{
    int want[64], got_calls = 0, *out = (int *)program_device(NULL, sizeof want);
    int *second = (int *)program_device(NULL, sizeof want);
    for (int i = 0; i < 64; i++) want[i] = i * 3 + 100 + (i & 3) * 10 + 5;
    rdc_kernel<<<1, 64>>>(out);
    rdc_kernel<<<1, 64>>>(second);
    CHECK_CUDA(cudaGetLastError());
    int ok = program_same("out", program_fetch(out, sizeof want), want, 64) &
             program_same("second", program_fetch(second, sizeof want), want, 64);
    CHECK_CUDA(cudaMemcpyFromSymbol(&got_calls, calls, 4));
    if (got_calls != 128) printf("calls: got %d, want 128\n", got_calls);
    return program_end("rdc", ok && got_calls == 128);
}
