/* tpacf: host side. */
#include "kit/kit.h"

#define BINS            20
#define BINS_PER_DECADE 5
#define SMALLEST_ARCMIN 1.0
#define BLOCK           256

struct sky {
    /* random sets; points in each set */
    int sets, points;
    /* (sets + 1) * points, the data first */
    float *x, *y, *z;
};

static void sky_put(struct sky *s, int i, double right_ascension, double declination)
{
    s->x[i] = (float)(cos(right_ascension) * cos(declination));
    s->y[i] = (float)(sin(right_ascension) * cos(declination));
    s->z[i] = (float)sin(declination);
}

/* A survey's window of the sky, 90 by 60 degrees. Random points fill it evenly; galaxies come in clusters of
 * a degree or so. */
static struct sky sky_generate(int sets, int points)
{
    size_t bytes = (size_t)(sets + 1) * points * sizeof(float);
    struct sky s = {sets, points, kit_host(bytes), kit_host(bytes), kit_host(bytes)};
    double ra = 0, dec = 0;
    for (int i = 0; i < (sets + 1) * points; i++) {
        bool clustered = i < points && i % 8;
        if (!clustered) {
            ra = kit_uniform(0, M_PI / 2);
            dec = asin(kit_uniform(0, sqrt(3) / 2));
        }
        double spread = clustered ? 0.01 : 0;
        sky_put(&s, i, ra + spread * kit_normal(), dec + spread * kit_normal());
    }
    return s;
}

static void boundaries(float edge[BINS + 1])
{
    for (int k = 0; k <= BINS; k++)
        edge[k] = (float)cos(SMALLEST_ARCMIN * pow(10, (double)k / BINS_PER_DECADE) / 60 * M_PI / 180);
}

/* Pairs that lie so near to a boundary that float arithmetic may put them on either side count for both bins
 * in `most` and for none in `least`. */
static void count_cpu(const struct sky *s, const float *edge, int block, uint64_t *least, uint64_t *most)
{
    const double margin = 2.5e-7;
    bool within = block <= s->sets;
    size_t b0 = (size_t)s->points * (within ? block : block - s->sets), a0 = within ? b0 : 0;
    for (int i = 0; i < s->points; i++)
        for (int j = within ? i + 1 : 0; j < s->points; j++) {
            size_t a = a0 + i, b = b0 + j;
            double dot = (double)s->x[a] * s->x[b] + (double)s->y[a] * s->y[b] + (double)s->z[a] * s->z[b];
            if (dot < edge[BINS] - margin) continue;
            for (int k = BINS - 1; k >= 0; k--) { /* wide angles are the common ones */
                if (dot < edge[k + 1] - margin) break;
                if (dot >= edge[k] + margin) continue;
                most[k]++;
                least[k] += dot >= edge[k + 1] + margin && dot < edge[k] - margin;
            }
        }
}

/* Of `paper` each 25th histogram is checked: all pairs would take many minutes. */
static const struct size {
    const char *name;
    int sets, points, every;
} sizes[] = {{"tiny", 3, 40, 1}, {"small", 48, 128, 1}, {"paper", 100, 10391, 25}, {"fill", 140, 64, 1}};

int main(int argc, char **argv)
{
    kit_open("tpacf", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int sets = size->sets, points = size->points;
    struct sky s = sky_generate(sets, points);
    size_t bytes = (size_t)(sets + 1) * points * sizeof(float);
    int blocks = 2 * sets + 1;
    float edge[BINS + 1];
    boundaries(edge);

    kit_set_symbol("dev_binb", edge, sizeof edge);
    CUdeviceptr x = kit_upload(s.x, bytes), y = kit_upload(s.y, bytes), z = kit_upload(s.z, bytes);
    uint64_t *got = kit_host(blocks * BINS * sizeof *got);
    CUdeviceptr histograms = kit_zeros(blocks * BINS * sizeof *got);
    KIT_LAUNCH("gen_hists", KIT_DIM(blocks), KIT_DIM(BLOCK), 0, histograms, x, y, z, sets, points);
    kit_download(got, histograms, blocks * BINS * sizeof *got);

    if (kit_checking()) {
        for (int b = 0; b < blocks; b += size->every) {
            uint64_t least[BINS] = {0}, most[BINS] = {0};
            count_cpu(&s, edge, b, least, most);
            for (int k = 0; k < BINS; k++)
                kit_check(got[b * BINS + k] >= least[k] && got[b * BINS + k] <= most[k],
                          "bin %d of block %d holds %llu pairs, the CPU says %llu to %llu", k, b,
                          (unsigned long long)got[b * BINS + k], (unsigned long long)least[k],
                          (unsigned long long)most[k]);
        }
    }
    return kit_close();
}
