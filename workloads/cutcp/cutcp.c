/* cutcp: host side. */
#include "kit/kit.h"

#define SPACING    0.5f /* of the lattice, in angstroms */
#define BIN_LENGTH 4.0f
#define BIN_DEPTH  8
#define LIST_MAX   (11 * 11 * 11)
#define EXCLUSION  1.0 /* points that near to an atom have no potential */
#define PER_REGION 512

struct atom {
    float x, y, z, q;
};
struct offset {
    int x, y, z;
};

struct water {
    const char *size;
    /* regions of 8 x 8 x 8 points along x, y, z */
    int region[3];
    float cutoff;
    int n;
    struct atom *atoms;
};

static double extent(const struct water *w, int axis) { return 8 * w->region[axis] * (double)SPACING; }

/* A box of water: molecules 3.1 A apart on a shaken grid, turned at random; two hydrogens 0.96 A from each
 * oxygen. */
static void water_fill(struct water *w)
{
    int cells[3], n = 0;
    for (int k = 0; k < 3; k++) cells[k] = (int)(extent(w, k) / 3.1);
    w->atoms = kit_host(3 * (size_t)cells[0] * cells[1] * cells[2] * sizeof *w->atoms);
    for (int i = 0; i < cells[0] * cells[1] * cells[2]; i++) {
        int at[3] = {i % cells[0], i / cells[0] % cells[1], i / cells[0] / cells[1]};
        double oxygen[3];
        for (int k = 0; k < 3; k++)
            oxygen[k] = (at[k] + 0.5 + kit_uniform(-0.2, 0.2)) * extent(w, k) / cells[k];
        w->atoms[n++] = (struct atom){(float)oxygen[0], (float)oxygen[1], (float)oxygen[2], -0.834f};
        for (int hydrogen = 0; hydrogen < 2; hydrogen++) {
            double height = kit_uniform(-1, 1), angle = kit_uniform(0, 2 * M_PI),
                   flat = sqrt(1 - height * height);
            w->atoms[n++] = (struct atom){(float)(oxygen[0] + 0.96 * flat * cos(angle)),
                                          (float)(oxygen[1] + 0.96 * flat * sin(angle)),
                                          (float)(oxygen[2] + 0.96 * height), 0.417f};
        }
    }
    w->n = n;
}

/* ---- the device's side ---- */

struct bins {
    /* bins beyond the lattice on every side, because of the cutoff; bins along each axis */
    int pad, n[3];
    struct atom *at;
    /* atoms whose bin was full: left to the CPU */
    struct atom *extra;
    int extras;
};

static size_t bin_of(const struct bins *b, int x, int y, int z)
{
    return ((size_t)(z + b->pad) * b->n[1] + y + b->pad) * b->n[0] + x + b->pad;
}

static struct bins bins_fill(const struct water *w)
{
    struct bins b = {.pad = (int)ceilf(w->cutoff / BIN_LENGTH)};
    for (int k = 0; k < 3; k++) b.n[k] = (int)ceil(extent(w, k) / BIN_LENGTH) + 2 * b.pad;
    size_t n = (size_t)b.n[0] * b.n[1] * b.n[2];
    b.at = kit_host(n * BIN_DEPTH * sizeof *b.at);
    b.extra = kit_host(w->n * sizeof *b.extra);
    unsigned char *count = kit_host(n);
    for (int i = 0; i < w->n; i++) {
        struct atom a = w->atoms[i];
        size_t bin = bin_of(&b, (int)floorf(a.x / BIN_LENGTH), (int)floorf(a.y / BIN_LENGTH),
                            (int)floorf(a.z / BIN_LENGTH));
        if (count[bin] < BIN_DEPTH)
            b.at[bin * BIN_DEPTH + count[bin]++] = a;
        else
            b.extra[b.extras++] = a;
    }
    return b;
}

/* Every bin that may hold an atom within the cutoff of a point in the bin at the centre. */
static int neighbours(const struct bins *b, float cutoff, struct offset *list)
{
    int n = 0, c = b->pad;
    double reach = cutoff + sqrt(3) * BIN_LENGTH;
    for (int z = -c; z <= c; z++)
        for (int y = -c; y <= c; y++)
            for (int x = -c; x <= c; x++)
                if ((x * x + y * y + z * z) * BIN_LENGTH * BIN_LENGTH < reach * reach)
                    list[n++] = (struct offset){x, y, z};
    return n;
}

static float *potential_gpu(const struct water *w, const struct bins *b)
{
    struct offset *list = kit_host(LIST_MAX * sizeof *list);
    int length = neighbours(b, w->cutoff, list);
    kit_set_symbol("NbrListLen", &length, sizeof length);
    kit_set_symbol("NbrList", list, length * sizeof *list);

    size_t bin_bytes = (size_t)b->n[0] * b->n[1] * b->n[2] * BIN_DEPTH * sizeof *b->at;
    size_t points = (size_t)w->region[0] * w->region[1] * w->region[2] * PER_REGION;
    CUdeviceptr origin = kit_upload(b->at, bin_bytes) + bin_of(b, 0, 0, 0) * BIN_DEPTH * sizeof *b->at;
    CUdeviceptr regions = kit_zeros(points * sizeof(float));
    float h = SPACING, cutoff2 = w->cutoff * w->cutoff, inv_cutoff2 = 1 / cutoff2;
    for (int z = 0; z < w->region[2]; z++)
        KIT_LAUNCH("cuda_cutoff_potential_lattice6overlap", KIT_DIM(w->region[0], w->region[1]),
                   KIT_DIM(8, 2, 8), 0, b->n[0], b->n[1], origin, h, cutoff2, inv_cutoff2, regions, z);

    float *by_region = kit_host(points * sizeof *by_region), *lattice = kit_host(points * sizeof *lattice);
    kit_download(by_region, regions, points * sizeof *by_region);
    int nx = 8 * w->region[0], ny = 8 * w->region[1];
    for (size_t i = 0; i < points; i++) {
        int x = (int)(i % nx), y = (int)(i / nx % ny), z = (int)(i / nx / ny);
        size_t region = ((size_t)(z / 8) * w->region[1] + y / 8) * w->region[0] + x / 8;
        lattice[i] = by_region[region * PER_REGION + (z % 8 * 8 + y % 8) * 8 + x % 8];
    }
    return lattice;
}

/* ---- the CPU's side: atom by atom over the points around it ---- */

/* Calls for every point within `reach` of the atom, with the place in the lattice and the distance
 * squared. */
#define FOR_POINTS(w, a, reach, i, r2, ...)                                                                  \
    {                                                                                                        \
        int n_[3] = {8 * (w)->region[0], 8 * (w)->region[1], 8 * (w)->region[2]};                            \
        int lo_[3], hi_[3];                                                                                  \
        double at_[3] = {(a).x, (a).y, (a).z};                                                               \
        for (int k_ = 0; k_ < 3; k_++) {                                                                     \
            lo_[k_] = (int)fmax(0, ceil((at_[k_] - (reach)) / SPACING));                                     \
            hi_[k_] = (int)fmin(n_[k_] - 1, floor((at_[k_] + (reach)) / SPACING));                           \
        }                                                                                                    \
        for (int z_ = lo_[2]; z_ <= hi_[2]; z_++)                                                            \
            for (int y_ = lo_[1]; y_ <= hi_[1]; y_++)                                                        \
                for (int x_ = lo_[0]; x_ <= hi_[0]; x_++) {                                                  \
                    double dx_ = x_ * SPACING - at_[0], dy_ = y_ * SPACING - at_[1],                         \
                           dz_ = z_ * SPACING - at_[2];                                                      \
                    double r2 = dx_ * dx_ + dy_ * dy_ + dz_ * dz_;                                           \
                    size_t i = ((size_t)z_ * n_[1] + y_) * n_[0] + x_;                                       \
                    if (r2 < (reach) * (reach)) __VA_ARGS__;                                                 \
                }                                                                                            \
    }

static void potential_cpu(const struct water *w, const struct atom *atoms, int n, double *lattice)
{
    double reach = w->cutoff;
    for (int a = 0; a < n; a++)
        FOR_POINTS(w, atoms[a], reach, i, r2, {
            double s = 1 - r2 / (reach * reach);
            lattice[i] += atoms[a].q / sqrt(r2) * s * s;
        });
}

static void exclude(const struct water *w, double *lattice)
{
    for (int a = 0; a < w->n; a++) FOR_POINTS(w, w->atoms[a], EXCLUSION, i, r2, lattice[i] = 0);
}

static const struct water boxes[] = {{"tiny", {3, 3, 2}, 4, 0, NULL},
                                     {"small", {16, 16, 2}, 4, 0, NULL},
                                     {"paper", {25, 25, 25}, 12, 0, NULL},
                                     {"long", {15, 8, 1}, 12, 0, NULL}};

int main(int argc, char **argv)
{
    kit_open("cutcp", argc, argv);
    struct water w = *(const struct water *)KIT_CHOOSE(boxes);
    water_fill(&w);
    struct bins b = bins_fill(&w);
    kit_note("%d atoms, %d of them beyond their bin's %d places", w.n, b.extras, BIN_DEPTH);
    float *regions = potential_gpu(&w, &b);

    if (kit_checking()) {
        size_t points = (size_t)w.region[0] * w.region[1] * w.region[2] * PER_REGION;
        double *got = kit_host(points * sizeof *got), *want = kit_host(points * sizeof *want);
        for (size_t i = 0; i < points; i++) got[i] = regions[i];
        potential_cpu(&w, b.extra, b.extras, got);
        potential_cpu(&w, w.atoms, w.n, want);
        exclude(&w, got);
        exclude(&w, want);
        kit_check_doubles("potential", got, want, points, 1e-5, 1e-4);
    }
    return kit_close();
}
