/* fdtd2d: host side. */
#include "kit/kit.h"

#define BLOCK_X 32
#define BLOCK_Y 8

static double *doubles_of(const float *from, size_t n)
{
    double *to = kit_host(n * sizeof *to);
    for (size_t i = 0; i < n; i++) to[i] = from[i];
    return to;
}

/* One time step, row by row: hz of a row needs ey of the row below, so it lags one row behind. */
static void step(double source, double *ex, double *ey, double *hz, int nx, int ny)
{
    for (int j = 0; j < ny; j++) ey[j] = source;
    for (int i = 0; i < nx; i++) {
        double *x = ex + (size_t)i * ny, *y = ey + (size_t)i * ny, *z = hz + (size_t)i * ny;
        /* Before hz of the row above changes: the field of the last step is still in both rows. */
        for (int j = 0; i > 0 && j < ny; j++) y[j] -= 0.5 * (z[j] - z[j - ny]);
        for (int j = ny - 1; j > 0; j--) x[j] -= 0.5 * (z[j] - z[j - 1]);
        for (int j = 0; i > 0 && j < ny - 1; j++) {
            double around = x[j + 1 - ny] - x[j - ny] + y[j] - y[j - ny];
            z[j - ny] -= 0.7 * around;
        }
    }
}

/* Each step rounds every cell, by at most 2^-23 of the largest value a cell has: that much a step is
 * forgiven. */
static void check(const char *what, const float *got, const double *want, size_t n, int steps)
{
    float *rounded = kit_host(n * sizeof *rounded);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        rounded[i] = (float)want[i];
        largest = fmax(largest, fabs(want[i]));
    }
    kit_check_floats(what, got, rounded, n, 0, ldexp(largest, -23) * (1 + steps));
}

int main(int argc, char **argv)
{
    kit_open("fdtd2d", argc, argv);
    int nx = (const int[]){48, 1056, 2048}[kit_size()]; /* rows */
    int ny = (const int[]){100, 1056, 2048}[kit_size()];
    int steps = (const int[]){2, 2, 500}[kit_size()];
    size_t n = (size_t)nx * ny, bytes = n * sizeof(float);
    float *ex = kit_floats(n, 0, 1), *ey = kit_floats(n, 0, 1), *hz = kit_floats(n, 0, 1);
    float *source = kit_host(steps * sizeof *source);
    for (int t = 0; t < steps; t++) source[t] = (float)t;
    double *want_ex = doubles_of(ex, n), *want_ey = doubles_of(ey, n), *want_hz = doubles_of(hz, n);

    CUdeviceptr dsource = kit_upload(source, steps * sizeof *source);
    CUdeviceptr dex = kit_upload(ex, bytes), dey = kit_upload(ey, bytes), dhz = kit_upload(hz, bytes);
    struct kit_dim grid = KIT_DIM((ny + BLOCK_X - 1) / BLOCK_X, (nx + BLOCK_Y - 1) / BLOCK_Y);
    struct kit_dim block = KIT_DIM(BLOCK_X, BLOCK_Y);
    for (int t = 0; t < steps; t++) {
        KIT_LAUNCH("fdtd_step1_kernel", grid, block, 0, dsource, dex, dey, dhz, nx, ny, t);
        kit_sync();
        KIT_LAUNCH("fdtd_step2_kernel", grid, block, 0, dex, dey, dhz, nx, ny, t);
        kit_sync();
        KIT_LAUNCH("fdtd_step3_kernel", grid, block, 0, dex, dey, dhz, nx, ny, t);
        kit_sync();
    }
    kit_download(ex, dex, bytes);
    kit_download(ey, dey, bytes);
    kit_download(hz, dhz, bytes);

    if (kit_checking()) {
        for (int t = 0; t < steps; t++) step(source[t], want_ex, want_ey, want_hz, nx, ny);
        check("ex", ex, want_ex, n, steps);
        check("ey", ey, want_ey, n, steps);
        check("hz", hz, want_hz, n, steps);
    }
    return kit_close();
}
