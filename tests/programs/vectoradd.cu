/* vectoradd: c = a + b, one thread an element, a ragged last block. */
#include "test_program.h"
#define KERNELS(K, V) K(vectoradd)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void vectoradd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
#endif

int main(void)
{
    int n = 50000;
    size_t bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *want = (float *)malloc(bytes);
    for (int i = 0; i < n; i++) {
        a[i] = program_unit(1, i);
        b[i] = program_unit(2, i);
        want[i] = a[i] + b[i];
    }
    float *da = (float *)program_device(a, bytes), *db = (float *)program_device(b, bytes),
          *dc = (float *)program_device(NULL, bytes);
    LAUNCH(vectoradd, (n + 255) / 256, 256, 0, da, db, dc, n);
    CHECK_CUDA(cudaGetLastError());
    return program_end("vectoradd", program_same("c", program_fetch(dc, bytes), want, n));
}
