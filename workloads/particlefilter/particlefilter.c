/* particlefilter: host side. */
#include "kit/kit.h"

#define BLOCK      512
#define RADIUS     5 /* of the disk that is tracked */
#define BACKGROUND 100
#define OBJECT     228
#define MODULUS    2147483647

struct scene {
    int rows, columns, frames, particles, ones;
    /* ones pairs (column, row) relative to the centre */
    int *disk;
    /* [row][column][frame] */
    unsigned char *video;
    /* one generator a particle; number 0 also makes the noise */
    int *seed;
};

struct cloud {
    double *x, *y, *xj, *yj, *weight;
};

static double draw_uniform(int *seed)
{
    *seed = (int)(1103515245u * (uint32_t)*seed + 12345u) % MODULUS;
    return fabs(*seed / (double)MODULUS);
}

static double draw_normal(int *seed)
{
    double u = draw_uniform(seed), v = draw_uniform(seed);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static bool in_disk(int row, int column) { return row * row + column * column < RADIUS * RADIUS; }

static void make_disk(struct scene *s)
{
    s->disk = kit_host(2 * (2 * RADIUS) * (2 * RADIUS) * sizeof *s->disk);
    for (int row = 1 - RADIUS; row < RADIUS; row++)
        for (int column = 1 - RADIUS; column < RADIUS; column++)
            if (in_disk(row, column)) {
                s->disk[2 * s->ones] = column;
                s->disk[2 * s->ones++ + 1] = row;
            }
}

/* The object starts in the middle and moves one column right and two rows up a frame; noise of deviation 5
 * lies over all. */
static void make_video(struct scene *s)
{
    s->video = kit_host((size_t)s->rows * s->columns * s->frames);
    for (int k = 0; k < s->frames; k++) {
        int step = k ? k - 1 : 0, centre_column = s->columns / 2 + step,
            centre_row = abs(s->rows / 2 - 2 * step);
        for (int row = 0; row < s->rows; row++)
            for (int column = 0; column < s->columns; column++)
                s->video[(row * s->columns + column) * s->frames + k] =
                    in_disk(row - centre_row, column - centre_column) ? OBJECT : BACKGROUND;
    }
    for (int i = 0; i < s->rows * s->columns * s->frames; i++)
        s->video[i] += (unsigned char)(int)(5 * draw_normal(s->seed));
}

static double likelihood(const struct scene *s, int row, int column, int frame)
{
    double sum = 0;
    for (int p = 0; p < s->ones; p++) {
        int at = abs(((row + s->disk[2 * p + 1]) * s->columns + column + s->disk[2 * p]) * s->frames + frame);
        int pixel = s->video[at < s->rows * s->columns * s->frames ? at : 0];
        /* (v - bg)^2 - (v - obj)^2, multiplied out */
        sum += (2.0 * pixel - BACKGROUND - OBJECT) * (OBJECT - BACKGROUND) / 50;
    }
    return sum / s->ones;
}

/* The teeth of the comb ascend, so one walk along the weights finds all of them. */
static void resample(const struct cloud *c, int n, double start)
{
    int at = 0;
    double reached = c->weight[0];
    for (int i = 0; i < n; i++) {
        while (reached < start + i / (double)n && at < n - 1) reached += c->weight[++at];
        c->xj[i] = c->x[at];
        c->yj[i] = c->y[at];
    }
}

static void filter_cpu(const struct scene *s, struct cloud *c, int *seed)
{
    for (int i = 0; i < s->particles; i++) c->xj[i] = s->columns / 2, c->yj[i] = s->rows / 2;
    for (int k = 1; k < s->frames; k++) {
        double sum = 0;
        for (int i = 0; i < s->particles; i++) {
            c->x[i] = c->xj[i] + 1 + 5 * draw_normal(&seed[i]);
            c->y[i] = c->yj[i] - 2 + 2 * draw_normal(&seed[i]);
            sum += c->weight[i] = exp(likelihood(s, (int)c->x[i], (int)c->y[i], k)) / s->particles;
        }
        for (int i = 0; i < s->particles; i++) c->weight[i] /= sum;
        resample(c, s->particles, draw_uniform(&seed[0]) / s->particles);
    }
}

static struct cloud make_cloud(int n)
{
    size_t bytes = n * sizeof(double);
    return (struct cloud){kit_host(bytes), kit_host(bytes), kit_host(bytes), kit_host(bytes),
                          kit_host(bytes)};
}

static void filter_gpu(struct scene *s, struct cloud *c)
{
    int n = s->particles, pixels = s->rows * s->columns * s->frames;
    size_t bytes = n * sizeof(double);
    for (int i = 0; i < n; i++) c->xj[i] = s->columns / 2, c->yj[i] = s->rows / 2;
    CUdeviceptr x = kit_alloc(bytes), y = kit_alloc(bytes), xj = kit_upload(c->xj, bytes),
                yj = kit_upload(c->yj, bytes);
    CUdeviceptr cdf = kit_alloc(bytes), u = kit_alloc(bytes), likelihoods = kit_zeros(bytes),
                weights = kit_alloc(bytes);
    CUdeviceptr video = kit_upload(s->video, pixels), disk = kit_upload(s->disk, 2 * s->ones * sizeof(int));
    CUdeviceptr ind = kit_alloc((size_t)n * s->ones * sizeof(int)),
                seed = kit_upload(s->seed, n * sizeof(int));
    CUdeviceptr sums = kit_alloc(bytes);
    struct kit_dim grid = KIT_DIM((n + BLOCK - 1) / BLOCK), block = KIT_DIM(BLOCK);
    for (int k = 1; k < s->frames; k++) {
        KIT_LAUNCH("likelihood_kernel", grid, block, 0, x, y, xj, yj, ind, disk, likelihoods, video, weights,
                   n, s->ones, pixels, k, s->columns, s->frames, seed, sums);
        KIT_LAUNCH("sum_kernel", grid, block, 0, sums, n, u, seed);
        KIT_LAUNCH("normalize_weights_kernel", grid, block, 0, weights, n, sums, u);
        KIT_LAUNCH("cdf_kernel", grid, block, 0, cdf, weights, n);
        KIT_LAUNCH("find_index_kernel", grid, block, 0, x, y, cdf, u, xj, yj, n);
    }
    kit_download(c->x, x, bytes);
    kit_download(c->y, y, bytes);
    kit_download(c->xj, xj, bytes);
    kit_download(c->yj, yj, bytes);
    kit_download(c->weight, weights, bytes);
}

int main(int argc, char **argv)
{
    kit_open("particlefilter", argc, argv);
    struct scene s = {.rows = 128, .columns = 128};
    s.frames = (const int[]){3, 10, 10}[kit_size()];
    s.particles = (const int[]){500, 1000, 1000}[kit_size()];
    s.seed = kit_host(s.particles * sizeof *s.seed);
    uint32_t now = kit_random() | 1; /* the original multiplies the time of day by the particle's number */
    for (int i = 0; i < s.particles; i++) s.seed[i] = (int)(now * (uint32_t)i);
    make_disk(&s);
    make_video(&s);

    struct cloud got = make_cloud(s.particles);
    filter_gpu(&s, &got);
    double where_x = 0, where_y = 0;
    for (int i = 0; i < s.particles; i++)
        where_x += got.x[i] * got.weight[i], where_y += got.y[i] * got.weight[i];
    kit_note("object found at %.3f, %.3f", where_x, where_y);

    if (kit_checking()) {
        struct cloud want = make_cloud(s.particles);
        filter_cpu(&s, &want, s.seed);
        kit_check_doubles("x", got.x, want.x, s.particles, 1e-9, 1e-9);
        kit_check_doubles("y", got.y, want.y, s.particles, 1e-9, 1e-9);
        kit_check_doubles("xj", got.xj, want.xj, s.particles, 1e-9, 1e-9);
        kit_check_doubles("yj", got.yj, want.yj, s.particles, 1e-9, 1e-9);
        kit_check_doubles("weights", got.weight, want.weight, s.particles, 1e-9, 1e-15);
    }
    return kit_close();
}
