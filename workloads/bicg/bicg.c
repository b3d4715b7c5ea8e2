/* bicg: host side. */
#include "kit/cut_matrix.h"

#define BLOCK 256

static const struct size {
    const char *name;
    struct cut_shape A;
} sizes[] = {
    {"tiny", {.rows = 501, .columns = 101, .terms = 501}},
    {"small", {.rows = 4096, .columns = 4096, .terms = 512}},
    {"paper", {.rows = 4096, .columns = 4096, .terms = 4096}},
    {"fill", {.rows = 81920, .columns = 81920, .terms = 96, .apart = true}},
    {"long", {.rows = 49152, .columns = 49152, .terms = 96, .apart = true}},
};

/* s = A^T r, row by row. */
static void down_cpu(const struct cut_matrix *A, const float *r, float *s)
{
    double *column = kit_host(A->columns * sizeof *column);
    for (int i = 0; i < A->down; i++)
        for (int j = 0; j < A->columns; j++) column[j] += (double)A->top[(size_t)i * A->columns + j] * r[i];
    for (int j = 0; j < A->columns; j++) s[j] = (float)column[j];
}

/* q = A p. */
static void across_cpu(const struct cut_matrix *A, const float *p, float *q)
{
    for (int i = 0; i < A->rows; i++) {
        double sum = 0;
        for (int j = 0; j < A->across; j++) sum += (double)A->left[(size_t)i * A->stride + j] * p[j];
        q[i] = (float)sum;
    }
}

int main(int argc, char **argv)
{
    kit_open("bicg", argc, argv);
    struct cut_matrix A = cut_matrix_new(((const struct size *)KIT_CHOOSE(sizes))->A);
    size_t rows = A.rows * sizeof(float), columns = A.columns * sizeof(float);
    float *r = kit_floats(A.rows, 0, 1), *p = kit_floats(A.columns, 0, 1);
    float *s = kit_host(columns), *q = kit_host(rows);

    CUdeviceptr dr = kit_upload(r, rows), dp = kit_upload(p, columns);
    CUdeviceptr ds = kit_alloc(columns), dq = kit_alloc(rows);
    struct kit_dim block = KIT_DIM(BLOCK);
    KIT_LAUNCH("bicg_kernel1", KIT_DIM((A.columns + BLOCK - 1) / BLOCK), block, 0, A.top_device, dr, ds,
               A.down, A.columns);
    KIT_LAUNCH("bicg_kernel2", KIT_DIM((A.rows + BLOCK - 1) / BLOCK), block, 0, A.left_device, dp, dq, A.rows,
               A.across, A.stride);
    kit_download(s, ds, columns);
    kit_download(q, dq, rows);

    if (kit_checking()) {
        float *want_s = kit_host(columns), *want_q = kit_host(rows);
        down_cpu(&A, r, want_s);
        across_cpu(&A, p, want_q);
        kit_check_floats("s", s, want_s, A.columns, 1e-4, 0);
        kit_check_floats("q", q, want_q, A.rows, 1e-4, 0);
    }
    return kit_close();
}
