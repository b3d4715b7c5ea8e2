/* dwt2d: host side. */
#include "kit/kit.h"

#define COPY_THREADS 256
#define COLOURS      3
#define HEIGHT       8  /* rows of the sliding window */
#define STRIPS       15 /* CTAs down the image, at most: the window slides the rest */

struct dwt2d {
    int width, height, levels;
};

static int round_up(int n, int d) { return (n + d - 1) / d; }

/* A photograph-like image: large shapes, edges and a little noise, three bytes a pixel. */
static unsigned char *dwt2d_image(const struct dwt2d *d, size_t bytes)
{
    unsigned char *image = kit_host(bytes);
    for (int y = 0; y < d->height; y++)
        for (int x = 0; x < d->width; x++)
            for (int c = 0; c < COLOURS; c++) {
                double shapes = 60 * sin(x * (0.02 + 0.01 * c)) * cos(y * 0.015);
                double edges = (x / 37 + y / 53) % 2 ? 30 : -30;
                double value = 128 + shapes + edges + kit_uniform(-8, 8);
                image[((size_t)y * d->width + x) * COLOURS + c] = (unsigned char)fmin(fmax(value, 0), 255);
            }
    return image;
}

static int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

/* One line of n values, `stride` apart, through the 5/3 filter: highs at odd places, then lows at even
 * ones. */
static void lift(int *line, int n, size_t stride, int *work)
{
    for (int i = 0; i < n; i++) work[i] = line[i * stride];
    for (int i = 1; i < n; i += 2) work[i] -= (work[i - 1] + work[mirrored(i + 1, n)]) / 2;
    for (int i = 0; i < n; i += 2) work[i] += (work[mirrored(i - 1, n)] + work[mirrored(i + 1, n)] + 2) / 4;
    for (int i = 0; i < n; i++) line[i * stride] = work[i];
}

/* Transforms a whole plane, then sorts it into bands; the low band is the next level's plane. */
static void dwt2d_cpu(int *plane, int *out, int width, int height, int levels)
{
    int *work = kit_host((width + height) * sizeof *work);
    for (int x = 0; x < width; x++) lift(plane + x, height, width, work);
    for (int y = 0; y < height; y++) lift(plane + (size_t)y * width, width, 1, work);

    size_t at = 0;
    for (int band = 0; band < 4; band++) /* LL, HL, LH, HH */
        for (int y = band / 2; y < height; y += 2)
            for (int x = band % 2; x < width; x += 2) out[at++] = plane[(size_t)y * width + x];
    int w = round_up(width, 2), h = round_up(height, 2);
    if (levels == 1) return;
    memcpy(plane, out, (size_t)w * h * sizeof *plane);
    dwt2d_cpu(plane, out, w, h, levels - 1);
}

static void dwt2d_gpu(CUdeviceptr in, CUdeviceptr out, int width, int height, int levels)
{
    int strip = width >= 960 ? 192 : width >= 480 ? 128 : 64;
    const char *kernel = strip == 192   ? "fdwt53Kernel_192"
                         : strip == 128 ? "fdwt53Kernel_128"
                                        : "fdwt53Kernel_64";
    int steps = round_up(height, STRIPS * HEIGHT);
    struct kit_dim grid = KIT_DIM(round_up(width, strip), round_up(height, HEIGHT * steps));
    KIT_LAUNCH(kernel, grid, KIT_DIM(strip), 0, in, out, width, height, steps);
    if (levels == 1) return;
    int w = round_up(width, 2), h = round_up(height, 2);
    kit_copy(in, out, (size_t)w * h * sizeof(int));
    dwt2d_gpu(in, out, w, h, levels - 1);
}

static const struct size {
    const char *name;
    struct dwt2d image;
} sizes[] = {
    {"tiny", {.width = 96, .height = 64, .levels = 2}},
    {"small", {.width = 1024, .height = 512, .levels = 3}},
    {"paper", {.width = 1024, .height = 1024, .levels = 3}},
    {"llc", {.width = 8192, .height = 384, .levels = 3}},
};

int main(int argc, char **argv)
{
    kit_open("dwt2d", argc, argv);
    struct dwt2d d = ((const struct size *)KIT_CHOOSE(sizes))->image;
    int pixels = d.width * d.height, blocks = round_up(pixels, COPY_THREADS);
    size_t plane = pixels * sizeof(int);
    unsigned char *image = dwt2d_image(&d, (size_t)blocks * COPY_THREADS * COLOURS);
    int *got = kit_host(plane), *want = kit_host(plane), *work = kit_host(plane);

    CUdeviceptr source = kit_upload(image, (size_t)blocks * COPY_THREADS * COLOURS);
    CUdeviceptr colour[COLOURS], backup = kit_alloc(plane), out = kit_alloc(plane);
    for (int c = 0; c < COLOURS; c++) colour[c] = kit_alloc(plane);
    KIT_LAUNCH("c_CopySrcToComponents", KIT_DIM(blocks), KIT_DIM(COPY_THREADS), 0, colour[0], colour[1],
               colour[2], source, pixels);
    kit_free(source);

    for (int c = 0; c < COLOURS; c++) {
        kit_copy(backup, colour[c], plane);
        dwt2d_gpu(colour[c], out, d.width, d.height, d.levels);
        kit_download(got, out, plane);
        if (!kit_checking()) continue;
        for (int i = 0; i < pixels; i++) work[i] = image[(size_t)i * COLOURS + c] - 128;
        dwt2d_cpu(work, want, d.width, d.height, d.levels);
        kit_check_ints((const char *[]){"red", "green", "blue"}[c], got, want, pixels);
    }
    return kit_close();
}
