/* histo: host side. */
#include "kit/kit.h"

#define BINS_PER_BLOCK  (24 * 1024)
#define THREADS         768
#define BLOCKS_X        14
#define PRESCAN_THREADS 512
#define PRESCAN_BLOCKS  64
#define UNROLL          16
#define SATURATED       255

struct image {
    const char *size;
    unsigned width, height, bins;
    /* of the values */
    double centre, spread;
    int rounds;
};

/* What the original's image of a wafer holds: values around one bin of many, by a normal distribution, so
 * that the bins in the middle saturate; a few are anywhere. */
static unsigned *image_generate(const struct image *m)
{
    size_t n = (size_t)m->width * m->height;
    unsigned *values = kit_host(n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        double v = kit_below(2048) ? m->centre + m->spread * kit_normal() : kit_uniform(0, m->bins);
        values[i] = (unsigned)fmin(fmax(v, 0), m->bins - 1);
    }
    return values;
}

static unsigned char *histogram_cpu(const struct image *m, const unsigned *values)
{
    unsigned char *histogram = kit_host(m->bins);
    for (size_t i = 0; i < (size_t)m->width * m->height; i++)
        if (histogram[values[i]] < SATURATED) histogram[values[i]]++;
    return histogram;
}

struct buffers {
    CUdeviceptr input, ranges, mappings, sub, global, overflow, final;
};

static struct buffers buffers_make(const struct image *m, const unsigned *values)
{
    unsigned pitch = (m->width + 1) / 2 * 2, lines = (m->height + UNROLL - 1) / UNROLL * UNROLL;
    struct buffers b = {.input = kit_zeros((size_t)pitch * lines * 4),
                        .ranges = kit_alloc(8),
                        .mappings = kit_alloc((size_t)m->width * lines * 4),
                        .sub = kit_alloc((size_t)m->bins * 4),
                        .global = kit_zeros((size_t)m->bins * 2),
                        .overflow = kit_zeros((size_t)m->bins * 4),
                        .final = kit_zeros(m->bins)};
    for (unsigned y = 0; y < m->height; y++)
        kit_put(b.input + (size_t)y * pitch * 4, values + (size_t)y * m->width, m->width * sizeof *values);
    return b;
}

static void histogram_gpu(const struct image *m, const struct buffers *b)
{
    unsigned range[2] = {UINT32_MAX, 0}, elements = m->width * m->height, pitch = (m->width + 1) / 2,
             bins = m->bins;
    int size = (int)elements;
    kit_put(b->ranges, range, sizeof range);
    KIT_LAUNCH("histo_prescan_kernel", KIT_DIM(PRESCAN_BLOCKS), KIT_DIM(PRESCAN_THREADS), 0, b->input, size,
               b->ranges);
    kit_download(range, b->ranges, sizeof range);
    if (range[1] >= bins / BINS_PER_BLOCK) range[1] = bins / BINS_PER_BLOCK - 1;
    kit_set32(b->sub, 0, bins);
    KIT_LAUNCH("histo_intermediates_kernel", KIT_DIM((m->height + UNROLL - 1) / UNROLL), KIT_DIM(pitch), 0,
               b->input, m->height, m->width, pitch, b->mappings);
    KIT_LAUNCH("histo_main_kernel", KIT_DIM(BLOCKS_X, range[1] - range[0] + 1), KIT_DIM(THREADS), 0,
               b->mappings, elements, range[0], range[1], b->sub, b->global, b->overflow);
    KIT_LAUNCH("histo_final_kernel", KIT_DIM(3 * BLOCKS_X), KIT_DIM(512), 0, range[0], range[1], bins, b->sub,
               b->global, b->overflow, b->final);
}

static const struct image images[] = {{"tiny", 129, 100, 3 * BINS_PER_BLOCK, 1.5 * BINS_PER_BLOCK, 16, 1},
                                      {"small", 996, 1040, 256 * 4096, 2 * BINS_PER_BLOCK, 1500, 1},
                                      {"paper", 996, 1040, 256 * 4096, 2 * BINS_PER_BLOCK, 1500, 20},
                                      {"llc", 996, 1040, 256 * 4096, 2 * BINS_PER_BLOCK, 1500, 3}};

int main(int argc, char **argv)
{
    kit_open("histo", argc, argv);
    const struct image *m = KIT_CHOOSE(images);
    unsigned *values = image_generate(m);
    struct buffers b = buffers_make(m, values);
    for (int i = 0; i < m->rounds; i++) histogram_gpu(m, &b);
    unsigned char *histogram = kit_host(m->bins);
    kit_download(histogram, b.final, m->bins);
    if (kit_checking()) kit_check_bytes("the histogram", histogram, histogram_cpu(m, values), m->bins);
    return kit_close();
}
