/* sparse_rows: y = A x for a CSR matrix in double precision, a thread a row and a warp a row (they must
 * agree). */
#include "test_program.h"
#define KERNELS(K, V) K(spmv_thread) K(spmv_warp)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void spmv_thread(const int *row, const int *col, const double *val, const double *x,
                                       double *y, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    double sum = 0;
    for (int e = row[r]; e < row[r + 1]; e++) sum += val[e] * x[col[e]];
    y[r] = sum;
}
extern "C" __global__ void spmv_warp(const int *row, const int *col, const double *val, const double *x,
                                     double *y, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= n) return;
    double sum = 0;
    for (int e = row[r] + lane; e < row[r + 1]; e += 32) sum += val[e] * __ldg(&x[col[e]]);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) y[r] = sum;
}
#endif

int main(void)
{
    int n = 1500, edges = 0;
    int *row = (int *)malloc((n + 1) * 4), *col = (int *)malloc(n * 80 * 4);
    double *val = (double *)malloc(n * 80 * 8), *x = (double *)malloc(n * 8), *want = (double *)malloc(n * 8);
    for (int r = 0; r < n; r++) {
        row[r] = edges;
        /* whole numbers: every order of summation gives the same */
        x[r] = (double)(program_hash(r) % 100) - 50;
        for (unsigned d = program_hash(r + 9) % 80; d > 0; d--, edges++) {
            col[edges] = (int)(program_hash(r * 101 + d) % (unsigned)n);
            val[edges] = (double)(program_hash(r * 103 + d) % 1000);
        }
    }
    row[n] = edges;
    for (int r = 0; r < n; r++) {
        want[r] = 0;
        for (int e = row[r]; e < row[r + 1]; e++) want[r] += val[e] * x[col[e]];
    }
    int *drow = (int *)program_device(row, (n + 1) * 4), *dcol = (int *)program_device(col, edges * 4);
    double *dval = (double *)program_device(val, edges * 8), *dx = (double *)program_device(x, n * 8),
           *y1 = (double *)program_device(NULL, n * 8), *y2 = (double *)program_device(NULL, n * 8);
    LAUNCH(spmv_thread, (n + 63) / 64, 64, 0, drow, dcol, dval, dx, y1, n);
    LAUNCH(spmv_warp, (n * 32 + 255) / 256, 256, 0, drow, dcol, dval, dx, y2, n);
    return program_end("sparse_rows", program_same("thread", program_fetch(y1, n * 8), want, n * 2) &
                                          program_same("warp", program_fetch(y2, n * 8), want, n * 2));
}
