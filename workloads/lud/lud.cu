/* lud: blocked LU decomposition in place, as Rodinia's lud_cuda does it: for each 16 x 16 tile on the
 * diagonal one half warp factors the tile, a warp a tile pair solves the tiles right of and below it, and
 * a CTA of 16 x 16 threads a tile updates what is left. A warp of lud_internal covers two rows of a tile,
 * so its loads touch two lines a matrix row apart. */
#include "kit/device.h"

#define TILE 16

KERNEL lud_diagonal(float *m, int n, int offset)
{
    __shared__ float tile[TILE][TILE];
    int x = threadIdx.x;
    float *column = m + offset * n + offset + x;
    for (int i = 0; i < TILE; i++) tile[i][x] = column[i * n];
    __syncthreads();

    for (int i = 0; i < TILE - 1; i++) {
        if (x > i) { /* column i of L: thread x has row x */
            for (int j = 0; j < i; j++) tile[x][i] -= tile[x][j] * tile[j][i];
            tile[x][i] /= tile[i][i];
        }
        __syncthreads();
        if (x > i) { /* row i + 1 of U: thread x has column x */
            for (int j = 0; j <= i; j++) tile[i + 1][x] -= tile[i + 1][j] * tile[j][x];
        }
        __syncthreads();
    }
    for (int i = 1; i < TILE; i++) column[i * n] = tile[i][x]; /* row 0 is as it was */
}

/* Threads 0-15 solve the tile `blockIdx.x + 1` to the right of the diagonal, threads 16-31 the one as far
 * below it. */
KERNEL lud_perimeter(float *m, int n, int offset)
{
    __shared__ float diagonal[TILE][TILE], right[TILE][TILE], below[TILE][TILE];
    bool rows = threadIdx.x < TILE;
    int x = rows ? threadIdx.x : threadIdx.x - TILE;
    int away = (blockIdx.x + 1) * TILE;
    float *corner = m + offset * n + offset;

    if (rows) {
        for (int i = 0; i < TILE / 2; i++) diagonal[i][x] = corner[i * n + x];
        for (int i = 0; i < TILE; i++) right[i][x] = corner[i * n + away + x];
    } else {
        for (int i = TILE / 2; i < TILE; i++) diagonal[i][x] = corner[i * n + x];
        for (int i = 0; i < TILE; i++) below[i][x] = corner[(away + i) * n + x];
    }
    __syncthreads();

    if (rows) {
        for (int i = 1; i < TILE; i++)
            for (int j = 0; j < i; j++) right[i][x] -= diagonal[i][j] * right[j][x];
    } else {
        for (int i = 0; i < TILE; i++) {
            for (int j = 0; j < i; j++) below[x][i] -= below[x][j] * diagonal[j][i];
            below[x][i] /= diagonal[i][i];
        }
    }
    __syncthreads();

    if (rows) {
        for (int i = 1; i < TILE; i++) corner[i * n + away + x] = right[i][x];
    } else {
        for (int i = 0; i < TILE; i++) corner[(away + i) * n + x] = below[i][x];
    }
}

KERNEL lud_internal(float *m, int n, int offset)
{
    __shared__ float right[TILE][TILE], below[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = offset + (blockIdx.y + 1) * TILE + y;
    int column = offset + (blockIdx.x + 1) * TILE + x;

    right[y][x] = m[(offset + y) * n + column];
    below[y][x] = m[row * n + offset + x];
    __syncthreads();

    float sum = 0;
    for (int i = 0; i < TILE; i++) sum += below[y][i] * right[i][x];
    m[row * n + column] -= sum;
}
