/* scan: exclusive prefix sum over many blocks: block scans with warp shuffles, scan of the block sums, then
 * add. */
#include "test_program.h"
#define KERNELS(K, V) K(scan_blocks) K(scan_add)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *sums, int n)
{
    __shared__ unsigned warp_sum[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned v = i < n ? in[i] : 0, x = v;
    for (int d = 1; d < 32; d <<= 1) {
        unsigned y = __shfl_up_sync(0xffffffff, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) warp_sum[warp] = x;
    __syncthreads();
    if (warp == 0) {
        unsigned s = lane < blockDim.x / 32 ? warp_sum[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            unsigned y = __shfl_up_sync(0xffffffff, s, d);
            if (lane >= d) s += y;
        }
        warp_sum[lane] = s;
    }
    __syncthreads();
    unsigned base = warp ? warp_sum[warp - 1] : 0;
    if (i < n) out[i] = base + x - v;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = base + x;
}
extern "C" __global__ void scan_add(unsigned *out, const unsigned *base, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += base[blockIdx.x];
}
#endif

int main(void)
{
    int n = 30000, block = 256, blocks = (n + block - 1) / block;
    unsigned *in = (unsigned *)malloc(n * 4), *want = (unsigned *)malloc(n * 4), sum = 0;
    for (int i = 0; i < n; i++) {
        in[i] = program_hash(i) % 1000;
        want[i] = sum;
        sum += in[i];
    }
    unsigned *din = (unsigned *)program_device(in, n * 4), *out = (unsigned *)program_device(NULL, n * 4),
             *sums = (unsigned *)program_device(NULL, 256 * 4),
             *base = (unsigned *)program_device(NULL, 256 * 4), *top = (unsigned *)program_device(NULL, 4);
    LAUNCH(scan_blocks, blocks, block, 0, din, out, sums, n);
    LAUNCH(scan_blocks, 1, block, 0, sums, base, top, blocks);
    LAUNCH(scan_add, blocks, block, 0, out, base, n);
    return program_end("scan", program_same("out", program_fetch(out, n * 4), want, n) &
                                   program_same("total", program_fetch(top, 4), &sum, 1));
}
