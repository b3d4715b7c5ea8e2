/* atax: host side. */
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

/* Row by row of what the second product needs. */
static void atax_cpu(const struct cut_matrix *A, const float *x, float *y)
{
    double *sum = kit_host(A->columns * sizeof *sum);
    for (int i = 0; i < A->down; i++) {
        const float *row = A->left + (size_t)i * A->stride, *whole = A->top + (size_t)i * A->columns;
        double tmp = 0;
        for (int j = 0; j < A->across; j++) tmp += (double)row[j] * x[j];
        for (int j = 0; j < A->columns; j++) sum[j] += whole[j] * tmp;
    }
    for (int j = 0; j < A->columns; j++) y[j] = (float)sum[j];
}

int main(int argc, char **argv)
{
    kit_open("atax", argc, argv);
    struct cut_matrix A = cut_matrix_new(((const struct size *)KIT_CHOOSE(sizes))->A);
    size_t rows = A.rows * sizeof(float), columns = A.columns * sizeof(float);
    float *x = kit_floats(A.columns, 0, 1), *y = kit_host(columns);

    CUdeviceptr dx = kit_upload(x, columns), dtmp = kit_zeros(rows), dy = kit_zeros(columns);
    struct kit_dim block = KIT_DIM(BLOCK);
    KIT_LAUNCH("atax_kernel1", KIT_DIM((A.rows + BLOCK - 1) / BLOCK), block, 0, A.left_device, dx, dtmp,
               A.rows, A.across, A.stride);
    KIT_LAUNCH("atax_kernel2", KIT_DIM((A.columns + BLOCK - 1) / BLOCK), block, 0, A.top_device, dy, dtmp,
               A.down, A.columns);
    kit_download(y, dy, columns);

    if (kit_checking()) {
        float *want = kit_host(columns);
        atax_cpu(&A, x, want);
        kit_check_floats("y", y, want, A.columns, 1e-4, 0);
    }
    return kit_close();
}
