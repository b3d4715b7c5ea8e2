/* transpose: the eight kernels of the CUDA SDK's transpose, from a plain copy to the transpose along
 * diagonals. Each block of 16 x 16 threads moves one tile of 16 x 16 floats, one element a thread. Reads
 * always go along rows; what differs is where the writes go, and whether a tile in shared memory turns
 * them into rows. */
#include "kit/device.h"

#define TILE 16
#define ROWS 16 /* rows of threads: with ROWS < TILE each thread would move TILE / ROWS elements */

KERNEL copy(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int at = x + width * y;
    for (int i = 0; i < TILE; i += ROWS) out[at + i * width] = in[at + i * width];
}

/* The original guards this kernel alone, and against the sides of the transposed matrix in its second
 * half. */
KERNEL copySharedMem(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int at = x + width * y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[at];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS)
        if (x < height && y < width) out[at] = tile[threadIdx.y][threadIdx.x];
}

/* Neighbouring lanes write a column of the result: `height` floats apart. */
KERNEL transposeNaive(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int from = x + width * y, to = y + height * x;
    for (int i = 0; i < TILE; i += ROWS) out[to + i] = in[from + i * width];
}

/* The tile's columns, read back, fall into two banks of shared memory. */
KERNEL transposeCoalesced(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int column = blockIdx.x * TILE, row = blockIdx.y * TILE;
    int from = column + threadIdx.x + (row + threadIdx.y) * width;
    int to = row + threadIdx.x + (column + threadIdx.y) * height;
    for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = in[from + i * width];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS) out[to + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

/* A column of padding spreads them over all banks. */
KERNEL transposeNoBankConflicts(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE, row = blockIdx.y * TILE;
    int from = column + threadIdx.x + (row + threadIdx.y) * width;
    int to = row + threadIdx.x + (column + threadIdx.y) * height;
    for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = in[from + i * width];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS) out[to + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

/* Half of a transpose: tiles change places, but are not turned. */
KERNEL transposeCoarseGrained(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE, row = blockIdx.y * TILE;
    int from = column + threadIdx.x + (row + threadIdx.y) * width;
    int to = row + threadIdx.x + (column + threadIdx.y) * height;
    for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = in[from + i * width];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS) out[to + i * height] = tile[threadIdx.y + i][threadIdx.x];
}

/* The other half: each tile is turned where it lies. */
KERNEL transposeFineGrained(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int at = x + y * width;
    for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = in[at + i * width];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS) out[at + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

/* Blocks that run together take tiles of a diagonal, so that neither reads nor writes crowd into one
 * memory channel. */
KERNEL transposeDiagonal(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int across, down;
    if (width == height) {
        down = blockIdx.x;
        across = (blockIdx.x + blockIdx.y) % gridDim.x;
    } else {
        int block = blockIdx.x + gridDim.x * blockIdx.y;
        down = block % gridDim.y;
        across = (block / gridDim.y + down) % gridDim.x;
    }
    int column = across * TILE, row = down * TILE;
    int from = column + threadIdx.x + (row + threadIdx.y) * width;
    int to = row + threadIdx.x + (column + threadIdx.y) * height;
    for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = in[from + i * width];
    __syncthreads();
    for (int i = 0; i < TILE; i += ROWS) out[to + i * height] = tile[threadIdx.x][threadIdx.y + i];
}
