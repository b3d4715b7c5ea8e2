/* transpose_tiles: a matrix of 64-bit words through padded shared tiles; 3D block shape. */
#include "test_program.h"
#define KERNELS(K, V) K(transpose)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void transpose(const unsigned long long *in, unsigned long long *out, int w, int h)
{
    __shared__ unsigned long long tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x;
    for (int j = threadIdx.y + 2 * threadIdx.z; j < 16; j += 4) {
        int y = blockIdx.y * 16 + j;
        if (x < w && y < h) tile[j][threadIdx.x] = in[(size_t)y * w + x];
    }
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    for (int j = threadIdx.y + 2 * threadIdx.z; j < 16; j += 4) {
        int y = blockIdx.x * 16 + j;
        if (x < h && y < w) out[(size_t)y * h + x] = tile[threadIdx.x][j];
    }
}
#endif

int main(void)
{
    int w = 130, h = 75;
    size_t bytes = (size_t)w * h * 8;
    unsigned long long *in = (unsigned long long *)malloc(bytes), *want = (unsigned long long *)malloc(bytes);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            want[x * h + y] = in[y * w + x] =
                (unsigned long long)program_hash(y * w + x) << 32 | (unsigned)(y * w + x);
    unsigned long long *din = (unsigned long long *)program_device(in, bytes),
                       *dout = (unsigned long long *)program_device(NULL, bytes);
    LAUNCH(transpose, GRID((w + 15) / 16, (h + 15) / 16, 1), GRID(16, 2, 2), 0, din, dout, w, h);
    return program_end("transpose_tiles",
                       program_same("out", program_fetch(dout, bytes), want, (size_t)w * h * 2));
}
