/* transpose: host side. */
#include "kit/kit.h"

#define TILE 16

enum result { COPIED, TRANSPOSED, TILES_MOVED, TILES_TURNED };

static const struct variant {
    const char *kernel;
    enum result result;
} variants[] = {
    {"copy", COPIED},
    {"copySharedMem", COPIED},
    {"transposeNaive", TRANSPOSED},
    {"transposeCoalesced", TRANSPOSED},
    {"transposeNoBankConflicts", TRANSPOSED},
    {"transposeCoarseGrained", TILES_MOVED},
    {"transposeFineGrained", TILES_TURNED},
    {"transposeDiagonal", TRANSPOSED},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Where the element at (x, y) belongs, of a square matrix of n a side. */
static size_t place(enum result result, int x, int y, int n)
{
    int tx = x % TILE, ty = y % TILE, bx = x - tx, by = y - ty;
    switch (result) {
    case COPIED: return (size_t)y * n + x;
    case TRANSPOSED: return (size_t)x * n + y;
    case TILES_MOVED: return (size_t)(bx + ty) * n + by + tx;
    case TILES_TURNED: return (size_t)(by + tx) * n + bx + ty;
    }
    abort();
}

static void check(const struct variant *v, const float *in, const float *out, int n, float *want)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) want[place(v->result, x, y, n)] = in[(size_t)y * n + x];
    kit_check_bytes(v->kernel, out, want, (size_t)n * n * sizeof *out);
}

int main(int argc, char **argv)
{
    kit_open("transpose", argc, argv);
    int n = (const int[]){128, 768, 1024}[kit_size()];
    size_t bytes = (size_t)n * n * sizeof(float);
    float *in = kit_host(bytes), *out = kit_host(bytes), *want = kit_host(bytes);
    for (int i = 0; i < n * n; i++) in[i] = (float)i; /* as the original: every element tells its place */

    CUdeviceptr din = kit_upload(in, bytes), dout = kit_alloc(bytes);
    for (int k = 0; k < VARIANTS; k++) {
        kit_set32(dout, 0xffffffff, (size_t)n * n); /* no variant may live on the result of the one before */
        KIT_LAUNCH(variants[k].kernel, KIT_DIM(n / TILE, n / TILE), KIT_DIM(TILE, TILE), 0, dout, din, n, n);
        kit_download(out, dout, bytes);
        if (kit_checking()) check(&variants[k], in, out, n, want);
    }
    return kit_close();
}
