/* mvt: host side. */
#include "kit/kit.h"

#define BLOCK 256

/* x1 + A y1 and x2 + A^T y2, element of A by element of A. */
static void products(const float *A, double *x1, double *x2, const float *y1, const float *y2, int rows,
                     int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            double a = A[(size_t)i * columns + j];
            x1[i] += a * y1[j];
            x2[j] += a * y2[i];
        }
    }
}

static double *doubles_of(const float *from, int n)
{
    double *to = kit_host(n * sizeof *to);
    for (int i = 0; i < n; i++) to[i] = from[i];
    return to;
}

static void check(const char *what, const float *got, const double *want, int n)
{
    float *rounded = kit_host(n * sizeof *rounded);
    for (int i = 0; i < n; i++) rounded[i] = (float)want[i];
    kit_check_floats(what, got, rounded, n, 1e-4, 0);
}

int main(int argc, char **argv)
{
    kit_open("mvt", argc, argv);
    int rows = (const int[]){501, 8192, 4096}[kit_size()];
    int columns = (const int[]){101, 416, 4096}[kit_size()];
    size_t row_bytes = columns * sizeof(float), column_bytes = rows * sizeof(float);
    float *A = kit_floats((size_t)rows * columns, 0, 1);
    float *x1 = kit_floats(rows, 0, 1), *x2 = kit_floats(columns, 0, 1);
    float *y1 = kit_floats(columns, 0, 1), *y2 = kit_floats(rows, 0, 1);
    double *want1 = doubles_of(x1, rows), *want2 = doubles_of(x2, columns);

    CUdeviceptr dA = kit_upload(A, rows * row_bytes);
    CUdeviceptr dx1 = kit_upload(x1, column_bytes), dx2 = kit_upload(x2, row_bytes);
    CUdeviceptr dy1 = kit_upload(y1, row_bytes), dy2 = kit_upload(y2, column_bytes);
    struct kit_dim block = KIT_DIM(BLOCK);
    KIT_LAUNCH("mvt_kernel1", KIT_DIM((rows + BLOCK - 1) / BLOCK), block, 0, dA, dx1, dy1, rows, columns);
    KIT_LAUNCH("mvt_kernel2", KIT_DIM((columns + BLOCK - 1) / BLOCK), block, 0, dA, dx2, dy2, rows, columns);
    kit_download(x1, dx1, column_bytes);
    kit_download(x2, dx2, row_bytes);

    if (kit_checking()) {
        products(A, want1, want2, y1, y2, rows, columns);
        check("x1", x1, want1, rows);
        check("x2", x2, want2, columns);
    }
    return kit_close();
}
