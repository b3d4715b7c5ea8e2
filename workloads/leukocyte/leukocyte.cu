/* leukocyte: finds white blood cells in a frame of video and follows them through the next, as Rodinia
 * does it. GICOV_kernel scores every pixel by the gradient along seven circles around it, dilate_kernel
 * takes the maximum of the scores in a disk, and IMGVF_kernel spreads the edges of each cell's image over
 * the image, one block a cell, all in shared memory. Gradients and scores come through textures, the
 * circles and the disk from constant memory. */
#include "kit/device.h"

#define POINTS     150 /* on a circle */
#define CIRCLES    7
#define MARGIN     22  /* pixels at the border that get no score: largest radius and 2 */
#define DISK       25  /* width and height of the disk's matrix, at most */
#define BLOCK      320 /* of IMGVF_kernel */
#define LOWER_TWO  256 /* the power of two below it */
#define MU         0.5
#define LAMBDA     (8.0 * MU + 1.0)
#define ONE_PER_PI (1.0 / 3.14159)

__constant__ float sine[POINTS], cosine[POINTS];
__constant__ int circle_x[CIRCLES * POINTS], circle_y[CIRCLES * POINTS];
__constant__ float disk[DISK * DISK];

/* One block a column, one thread a row; the matrices are stored column by column. */
KERNEL GICOV_kernel(unsigned long long gradient_x, unsigned long long gradient_y, int rows, float *gicov)
{
    int column = blockIdx.x + MARGIN, row = threadIdx.x + MARGIN;
    float best = 0;
    for (int k = 0; k < CIRCLES; k++) {
        float sum = 0, squares = 0, mean = 0;
        for (int n = 0; n < POINTS; n++) {
            int y = row + circle_y[k * POINTS + n], x = column + circle_x[k * POINTS + n];
            int at = x * rows + y;
            float p = kit_tex1d_float(gradient_x, at) * cosine[n] + kit_tex1d_float(gradient_y, at) * sine[n];
            sum += p;
            float delta = p - mean;
            mean = mean + delta / (float)(n + 1);
            squares = squares + delta * (p - mean);
        }
        mean = sum / (float)POINTS;
        float variance = squares / (float)(POINTS - 1);
        if (mean * mean / variance > best) best = mean * mean / variance;
    }
    gicov[column * rows + row] = best;
}

/* The output is stored row by row. */
KERNEL dilate_kernel(unsigned long long image, int rows, int columns, int disk_rows, int disk_columns,
                     float *dilated)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, row = at % rows, column = at / rows;
    if (column >= columns) return;
    float best = 0;
    for (int i = 0; i < disk_rows; i++) {
        int y = row - disk_rows / 2 + i;
        if (y < 0 || y >= rows) continue;
#pragma unroll 1
        for (int j = 0; j < disk_columns; j++) {
            int x = column - disk_columns / 2 + j;
            if (x >= 0 && x < columns && disk[i * disk_columns + j] != 0) {
                float value = kit_tex1d_float(image, x * rows + y);
                if (value > best) best = value;
            }
        }
    }
    dilated[row * columns + column] = best;
}

KIT_INLINE float heaviside(float x) { return (float)(atanf(x) * ONE_PER_PI + 0.5); }

/* The new value of one element: it moves towards its neighbours, the more so the further up these lie, and
 * back to the image. */
KIT_INLINE float spread(const float *field, const float *image, int i, int j, int m, int n, float vx,
                        float vy, float per_e)
{
    int up = i == 0 ? 0 : i - 1, down = i == m - 1 ? m - 1 : i + 1, left = j == 0 ? 0 : j - 1,
        right = j == n - 1 ? n - 1 : j + 1;
    float old = field[i * n + j];
    float U = field[up * n + j] - old, D = field[down * n + j] - old;
    float L = field[i * n + left] - old, R = field[i * n + right] - old;
    float UR = field[up * n + right] - old, DR = field[down * n + right] - old;
    float UL = field[up * n + left] - old, DL = field[down * n + left] - old;
    float hU = heaviside(U * -vy * per_e), hD = heaviside(D * vy * per_e);
    float hL = heaviside(L * -vx * per_e), hR = heaviside(R * vx * per_e);
    float hUR = heaviside(UR * (vx - vy) * per_e), hDR = heaviside(DR * (vx + vy) * per_e);
    float hUL = heaviside(UL * (-vx - vy) * per_e), hDL = heaviside(DL * (-vx + vy) * per_e);
    float next =
        (float)(old + MU / LAMBDA *
                          (hU * U + hD * D + hL * L + hR * R + hUR * UR + hDR * DR + hUL * UL + hDL * DL));
    float pixel = image[i * n + j];
    return (float)(next - 1.0 / LAMBDA * pixel * (next - pixel));
}

KERNEL IMGVF_kernel(float *const *fields, float *const *images, const int *rows, const int *columns, float vx,
                    float vy, float e, int max_iterations, float cutoff)
{
    __shared__ float field[41 * 81];
    __shared__ float buffer
        [BLOCK]; /* new values of the previous round, till nobody needs the old ones; then partial sums */
    __shared__ int converged;
    float *global = fields[blockIdx.x], *image = images[blockIdx.x];
    int m = rows[blockIdx.x], n = columns[blockIdx.x], t = threadIdx.x, i, j;
    int rounds = (m * n + BLOCK - 1) / BLOCK;

    for (int round = 0; round < rounds; round++) {
        i = (t + round * BLOCK) / n;
        j = (t + round * BLOCK) % n;
        if (i < m) field[i * n + j] = global[i * n + j];
    }
    __syncthreads();
    if (t == 0) converged = 0;
    __syncthreads();

    const float one_nth = 1.f / (float)n, per_e = (float)(1.0 / e);
    const int t_mod = t % n, block_mod = BLOCK % n;
    for (int iterations = 0; !converged && iterations < max_iterations; iterations++) {
        float change = 0;
        int old_i = 0, old_j = 0;
        i = 0;
        j = t_mod - block_mod;
        for (int round = 0; round < rounds; round++) {
            old_i = i;
            old_j = j;
            i = (int)((t + round * BLOCK) * one_nth);
            j += block_mod;
            if (j >= n) j -= n;
            float next = 0, old = 0;
            if (i < m) {
                old = field[i * n + j];
                next = spread(field, image, i, j, m, n, vx, vy, per_e);
            }
            __syncthreads();
            if (round > 0 && old_i < m) field[old_i * n + old_j] = buffer[t];
            if (round < rounds - 1)
                buffer[t] = next;
            else if (i < m)
                field[i * n + j] = next;
            change += fabsf(next - old);
            __syncthreads();
        }
        buffer[t] = change;
        __syncthreads();
        if (t >= LOWER_TWO) buffer[t - LOWER_TWO] += buffer[t];
        __syncthreads();
        for (int half = LOWER_TWO / 2; half > 0; half /= 2) {
            if (t < half) buffer[t] += buffer[t + half];
            __syncthreads();
        }
        if (t == 0 && buffer[t] / (float)(m * n) < cutoff) converged = 1;
        __syncthreads();
    }

    for (int round = 0; round < rounds; round++) {
        i = (t + round * BLOCK) / n;
        j = (t + round * BLOCK) % n;
        if (i < m) global[i * n + j] = field[i * n + j];
    }
}
