/* speed.cu: the kernels of the speed bench, each a common shape of GPU code in its plainest form: what
 * differs is what they ask of the simulator (streams, reuse in shared memory, scattered loads, atomics,
 * barriers, divergence, arithmetic). */
#include "kit/device.h"

#define AT (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL vecadd(float *c, const float *a, const float *b, int n)
{
    int i = AT;
    if (i < n) c[i] = a[i] + b[i];
}

#define MATMUL_TILE 16
KERNEL matmul(float *c, const float *a, const float *b, int inner, int width)
{
    __shared__ float as[MATMUL_TILE][MATMUL_TILE], bs[MATMUL_TILE][MATMUL_TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * MATMUL_TILE + x, row = blockIdx.y * MATMUL_TILE + y;
    float sum = 0;
    for (int k = 0; k < inner; k += MATMUL_TILE) {
        as[y][x] = a[row * inner + k + x];
        bs[y][x] = b[(k + y) * width + column];
        __syncthreads();
        for (int i = 0; i < MATMUL_TILE; i++) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * width + column] = sum;
}

/* A thread a row of the compressed matrix: lanes walk rows of different lengths and gather from `x`. */
KERNEL spmv(float *y, const int *row, const int *column, const float *value, const float *x, int rows)
{
    int r = AT;
    if (r >= rows) return;
    float sum = 0;
    for (int e = row[r]; e < row[r + 1]; e++) sum += value[e] * x[column[e]];
    y[r] = sum;
}

/* One level of a breadth-first search, a thread a node. */
KERNEL bfs(int *level, const int *row, const int *column, int nodes, int depth, int *more)
{
    int v = AT;
    if (v >= nodes || level[v] != depth) return;
    for (int e = row[v]; e < row[v + 1]; e++)
        if (level[column[e]] < 0) {
            level[column[e]] = depth + 1;
            *more = 1;
        }
}

/* One lane a warp follows a chain: nothing but the latency of memory. */
KERNEL chase(int *end, const int *next, int start_step, int steps)
{
    if (threadIdx.x) return;
    int at = blockIdx.x * start_step;
    for (int i = 0; i < steps; i++) at = next[at];
    end[blockIdx.x] = at;
}

KERNEL madd(float *out, float a, float b, int rounds)
{
    float x = (float)AT, y = x + 1, z = x + 2, w = x + 3;
    for (int i = 0; i < rounds; i++) {
        x = x * a + b;
        y = y * a + b;
        z = z * a + b;
        w = w * a + b;
    }
    out[AT] = x + y + z + w;
}

KERNEL histogram(unsigned *bins, const unsigned *values, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = AT; i < n; i += stride) atomicAdd(&bins[values[i]], 1u);
}

/* Five points of a plane with an edge one cell wide. */
KERNEL stencil(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

#define TURN_TILE 32
#define TURN_ROWS 8
KERNEL transpose(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TURN_TILE][TURN_TILE + 1];
    int x = blockIdx.x * TURN_TILE + threadIdx.x, y = blockIdx.y * TURN_TILE + threadIdx.y;
    for (int i = 0; i < TURN_TILE; i += TURN_ROWS)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * TURN_TILE + threadIdx.x;
    y = blockIdx.x * TURN_TILE + threadIdx.y;
    for (int i = 0; i < TURN_TILE; i += TURN_ROWS)
        out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

#define REDUCE_THREADS 256
KERNEL reduce(int *sums, const int *in)
{
    __shared__ int part[REDUCE_THREADS];
    int t = threadIdx.x;
    part[t] = in[AT];
    __syncthreads();
    for (int half = REDUCE_THREADS / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

/* The nearest centre of each point; features lie feature by feature, as Rodinia's kmeans has them. */
KERNEL kmeans(int *member, const float *feature, const float *centre, int points, int features, int centres)
{
    int p = AT;
    if (p >= points) return;
    int best = 0;
    float least = 3.4e38f;
    for (int c = 0; c < centres; c++) {
        float sum = 0;
        for (int f = 0; f < features; f++) {
            float d = feature[f * points + p] - centre[c * features + f];
            sum += d * d;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    member[p] = best;
}

/* Steps of the Collatz sequence: lanes branch apart by the value, and leave the loop one by one. */
KERNEL diverge(int *steps, int first, int n)
{
    int i = AT;
    if (i >= n) return;
    unsigned v = (unsigned)(first + i);
    int count = 0;
    while (v != 1) {
        if (v & 1) {
            v = 3 * v + 1;
            count += 1;
        } else {
            v >>= 1;
            count += 2;
        }
    }
    steps[i] = count;
}
