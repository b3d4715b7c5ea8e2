/* sgemm: host side. A is m x k by columns, B is handed over transposed (n x k by columns), C is m x n by
 * columns. */
#include "kit/kit.h"

#define TILE_N         16
#define TILE_TB_HEIGHT 8
#define TILE_M         (TILE_N * TILE_TB_HEIGHT)

/* Sums outer products: one column of A with one row of B after the other. */
static void sgemm_cpu(const float *A, const float *BT, double *C, int m, int n, int k)
{
    for (int j = 0; j < n; j++) {
        double *column = C + (size_t)j * m;
        for (int l = 0; l < k; l++) {
            double b = BT[j + (size_t)l * n];
            const float *a = A + (size_t)l * m;
            for (int i = 0; i < m; i++) column[i] += a[i] * b;
        }
    }
}

int main(int argc, char **argv)
{
    kit_open("sgemm", argc, argv);
    int m = (const int[]){128, 1024, 1024}[kit_size()]; /* a multiple of TILE_M */
    int n = (const int[]){160, 1056, 1056}[kit_size()]; /* a multiple of TILE_N */
    int k = (const int[]){96, 64, 992}[kit_size()];     /* a multiple of TILE_TB_HEIGHT */
    float alpha = 1, beta = 0;
    size_t a_count = (size_t)m * k, b_count = (size_t)n * k, c_count = (size_t)m * n;
    float *A = kit_floats(a_count, 0, 1), *BT = kit_floats(b_count, 0, 1), *C = kit_host(c_count * sizeof *C);

    CUdeviceptr dA = kit_upload(A, a_count * sizeof *A), dB = kit_upload(BT, b_count * sizeof *BT);
    CUdeviceptr dC = kit_zeros(c_count * sizeof *C);
    KIT_LAUNCH("mysgemmNT", KIT_DIM(m / TILE_M, n / TILE_N), KIT_DIM(TILE_N, TILE_TB_HEIGHT), 0, dA, m, dB, n,
               dC, m, k, alpha, beta);
    kit_download(C, dC, c_count * sizeof *C);

    if (kit_checking()) {
        double *sum = kit_host(c_count * sizeof *sum);
        float *want = kit_host(c_count * sizeof *want);
        sgemm_cpu(A, BT, sum, m, n, k);
        for (size_t i = 0; i < c_count; i++) want[i] = (float)sum[i];
        kit_check_floats("C", C, want, c_count, 1e-4, 0);
    }
    return kit_close();
}
