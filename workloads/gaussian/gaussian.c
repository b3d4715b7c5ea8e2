/* gaussian: host side. */
#include "kit/kit.h"

#define BLOCK    512 /* Fan1 */
#define BLOCK_XY 4   /* Fan2 */

/* Rodinia's matrix for -s: symmetric, 10 exp(-|i-j| / 100). The seed moves the diagonal. */
static float *gaussian_matrix(int n)
{
    float *a = kit_host((size_t)n * n * sizeof *a);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[(size_t)i * n + j] = (float)(10 * exp(-0.01 * abs(i - j)));
        a[(size_t)i * n + i] += (float)kit_uniform(0.5, 1.5);
    }
    return a;
}

/* Row by row, in double: row i is done with all rows above it before the next one starts. */
static void gaussian_cpu(float *a, float *b, float *m, int n, int steps)
{
    double *work = kit_host((size_t)n * n * sizeof *work), *right = kit_host(n * sizeof *right);
    for (size_t i = 0; i < (size_t)n * n; i++) work[i] = a[i];
    for (int i = 0; i < n; i++) {
        double *row = work + (size_t)i * n;
        right[i] = b[i];
        for (int t = 0; t < i && t < steps; t++) {
            const double *above = work + (size_t)t * n;
            double factor = row[t] / above[t];
            for (int j = t; j < n; j++) row[j] -= factor * above[j];
            right[i] -= factor * right[t];
            m[(size_t)i * n + t] = (float)factor;
        }
        b[i] = (float)right[i];
    }
    for (size_t i = 0; i < (size_t)n * n; i++) a[i] = (float)work[i];
}

static void gaussian_gpu(CUdeviceptr m, CUdeviceptr a, CUdeviceptr b, int n, int steps)
{
    unsigned side = (n + BLOCK_XY - 1) / BLOCK_XY;
    struct kit_dim line = KIT_DIM((n + BLOCK - 1) / BLOCK), square = KIT_DIM(side, side);
    for (int t = 0; t < steps; t++) {
        KIT_LAUNCH("Fan1", line, KIT_DIM(BLOCK), 0, m, a, n, t);
        kit_sync();
        KIT_LAUNCH("Fan2", square, KIT_DIM(BLOCK_XY, BLOCK_XY), 0, m, a, b, n, t);
        kit_sync();
    }
}

int main(int argc, char **argv)
{
    kit_open("gaussian", argc, argv);
    int n = (const int[]){32, 512, 1024}[kit_size()];
    int steps = (const int[]){31, 6, 1023}[kit_size()];
    size_t entries = (size_t)n * n, bytes = entries * sizeof(float), vector = n * sizeof(float);
    float *a = gaussian_matrix(n), *b = kit_host(vector), *m = kit_host(bytes);
    for (int i = 0; i < n; i++) b[i] = 1;

    CUdeviceptr dm = kit_upload(m, bytes), da = kit_upload(a, bytes), db = kit_upload(b, vector);
    gaussian_gpu(dm, da, db, n, steps);

    float *got_m = kit_host(bytes), *got_a = kit_host(bytes), *got_b = kit_host(vector);
    kit_download(got_m, dm, bytes);
    kit_download(got_a, da, bytes);
    kit_download(got_b, db, vector);
    if (kit_checking()) {
        gaussian_cpu(a, b, m, n, steps);
        kit_check_floats("m", got_m, m, entries, 1e-3, 1e-4);
        kit_check_floats("a", got_a, a, entries, 1e-3, 1e-4);
        kit_check_floats("b", got_b, b, n, 1e-3, 1e-4);
    }
    return kit_close();
}
