/* stencil: one Jacobi step of the 7-point stencil as Parboil's optimized CUDA version does it: a block of 32 x 4 threads owns a
 * column of 64 x 4 cells, each thread two of them 32 apart, and marches through z. The plane at hand lies in shared memory, the
 * planes below and above in registers; only the rim of the tile is read from global memory again. */
#include "kit/device.h"

#define CELL(x, y, z) ((x) + nx * ((y) + ny * (z)))

extern __shared__ float plane[]; /* 2 * blockDim.x by blockDim.y */

KERNEL block2D_hybrid_coarsen_x(float c0, float c1, float *A0, float *Anext, int nx, int ny, int nz)
{
    const int width = 2 * blockDim.x;
    const int left = threadIdx.x + threadIdx.y * width,
              right = left + blockDim.x; /* my places in the plane */
    const int x = blockIdx.x * width + threadIdx.x, x2 = x + blockDim.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const bool in = x < nx && y < ny, in2 = x2 < nx && y < ny;
    const bool inner_y = y > 0 && y < ny - 1;
    const bool inner = inner_y && x > 0 && x < nx - 1, inner2 = inner_y && x2 < nx - 1;
    const bool first_row = threadIdx.y == 0, last_row = threadIdx.y == blockDim.y - 1;
    const bool first_column = threadIdx.x == 0, last_column = threadIdx.x == blockDim.x - 1;

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

    /* One index for both cells and all their neighbours: it saves registers, as does asking for the rim anew each time. */
    int at = CELL(x, y, 1);
    for (int z = 1; z < nz - 1; z++, at += nx * ny) {
        const float *cell = A0 + at;
        if (in) above = cell[nx * ny];
        if (inner) {
            float north = last_row ? cell[nx] : plane[left + width];
            float south = first_row ? *(cell - nx) : plane[left - width];
            float west = first_column ? cell[-1] : plane[left - 1];
            Anext[at] = (above + below + north + south + plane[left + 1] + west) * c1 - plane[left] * c0;
        }
        cell += blockDim.x;
        if (in2) above2 = cell[nx * ny];
        if (inner2) {
            float north = last_row ? cell[nx] : plane[right + width];
            float south = first_row ? *(cell - nx) : plane[right - width];
            float east = last_column ? cell[1] : plane[right + 1];
            Anext[at + blockDim.x] =
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
