/* sad: sums of absolute differences for motion estimation, as in Parboil's CUDA version: a block takes a 4
 * x 4 block of the current frame and all 33 x 33 places in the reference frame around it, 18 places a
 * thread, three at a time, and reads the reference frame through a 2D texture that clamps at its edges.
 * Two more kernels add those sums up for blocks of 8 x 4 up to 16 x 16 pixels. */
#include "kit/device.h"

#define RANGE          16
#define ACROSS         (2 * RANGE + 1)
#define MAX_POS        (ACROSS * ACROSS)
#define MAX_POS_PADDED 1096 /* places for the sums of one block, a multiple of 8 */
#define POS_PER_THREAD 18   /* a multiple of 3, so that three places are always in one row */

extern __shared__ unsigned short sums[]; /* MAX_POS_PADDED */

/* The pixel of the reference frame; beyond an edge lies the pixel at the edge. */
KIT_INLINE int reference_pixel(unsigned long long texture, int x, int y)
{
    uint4 texel;
    asm volatile("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=r"(texel.x), "=r"(texel.y), "=r"(texel.z), "=r"(texel.w)
                 : "l"(texture), "f"((float)x), "f"((float)y));
    return (int)texel.x;
}

/* sads: for each of 7 sizes of blocks, largest first, the sums of all blocks of all macroblocks; see
 * larger_sad_calc_8. */
KERNEL mb_sad_calc(unsigned short *sads, const unsigned short *frame, unsigned long long reference,
                   int mb_width, int mb_height)
{
    __shared__ unsigned short pixels[16];
    const int block_x = blockIdx.x, block_y = blockIdx.y, me = threadIdx.x;
    const int mb_x = block_x >> 2, mb_y = block_y >> 2;

    if (me < 16) pixels[me] = frame[(4 * block_y + (me >> 2)) * mb_width * 16 + 4 * block_x + (me & 3)];
    __syncthreads();

    int pos = me * POS_PER_THREAD;
    const int end = min(pos + POS_PER_THREAD, MAX_POS);
    int dx = pos % ACROSS, y0 = 4 * block_y - RANGE + pos / ACROSS;
    for (; pos < end; pos += 3) {
        const int x0 = 4 * block_x - RANGE + dx;
        unsigned short sum0 = 0, sum1 = 0, sum2 = 0; /* of places x0, x0 + 1 and x0 + 2 */
#pragma unroll
        for (int y = 0; y < 4; y++) {
            const unsigned short *row = pixels + 4 * y;
#pragma unroll
            for (int x = 0; x < 6; x++) {
                int there = reference_pixel(reference, x0 + x, y0 + y);
                if (x < 4) sum0 += abs(there - row[x]);
                if (x > 0 && x < 5) sum1 += abs(there - row[x - 1]);
                if (x > 1) sum2 += abs(there - row[x - 2]);
            }
        }
        sums[pos] = sum0;
        sums[pos + 1] = sum1;
        sums[pos + 2] = sum2;
        dx += 3;
        if (dx >= ACROSS) {
            dx -= ACROSS;
            y0++;
        }
    }
    __syncthreads();

    /* One warp copies the sums out, eight bytes a thread. */
    if (me < 32) {
        const int block = (mb_y * mb_width + mb_x) * 16 + 4 * (block_y & 3) + (block_x & 3);
        uint2 *to = (uint2 *)(sads + (mb_width * mb_height * 25 + block) * MAX_POS_PADDED);
        for (int i = me; i < MAX_POS_PADDED / 4; i += 32) to[i] = ((const uint2 *)sums)[i];
    }
}

/* Four blocks, two sums to a word, make two blocks one way, two the other way, and one of all. */
#define MERGE(in, down, flat, tall_step, flat_step, whole)                                                   \
    for (int pos = threadIdx.x; pos < (MAX_POS + 1) / 2; pos += 32) {                                        \
        unsigned i00 = ((const unsigned *)(in))[pos],                                                        \
                 i01 = ((const unsigned *)(in))[pos + MAX_POS_PADDED / 2];                                   \
        unsigned i10 = ((const unsigned *)(in))[pos + (down)*MAX_POS_PADDED / 2];                            \
        unsigned i11 = ((const unsigned *)(in))[pos + ((down) + 1) * MAX_POS_PADDED / 2];                    \
        ((unsigned *)tall)[pos] = i00 + i10;                                                                 \
        ((unsigned *)tall)[pos + (tall_step)*MAX_POS_PADDED / 2] = i01 + i11;                                \
        ((unsigned *)flat)[pos] = i00 + i01;                                                                 \
        ((unsigned *)flat)[pos + (flat_step)*MAX_POS_PADDED / 2] = i10 + i11;                                \
        ((unsigned *)whole)[pos] = (i00 + i01) + (i10 + i11);                                                \
    }

/* 4 x 8, 8 x 4 and 8 x 8 of 4 x 4: a warp for each quarter of a macroblock. The sums of the sizes begin at
 * 17, 9, 5 and 25 times the number of macroblocks, of which each has 8, 8, 4 and 16. */
KERNEL larger_sad_calc_8(unsigned short *sads, int mb_width, int mb_height)
{
    const int x = threadIdx.y & 1, y = threadIdx.y >> 1, count = mb_width * mb_height;
    const int mb = blockIdx.y * mb_width + blockIdx.x;
    const unsigned short *in = sads + (count * 25 + mb * 16 + y * 8 + x * 2) * MAX_POS_PADDED;
    unsigned short *tall = sads + (count * 17 + mb * 8 + y * 4 + x * 2) * MAX_POS_PADDED;
    unsigned short *flat = sads + (count * 9 + mb * 8 + y * 4 + x) * MAX_POS_PADDED;
    unsigned short *whole = sads + (count * 5 + mb * 4 + y * 2 + x) * MAX_POS_PADDED;
    MERGE(in, 4, flat, 1, 2, whole)
}

/* 8 x 16, 16 x 8 and 16 x 16 of 8 x 8: a warp for a macroblock. */
KERNEL larger_sad_calc_16(unsigned short *sads, int mb_width, int mb_height)
{
    const int count = mb_width * mb_height, mb = blockIdx.y * mb_width + blockIdx.x;
    const unsigned short *in = sads + (count * 5 + mb * 4) * MAX_POS_PADDED;
    unsigned short *tall = sads + (count * 3 + mb * 2) * MAX_POS_PADDED;
    unsigned short *flat = sads + (count + mb * 2) * MAX_POS_PADDED;
    unsigned short *whole = sads + mb * MAX_POS_PADDED;
    MERGE(in, 2, flat, 1, 1, whole)
}
