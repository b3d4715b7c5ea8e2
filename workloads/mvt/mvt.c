/* mvt: host side. */
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

/* x1 + A y1. */
static void across_cpu(const struct cut_matrix *A, const float *x1, const float *y1, float *want)
{
    for (int i = 0; i < A->rows; i++) {
        double sum = x1[i];
        for (int j = 0; j < A->across; j++) sum += (double)A->left[(size_t)i * A->stride + j] * y1[j];
        want[i] = (float)sum;
    }
}

/* x2 + A^T y2, row by row. */
static void down_cpu(const struct cut_matrix *A, const float *x2, const float *y2, float *want)
{
    double *sum = kit_host(A->columns * sizeof *sum);
    for (int j = 0; j < A->columns; j++) sum[j] = x2[j];
    for (int i = 0; i < A->down; i++)
        for (int j = 0; j < A->columns; j++) sum[j] += (double)A->top[(size_t)i * A->columns + j] * y2[i];
    for (int j = 0; j < A->columns; j++) want[j] = (float)sum[j];
}

int main(int argc, char **argv)
{
    kit_open("mvt", argc, argv);
    struct cut_matrix A = cut_matrix_new(((const struct size *)KIT_CHOOSE(sizes))->A);
    size_t rows = A.rows * sizeof(float), columns = A.columns * sizeof(float);
    float *x1 = kit_floats(A.rows, 0, 1), *x2 = kit_floats(A.columns, 0, 1);
    float *y1 = kit_floats(A.columns, 0, 1), *y2 = kit_floats(A.rows, 0, 1);
    float *got1 = kit_host(rows), *got2 = kit_host(columns);

    CUdeviceptr dx1 = kit_upload(x1, rows), dx2 = kit_upload(x2, columns);
    CUdeviceptr dy1 = kit_upload(y1, columns), dy2 = kit_upload(y2, rows);
    struct kit_dim block = KIT_DIM(BLOCK);
    KIT_LAUNCH("mvt_kernel1", KIT_DIM((A.rows + BLOCK - 1) / BLOCK), block, 0, A.left_device, dx1, dy1,
               A.rows, A.across, A.stride);
    KIT_LAUNCH("mvt_kernel2", KIT_DIM((A.columns + BLOCK - 1) / BLOCK), block, 0, A.top_device, dx2, dy2,
               A.down, A.columns);
    kit_download(got1, dx1, rows);
    kit_download(got2, dx2, columns);

    if (kit_checking()) {
        float *want1 = kit_host(rows), *want2 = kit_host(columns);
        across_cpu(&A, x1, y1, want1);
        down_cpu(&A, x2, y2, want2);
        kit_check_floats("x1", got1, want1, A.rows, 1e-4, 0);
        kit_check_floats("x2", got2, want2, A.columns, 1e-4, 0);
    }
    return kit_close();
}
