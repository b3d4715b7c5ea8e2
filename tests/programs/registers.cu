/* registers: blocks of 1,024 threads of a kernel without launch bounds that needs more than 32 registers:
 * they fit the GPUs that nvcc builds for, and a machine of half as many registers only when the kernel
 * spills. */
#include "test_program.h"
#define KERNELS(K, V) K(registers)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void registers(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v[40], s = 0;
#pragma unroll
    for (int k = 0; k < 40; k++) v[k] = in[(i + k * 37) % n];
#pragma unroll
    for (int k = 0; k < 40; k++) v[k] = v[k] * 1664525u + v[(k * 7 + 5) % 40];
#pragma unroll
    for (int k = 0; k < 40; k++) s = s * 31 + v[k];
    out[i] = s;
}
#endif

int main(void)
{
    enum { N = 4096 };
    unsigned *in = (unsigned *)malloc(N * 4), *want = (unsigned *)malloc(N * 4);
    int n = N, ok = 1;
    for (int i = 0; i < N; i++) in[i] = program_hash(i);
    for (int i = 0; i < N; i++) {
        unsigned v[40], s = 0;
        for (int k = 0; k < 40; k++) v[k] = in[(i + k * 37) % n];
        for (int k = 0; k < 40; k++) v[k] = v[k] * 1664525u + v[(k * 7 + 5) % 40];
        for (int k = 0; k < 40; k++) s = s * 31 + v[k];
        want[i] = s;
    }
    unsigned *di = (unsigned *)program_device(in, N * 4);
    for (int threads = 1024; threads >= 256; threads /= 2) {
        unsigned *out = (unsigned *)program_device(NULL, N * 4);
        LAUNCH(registers, N / threads, threads, 0, di, out, n);
        ok &= program_same("out", program_fetch(out, N * 4), want, N);
    }
    return program_end("registers", ok);
}
