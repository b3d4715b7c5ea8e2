/* sad: host side. */
#include "kit/kit.h"

#define RANGE          16
#define ACROSS         (2 * RANGE + 1)
#define MAX_POS        (ACROSS * ACROSS)
#define MAX_POS_PADDED 1096
#define POS_PER_THREAD 18
#define SIZES          7

struct video {
    int width, height, macroblocks;
    /* a pixel is 16 bits, 0 to 255 */
    unsigned short *frame, *reference;
};

static int clamp(int v, int limit) { return v < 0 ? 0 : v >= limit ? limit - 1 : v; }

/* Two frames of a film: smooth structure and noise; the second is the first, shifted by a few pixels, another
 * way in each quarter. */
static struct video video_generate(int width, int height)
{
    size_t pixels = (size_t)width * height;
    struct video v = {width, height, width / 16 * (height / 16), kit_host(2 * pixels), kit_host(2 * pixels)};
    double phase = kit_uniform(0, 6);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double p = 128 + 60 * sin(x * 0.11 + phase) * cos(y * 0.07) + 40 * sin((x + y) * 0.31);
            v.reference[y * width + x] = (unsigned short)clamp((int)p + (int)kit_below(24), 256);
        }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int from_x = clamp(x + (2 * x < width ? 3 : -5), width),
                from_y = clamp(y + (2 * y < height ? -2 : 4), height);
            v.frame[y * width + x] =
                (unsigned short)clamp(v.reference[from_y * width + from_x] + (int)kit_below(5), 256);
        }
    return v;
}

/* The reference frame as a 2D texture over pitched memory: integers, nearest pixel, clamped at the edges. */
static CUtexObject reference_texture(const struct video *v)
{
    struct {
        CUdeviceptr address;
        int format;
        unsigned channels;
        size_t width, height, pitch_bytes;
    } pitched = {kit_upload(v->reference, 2 * (size_t)v->width * v->height),
                 2 /* CU_AD_FORMAT_UNSIGNED_INT16 */,
                 1,
                 v->width,
                 v->height,
                 2 * (size_t)v->width};
    struct CUresource resource = {.type = 3 /* CU_RESOURCE_TYPE_PITCH2D */};
    memcpy(&resource.of, &pitched, sizeof pitched);
    struct CUtexture texture = {.address_mode = {1, 1, 1} /* clamp */, .flags = 1};
    CUtexObject object;
    if (cuTexObjectCreate(&object, &resource, &texture, NULL)) kit_fail("no texture of the reference frame");
    return object;
}

/* ---- the reference: every block from its pixels ---- */

static unsigned difference(const struct video *v, int x, int y, int width, int height, int dx, int dy)
{
    unsigned sum = 0;
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++) {
            int there = v->reference[clamp(j + dy, v->height) * v->width + clamp(i + dx, v->width)];
            sum += abs(there - v->frame[j * v->width + i]);
        }
    return sum;
}

/* Where the sums of a size begin, in blocks for each macroblock, and how large the blocks are. */
static const struct {
    int begin, width, height;
} sizes[SIZES] = {{0, 16, 16}, {1, 16, 8}, {3, 8, 16}, {5, 8, 8}, {9, 8, 4}, {17, 4, 8}, {25, 4, 4}};

static bool block_holds(const struct video *v, const unsigned short *sads, int size, int mb, int block)
{
    int width = sizes[size].width, height = sizes[size].height, across = 16 / width,
        per_mb = across * (16 / height);
    int x = mb % (v->width / 16) * 16 + block % across * width,
        y = mb / (v->width / 16) * 16 + block / across * height;
    const unsigned short *got =
        sads + ((size_t)sizes[size].begin * v->macroblocks + mb * per_mb + block) * MAX_POS_PADDED;
    for (int pos = 0; pos < MAX_POS; pos++) {
        unsigned want = difference(v, x, y, width, height, pos % ACROSS - RANGE, pos / ACROSS - RANGE);
        if (got[pos] == want) continue;
        kit_check(false, "the block of %d x %d at (%d, %d) differs by %d at place %d, the CPU says %u", width,
                  height, x, y, got[pos], pos, want);
        return false;
    }
    return true;
}

static void video_check(const struct video *v, const unsigned short *sads)
{
    for (int size = 0; size < SIZES; size++)
        for (int mb = 0; mb < v->macroblocks; mb++)
            for (int block = 0; block < 256 / (sizes[size].width * sizes[size].height); block++)
                if (!block_holds(v, sads, size, mb, block)) return;
}

int main(int argc, char **argv)
{
    kit_open("sad", argc, argv);
    struct video v =
        video_generate((const int[]){32, 176, 176}[kit_size()], (const int[]){16, 144, 144}[kit_size()]);
    int mb_width = v.width / 16, mb_height = v.height / 16;
    size_t bytes = 41 * (size_t)v.macroblocks * MAX_POS_PADDED * 2;
    CUdeviceptr frame = kit_upload(v.frame, 2 * (size_t)v.width * v.height), sads = kit_zeros(bytes);
    CUtexObject reference = reference_texture(&v);
    struct kit_dim macroblocks = KIT_DIM(mb_width, mb_height);
    KIT_LAUNCH("mb_sad_calc", KIT_DIM(v.width / 4, v.height / 4),
               KIT_DIM((MAX_POS + POS_PER_THREAD - 1) / POS_PER_THREAD), MAX_POS_PADDED * 2, sads, frame,
               reference, mb_width, mb_height);
    KIT_LAUNCH("larger_sad_calc_8", macroblocks, KIT_DIM(32, 4), 0, sads, mb_width, mb_height);
    KIT_LAUNCH("larger_sad_calc_16", macroblocks, KIT_DIM(32), 0, sads, mb_width, mb_height);
    unsigned short *got = kit_host(bytes);
    kit_download(got, sads, bytes);
    if (kit_checking()) video_check(&v, got);
    cuTexObjectDestroy(reference);
    return kit_close();
}
