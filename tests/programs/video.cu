/* video: the video instructions as programs use them: block matching by sums of absolute differences of
 * bytes, blending and brightening of pixels with saturation, thresholds of halves, and a fixed-point filter
 * with byte selectors. */
#include "test_program.h"
#define KERNELS(K, V) K(match) K(blend) K(filter)
PROGRAM(KERNELS)

enum { W = 64, H = 32, BLOCK = 8, RANGE = 4, FRAME = W * H / 4 };

#ifdef __CUDACC__
/* Each thread: the best of the offsets [0, RANGE)^2 (in words and rows) for one block of 8 x 8 pixels. */
extern "C" __global__ void match(const uint32_t *now, const uint32_t *before, uint32_t *best, int blocks_x,
                                 int blocks_y)
{
    int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y;
    if (bx >= blocks_x || by >= blocks_y) return;
    uint32_t least = 0xffffffffu;
    for (int dy = 0; dy < RANGE; dy++)
        for (int dx = 0; dx < RANGE; dx++) {
            uint32_t sad = 0;
            for (int y = 0; y < BLOCK; y++)
                for (int x = 0; x < BLOCK / 4; x++) {
                    uint32_t a = now[(by * BLOCK + y) * (W / 4) + bx * (BLOCK / 4) + x];
                    uint32_t b = before[(by * BLOCK + y + dy) * (W / 4) + bx * (BLOCK / 4) + x + dx];
                    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sad) : "r"(a), "r"(b), "r"(sad));
                }
            uint32_t key = sad << 8 | (uint32_t)(dy * RANGE + dx);
            if (key < least) least = key;
        }
    best[by * blocks_x + bx] = least;
}

extern "C" __global__ void blend(const uint32_t *a, const uint32_t *b, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t mean, bright, dark, swapped, above;
    asm("vavrg4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(mean) : "r"(a[i]), "r"(b[i]), "r"(0));
    asm("vadd4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(bright) : "r"(a[i]), "r"(b[i]), "r"(0));
    asm("vsub4.u32.u32.u32.sat %0.b210, %1, %2, %3;"
        : "=r"(dark)
        : "r"(a[i]), "r"(b[i]), "r"(a[i])); /* alpha stays */
    asm("vmax2.s32.s32.s32 %0, %1.h01, %2.h23, %3;" : "=r"(swapped) : "r"(a[i]), "r"(b[i]), "r"(0));
    asm("vset2.u32.u32.gt.add %0, %1, %2, %3;" : "=r"(above) : "r"(a[i]), "r"(b[i]), "r"(i));
    out[5 * i] = mean;
    out[5 * i + 1] = bright;
    out[5 * i + 2] = dark;
    out[5 * i + 3] = swapped;
    out[5 * i + 4] = above;
}

/* (3 * byte 1 + 5 * byte 2 + 4 rounded) in steps of vmad, then saturated into one byte of the old value. */
extern "C" __global__ void filter(const uint32_t *a, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t sum, merged, low;
    asm("vmad.u32.u32.u32 %0, %1.b1, %2, %3;" : "=r"(sum) : "r"(a[i]), "r"(3), "r"(4));
    asm("vmad.u32.u32.u32.shr7 %0, %1.b2, %2, %3;" : "=r"(sum) : "r"(a[i]), "r"(5 * 16), "r"(sum * 16));
    asm("vsub.s32.u32.u32.sat %0.b3, %1.h0, %2.b3, %3;" : "=r"(merged) : "r"(sum), "r"(a[i]), "r"(a[i]));
    asm("vshr.u32.u32.u32.wrap.add %0, %1.h1, %2, %3;" : "=r"(low) : "r"(a[i]), "r"(35), "r"(sum));
    out[2 * i] = merged;
    out[2 * i + 1] = low;
}
#endif

static int clamp(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }
static int byte_of(uint32_t v, int k) { return (int)(v >> 8 * k & 255); }
static int half_of(uint32_t v, int k) { return (int16_t)(v >> 16 * k); }

static uint32_t best_match(const uint32_t *now, const uint32_t *before, int bx, int by)
{
    uint32_t least = 0xffffffffu;
    for (int k = 0; k < RANGE * RANGE; k++) {
        uint32_t sad = 0;
        for (int y = 0; y < BLOCK; y++)
            for (int x = 0; x < BLOCK; x++) {
                int at = (by * BLOCK + y) * W + bx * BLOCK + x;
                sad += (uint32_t)abs(((const uint8_t *)now)[at] -
                                     ((const uint8_t *)before)[at + k / RANGE * W + k % RANGE * 4]);
            }
        uint32_t key = sad << 8 | (uint32_t)k;
        if (key < least) least = key;
    }
    return least;
}

static void blend_one(uint32_t a, uint32_t b, int i, uint32_t *out)
{
    memset(out, 0, 20);
    for (int k = 0; k < 4; k++) {
        out[0] |= (uint32_t)((byte_of(a, k) + byte_of(b, k) + 1) >> 1) << 8 * k;
        out[1] |= (uint32_t)clamp(byte_of(a, k) + byte_of(b, k), 0, 255) << 8 * k;
        out[2] |= (uint32_t)(k == 3 ? byte_of(a, 3) : clamp(byte_of(a, k) - byte_of(b, k), 0, 255)) << 8 * k;
    }
    out[4] = (uint32_t)i;
    for (int k = 0; k < 2; k++) {
        int x = half_of(a, 1 - k), y = half_of(b, 1 - k);
        out[3] |= (uint32_t)(uint16_t)(x > y ? x : y) << 16 * k;
        out[4] += (uint16_t)half_of(a, k) > (uint16_t)half_of(b, k);
    }
}

int main(void)
{
    enum { BLOCKS_X = W / BLOCK - 2, BLOCKS_Y = H / BLOCK - 1, BLOCKS = BLOCKS_X * BLOCKS_Y };
    static uint32_t now[FRAME], before[FRAME], want_best[BLOCKS], want_blend[5 * FRAME],
        want_filter[2 * FRAME];
    for (int i = 0; i < FRAME; i++) before[i] = program_hash((uint32_t)i);
    for (int i = 0; i < FRAME; i++)
        now[i] =
            i + W / 4 + 2 < FRAME ? before[i + W / 4 + 2] + (program_hash((uint32_t)i * 3) & 0x01010101) : 0;
    for (int i = 0; i < BLOCKS; i++) want_best[i] = best_match(now, before, i % BLOCKS_X, i / BLOCKS_X);
    for (int i = 0; i < FRAME; i++) {
        blend_one(now[i], before[i], i, want_blend + 5 * i);
        uint32_t sum = (uint32_t)(5 * 16 * byte_of(now[i], 2) + 16 * (3 * byte_of(now[i], 1) + 4)) >> 7;
        int part = clamp((int)(sum & 0xffff) - byte_of(now[i], 3), -128, 127);
        want_filter[2 * i] = (now[i] & 0xffffff) | (uint32_t)(uint8_t)part << 24;
        want_filter[2 * i + 1] = (now[i] >> 16 >> 3) + sum;
    }
    uint32_t *a = (uint32_t *)program_device(now, sizeof now),
             *b = (uint32_t *)program_device(before, sizeof before);
    uint32_t *best = (uint32_t *)program_device(NULL, sizeof want_best),
             *out = (uint32_t *)program_device(NULL, sizeof want_blend),
             *filtered = (uint32_t *)program_device(NULL, sizeof want_filter);
    int n = FRAME, blocks_x = BLOCKS_X, blocks_y = BLOCKS_Y;
    LAUNCH(match, GRID(1, BLOCKS_Y, 1), 32, 0, a, b, best, blocks_x, blocks_y);
    LAUNCH(blend, (n + 127) / 128, 128, 0, a, b, out, n);
    LAUNCH(filter, (n + 127) / 128, 128, 0, a, filtered, n);
    int ok = program_same("match", program_fetch(best, sizeof want_best), want_best, BLOCKS) &
             program_same("blend", program_fetch(out, sizeof want_blend), want_blend, 5 * FRAME) &
             program_same("filter", program_fetch(filtered, sizeof want_filter), want_filter, 2 * FRAME);
    return program_end("video", ok);
}
