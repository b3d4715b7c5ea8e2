/* heat: several steps of a five-point heat equation on pitched memory, 2D copies, ping-pong buffers. */
#include "test_program.h"
#define KERNELS(K, V) K(stencil)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void stencil(const float *in, float *out, size_t pitch, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const char *base = (const char *)in;
    const float *mid = (const float *)(base + y * pitch),
                *up = (const float *)(base + (y ? y - 1 : y) * pitch),
                *down = (const float *)(base + (y + 1 < h ? y + 1 : y) * pitch);
    float left = mid[x ? x - 1 : x], right = mid[x + 1 < w ? x + 1 : x];
    float sum = __fadd_rn(__fadd_rn(left, right), __fadd_rn(up[x], down[x]));
    ((float *)((char *)out + y * pitch))[x] = __fmaf_rn(sum, 0.125f, __fmul_rn(mid[x], 0.5f));
}
#endif

int main(void)
{
    int w = 117, h = 61, steps = 6;
    float *a = (float *)malloc(w * h * 4), *b = (float *)malloc(w * h * 4),
          *start = (float *)malloc(w * h * 4);
    for (int i = 0; i < w * h; i++) start[i] = a[i] = program_unit(3, i);
    for (int s = 0; s < steps; s++) {
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                float l = a[y * w + (x ? x - 1 : x)], r = a[y * w + (x + 1 < w ? x + 1 : x)];
                float u = a[(y ? y - 1 : y) * w + x], d = a[(y + 1 < h ? y + 1 : y) * w + x];
                b[y * w + x] = fmaf((l + r) + (u + d), 0.125f, a[y * w + x] * 0.5f);
            }
        float *t = a;
        a = b;
        b = t;
    }
    size_t pitch;
    void *p, *q;
    CHECK_CUDA(cudaMallocPitch(&p, &pitch, w * 4, h));
    CHECK_CUDA(cudaMallocPitch(&q, &pitch, w * 4, h));
    CHECK_CUDA(cudaMemcpy2D(p, pitch, start, w * 4, w * 4, h, cudaMemcpyHostToDevice));
    float *in = (float *)p, *out = (float *)q;
    for (int s = 0; s < steps; s++) {
        LAUNCH(stencil, GRID((w + 31) / 32, (h + 7) / 8, 1), GRID(32, 8, 1), 0, in, out, pitch, w, h);
        float *t = in;
        in = out;
        out = t;
    }
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy2D(start, w * 4, in, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    return program_end("heat", program_same("out", start, a, w * h));
}
