/* atax: host side. */
#include "kit/kit.h"

#define BLOCK 256

static void atax_cpu(const float *A, const float *x, float *y, int nx, int ny)
{
    double *sum = kit_host(ny * sizeof *sum);
    for (int i = 0; i < nx; i++) {
        const float *row = A + (size_t)i * ny;
        double tmp = 0;
        for (int j = 0; j < ny; j++) tmp += (double)row[j] * x[j];
        for (int j = 0; j < ny; j++) sum[j] += row[j] * tmp;
    }
    for (int j = 0; j < ny; j++) y[j] = (float)sum[j];
}

int main(int argc, char **argv)
{
    kit_open("atax", argc, argv);
    int nx = (const int[]){501, 8192, 4096}[kit_size()]; /* rows */
    int ny = (const int[]){101, 416, 4096}[kit_size()];  /* columns */
    size_t rows = nx * sizeof(float), columns = ny * sizeof(float);
    float *A = kit_floats((size_t)nx * ny, 0, 1), *x = kit_floats(ny, 0, 1), *y = kit_host(columns);

    CUdeviceptr dA = kit_upload(A, nx * columns), dx = kit_upload(x, columns);
    CUdeviceptr dtmp = kit_zeros(rows), dy = kit_zeros(columns);
    struct kit_dim block = KIT_DIM(BLOCK);
    KIT_LAUNCH("atax_kernel1", KIT_DIM((nx + BLOCK - 1) / BLOCK), block, 0, dA, dx, dtmp, nx, ny);
    KIT_LAUNCH("atax_kernel2", KIT_DIM((ny + BLOCK - 1) / BLOCK), block, 0, dA, dy, dtmp, nx, ny);
    kit_download(y, dy, columns);

    if (kit_checking()) {
        float *want = kit_host(columns);
        atax_cpu(A, x, want, nx, ny);
        kit_check_floats("y", y, want, ny, 1e-4, 0);
    }
    return kit_close();
}
