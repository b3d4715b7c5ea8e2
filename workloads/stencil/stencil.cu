/* stencil: one Jacobi step of the 7-point stencil as Parboil's optimized CUDA version does it: a block of
 * 32 x 4 threads owns a column of 64 x 4 cells, each thread two of them 32 apart, and marches through z.
 * The plane at hand lies in shared memory, the planes below and above in registers; only the rim of the
 * tile is read from global memory again. */
#include "kit/device.h"

/* A value that the compiler may not take for the one that it had before. */
KIT_INLINE int fresh(int value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* Each access computes its index where it stands: no part of it is shared with another or carried round
 * the loop. README.md says why. */
#define CELL(x, y, z) ((x) + fresh(nx) * ((y) + fresh(ny) * (z)))

/* The block's size, as constants: what the shared memory's neighbours are apart need not be kept in
 * registers. */
#define TILE_X 32
#define TILE_Y 4

extern __shared__ float plane[]; /* 2 * TILE_X by TILE_Y */

KERNEL block2D_hybrid_coarsen_x(float c0, float c1, float *A0, float *Anext, int nx, int ny, int nz)
{
    const int width = 2 * TILE_X;
    const int left = threadIdx.x + threadIdx.y * width, right = left + TILE_X; /* my places in the plane */
    const int x = blockIdx.x * width + threadIdx.x, x2 = x + TILE_X;
    const int y = blockIdx.y * TILE_Y + threadIdx.y;
    const bool in = x < nx && y < ny, in2 = x2 < nx && y < ny;
    const bool inner_y = y > 0 && y < ny - 1;
    const bool inner = inner_y && x > 0 && x < nx - 1, inner2 = inner_y && x2 < nx - 1;
    const bool first_row = threadIdx.y == 0, last_row = threadIdx.y == TILE_Y - 1;
    const bool first_column = threadIdx.x == 0, last_column = threadIdx.x == TILE_X - 1;

    plane[left] = 0;
    plane[right] = 0;
    __syncthreads();

    float below = 0, below2 = 0, above = 0, above2 = 0;
    if (in) {
        below = A0[CELL(x, y, 0)];
        plane[left] = A0[CELL(x, y, 1)];
    }
    if (in2) {
        below2 = A0[CELL(x2, y, 0)];
        plane[right] = A0[CELL(x2, y, 1)];
    }
    __syncthreads();

    for (int z = 1; z < nz - 1; z++) {
        if (in) above = A0[CELL(x, y, z + 1)];
        if (inner) {
            float north = last_row ? A0[CELL(x, y + 1, z)] : plane[left + width];
            float south = first_row ? A0[CELL(x, y - 1, z)] : plane[left - width];
            float west = first_column ? A0[CELL(x - 1, y, z)] : plane[left - 1];
            Anext[CELL(x, y, z)] =
                (above + below + north + south + plane[left + 1] + west) * c1 - plane[left] * c0;
        }
        if (in2) above2 = A0[CELL(x2, y, z + 1)];
        if (inner2) {
            float north = last_row ? A0[CELL(x2, y + 1, z)] : plane[right + width];
            float south = first_row ? A0[CELL(x2, y - 1, z)] : plane[right - width];
            float east = last_column ? A0[CELL(x2 + 1, y, z)] : plane[right + 1];
            Anext[CELL(x2, y, z)] =
                (above2 + below2 + north + south + east + plane[right - 1]) * c1 - plane[right] * c0;
        }
        __syncthreads();
        below = plane[left];
        plane[left] = above;
        below2 = plane[right];
        plane[right] = above2;
        __syncthreads();
    }
}
