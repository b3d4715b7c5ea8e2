/* pathfinder: Rodinia's cheapest path down a grid, a ghost-zone pyramid: a block loads a row of 256
 * columns into shared memory and goes down `iteration` rows alone, each row leaving one column less at
 * either edge valid. Every cell of the wall is read once, coalesced; the rest is shared memory, barriers
 * and comparisons. */
#include "kit/device.h"

#define BLOCK 256
#define HALO  1

KERNEL dynproc_kernel(int iteration, const int *wall, const int *source, int *results, int cols, int rows,
                      int start, int border)
{
    __shared__ int before[BLOCK];
    __shared__ int now[BLOCK];
    int tx = threadIdx.x;
    int first = (BLOCK - iteration * HALO * 2) * blockIdx.x - border;
    int last = first + BLOCK - 1;
    int x = first + tx;

    /* The threads whose columns are in the grid. */
    int valid_min = first < 0 ? -first : 0;
    int valid_max = last > cols - 1 ? BLOCK - 1 - (last - cols + 1) : BLOCK - 1;
    int west = tx - 1 < valid_min ? valid_min : tx - 1;
    int east = tx + 1 > valid_max ? valid_max : tx + 1;
    bool valid = tx >= valid_min && tx <= valid_max;

    if (x >= 0 && x <= cols - 1) before[tx] = source[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= BLOCK - i - 2 && valid) {
            computed = true;
            int shortest = min(min(before[west], before[tx]), before[east]);
            now[tx] = shortest + wall[cols * (start + i) + x];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) before[tx] = now[tx];
        __syncthreads();
    }
    if (computed) results[x] = now[tx];
}
