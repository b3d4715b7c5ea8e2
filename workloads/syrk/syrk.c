/* syrk: host side. */
#include "kit/kit.h"

#define BLOCK_X 32
#define BLOCK_Y 8

static const struct size {
    const char *name;
    int ni, nj; /* rows of A, and both sides of C; columns of A */
    int rows;   /* of C: the first ones are computed */
} sizes[] = {
    {"tiny", 60, 41, 60}, {"small", 3040, 256, 16}, {"paper", 1024, 1024, 1024}, {"fill", 2080, 256, 40}};

/* Row i of alpha A A^T + beta C. */
static void syrk_row(const float *A, const float *C, float *want, double alpha, double beta, int ni, int nj,
                     int i)
{
    const float *a = A + (size_t)i * nj;
    for (int j = 0; j < ni; j++) {
        const float *b = A + (size_t)j * nj;
        double dot = 0;
        for (int k = 0; k < nj; k++) dot += (double)a[k] * b[k];
        want[(size_t)i * ni + j] = (float)(alpha * dot + beta * C[(size_t)i * ni + j]);
    }
}

int main(int argc, char **argv)
{
    kit_open("syrk", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int ni = size->ni, nj = size->nj;
    float alpha = 32412, beta = 2123; /* PolyBench's */
    size_t a_count = (size_t)ni * nj, c_count = (size_t)ni * ni;
    float *A = kit_floats(a_count, 0, 1), *C = kit_floats(c_count, 0, 1),
          *got = kit_host(c_count * sizeof *got);

    CUdeviceptr dA = kit_upload(A, a_count * sizeof *A), dC = kit_upload(C, c_count * sizeof *C);
    struct kit_dim grid = KIT_DIM((ni + BLOCK_X - 1) / BLOCK_X, (size->rows + BLOCK_Y - 1) / BLOCK_Y);
    KIT_LAUNCH("syrk_kernel", grid, KIT_DIM(BLOCK_X, BLOCK_Y), 0, dA, dC, alpha, beta, ni, nj);
    kit_download(got, dC, c_count * sizeof *got);

    if (kit_checking()) {
        float *want = kit_host(c_count * sizeof *want);
        memcpy(want, C, c_count * sizeof *want);
        for (int i = 0; i < size->rows; i++) syrk_row(A, C, want, alpha, beta, ni, nj, i);
        kit_check_floats("C", got, want, c_count, 1e-4, 0);
    }
    return kit_close();
}
