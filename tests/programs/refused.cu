/* refused: a kernel that needs tensor cores, which are not modelled, beside one that does not: the first is
 * refused when it is launched, and the program goes on. */
#include "test_program.h"
#define KERNELS(K, V) K(plain) K(tensor)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#include <mma.h>
extern "C" __global__ void plain(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += i;
}

extern "C" __global__ void tensor(float *out)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    fragment<matrix_b, 16, 16, 16, __half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    fill_fragment(a, __float2half(1));
    fill_fragment(b, __float2half(2));
    fill_fragment(c, 0);
    mma_sync(c, a, b, c);
    store_matrix_sync(out, c, 16, mem_row_major);
}
#else
#define cudaErrorNotSupported 801
#endif

static cudaError_t launch_tensor(float *out)
{
    void *args[] = {(void *)&out};
#ifdef __CUDACC__
    return cudaLaunchKernel((const void *)tensor, dim3(1), dim3(32), args, 0, 0);
#else
    return cudaLaunchKernel(&program_stub_tensor, GRID(1, 1, 1), GRID(32, 1, 1), args, 0, NULL);
#endif
}

int main(void)
{
    enum { N = 256 };
    float *out = (float *)program_device(NULL, N * 4), want[N];
    int ok = 1, n = N;
    LAUNCH(plain, 2, 128, 0, out, n);
    ok &= launch_tensor(out) == cudaErrorNotSupported;
    ok &= cudaGetLastError() == cudaErrorNotSupported;
    LAUNCH(plain, 2, 128, 0, out, n);
    for (int i = 0; i < N; i++) want[i] = 2.0f * i;
    ok &= program_same("out", program_fetch(out, sizeof want), want, N);
    return program_end("refused", ok);
}
