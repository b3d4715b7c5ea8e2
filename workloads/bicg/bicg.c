/* bicg: host side. */
#include "kit/kit.h"

#define BLOCK 256

/* Both products in one walk over A. */
static void products(const float *A, const float *r, const float *p, float *s, float *q, int nx, int ny)
{
    double *column = kit_host(ny * sizeof *column);
    for (int i = 0; i < nx; i++) {
        const float *row = A + (size_t)i * ny;
        double sum = 0;
        for (int j = 0; j < ny; j++) {
            sum += (double)row[j] * p[j];
            column[j] += (double)row[j] * r[i];
        }
        q[i] = (float)sum;
    }
    for (int j = 0; j < ny; j++) s[j] = (float)column[j];
}

int main(int argc, char **argv)
{
    kit_open("bicg", argc, argv);
    int nx = (const int[]){501, 8192, 4096}[kit_size()]; /* rows */
    int ny = (const int[]){101, 416, 4096}[kit_size()];  /* columns */
    size_t rows = nx * sizeof(float), columns = ny * sizeof(float);
    float *A = kit_floats((size_t)nx * ny, 0, 1), *r = kit_floats(nx, 0, 1), *p = kit_floats(ny, 0, 1);
    float *s = kit_host(columns), *q = kit_host(rows);

    CUdeviceptr dA = kit_upload(A, nx * columns), dr = kit_upload(r, rows), dp = kit_upload(p, columns);
    CUdeviceptr ds = kit_alloc(columns), dq = kit_alloc(rows);
    struct kit_dim block = KIT_DIM(BLOCK);
    KIT_LAUNCH("bicg_kernel1", KIT_DIM((ny + BLOCK - 1) / BLOCK), block, 0, dA, dr, ds, nx, ny);
    KIT_LAUNCH("bicg_kernel2", KIT_DIM((nx + BLOCK - 1) / BLOCK), block, 0, dA, dp, dq, nx, ny);
    kit_download(s, ds, columns);
    kit_download(q, dq, rows);

    if (kit_checking()) {
        float *want_s = kit_host(columns), *want_q = kit_host(rows);
        products(A, r, p, want_s, want_q, nx, ny);
        kit_check_floats("s", s, want_s, ny, 1e-4, 0);
        kit_check_floats("q", q, want_q, nx, 1e-4, 0);
    }
    return kit_close();
}
