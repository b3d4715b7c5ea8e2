/* srad1: host side. */
#include "kit/kit.h"

#define THREADS 512
#define LAMBDA  0.5f

struct srad1 {
    int rows, columns, iterations;
    /* pixels */
    long count;
};

/* An ultrasound-like image of grey values 0 to 255, column by column: bright and dark tissue under
 * multiplicative speckle. */
static float *srad1_image(const struct srad1 *s)
{
    float *image = kit_host(s->count * sizeof *image);
    for (int c = 0; c < s->columns; c++)
        for (int r = 0; r < s->rows; r++) {
            double tissue = 90 + 60 * sin(r * 6.0 / s->rows) * cos(c * 9.0 / s->columns);
            double grey = tissue * (1 + 0.25 * kit_normal());
            image[(size_t)c * s->rows + r] = (float)fmin(fmax(grey, 0), 255);
        }
    return image;
}

static int within(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static double srad1_cpu_coefficient(const double *image, const struct srad1 *s, int r, int c, double q0)
{
    double here = image[(size_t)c * s->rows + r], squares = 0, sum = 0;
    static const int step[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    for (int k = 0; k < 4; k++) {
        int row = within(r + step[k][0], s->rows), column = within(c + step[k][1], s->columns);
        double difference = image[(size_t)column * s->rows + row] - here;
        squares += difference * difference;
        sum += difference;
    }
    double l = sum / here, under = 1 + l / 4;
    double q = (squares / (here * here) / 2 - l * l / 16) / (under * under);
    return fmin(fmax(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0), 1);
}

static void srad1_cpu_step(double *image, double *coefficient, double *next, const struct srad1 *s)
{
    double sum = 0, squares = 0;
    for (long i = 0; i < s->count; i++) sum += image[i], squares += image[i] * image[i];
    double mean = sum / s->count, q0 = (squares / s->count - mean * mean) / (mean * mean);

    for (int c = 0; c < s->columns; c++)
        for (int r = 0; r < s->rows; r++)
            coefficient[(size_t)c * s->rows + r] = srad1_cpu_coefficient(image, s, r, c, q0);
    for (int c = 0; c < s->columns; c++)
        for (int r = 0; r < s->rows; r++) {
            size_t i = (size_t)c * s->rows + r;
            size_t south = (size_t)c * s->rows + within(r + 1, s->rows), north = i - (r > 0);
            size_t east = (size_t)within(c + 1, s->columns) * s->rows + r, west = c > 0 ? i - s->rows : i;
            double flow = coefficient[i] * (image[north] + image[west] - 2 * image[i]) +
                          coefficient[south] * (image[south] - image[i]) +
                          coefficient[east] * (image[east] - image[i]);
            next[i] = image[i] + (double)LAMBDA / 4 * flow;
        }
    memcpy(image, next, s->count * sizeof *image);
}

static float *srad1_cpu(const float *from, const struct srad1 *s)
{
    double *image = kit_host(s->count * sizeof *image), *next = kit_host(s->count * sizeof *next);
    double *coefficient = kit_host(s->count * sizeof *coefficient);
    float *result = kit_host(s->count * sizeof *result);
    for (long i = 0; i < s->count; i++) image[i] = exp(from[i] / 255.0);
    for (int k = 0; k < s->iterations; k++) srad1_cpu_step(image, coefficient, next, s);
    for (long i = 0; i < s->count; i++) result[i] = (float)(log(image[i]) * 255);
    return result;
}

/* The row or column before (-1) or after (+1) each, held inside the image. */
static CUdeviceptr srad1_neighbours(int n, int step)
{
    int *index = kit_host(n * sizeof *index);
    for (int i = 0; i < n; i++) index[i] = within(i + step, n);
    return kit_upload(index, n * sizeof *index);
}

/* Adds up in place, 512 values a CTA and level, then reads the two totals back: q0, the speckle of the whole
 * image. */
static float srad1_reduce(const struct srad1 *s, CUdeviceptr sums, CUdeviceptr squares)
{
    long count = s->count;
    int left = (int)count, stride = 1;
    for (int blocks = (left + THREADS - 1) / THREADS;; blocks = (left + THREADS - 1) / THREADS) {
        KIT_LAUNCH("reduce", KIT_DIM(blocks), KIT_DIM(THREADS), 0, count, left, stride, sums, squares);
        if (blocks == 1) break;
        left = blocks;
        stride *= THREADS;
    }
    float sum, square;
    kit_download(&sum, sums, sizeof sum);
    kit_download(&square, squares, sizeof square);
    float mean = sum / (float)count, mean2 = mean * mean;
    return (square / (float)count - mean2) / mean2;
}

static void srad1_gpu(CUdeviceptr image, const struct srad1 *s)
{
    int rows = s->rows, columns = s->columns;
    long count = s->count;
    size_t bytes = count * sizeof(float);
    float lambda = LAMBDA;
    CUdeviceptr north = srad1_neighbours(rows, -1), south = srad1_neighbours(rows, 1);
    CUdeviceptr west = srad1_neighbours(columns, -1), east = srad1_neighbours(columns, 1);
    CUdeviceptr sums = kit_alloc(bytes), squares = kit_alloc(bytes), c = kit_alloc(bytes);
    CUdeviceptr dn = kit_alloc(bytes), ds = kit_alloc(bytes), dw = kit_alloc(bytes), de = kit_alloc(bytes);
    struct kit_dim grid = KIT_DIM((unsigned)((count + THREADS - 1) / THREADS)), block = KIT_DIM(THREADS);

    KIT_LAUNCH("extract", grid, block, 0, count, image);
    for (int k = 0; k < s->iterations; k++) {
        KIT_LAUNCH("prepare", grid, block, 0, count, image, sums, squares);
        float q0 = srad1_reduce(s, sums, squares);
        KIT_LAUNCH("srad", grid, block, 0, lambda, rows, columns, count, north, south, east, west, dn, ds, de,
                   dw, q0, c, image);
        KIT_LAUNCH("srad2", grid, block, 0, lambda, rows, columns, count, south, east, dn, ds, de, dw, c,
                   image);
    }
    KIT_LAUNCH("compress", grid, block, 0, count, image);
}

int main(int argc, char **argv)
{
    kit_open("srad1", argc, argv);
    struct srad1 s = (const struct srad1[]){
        {.rows = 64, .columns = 60, .iterations = 2},
        {.rows = 512, .columns = 512, .iterations = 2},
        {.rows = 512, .columns = 512, .iterations = 100},
    }[kit_size()];
    s.count = (long)s.rows * s.columns;
    float *image = srad1_image(&s), *result = kit_host(s.count * sizeof *result);

    CUdeviceptr dimage = kit_upload(image, s.count * sizeof *image);
    srad1_gpu(dimage, &s);
    kit_download(result, dimage, s.count * sizeof *result);

    if (kit_checking()) kit_check_floats("image", result, srad1_cpu(image, &s), s.count, 1e-3, 0.02);
    return kit_close();
}
