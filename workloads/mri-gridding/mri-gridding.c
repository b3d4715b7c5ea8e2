/* mri-gridding: host side. */
#include "sort.h"

#define BLOCK        512
#define BIN_SIZE     32  /* samples at one grid point that the device takes */
#define KERNEL_WIDTH 5.0 /* of the window, in grid points */
#define OVERSAMPLING 2.0

struct sample {
    float real, imag, kX, kY, kZ, sdc;
};

struct scan {
    const char *name;
    /* grid; samples; samples of a spoke */
    int size[3], n, readout;
    struct sample *samples;
};

struct grid {
    int points;
    /* pairs of real and imag; how many samples came to a point */
    float *value, *density;
};

/* Radial spokes through the middle of k-space, as one of many trajectories of a scanner; a sample weighs as
 * much as the shell it stands for. Places are whole grid points: the original rounds them down. */
static void scan_generate(struct scan *s)
{
    s->samples = kit_host(s->n * sizeof *s->samples);
    double cosine = 0, angle = 0;
    for (int i = 0; i < s->n; i++) {
        if (i % s->readout == 0) cosine = kit_uniform(-1, 1), angle = kit_uniform(0, 2 * M_PI);
        double r = (i % s->readout + 0.5) / s->readout - 0.5, sine = sqrt(1 - cosine * cosine);
        double direction[3] = {sine * cos(angle), sine * sin(angle), cosine};
        float at[3];
        for (int k = 0; k < 3; k++) at[k] = (float)floor((r * direction[k] + 0.5) * (s->size[k] - 1));
        s->samples[i] = (struct sample){(float)kit_normal(), (float)kit_normal(), at[0], at[1], at[2],
                                        (float)(4 * r * r)};
    }
}

static double window_beta(void)
{
    double width = KERNEL_WIDTH / OVERSAMPLING;
    return M_PI * sqrt(4 * width * width * (OVERSAMPLING - 0.5) * (OVERSAMPLING - 0.5) - 0.8);
}

/* I0 by its series. */
static double bessel(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; k < 100; k++) {
        term *= x * x / 4 / k / k;
        sum += term;
    }
    return sum;
}

/* What has come to a grid point. */
struct point {
    /* size: the sum of the parts' sizes, by which errors are judged */
    double real, imag, size;
    double density;
};

/* Spreads one sample over the points within the cutoff. */
static void spread_cpu(const struct scan *s, const double *window, const struct sample *p,
                       struct point *points)
{
    if ((p->real == 0 && p->imag == 0) || p->sdc == 0) return;
    int reach = (int)(KERNEL_WIDTH / 2), cx = (int)p->kX, cy = (int)p->kY, cz = (int)p->kZ;
    for (int z = cz - reach; z <= cz + reach; z++)
        for (int y = cy - reach; y <= cy + reach; y++)
            for (int x = cx - reach; x <= cx + reach; x++) {
                int v = (x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz);
                if (v >= KERNEL_WIDTH * KERNEL_WIDTH / 4 || x < 0 || x >= s->size[0] || y < 0 ||
                    y >= s->size[1] || z < 0 || z >= s->size[2])
                    continue;
                struct point *at = points + ((size_t)z * s->size[1] + y) * s->size[0] + x;
                double w = window[v] * p->sdc;
                at->real += w * p->real;
                at->imag += w * p->imag;
                at->size += w * (fabs(p->real) + fabs(p->imag));
                at->density++;
            }
}

struct buffers {
    CUdeviceptr samples, keys, values, bins, data, place;
    /* samples; the others' numbers come last in values */
    unsigned in_bins;
};

/* Bins, sorts and reorders; afterwards `bins` says where each bin begins. */
static struct buffers bins_gpu(const struct scan *s, int points)
{
    unsigned n = s->n, bin_size = BIN_SIZE, bins = points,
             padded = (n + SORT_KEYS - 1) / SORT_KEYS * SORT_KEYS;
    struct buffers b = {.samples = kit_upload(s->samples, n * sizeof *s->samples),
                        .keys = kit_alloc(padded * sizeof n),
                        .values = kit_zeros(padded * sizeof n),
                        .bins = kit_zeros((bins + 1) * sizeof n),
                        .data = kit_alloc(padded * 2 * sizeof(float)),
                        .place = kit_alloc(padded * 4 * sizeof(float))};
    struct kit_dim grid = KIT_DIM((n + BLOCK - 1) / BLOCK), block = KIT_DIM(BLOCK);
    kit_set32(b.keys, UINT32_MAX, padded);
    KIT_LAUNCH("binning_kernel", grid, block, 0, n, b.samples, b.keys, b.values, b.bins, bin_size, bins);
    sort_pairs((n + 3) / 4 * 4, bins + 1, &b.keys, &b.values);
    KIT_LAUNCH("reorder_kernel", grid, block, 0, s->n, b.values, b.samples, b.data, b.place);
    scan_large_array(bins + 1, b.bins);
    kit_download(&b.in_bins, b.bins + bins * sizeof n, sizeof n);
    return b;
}

static void constants(const struct scan *s)
{
    float cutoff = (float)(KERNEL_WIDTH / 2), cutoff2 = cutoff * cutoff, over_cutoff2 = 1 / cutoff2;
    int size_xy = s->size[0] * s->size[1];
    kit_set_symbol("gridSize_c", s->size, sizeof s->size);
    kit_set_symbol("size_xy_c", &size_xy, sizeof size_xy);
    kit_set_symbol("cutoff_c", &cutoff, sizeof cutoff);
    kit_set_symbol("cutoff2_c", &cutoff2, sizeof cutoff2);
    kit_set_symbol("_1overCutoff2_c", &over_cutoff2, sizeof over_cutoff2);
}

static struct grid gridding_gpu(const struct scan *s, unsigned **left)
{
    int points = s->size[0] * s->size[1] * s->size[2];
    struct grid g = {points, kit_host(points * 2 * sizeof(float)), kit_host(points * sizeof(float))};
    constants(s);
    struct buffers b = bins_gpu(s, points);
    CUdeviceptr value = kit_zeros(points * 2 * sizeof(float)), density = kit_zeros(points * sizeof(float));
    float beta = (float)window_beta();
    KIT_LAUNCH("gridding_GPU", KIT_DIM(s->size[0] / 8, s->size[1] * s->size[2] / 32), KIT_DIM(8, 4, 2), 0,
               b.data, b.place, b.bins, value, density, beta);
    kit_download(g.value, value, points * 2 * sizeof(float));
    kit_download(g.density, density, points * sizeof(float));

    /* The numbers of the samples left to the CPU, with the end of the list. */
    unsigned extra = s->n - b.in_bins;
    *left = kit_host((extra + 1) * sizeof **left);
    if (extra) kit_download(*left, b.values + b.in_bins * sizeof **left, extra * sizeof **left);
    (*left)[extra] = UINT32_MAX;
    return g;
}

/* The device's window is 1e-4 off at its peak, beyond the range that its approximation was made for. */
static bool near(const struct point *got, const struct point *want)
{
    double allowed = 2e-4 * want->size;
    return got->density == want->density && fabs(got->real - want->real) <= allowed &&
           fabs(got->imag - want->imag) <= allowed;
}

static void grid_check(const struct scan *s, const struct grid *g, const unsigned *left)
{
    struct point *got = kit_host(g->points * sizeof *got), *want = kit_host(g->points * sizeof *want);
    double window[16],
        cutoff2 = KERNEL_WIDTH * KERNEL_WIDTH / 4; /* squares of distances between grid points are whole */
    for (int v = 0; v < cutoff2; v++) window[v] = bessel(window_beta() * sqrt(1 - v / cutoff2));
    for (int i = 0; i < g->points; i++)
        got[i] =
            (struct point){.real = g->value[2 * i], .imag = g->value[2 * i + 1], .density = g->density[i]};
    for (const unsigned *i = left; *i != UINT32_MAX; i++) spread_cpu(s, window, s->samples + *i, got);
    for (int i = 0; i < s->n; i++) spread_cpu(s, window, s->samples + i, want);
    for (int i = 0; i < g->points; i++)
        if (!near(got + i, want + i)) {
            kit_check(false, "point %d is %.7g%+.7gi of %g samples, the CPU says %.7g%+.7gi of %g", i,
                      got[i].real, got[i].imag, got[i].density, want[i].real, want[i].imag, want[i].density);
            return;
        }
}

static const struct scan scans[] = {{"tiny", {16, 16, 8}, 94, 16, NULL},
                                    {"small", {64, 64, 32}, 3072, 64, NULL},
                                    {"paper", {256, 256, 256}, 2655910, 256, NULL},
                                    {"llc", {128, 64, 64}, 8192, 128, NULL}};

int main(int argc, char **argv)
{
    kit_open("mri-gridding", argc, argv);
    struct scan s = *(const struct scan *)KIT_CHOOSE(scans);
    scan_generate(&s);
    unsigned *left;
    struct grid g = gridding_gpu(&s, &left);
    if (kit_checking()) grid_check(&s, &g, left);
    return kit_close();
}
