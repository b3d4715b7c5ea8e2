/* convsep: host side. */
#include "kit/kit.h"

#define RADIUS 8
#define TAPS   (2 * RADIUS + 1)
#define STEPS  8
#define ROWS_X 16
#define ROWS_Y 4
#define COLS_X 16
#define COLS_Y 8

/* One tap at a time over the whole image, in integers: pixels and taps are 0 to 15, so that no sum passes
 * 2^24 and the device's floats are exact. Pixels outside the image are 0. */
static void filter_rows(int *out, const int *in, const int *taps, int width, int height)
{
    memset(out, 0, (size_t)width * height * sizeof *out);
    for (int y = 0; y < height; y++)
        for (int shift = -RADIUS; shift <= RADIUS; shift++) {
            int first = shift < 0 ? -shift : 0, end = shift > 0 ? width - shift : width;
            const int *from = in + (size_t)y * width + shift;
            int *to = out + (size_t)y * width;
            for (int x = first; x < end; x++) to[x] += taps[RADIUS - shift] * from[x];
        }
}

static void flip(int *out, const int *in, int width, int height)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[(size_t)x * height + y] = in[(size_t)y * width + x];
}

/* Columns are the rows of the image turned over. */
static void convolve_cpu(float *out, const int *in, const int *taps, int width, int height)
{
    size_t pixels = (size_t)width * height;
    int *a = calloc(pixels, sizeof *a), *b = calloc(pixels, sizeof *b);
    filter_rows(a, in, taps, width, height);
    flip(b, a, width, height);
    filter_rows(a, b, taps, height, width);
    flip(b, a, height, width);
    for (size_t i = 0; i < pixels; i++) out[i] = (float)b[i];
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    kit_open("convsep", argc, argv);
    int width = (const int[]){128, 1024, 3072}[kit_size()], height = width;
    size_t pixels = (size_t)width * height, bytes = pixels * sizeof(float);
    int *taps = kit_ints(TAPS, 0, 15), *image = kit_ints(pixels, 0, 15);
    float filter[TAPS], *in = kit_host(bytes), *out = kit_host(bytes);
    for (int i = 0; i < TAPS; i++) filter[i] = (float)taps[i];
    for (size_t i = 0; i < pixels; i++) in[i] = (float)image[i];

    kit_set_symbol("c_Kernel", filter, sizeof filter);
    CUdeviceptr din = kit_upload(in, bytes), dbuffer = kit_alloc(bytes), dout = kit_alloc(bytes);
    KIT_LAUNCH("convolutionRowsKernel", KIT_DIM(width / (STEPS * ROWS_X), height / ROWS_Y),
               KIT_DIM(ROWS_X, ROWS_Y), 0, dbuffer, din, width, height, width);
    KIT_LAUNCH("convolutionColumnsKernel", KIT_DIM(width / COLS_X, height / (STEPS * COLS_Y)),
               KIT_DIM(COLS_X, COLS_Y), 0, dout, dbuffer, width, height, width);
    kit_download(out, dout, bytes);

    if (kit_checking()) {
        float *want = kit_host(bytes);
        convolve_cpu(want, image, taps, width, height);
        kit_check_floats("image", out, want, pixels, 0, 0);
    }
    return kit_close();
}
