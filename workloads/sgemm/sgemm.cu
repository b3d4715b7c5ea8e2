/* sgemm: C = alpha A B^T + beta C, all three stored by columns, as Parboil's cuda version computes it
 * (after Volkov): blocks of 16 x 8 threads make a tile of 128 x 16 of C, one thread a row of the tile with
 * its 16 sums in registers. A tile of 16 x 8 of B goes through shared memory; A is read from global
 * memory, one coalesced element a thread and step. */
#include "kit/device.h"

#define TILE_N         16 /* columns of the tile of C, and the block's width */
#define TILE_TB_HEIGHT 8  /* the block's height, and how many steps of k a tile of B holds */
#define TILE_M         (TILE_N * TILE_TB_HEIGHT) /* rows of the tile of C */

KERNEL mysgemmNT(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int k, float alpha,
                 float beta)
{
    __shared__ float tile[TILE_TB_HEIGHT][TILE_N];
    float sum[TILE_N];
    for (int n = 0; n < TILE_N; n++) sum[n] = 0;
    int row = blockIdx.x * TILE_M + threadIdx.y * TILE_N + threadIdx.x;
    int column = blockIdx.y * TILE_N + threadIdx.x;

    for (int first = 0; first < k; first += TILE_TB_HEIGHT) {
        tile[threadIdx.y][threadIdx.x] = B[column + (first + threadIdx.y) * ldb];
        __syncthreads();
        for (int step = 0; step < TILE_TB_HEIGHT; step++) {
            float a = A[row + (first + step) * lda];
            for (int n = 0; n < TILE_N; n++) sum[n] += a * tile[step][n];
        }
        __syncthreads();
    }
    int at = blockIdx.y * TILE_N * ldc + row;
    for (int n = 0; n < TILE_N; n++) C[at + n * ldc] = C[at + n * ldc] * beta + alpha * sum[n];
}
