/* fdtd2d: two-dimensional finite differences in the time domain as PolyBench-GPU does them: one thread a
 * cell, blocks of 32 x 8, and three kernels a time step: ey, then ex, then hz. Each reads its neighbours
 * from global memory. */
#include "kit/device.h"

/* ey takes the source of this step in the first row, elsewhere the difference of hz down the rows. */
KERNEL fdtd_step1_kernel(const float *source, float *ex, float *ey, float *hz, int nx, int ny, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    if (i == 0)
        ey[j] = source[t];
    else
        ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
}

/* ex takes the difference of hz along the row. */
KERNEL fdtd_step2_kernel(float *ex, float *ey, float *hz, int nx, int ny, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny || j == 0) return;
    ex[i * ny + j] = ex[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[i * ny + j - 1]);
}

/* hz takes the differences of ex along the row and of ey down the rows. */
KERNEL fdtd_step3_kernel(float *ex, float *ey, float *hz, int nx, int ny, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx - 1 || j >= ny - 1) return;
    hz[i * ny + j] =
        hz[i * ny + j] - 0.7f * (ex[i * ny + j + 1] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}
