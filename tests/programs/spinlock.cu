/* spinlock: threads of one warp wait for each other: a lock by compare-and-swap, a ticket chain lane by lane,
 * and a flag that another block raises. Needs independent progress of lanes, warps and blocks. */
#include "test_program.h"
#define KERNELS(K, V) K(locked_sum) K(ticket_chain) K(wait_for_block)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void locked_sum(int *lock, unsigned long long *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *(volatile unsigned long long *)sum = *(volatile unsigned long long *)sum * 3 % 1000003 + i % 2;
    ((volatile unsigned long long *)sum)[1] += i;
    __threadfence();
    atomicExch(lock, 0);
}
extern "C" __global__ void ticket_chain(volatile int *turn, int *order)
{
    int me = (threadIdx.x * 7 + 3) % 32; /* a permutation of the lanes */
    while (*turn != me) {}
    order[me] = threadIdx.x;
    __threadfence();
    *turn = me + 1;
}
extern "C" __global__ void wait_for_block(volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            while (*flag != 41) {}
        __syncthreads();
        out[threadIdx.x] = *flag + threadIdx.x;
    } else if (threadIdx.x == 0) {
        *flag = 41;
    }
}
#endif

int main(void)
{
    int ok = 1, order[32], seen[64];
    int *lock = (int *)program_device(NULL, 4), *turn = (int *)program_device(NULL, 4),
        *dorder = (int *)program_device(NULL, 128), *flag = (int *)program_device(NULL, 4),
        *out = (int *)program_device(NULL, 64 * 4);
    unsigned long long *sum = (unsigned long long *)program_device(NULL, 16), want = 0;
    LAUNCH(locked_sum, 3, 64, 0, lock, sum);
    LAUNCH(ticket_chain, 1, 32, 0, turn, dorder);
    LAUNCH(wait_for_block, 2, 64, 0, flag, out);
    for (int i = 0; i < 192; i++) want += (unsigned long long)i;
    for (int t = 0; t < 32; t++) order[(t * 7 + 3) % 32] = t;
    for (int t = 0; t < 64; t++) seen[t] = 41 + t;
    unsigned long long *got = (unsigned long long *)program_fetch(sum, 16);
    ok &= program_same("sum", &got[1], &want, 2);
    ok &= program_same("order", program_fetch(dorder, 128), order, 32);
    ok &= program_same("out", program_fetch(out, 256), seen, 64);
    return program_end("spinlock", ok);
}
