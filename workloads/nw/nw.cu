/* nw: Rodinia's Needleman-Wunsch. A block of 16 threads fills a tile of 16 x 16 in shared memory; the
 * tiles of one anti-diagonal are a launch. The next block of a diagonal works a tile further right and a
 * tile higher, so that its rows lie 16 matrix rows back, and a half-warp's 64 bytes of a row are all that
 * is used of a line while it is in the cache. */
#include "kit/device.h"

#define TILE 16

KIT_INLINE int best_of(int a, int b, int c)
{
    int larger = a <= b ? b : a;
    return larger <= c ? c : larger;
}

KIT_INLINE void cell_fill(int (*score)[TILE + 1], int (*ref)[TILE], int x, int y, int penalty)
{
    score[y][x] = best_of(score[y - 1][x - 1] + ref[y - 1][x - 1], score[y][x - 1] - penalty,
                          score[y - 1][x] - penalty);
}

/* The tile's own part, alike in both kernels: load, two triangles of diagonals, store. */
KIT_INLINE void tile_fill(const int *reference, int *matrix, int cols, int penalty, int tile_x, int tile_y)
{
    __shared__ int score[TILE + 1][TILE + 1];
    __shared__ int ref[TILE][TILE];
    int tx = threadIdx.x;
    int corner = cols * TILE * tile_y + TILE * tile_x;
    int inner = corner + tx + cols + 1;

    if (tx == 0) score[0][0] = matrix[corner];
    for (int y = 0; y < TILE; y++) ref[y][tx] = reference[inner + cols * y];
    __syncthreads();
    score[tx + 1][0] = matrix[corner + cols + cols * tx];
    __syncthreads();
    score[0][tx + 1] = matrix[corner + tx + 1];
    __syncthreads();

    for (int m = 0; m < TILE; m++) {
        if (tx <= m) cell_fill(score, ref, tx + 1, m - tx + 1, penalty);
        __syncthreads();
    }
    for (int m = TILE - 2; m >= 0; m--) {
        if (tx <= m) cell_fill(score, ref, tx + TILE - m, TILE - tx, penalty);
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++) matrix[inner + y * cols] = score[y + 1][tx + 1];
}

/* Diagonal i of the upper left half: i tiles. */
KERNEL needle_cuda_shared_1(const int *reference, int *matrix, int cols, int penalty, int i, int tiles)
{
    int bx = blockIdx.x;
    tile_fill(reference, matrix, cols, penalty, bx, i - 1 - bx);
}

/* Diagonal of the lower right half that has i tiles. */
KERNEL needle_cuda_shared_2(const int *reference, int *matrix, int cols, int penalty, int i, int tiles)
{
    int bx = blockIdx.x;
    tile_fill(reference, matrix, cols, penalty, bx + tiles - i, tiles - bx - 1);
}
