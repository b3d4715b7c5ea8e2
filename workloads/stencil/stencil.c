/* stencil: host side. */
#include "kit/kit.h"

#define TILE_X 32
#define TILE_Y 4

struct volume {
    const char *size;
    int nx, ny, nz, steps;
};

static const struct volume volumes[] = {{"tiny", 128, 32, 10, 2},
                                        {"small", 512, 512, 16, 1},
                                        {"paper", 512, 512, 64, 100},
                                        {"llc", 512, 1024, 8, 2}};

static size_t cells(const struct volume *v) { return (size_t)v->nx * v->ny * v->nz; }

/* One step in double: `to` holds the rim already, which never changes. */
static void step_cpu(const struct volume *v, const double *from, double *to, float c0, float c1)
{
    size_t row = v->nx, slab = row * v->ny;
    for (int z = 1; z < v->nz - 1; z++)
        for (int y = 1; y < v->ny - 1; y++)
            for (int x = 1; x < v->nx - 1; x++) {
                const double *a = from + z * slab + y * row + x;
                double around = a[1] + a[-1] + a[row] + *(a - row) + a[slab] + *(a - slab);
                to[a - from] = c1 * around - c0 * a[0];
            }
}

static float *stencil_cpu(const struct volume *v, const float *start, float c0, float c1)
{
    size_t n = cells(v);
    double *from = kit_host(n * sizeof *from), *to = kit_host(n * sizeof *to);
    for (size_t i = 0; i < n; i++) from[i] = to[i] = start[i];
    for (int s = 0; s < v->steps; s++) {
        step_cpu(v, from, to, c0, c1);
        double *swap = from;
        from = to;
        to = swap;
    }
    float *result = kit_host(n * sizeof *result);
    for (size_t i = 0; i < n; i++) result[i] = (float)from[i];
    return result;
}

int main(int argc, char **argv)
{
    kit_open("stencil", argc, argv);
    const struct volume *v = KIT_CHOOSE(volumes);
    size_t bytes = cells(v) * sizeof(float);
    float c0 = 1.0f / 6, c1 = 1.0f / 6 / 6;
    float *start = kit_floats(cells(v), 0, 1), *result = kit_host(bytes);

    CUdeviceptr now = kit_upload(start, bytes), next = kit_alloc(bytes);
    kit_copy(next, now, bytes); /* both hold the rim */
    struct kit_dim block = KIT_DIM(TILE_X, TILE_Y);
    struct kit_dim grid = KIT_DIM((v->nx + 2 * TILE_X - 1) / (2 * TILE_X), (v->ny + TILE_Y - 1) / TILE_Y);
    for (int s = 0; s < v->steps; s++) {
        KIT_LAUNCH("block2D_hybrid_coarsen_x", grid, block, 2 * TILE_X * TILE_Y * sizeof(float), c0, c1, now,
                   next, v->nx, v->ny, v->nz);
        CUdeviceptr swap = now;
        now = next;
        next = swap;
    }
    kit_download(result, now, bytes);

    if (kit_checking()) {
        float *want = stencil_cpu(v, start, c0, c1);
        kit_check_floats("A", result, want, cells(v), 1e-5, 1e-6);
    }
    return kit_close();
}
