/* srad2: host side. */
#include "kit/kit.h"

#define TILE   16
#define ROI    128 /* rows and columns 0 to 127 are the patch whose speckle is measured */
#define LAMBDA 0.5f

struct srad2 {
    int rows, columns, iterations;
};

static size_t srad2_pixels(const struct srad2 *s) { return (size_t)s->rows * s->columns; }

/* Speckle of the patch: its variance over its squared mean. */
static double srad2_q0(const double sums[2], const struct srad2 *s)
{
    double count = fmin(ROI, s->rows) * fmin(ROI, s->columns), mean = sums[0] / count;
    return (sums[1] / count - mean * mean) / (mean * mean);
}

static float srad2_patch(const float *image, const struct srad2 *s)
{
    double sums[2] = {0, 0};
    for (int i = 0; i < s->rows && i < ROI; i++)
        for (int j = 0; j < s->columns && j < ROI; j++) {
            double value = image[(size_t)i * s->columns + j];
            sums[0] += value, sums[1] += value * value;
        }
    return (float)srad2_q0(sums, s);
}

/* The reference keeps the image with a border of one pixel around it, so that no place is special. */
struct srad2_bordered {
    /* columns + 2 */
    int width;
    double *value, *coefficient;
};

static void srad2_cpu_border(struct srad2_bordered *b, const struct srad2 *s)
{
    double *v = b->value;
    size_t w = b->width;
    for (size_t j = 0; j < w; j++) v[j] = v[w + j], v[(s->rows + 1) * w + j] = v[s->rows * w + j];
    for (size_t i = 0; i < (size_t)s->rows + 2; i++)
        v[i * w] = v[i * w + 1], v[i * w + w - 1] = v[i * w + w - 2];
}

static void srad2_cpu_step(struct srad2_bordered *b, double *next, const struct srad2 *s)
{
    size_t w = b->width;
    double *v = b->value, *c = b->coefficient, sums[2] = {0, 0};
    for (int i = 1; i <= s->rows && i <= ROI; i++)
        for (int j = 1; j <= s->columns && j <= ROI; j++)
            sums[0] += v[i * w + j], sums[1] += v[i * w + j] * v[i * w + j];
    double q0 = srad2_q0(sums, s);

    srad2_cpu_border(b, s);
    for (int i = 1; i <= s->rows; i++)
        for (int j = 1; j <= s->columns; j++) {
            size_t k = i * w + j;
            double n = v[k - w] - v[k], d = v[k + w] - v[k], l = v[k - 1] - v[k], r = v[k + 1] - v[k];
            double g = (n * n + d * d + l * l + r * r) / (v[k] * v[k]), sum = (n + d + l + r) / v[k];
            double q = (g / 2 - sum * sum / 16) / ((1 + sum / 4) * (1 + sum / 4));
            c[k] = fmin(fmax(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0), 1);
        }
    for (int i = 1; i <= s->rows; i++)
        for (int j = 1; j <= s->columns; j++) {
            size_t k = i * w + j;
            /* beyond the last row and column the difference is zero, whatever the coefficient */
            next[k] = v[k] + (double)LAMBDA / 4 *
                                 (c[k] * (v[k - w] + v[k - 1] - 2 * v[k]) + c[k + w] * (v[k + w] - v[k]) +
                                  c[k + 1] * (v[k + 1] - v[k]));
        }
    memcpy(v, next, (s->rows + 2) * w * sizeof *v);
}

static float *srad2_cpu(const float *image, const struct srad2 *s)
{
    struct srad2_bordered b = {.width = s->columns + 2};
    size_t bytes = (size_t)(s->rows + 2) * b.width * sizeof(double);
    b.value = kit_host(bytes), b.coefficient = kit_host(bytes);
    double *next = kit_host(bytes);
    for (int i = 0; i < s->rows; i++)
        for (int j = 0; j < s->columns; j++)
            b.value[(size_t)(i + 1) * b.width + j + 1] = image[(size_t)i * s->columns + j];
    for (int k = 0; k < s->iterations; k++) srad2_cpu_step(&b, next, s);
    float *result = kit_host(srad2_pixels(s) * sizeof *result);
    for (int i = 0; i < s->rows; i++)
        for (int j = 0; j < s->columns; j++)
            result[(size_t)i * s->columns + j] = (float)b.value[(size_t)(i + 1) * b.width + j + 1];
    return result;
}

/* As in the original the image goes to the device and comes back in every iteration, for the host measures
 * the patch. */
static void srad2_gpu(float *image, const struct srad2 *s)
{
    int rows = s->rows, columns = s->columns;
    float lambda = LAMBDA;
    size_t bytes = srad2_pixels(s) * sizeof(float);
    /* The border tiles load from one row before to one row after the image, and then drop it: the rows exist
     * here. */
    size_t margin = (columns + TILE) * sizeof(float);
    CUdeviceptr J = kit_zeros(bytes + 2 * margin) + margin, C = kit_zeros(bytes + 2 * margin) + margin;
    CUdeviceptr e = kit_alloc(bytes), w = kit_alloc(bytes), n = kit_alloc(bytes), d = kit_alloc(bytes);
    struct kit_dim grid = KIT_DIM(columns / TILE, rows / TILE), block = KIT_DIM(TILE, TILE);
    for (int k = 0; k < s->iterations; k++) {
        float q0 = srad2_patch(image, s);
        kit_put(J, image, bytes);
        KIT_LAUNCH("srad_cuda_1", grid, block, 0, e, w, n, d, J, C, columns, rows, q0);
        KIT_LAUNCH("srad_cuda_2", grid, block, 0, e, w, n, d, J, C, columns, rows, lambda, q0);
        kit_download(image, J, bytes);
    }
}

int main(int argc, char **argv)
{
    kit_open("srad2", argc, argv);
    struct srad2 s = (const struct srad2[]){
        {.rows = 64, .columns = 64, .iterations = 1},
        {.rows = 256, .columns = 2048, .iterations = 1},
        {.rows = 2048, .columns = 2048, .iterations = 2},
    }[kit_size()];
    size_t pixels = srad2_pixels(&s);
    float *image = kit_floats(pixels, 0, 1), *result = kit_host(pixels * sizeof *result);
    for (size_t i = 0; i < pixels; i++) image[i] = result[i] = expf(image[i]);

    srad2_gpu(result, &s);
    if (kit_checking()) kit_check_floats("image", result, srad2_cpu(image, &s), pixels, 1e-4, 1e-5);
    return kit_close();
}
