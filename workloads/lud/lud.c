/* lud: host side. */
#include "kit/kit.h"

#define TILE 16

/* Rodinia's matrix: symmetric, 10 exp(-|i-j| / 1000). The seed moves the diagonal, which also keeps the
 * pivots from zero. */
static float *lud_matrix(int n)
{
    float *m = kit_host((size_t)n * n * sizeof *m);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) m[(size_t)i * n + j] = (float)(10 * exp(-0.001 * abs(i - j)));
        m[(size_t)i * n + i] += (float)kit_uniform(0.5, 1.5);
    }
    return m;
}

/* L times U in double, of the first `done` columns and rows, and what is left of the others: has to give the
 * matrix that was there before. */
static float *lud_product(const float *lu, int n, int done)
{
    float *product = kit_host((size_t)n * n * sizeof *product);
    double *row = kit_host(n * sizeof *row);
    for (int i = 0; i < n; i++) {
        memset(row, 0, n * sizeof *row);
        for (int k = 0; k <= i && k < done; k++) {
            double l = k == i ? 1 : lu[(size_t)i * n + k];
            const float *u = lu + (size_t)k * n;
            for (int j = k; j < n; j++) row[j] += l * u[j];
        }
        for (int j = done; i >= done && j < n; j++) row[j] += lu[(size_t)i * n + j];
        for (int j = 0; j < n; j++) product[(size_t)i * n + j] = (float)row[j];
    }
    return product;
}

/* Eliminates `steps` tiles of the diagonal, of which the last one of all has nothing right of it or below. */
static void lud_gpu(CUdeviceptr m, int n, int steps)
{
    struct kit_dim tile = KIT_DIM(TILE, TILE), one = KIT_DIM(1), half = KIT_DIM(TILE),
                   pair = KIT_DIM(2 * TILE);
    for (int offset = 0; offset < steps * TILE; offset += TILE) {
        unsigned left = (n - offset) / TILE - 1;
        KIT_LAUNCH("lud_diagonal", one, half, 0, m, n, offset);
        if (!left) break;
        KIT_LAUNCH("lud_perimeter", KIT_DIM(left), pair, 0, m, n, offset);
        KIT_LAUNCH("lud_internal", KIT_DIM(left, left), tile, 0, m, n, offset);
        kit_sync();
    }
}

static const struct size {
    const char *name;
    int side, steps; /* tiles of the diagonal that are eliminated: all of them, or the first ones */
} sizes[] = {
    {"tiny", 96, 6}, {"script", 256, 16}, {"small", 512, 32}, {"paper", 2048, 128}, {"long", 2048, 2}};

int main(int argc, char **argv)
{
    kit_open("lud", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->side;
    size_t entries = (size_t)n * n, bytes = entries * sizeof(float);
    float *m = lud_matrix(n), *lu = kit_host(bytes);

    CUdeviceptr dm = kit_upload(m, bytes);
    lud_gpu(dm, n, size->steps);
    kit_download(lu, dm, bytes);

    if (kit_checking())
        kit_check_floats("L times U", lud_product(lu, n, size->steps * TILE), m, entries, 1e-4, 1e-4);
    return kit_close();
}
