/* faults: what a program sees when its kernels do wrong: the documented error codes, and a device that
 * refuses further work until it is reset. Bad launches are refused and leave everything usable. */
#include "test_program.h"
#define KERNELS(K, V) K(touch) K(store_odd) K(claim)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#include <assert.h>
extern "C" __global__ void touch(int *p) { p[threadIdx.x] += 1; }
extern "C" __global__ void store_odd(int *p) { *(int *)((char *)p + 2) = 1; }
extern "C" __global__ void claim(int *p) { assert(p[threadIdx.x] == 0); }
#else
cudaError_t cudaDeviceReset(void);
#endif

static int expect(const char *what, cudaError_t got, int want)
{
    if ((int)got == want) return 1;
    printf("%s: got %d (%s), want %d\n", what, (int)got, cudaGetErrorString(got), want);
    return 0;
}

/* Launches are made without the usual check: they are meant to fail. */
#undef CHECK_CUDA
#define CHECK_CUDA(call) ((void)(call))

int main(void)
{
    enum { CONFIGURATION = 9, VALUE = 1, ASSERTED = 710, ADDRESS = 700, MISALIGNED = 716 };
    int ok = 1, block = 4096;
    void *p = NULL, *gone = NULL;
    int *q;

    ok &= expect("malloc", cudaMalloc(&p, 4096), 0) & expect("memset", cudaMemset(p, 0, 4096), 0);
    q = (int *)p;
    LAUNCH(touch, 1, block, 0, q); /* more threads than a block may have */
    cudaError_t e = cudaGetLastError();
    if ((int)e != CONFIGURATION && (int)e != VALUE) ok = expect("too many threads", e, CONFIGURATION);
    LAUNCH(touch, 1, 32, 0, q); /* and the device still works */
    ok &= expect("after a refused launch", cudaDeviceSynchronize(), 0);

    ok &= expect("malloc", cudaMalloc(&gone, 4096), 0) & expect("free", cudaFree(gone), 0);
    ok &= expect("free again", cudaFree(gone), VALUE);
    q = (int *)gone;
    LAUNCH(touch, 1, 32, 0, q); /* freed memory */
    ok &= expect("freed memory", cudaDeviceSynchronize(), ADDRESS);
    ok &= expect("the error stays", cudaMemset(p, 0, 4), ADDRESS);
    ok &= expect("reset", cudaDeviceReset(), 0);

    ok &= expect("malloc after reset", cudaMalloc(&p, 4096), 0);
    q = (int *)p;
    LAUNCH(store_odd, 1, 1, 0, q);
    ok &= expect("misaligned", cudaDeviceSynchronize(), MISALIGNED);
    ok &= expect("reset", cudaDeviceReset(), 0);

    ok &= expect("malloc after reset", cudaMalloc(&p, 4096), 0) & expect("memset", cudaMemset(p, 1, 4096), 0);
    q = (int *)p;
    LAUNCH(claim, 1, 32, 0, q);
    ok &= expect("assert", cudaDeviceSynchronize(), ASSERTED);
    return program_end("faults", ok);
}
