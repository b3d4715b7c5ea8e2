/* convsep: the CUDA SDK's convolutionSeparable, a filter of 17 taps along the rows, then along the
 * columns. A block brings its part of the image and a halo on two sides into shared memory; then each
 * thread makes eight pixels. */
#include "kit/device.h"

#define RADIUS 8
#define TAPS   (2 * RADIUS + 1)
#define STEPS  8 /* pixels a thread */
#define HALO   1 /* blocks of halo at either end: at least RADIUS pixels */
#define ROWS_X 16
#define ROWS_Y 4
#define COLS_X 16
#define COLS_Y 8

/* Today's compilers hold all 17 taps and many pixels in registers, which would then limit the blocks of an
 * SM; FineReg found that slots do. */
#ifdef __NVCC__
#define FEW_REGISTERS __maxnreg__(32)
#else
#define FEW_REGISTERS
#endif

__constant__ float c_Kernel[TAPS];

KERNEL FEW_REGISTERS convolutionRowsKernel(float *out, const float *in, int width, int height, int pitch)
{
    __shared__ float part[ROWS_Y][(STEPS + 2 * HALO) * ROWS_X];
    int x = (blockIdx.x * STEPS - HALO) * ROWS_X + threadIdx.x, y = blockIdx.y * ROWS_Y + threadIdx.y;
    in += y * pitch + x;
    out += y * pitch + x;
    float *row = part[threadIdx.y] + threadIdx.x;

#pragma unroll
    for (int i = HALO; i < HALO + STEPS; i++) row[i * ROWS_X] = in[i * ROWS_X];
#pragma unroll
    for (int i = 0; i < HALO; i++) row[i * ROWS_X] = x >= -i * ROWS_X ? in[i * ROWS_X] : 0;
#pragma unroll
    for (int i = HALO + STEPS; i < HALO + STEPS + HALO; i++)
        row[i * ROWS_X] = width - x > i * ROWS_X ? in[i * ROWS_X] : 0;
    __syncthreads();

#pragma unroll
    for (int i = HALO; i < HALO + STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++) sum += c_Kernel[RADIUS - j] * row[i * ROWS_X + j];
        out[i * ROWS_X] = sum;
    }
}

/* The part of the image lies in shared memory by columns, one float of padding each, so that lanes of a
 * row of the image are 81 floats apart: no two in one bank. */
KERNEL FEW_REGISTERS convolutionColumnsKernel(float *out, const float *in, int width, int height, int pitch)
{
    __shared__ float part[COLS_X][(STEPS + 2 * HALO) * COLS_Y + 1];
    int x = blockIdx.x * COLS_X + threadIdx.x, y = (blockIdx.y * STEPS - HALO) * COLS_Y + threadIdx.y;
    in += y * pitch + x;
    out += y * pitch + x;
    float *column = part[threadIdx.x] + threadIdx.y;

#pragma unroll
    for (int i = HALO; i < HALO + STEPS; i++) column[i * COLS_Y] = in[i * COLS_Y * pitch];
#pragma unroll
    for (int i = 0; i < HALO; i++) column[i * COLS_Y] = y >= -i * COLS_Y ? in[i * COLS_Y * pitch] : 0;
#pragma unroll
    for (int i = HALO + STEPS; i < HALO + STEPS + HALO; i++)
        column[i * COLS_Y] = height - y > i * COLS_Y ? in[i * COLS_Y * pitch] : 0;
    __syncthreads();

#pragma unroll
    for (int i = HALO; i < HALO + STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++) sum += c_Kernel[RADIUS - j] * column[i * COLS_Y + j];
        out[i * COLS_Y * pitch] = sum;
    }
}
