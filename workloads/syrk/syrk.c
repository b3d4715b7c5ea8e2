/* syrk: host side. */
#include "kit/kit.h"

#define BLOCK_X 32
#define BLOCK_Y 8

/* C = alpha A A^T + beta C; the product is symmetric, so that each pair of rows is multiplied once. */
static void syrk_cpu(const float *A, const float *C, float *want, double alpha, double beta, int ni, int nj)
{
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j <= i; j++) {
            const float *a = A + (size_t)i * nj, *b = A + (size_t)j * nj;
            double dot = 0;
            for (int k = 0; k < nj; k++) dot += (double)a[k] * b[k];
            size_t lower = (size_t)i * ni + j, upper = (size_t)j * ni + i;
            want[lower] = (float)(alpha * dot + beta * C[lower]);
            want[upper] = (float)(alpha * dot + beta * C[upper]);
        }
    }
}

int main(int argc, char **argv)
{
    kit_open("syrk", argc, argv);
    int ni = (const int[]){60, 192, 1024}[kit_size()]; /* rows of A, and both sides of C */
    int nj = (const int[]){41, 256, 1024}[kit_size()]; /* columns of A */
    float alpha = 32412, beta = 2123;                  /* PolyBench's */
    size_t a_count = (size_t)ni * nj, c_count = (size_t)ni * ni;
    float *A = kit_floats(a_count, 0, 1), *C = kit_floats(c_count, 0, 1),
          *got = kit_host(c_count * sizeof *got);

    CUdeviceptr dA = kit_upload(A, a_count * sizeof *A), dC = kit_upload(C, c_count * sizeof *C);
    struct kit_dim grid = KIT_DIM((ni + BLOCK_X - 1) / BLOCK_X, (ni + BLOCK_Y - 1) / BLOCK_Y);
    KIT_LAUNCH("syrk_kernel", grid, KIT_DIM(BLOCK_X, BLOCK_Y), 0, dA, dC, alpha, beta, ni, nj);
    kit_download(got, dC, c_count * sizeof *got);

    if (kit_checking()) {
        float *want = kit_host(c_count * sizeof *want);
        syrk_cpu(A, C, want, alpha, beta, ni, nj);
        kit_check_floats("C", got, want, c_count, 1e-4, 0);
    }
    return kit_close();
}
