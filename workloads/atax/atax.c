/* atax: host side. */
#include "kit/kit.h"

#define BLOCK 256

static void atax_cpu(const float *A, const float *x, float *y, int n)
{
    double *sum = kit_host(n * sizeof *sum);
    for (int i = 0; i < n; i++) {
        double tmp = 0;
        for (int j = 0; j < n; j++) tmp += (double)A[i * n + j] * x[j];
        for (int j = 0; j < n; j++) sum[j] += A[i * n + j] * tmp;
    }
    for (int j = 0; j < n; j++) y[j] = (float)sum[j];
}

int main(int argc, char **argv)
{
    kit_open("atax", argc, argv);
    int n = (const int[]){128, 1024, 4096}[kit_size()];
    size_t vector = n * sizeof(float);
    float *A = kit_floats((size_t)n * n, 0, 1), *x = kit_floats(n, 0, 1), *y = kit_host(vector), *want = kit_host(vector);

    CUdeviceptr dA = kit_upload(A, n * vector), dx = kit_upload(x, vector);
    CUdeviceptr dtmp = kit_zeros(vector), dy = kit_zeros(vector);
    struct kit_dim grid = KIT_DIM((n + BLOCK - 1) / BLOCK), block = KIT_DIM(BLOCK);
    KIT_LAUNCH("atax_kernel1", grid, block, 0, dA, dx, dtmp, n, n);
    KIT_LAUNCH("atax_kernel2", grid, block, 0, dA, dy, dtmp, n, n);
    kit_download(y, dy, vector);

    if (kit_checking()) {
        atax_cpu(A, x, want, n);
        kit_check_floats("y", y, want, n, 1e-4, 0);
    }
    return kit_close();
}
