/* kernels.c: the host side of each kernel of speed.cu. Work is scaled by the grid (for the chase and the loop
 * by the steps), so that ten times the work is ten times the instructions of the same kind. */
#include "speed.h"

/* One kernel a process: its sizes, its data on the host and its buffers on the device. */
static struct {
    int n, m; /* as the kernel understands them */
    float *a, *b, *c;
    int *i, *j;
    struct kit_graph graph;
    CUdeviceptr da, db, dc, di, dj, out;
    size_t bytes;
} d;

size_t speed_own_bytes(void) { return d.bytes; }

static void *host(size_t bytes)
{
    d.bytes += bytes;
    return kit_host(bytes);
}

static float *floats(size_t n)
{
    d.bytes += n * sizeof(float);
    return kit_floats(n, 0, 1);
}

static CUdeviceptr upload(const void *from, size_t bytes)
{
    d.bytes += bytes;
    return kit_upload(from, bytes);
}

static CUdeviceptr zeros(size_t bytes)
{
    d.bytes += bytes;
    return kit_zeros(bytes);
}

static void *result(size_t bytes)
{
    void *p = kit_host(bytes);
    kit_download(p, d.out, bytes);
    return p;
}

static int blocks(int n, int threads) { return (n + threads - 1) / threads; }

/* ---- vector addition ---- */

static void vecadd_prepare(int n)
{
    size_t bytes = (size_t)n * sizeof(float);
    d.n = n;
    d.a = floats((size_t)n), d.b = floats((size_t)n);
    d.da = upload(d.a, bytes), d.db = upload(d.b, bytes), d.out = zeros(bytes);
}

static void vecadd_launch(void)
{
    KIT_LAUNCH("vecadd", KIT_DIM(blocks(d.n, 256)), KIT_DIM(256), 0, d.out, d.da, d.db, d.n);
}

static void vecadd_check(void)
{
    float *got = result((size_t)d.n * sizeof *got), *want = kit_host((size_t)d.n * sizeof *want);
    for (int i = 0; i < d.n; i++) want[i] = d.a[i] + d.b[i];
    kit_check_bytes("sum", got, want, (size_t)d.n * sizeof *got);
}

/* ---- tiled matrix multiply: `rows` x 128 times 128 x 128 ---- */

enum { MATMUL_SIDE = 128, MATMUL_TILE = 16 };

static void matmul_prepare(int rows)
{
    d.n = rows, d.m = MATMUL_SIDE;
    size_t a = (size_t)rows * MATMUL_SIDE, b = (size_t)MATMUL_SIDE * MATMUL_SIDE;
    d.a = floats(a), d.b = floats(b);
    d.da = upload(d.a, a * sizeof(float)), d.db = upload(d.b, b * sizeof(float));
    d.out = zeros(a * sizeof(float));
}

static void matmul_launch(void)
{
    KIT_LAUNCH("matmul", KIT_DIM(MATMUL_SIDE / MATMUL_TILE, (unsigned)d.n / MATMUL_TILE),
               KIT_DIM(MATMUL_TILE, MATMUL_TILE), 0, d.out, d.da, d.db, d.m, d.m);
}

static void matmul_check(void)
{
    size_t cells = (size_t)d.n * MATMUL_SIDE;
    float *got = result(cells * sizeof *got), *want = kit_host(cells * sizeof *want);
    for (size_t at = 0; at < cells; at++)
        for (int k = 0; k < MATMUL_SIDE; k++)
            want[at] += d.a[at / MATMUL_SIDE * MATMUL_SIDE + (size_t)k] *
                        d.b[(size_t)k * MATMUL_SIDE + at % MATMUL_SIDE];
    kit_check_floats("product", got, want, cells, 1e-4, 1e-4);
}

/* ---- sparse matrix times vector ---- */

static void graph_prepare(int nodes, int degree)
{
    d.n = nodes;
    d.graph = kit_graph_uniform(nodes, degree);
    size_t rows = (size_t)(nodes + 1) * sizeof(int), columns = (size_t)d.graph.edges * sizeof(int);
    d.bytes += rows + columns;
    d.di = upload(d.graph.row, rows), d.dj = upload(d.graph.column, columns);
}

static void spmv_prepare(int rows)
{
    graph_prepare(rows, 16);
    size_t values = (size_t)d.graph.edges;
    d.a = floats(values), d.b = floats((size_t)rows);
    d.da = upload(d.a, values * sizeof(float)), d.db = upload(d.b, (size_t)rows * sizeof(float));
    d.out = zeros((size_t)rows * sizeof(float));
}

static void spmv_launch(void)
{
    KIT_LAUNCH("spmv", KIT_DIM(blocks(d.n, 128)), KIT_DIM(128), 0, d.out, d.di, d.dj, d.da, d.db, d.n);
}

static void spmv_check(void)
{
    float *got = result((size_t)d.n * sizeof *got), *want = kit_host((size_t)d.n * sizeof *want);
    for (int r = 0; r < d.n; r++)
        for (int e = d.graph.row[r]; e < d.graph.row[r + 1]; e++) want[r] += d.a[e] * d.b[d.graph.column[e]];
    kit_check_floats("product", got, want, (size_t)d.n, 1e-4, 1e-4);
}

/* ---- breadth-first search ---- */

static void bfs_prepare(int nodes)
{
    graph_prepare(nodes, 6);
    d.i = host((size_t)nodes * sizeof(int));
    for (int v = 1; v < nodes; v++) d.i[v] = -1;
    d.out = upload(d.i, (size_t)nodes * sizeof(int));
    d.da = zeros(sizeof(int));
}

static void bfs_launch(void)
{
    for (int depth = 0, more = 1; more; depth++) {
        kit_set32(d.da, 0, 1);
        KIT_LAUNCH("bfs", KIT_DIM(blocks(d.n, 256)), KIT_DIM(256), 0, d.out, d.di, d.dj, d.n, depth, d.da);
        kit_download(&more, d.da, sizeof more);
    }
}

static void bfs_check(void)
{
    int *got = result((size_t)d.n * sizeof *got), *queue = kit_host((size_t)d.n * sizeof *queue);
    int begin = 0, end = 1;
    while (begin < end) {
        int v = queue[begin++];
        for (int e = d.graph.row[v]; e < d.graph.row[v + 1]; e++) {
            int to = d.graph.column[e];
            if (d.i[to] >= 0) continue;
            d.i[to] = d.i[v] + 1;
            queue[end++] = to;
        }
    }
    kit_check_ints("level", got, d.i, (size_t)d.n);
}

/* ---- pointer chase: one random ring of 4 MB, far beyond every cache of the machines but the largest L2
 * ---- */

enum { CHASE_NODES = 1 << 20 };

static void chase_warps(int warps, int steps)
{
    int *order = kit_host(CHASE_NODES * sizeof *order);
    d.n = warps, d.m = steps;
    d.i = host(CHASE_NODES * sizeof(int));
    d.bytes += CHASE_NODES * sizeof *order;
    for (int i = 0; i < CHASE_NODES; i++) order[i] = i;
    kit_shuffle(order, CHASE_NODES);
    for (int i = 0; i < CHASE_NODES; i++) d.i[order[i]] = order[(i + 1) % CHASE_NODES];
    d.di = upload(d.i, CHASE_NODES * sizeof(int));
    d.out = zeros((size_t)warps * sizeof(int));
}

static void chase_prepare(int steps) { chase_warps(60, steps); }
static void chase1_prepare(int steps) { chase_warps(1, steps); }

static void chase_launch(void)
{
    int apart = CHASE_NODES / d.n;
    KIT_LAUNCH("chase", KIT_DIM((unsigned)d.n), KIT_DIM(32), 0, d.out, d.di, apart, d.m);
}

static void chase_check(void)
{
    int *got = result((size_t)d.n * sizeof *got), *want = kit_host((size_t)d.n * sizeof *want);
    for (int w = 0; w < d.n; w++) {
        want[w] = w * (CHASE_NODES / d.n);
        for (int i = 0; i < d.m; i++) want[w] = d.i[want[w]];
    }
    kit_check_ints("end of chain", got, want, (size_t)d.n);
}

/* ---- multiply-add loop ---- */

enum { MADD_THREADS = 120 * 256 };
static float madd_factor = 0.99f, madd_addend = 0.01f;

static void madd_prepare(int rounds)
{
    d.n = rounds;
    d.out = zeros(MADD_THREADS * sizeof(float));
}

static void madd_launch(void)
{
    KIT_LAUNCH("madd", KIT_DIM(MADD_THREADS / 256), KIT_DIM(256), 0, d.out, madd_factor, madd_addend, d.n);
}

static void madd_check(void)
{
    float *got = result(MADD_THREADS * sizeof *got), *want = kit_host(MADD_THREADS * sizeof *want);
    for (int t = 0; t < MADD_THREADS; t++)
        for (int chain = 0; chain < 4; chain++) {
            float x = (float)(t + chain);
            for (int i = 0; i < d.n; i++) x = fmaf(x, madd_factor, madd_addend);
            want[t] += x;
        }
    kit_check_floats("value", got, want, MADD_THREADS, 1e-4, 1e-4);
}

/* ---- histogram with atomics on global memory ---- */

enum { HISTOGRAM_BINS = 1024, HISTOGRAM_BLOCKS = 60 };

static void histogram_prepare(int n)
{
    d.n = n;
    d.i = host((size_t)n * sizeof(int));
    for (int i = 0; i < n; i++) d.i[i] = (int)kit_below(HISTOGRAM_BINS);
    d.di = upload(d.i, (size_t)n * sizeof(int));
    d.out = zeros(HISTOGRAM_BINS * sizeof(int));
}

static void histogram_launch(void)
{
    KIT_LAUNCH("histogram", KIT_DIM(HISTOGRAM_BLOCKS), KIT_DIM(256), 0, d.out, d.di, d.n);
}

static void histogram_check(void)
{
    int *got = result(HISTOGRAM_BINS * sizeof *got), *want = kit_host(HISTOGRAM_BINS * sizeof *want);
    for (int i = 0; i < d.n; i++) want[d.i[i]]++;
    kit_check_ints("bin", got, want, HISTOGRAM_BINS);
}

/* ---- stencil and transpose: planes 1024 wide ---- */

enum { PLANE_WIDTH = 1024 };

static void plane_prepare(int height)
{
    size_t cells = (size_t)height * PLANE_WIDTH;
    d.n = height, d.m = PLANE_WIDTH;
    d.a = floats(cells);
    d.da = upload(d.a, cells * sizeof(float));
    d.out = zeros(cells * sizeof(float));
}

static void stencil_launch(void)
{
    KIT_LAUNCH("stencil", KIT_DIM(PLANE_WIDTH / 64, (unsigned)blocks(d.n, 4)), KIT_DIM(64, 4), 0, d.out, d.da,
               d.m, d.n);
}

static void stencil_check(void)
{
    size_t cells = (size_t)d.n * PLANE_WIDTH;
    float *got = result(cells * sizeof *got), *want = kit_host(cells * sizeof *want);
    for (int y = 1; y < d.n - 1; y++)
        for (int x = 1; x < PLANE_WIDTH - 1; x++) {
            const float *in = d.a + (size_t)y * PLANE_WIDTH + x;
            want[(size_t)y * PLANE_WIDTH + (size_t)x] =
                0.5f * in[0] + 0.125f * (in[-1] + in[1] + in[-PLANE_WIDTH] + in[PLANE_WIDTH]);
        }
    kit_check_floats("cell", got, want, cells, 1e-5, 1e-6);
}

static void transpose_launch(void)
{
    KIT_LAUNCH("transpose", KIT_DIM(PLANE_WIDTH / 32, (unsigned)d.n / 32), KIT_DIM(32, 8), 0, d.out, d.da,
               d.m, d.n);
}

static void transpose_check(void)
{
    size_t cells = (size_t)d.n * PLANE_WIDTH;
    float *got = result(cells * sizeof *got), *want = kit_host(cells * sizeof *want);
    for (size_t y = 0; y < (size_t)d.n; y++)
        for (size_t x = 0; x < PLANE_WIDTH; x++) want[x * (size_t)d.n + y] = d.a[y * PLANE_WIDTH + x];
    kit_check_bytes("cell", got, want, cells * sizeof *got);
}

/* ---- reduction in shared memory ---- */

enum { REDUCE_THREADS = 256 };

static void reduce_prepare(int blocks_of_256)
{
    d.n = blocks_of_256;
    size_t n = (size_t)blocks_of_256 * REDUCE_THREADS;
    d.i = kit_ints(n, 0, 999);
    d.bytes += n * sizeof(int);
    d.di = upload(d.i, n * sizeof(int));
    d.out = zeros((size_t)d.n * sizeof(int));
}

static void reduce_launch(void)
{
    KIT_LAUNCH("reduce", KIT_DIM((unsigned)d.n), KIT_DIM(REDUCE_THREADS), 0, d.out, d.di);
}

static void reduce_check(void)
{
    int *got = result((size_t)d.n * sizeof *got), *want = kit_host((size_t)d.n * sizeof *want);
    for (int i = 0; i < d.n * REDUCE_THREADS; i++) want[i / REDUCE_THREADS] += d.i[i];
    kit_check_ints("sum", got, want, (size_t)d.n);
}

/* ---- kmeans: 34 features, 5 centres, as Rodinia's kdd_cup ---- */

enum { FEATURES = 34, CENTRES = 5 };
static const int features = FEATURES, centres = CENTRES;

static void kmeans_prepare(int points)
{
    size_t cells = (size_t)points * FEATURES;
    d.n = points;
    d.a = floats(cells), d.b = floats(FEATURES * CENTRES);
    d.da = upload(d.a, cells * sizeof(float)), d.db = upload(d.b, FEATURES * CENTRES * sizeof(float));
    d.out = zeros((size_t)points * sizeof(int));
}

static void kmeans_launch(void)
{
    KIT_LAUNCH("kmeans", KIT_DIM(blocks(d.n, 256)), KIT_DIM(256), 0, d.out, d.da, d.db, d.n, features,
               centres);
}

static double distance(int point, int centre)
{
    double sum = 0;
    for (int f = 0; f < FEATURES; f++) {
        double apart = (double)d.a[(size_t)f * (size_t)d.n + (size_t)point] - d.b[centre * FEATURES + f];
        sum += apart * apart;
    }
    return sum;
}

/* Two centres may be equally far in single precision: the one found must be as near as the nearest. */
static void kmeans_check(void)
{
    int *got = result((size_t)d.n * sizeof *got);
    for (int p = 0; p < d.n; p++) {
        double least = distance(p, 0);
        for (int c = 1; c < CENTRES; c++) least = fmin(least, distance(p, c));
        bool valid = got[p] >= 0 && got[p] < CENTRES && distance(p, got[p]) <= least * (1 + 1e-5);
        if (valid) continue;
        kit_check(false, "point %d went to centre %d", p, got[p]);
        return;
    }
}

/* ---- divergence ---- */

static int diverge_first = 1000;

static void diverge_prepare(int n)
{
    d.n = n;
    d.out = zeros((size_t)n * sizeof(int));
}

static void diverge_launch(void)
{
    KIT_LAUNCH("diverge", KIT_DIM(blocks(d.n, 128)), KIT_DIM(128), 0, d.out, diverge_first, d.n);
}

static void diverge_check(void)
{
    int *got = result((size_t)d.n * sizeof *got), *want = kit_host((size_t)d.n * sizeof *want);
    for (int i = 0; i < d.n; i++)
        for (unsigned v = (unsigned)(diverge_first + i); v != 1; v = v & 1 ? 3 * v + 1 : v >> 1)
            want[i] += v & 1 ? 1 : 2;
    kit_check_ints("steps", got, want, (size_t)d.n);
}

const struct speed_kernel speed_kernels[] = {
    {"vecadd", {104858, 1048576, 10485760}, vecadd_prepare, vecadd_launch, vecadd_check},
    {"matmul", {96, 960, 9600}, matmul_prepare, matmul_launch, matmul_check},
    {"spmv", {4000, 40000, 400000}, spmv_prepare, spmv_launch, spmv_check},
    {"bfs", {6000, 60000, 600000}, bfs_prepare, bfs_launch, bfs_check},
    {"chase", {400, 4000, 40000}, chase_prepare, chase_launch, chase_check},
    {"madd", {125, 1250, 12500}, madd_prepare, madd_launch, madd_check},
    {"histogram", {100000, 1000000, 10000000}, histogram_prepare, histogram_launch, histogram_check},
    {"stencil", {120, 1200, 12000}, plane_prepare, stencil_launch, stencil_check},
    {"transpose", {192, 1920, 19200}, plane_prepare, transpose_launch, transpose_check},
    {"reduce", {1000, 10000, 100000}, reduce_prepare, reduce_launch, reduce_check},
    {"kmeans", {3200, 32000, 320000}, kmeans_prepare, kmeans_launch, kmeans_check},
    {"diverge", {8000, 80000, 800000}, diverge_prepare, diverge_launch, diverge_check},
    /* Not of the twelve: one warp on the whole machine, for --scaling. */
    {"chase1", {3000, 30000, 300000}, chase1_prepare, chase_launch, chase_check},
};
const unsigned speed_kernel_count = sizeof speed_kernels / sizeof *speed_kernels;
