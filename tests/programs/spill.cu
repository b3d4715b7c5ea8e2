/* spill: a kernel that wants far more registers than its launch bounds leave: values go to local memory and
 * come back. */
#include "test_program.h"
#define KERNELS(K, V) K(spill)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void __launch_bounds__(1024, 2) spill(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v[64], s = 0;
#pragma unroll
    for (int k = 0; k < 64; k++) v[k] = in[(i * 64 + k) % n];
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int k = 0; k < 64; k++) v[k] = v[k] * 1664525u + v[(k * 7 + 5) % 64];
#pragma unroll
    for (int k = 0; k < 64; k++) s = s * 31 + v[k];
    out[i] = s;
}
#endif

int main(void)
{
    int n = 2500;
    unsigned *in = (unsigned *)malloc(n * 4), *want = (unsigned *)malloc(n * 4);
    for (int i = 0; i < n; i++) in[i] = program_hash(i);
    for (int i = 0; i < n; i++) {
        unsigned v[64], s = 0;
        for (int k = 0; k < 64; k++) v[k] = in[(i * 64 + k) % n];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 64; k++) v[k] = v[k] * 1664525u + v[(k * 7 + 5) % 64];
        for (int k = 0; k < 64; k++) s = s * 31 + v[k];
        want[i] = s;
    }
    unsigned *din = (unsigned *)program_device(in, n * 4), *dout = (unsigned *)program_device(NULL, n * 4);
    LAUNCH(spill, (n + 1023) / 1024, 1024, 0, din, dout, n);
    return program_end("spill", program_same("out", program_fetch(dout, n * 4), want, n));
}
