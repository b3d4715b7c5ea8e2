/* syr2k: host side. */
#include "kit/kit.h"

#define BLOCK_X 32
#define BLOCK_Y 8

static double dot(const float *a, const float *b, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += (double)a[k] * b[k];
    return sum;
}

/* C = alpha (P + P^T) + beta C with P = A B^T. */
static void syr2k_cpu(const float *A, const float *B, const float *C, float *want, double alpha, double beta,
                      int ni, int nj)
{
    double *P = kit_host((size_t)ni * ni * sizeof *P);
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < ni; j++) P[(size_t)i * ni + j] = dot(A + (size_t)i * nj, B + (size_t)j * nj, nj);
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < ni; j++) {
            size_t at = (size_t)i * ni + j, across = (size_t)j * ni + i;
            want[at] = (float)(alpha * (P[at] + P[across]) + beta * C[at]);
        }
    }
}

int main(int argc, char **argv)
{
    kit_open("syr2k", argc, argv);
    int ni = (const int[]){60, 192, 1024}[kit_size()]; /* rows of A and B, and both sides of C */
    int nj = (const int[]){41, 128, 1024}[kit_size()]; /* columns of A and B */
    float alpha = 32412, beta = 2123;                  /* PolyBench's */
    size_t a_count = (size_t)ni * nj, c_count = (size_t)ni * ni, a_bytes = a_count * sizeof(float);
    float *A = kit_floats(a_count, 0, 1), *B = kit_floats(a_count, 0, 1), *C = kit_floats(c_count, 0, 1);
    float *got = kit_host(c_count * sizeof *got);

    CUdeviceptr dA = kit_upload(A, a_bytes), dB = kit_upload(B, a_bytes),
                dC = kit_upload(C, c_count * sizeof *C);
    struct kit_dim grid = KIT_DIM((ni + BLOCK_X - 1) / BLOCK_X, (ni + BLOCK_Y - 1) / BLOCK_Y);
    KIT_LAUNCH("syr2k_kernel", grid, KIT_DIM(BLOCK_X, BLOCK_Y), 0, dA, dB, dC, alpha, beta, ni, nj);
    kit_download(got, dC, c_count * sizeof *got);

    if (kit_checking()) {
        float *want = kit_host(c_count * sizeof *want);
        syr2k_cpu(A, B, C, want, alpha, beta, ni, nj);
        kit_check_floats("C", got, want, c_count, 1e-4, 0);
    }
    return kit_close();
}
