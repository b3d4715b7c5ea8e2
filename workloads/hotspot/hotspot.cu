/* hotspot: Rodinia's thermal simulation, a ghost-zone pyramid: a block of 16 x 16 loads its tile of
 * temperature and power into shared memory and goes `iteration` steps alone, each step leaving one cell
 * less at each edge valid. Tiles overlap by the halo, so that lines are read again by the neighbouring
 * block. The factor two of the Laplacian is a double, as in the original, so that most of a step's
 * arithmetic is double. */
#include "kit/device.h"

#define TILE    16
#define AMBIENT 80.0f

/* First and last place of a tile of which `first` is the first cell that lie in a grid of n. */
KIT_INLINE int valid_from(int first) { return first < 0 ? -first : 0; }
KIT_INLINE int valid_to(int first, int n)
{
    return first + TILE - 1 > n - 1 ? TILE - 1 - (first + TILE - n) : TILE - 1;
}
KIT_INLINE bool in_range(int x, int low, int high) { return x >= low && x <= high; }

KERNEL calculate_temp(int iteration, const float *power, const float *temp_src, float *temp_dst, int cols,
                      int rows, int border_cols, int border_rows, float cap, float rx, float ry, float rz,
                      float step, float time_elapsed)
{
    __shared__ float temp[TILE][TILE];
    __shared__ float heat[TILE][TILE];
    __shared__ float next[TILE][TILE]; /* temperatures of this step, until all have read the last one's */
    int tx = threadIdx.x, ty = threadIdx.y;
    float step_by_cap = step / cap, rx_1 = 1 / rx, ry_1 = 1 / ry, rz_1 = 1 / rz;

    int inner = TILE - iteration * 2;
    int first_y = inner * blockIdx.y - border_rows, first_x = inner * blockIdx.x - border_cols;
    int y = first_y + ty, x = first_x + tx;
    int index = cols * y + x;
    if (in_range(y, 0, rows - 1) && in_range(x, 0, cols - 1)) {
        temp[ty][tx] = temp_src[index];
        heat[ty][tx] = power[index];
    }
    __syncthreads();

    int y_min = valid_from(first_y), y_max = valid_to(first_y, rows);
    int x_min = valid_from(first_x), x_max = valid_to(first_x, cols);
    int north = max(ty - 1, y_min), south = min(ty + 1, y_max), west = max(tx - 1, x_min),
        east = min(tx + 1, x_max);
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (in_range(tx, i + 1, TILE - i - 2) && in_range(ty, i + 1, TILE - i - 2) &&
            in_range(tx, x_min, x_max) && in_range(ty, y_min, y_max)) {
            computed = true;
            next[ty][tx] =
                (float)(temp[ty][tx] +
                        step_by_cap *
                            (heat[ty][tx] + (temp[south][tx] + temp[north][tx] - 2.0 * temp[ty][tx]) * ry_1 +
                             (temp[ty][east] + temp[ty][west] - 2.0 * temp[ty][tx]) * rx_1 +
                             (AMBIENT - temp[ty][tx]) * rz_1));
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) temp[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) temp_dst[index] = next[ty][tx];
}
