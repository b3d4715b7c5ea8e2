/* llc-probe: how long the last level cache takes, and how much it delivers. All loads go past the L1. */
#include "kit/device.h"

/* Words of a line: a warp loads one as a whole. */
#define LINE_WORDS 32

static __device__ __forceinline__ unsigned load_past_l1(const unsigned *at)
{
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}

/* One lane follows the line numbers in the lines: a load at a time. */
KERNEL chase(const unsigned *lines, unsigned *last, int steps)
{
    unsigned line = 0;
    for (int i = 0; i < steps; i++) line = load_past_l1(lines + line * LINE_WORDS);
    *last = line;
}

/* Each warp loads lines at random, four under way at a time; `lines` is a power of two. */
KERNEL gather(const unsigned *lines, unsigned *sums, int line_count, int rounds)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % LINE_WORDS;
    unsigned random = thread / LINE_WORDS * 2654435761u + 1, sum = 0;
    for (int i = 0; i < rounds; i++) {
        unsigned values[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            random = random * 1664525u + 1013904223u;
            values[k] = load_past_l1(lines + (random >> 12) % line_count * LINE_WORDS + lane);
        }
        sum += values[0] + values[1] + values[2] + values[3];
    }
    sums[thread] = sum;
}
