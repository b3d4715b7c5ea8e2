/* mandelbrot: iteration counts in single and double precision; every lane leaves its loop at another time. */
#include "test_program.h"
#define KERNELS(K, V) K(mandelbrot_f32) K(mandelbrot_f64)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void mandelbrot_f32(int *out, int w, int h, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float cx = __fmaf_rn((float)px, 3.0f / w, -2.0f), cy = __fmaf_rn((float)py, 2.0f / h, -1.0f), x = 0,
          y = 0;
    int i = 0;
    while (i < limit) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) break;
        y = __fmaf_rn(__fmul_rn(2.0f, x), y, cy);
        x = __fadd_rn(__fadd_rn(xx, -yy), cx);
        i++;
    }
    out[py * w + px] = i;
}
extern "C" __global__ void mandelbrot_f64(int *out, int w, int h, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    double cx = __fma_rn((double)px, 3.0 / w, -2.0), cy = __fma_rn((double)py, 2.0 / h, -1.0), x = 0, y = 0;
    int i = 0;
    for (; i < limit; i++) {
        double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
        if (__dadd_rn(xx, yy) > 4.0) break;
        y = __fma_rn(__dmul_rn(2.0, x), y, cy);
        x = __dadd_rn(__dadd_rn(xx, -yy), cx);
    }
    out[py * w + px] = i;
}
#endif

int main(void)
{
    int w = 96, h = 64, limit = 200;
    size_t bytes = (size_t)w * h * 4;
    int *want32 = (int *)malloc(bytes), *want64 = (int *)malloc(bytes);
    for (int p = 0; p < w * h; p++) {
        float cx = fmaf((float)(p % w), 3.0f / (float)w, -2.0f),
              cy = fmaf((float)(p / w), 2.0f / (float)h, -1.0f), x = 0, y = 0;
        int i = 0;
        for (; i < limit && !(x * x + y * y > 4.0f); i++) {
            float xx = x * x, yy = y * y;
            y = fmaf(2.0f * x, y, cy);
            x = xx - yy + cx;
        }
        want32[p] = i;
        double dx = fma((double)(p % w), 3.0 / w, -2.0), dy = fma((double)(p / w), 2.0 / h, -1.0), u = 0,
               v = 0;
        for (i = 0; i < limit && !(u * u + v * v > 4.0); i++) {
            double uu = u * u, vv = v * v;
            v = fma(2.0 * u, v, dy);
            u = uu - vv + dx;
        }
        want64[p] = i;
    }
    int *a = (int *)program_device(NULL, bytes), *b = (int *)program_device(NULL, bytes);
    LAUNCH(mandelbrot_f32, GRID((w + 15) / 16, (h + 15) / 16, 1), GRID(16, 16, 1), 0, a, w, h, limit);
    LAUNCH(mandelbrot_f64, GRID((w + 15) / 16, (h + 15) / 16, 1), GRID(16, 16, 1), 0, b, w, h, limit);
    return program_end("mandelbrot", program_same("f32", program_fetch(a, bytes), want32, w * h) &
                                         program_same("f64", program_fetch(b, bytes), want64, w * h));
}
