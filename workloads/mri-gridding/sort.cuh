/* sort.cuh: exclusive sums of long arrays and a radix sort by them, as Parboil's mri-gridding brings them
 * along. Parboil pads shared memory against bank conflicts, but the precedence of its macro's operators
 * makes the padding nothing: so none here. */
#include "kit/device.h"

/* ---- exclusive sums of long arrays: blocks, sums of blocks, and back ---- */

extern __shared__ unsigned sum_data[];

/* Sums up the tree over 2 * blockDim.x values: every second value of a stride holds the sum of the stride
 * before it. */
KIT_INLINE void tree_up(unsigned *s)
{
    unsigned stride = 1;
    for (unsigned d = blockDim.x; d > 0; d >>= 1, stride *= 2) {
        __syncthreads();
        if (threadIdx.x < d) {
            unsigned a = 2 * stride * threadIdx.x + stride - 1;
            s[a + stride] += s[a];
        }
    }
}
KIT_INLINE void tree_down(unsigned *s)
{
    unsigned stride = 2 * blockDim.x;
    for (unsigned d = 1; d <= blockDim.x; d *= 2) {
        stride >>= 1;
        __syncthreads();
        if (threadIdx.x < d) {
            unsigned a = 2 * stride * threadIdx.x + stride - 1, was = s[a];
            s[a] = s[a + stride];
            s[a + stride] += was;
        }
    }
    __syncthreads();
}

#define SCAN_BLOCK 1024 /* values for 512 threads */

KERNEL scan_L1_kernel(unsigned n, unsigned *data, unsigned *inter)
{
    __shared__ unsigned s[SCAN_BLOCK + SCAN_BLOCK / 16 + SCAN_BLOCK / 256];
    const unsigned me = threadIdx.x, a = blockIdx.x * 2 * blockDim.x + me, b = a + blockDim.x;
    s[me] = a < n ? data[a] : 0;
    s[me + blockDim.x] = b < n ? data[b] : 0;
    tree_up(s);
    if (me == 0) {
        inter[blockIdx.x] = s[2 * blockDim.x - 1];
        s[2 * blockDim.x - 1] = 0;
    }
    tree_down(s);
    if (a < n) data[a] = s[me];
    if (b < n) data[b] = s[me + blockDim.x];
}

/* One level of the tree over the sums of blocks, whose values lie `step` apart. */
KERNEL scan_inter1_kernel(unsigned *data, unsigned step)
{
    const unsigned me = threadIdx.x, a = 2 * step * (blockIdx.x * blockDim.x + me) + step - 1, b = a + step;
    sum_data[2 * me] = data[a];
    sum_data[2 * me + 1] = data[b];
    tree_up(sum_data);
    __syncthreads();
    data[a] = sum_data[2 * me];
    data[b] = sum_data[2 * me + 1];
}
KERNEL scan_inter2_kernel(unsigned *data, unsigned step)
{
    const unsigned me = threadIdx.x, a = 2 * step * (blockIdx.x * blockDim.x + me) + step - 1, b = a + step;
    sum_data[2 * me] = data[a];
    sum_data[2 * me + 1] = data[b];
    tree_down(sum_data);
    data[a] = sum_data[2 * me];
    data[b] = sum_data[2 * me + 1];
}

KERNEL uniformAdd(unsigned n, unsigned *data, const unsigned *inter)
{
    __shared__ unsigned before;
    if (threadIdx.x == 0) before = inter[blockIdx.x];
    __syncthreads();
    const unsigned a = blockIdx.x * 2 * blockDim.x + threadIdx.x, b = a + blockDim.x;
    if (a < n) data[a] += before;
    if (b < n) data[b] += before;
}

/* ---- radix sort, four bits a pass ---- */

#define BITS         4
#define DIGITS       (1 << BITS)
#define SORT_BLOCK   256 /* threads, of four keys each */
#define BLOCK_KEYS   (4 * SORT_BLOCK)
#define DIGIT(k, at) ((k) >> (at) & (DIGITS - 1))
#define NO_KEY       0xffffffffu

/* Exclusive sums over the block's keys; the sum of all ends at [BLOCK_KEYS]. Each thread joins two pairs
 * before the tree. */
KIT_INLINE void scan_flags(unsigned *s)
{
    const unsigned me = threadIdx.x, p = 2 * me, q = 2 * (SORT_BLOCK + me);
    __syncthreads();
    s[p + 1] += s[p];
    s[q + 1] += s[q];
    unsigned stride = 2;
    for (unsigned d = SORT_BLOCK; d > 0; d >>= 1, stride *= 2) {
        __syncthreads();
        if (me < d) {
            unsigned a = 2 * stride * me + stride - 1;
            s[a + stride] += s[a];
        }
    }
    if (me == 0) {
        s[BLOCK_KEYS] = s[BLOCK_KEYS - 1];
        s[BLOCK_KEYS - 1] = 0;
    }
    for (unsigned d = 1; d <= SORT_BLOCK; d *= 2) {
        stride >>= 1;
        __syncthreads();
        if (me < d) {
            unsigned a = 2 * stride * me + stride - 1, was = s[a];
            s[a] = s[a + stride];
            s[a + stride] += was;
        }
    }
    __syncthreads();
    unsigned was = s[p];
    s[p] = s[p + 1];
    s[p + 1] += was;
    was = s[q];
    s[q] = s[q + 1];
    s[q + 1] += was;
    __syncthreads();
}

/* Sorts the keys of each block by one digit, a bit at a time, and counts the digits. A flag word counts
 * zeros in its lower half and ones in its upper half, so that one scan serves both. */
KERNEL splitSort(int n, int pass, unsigned *keys, unsigned *values, unsigned *histo)
{
    __shared__ unsigned flags[BLOCK_KEYS + 1 + (BLOCK_KEYS + 1) / 16 + (BLOCK_KEYS + 1) / 64];
    __shared__ unsigned counts[DIGITS];
    const unsigned me = threadIdx.x;
    const int first = blockIdx.x * BLOCK_KEYS + 4 * me;
    uint4 key = make_uint4(NO_KEY, NO_KEY, NO_KEY, NO_KEY), value = make_uint4(0, 0, 0, 0);
    if (first < n) {
        key = *(const uint4 *)(keys + first);
        value = *(const uint4 *)(values + first);
    }
    if (me < DIGITS) counts[me] = 0;
    __syncthreads();
    atomicAdd(counts + DIGIT(key.x, BITS * pass), 1u);
    atomicAdd(counts + DIGIT(key.y, BITS * pass), 1u);
    atomicAdd(counts + DIGIT(key.z, BITS * pass), 1u);
    atomicAdd(counts + DIGIT(key.w, BITS * pass), 1u);

    uint4 at = make_uint4(4 * me, 4 * me + 1, 4 * me + 2, 4 * me + 3);
    for (int bit = BITS * pass; bit < BITS * (pass + 1); bit++) {
        const uint4 one = make_uint4(key.x >> bit & 1, key.y >> bit & 1, key.z >> bit & 1, key.w >> bit & 1);
        flags[at.x] = 1u << 16 * one.x;
        flags[at.y] = 1u << 16 * one.y;
        flags[at.z] = 1u << 16 * one.z;
        flags[at.w] = 1u << 16 * one.w;
        scan_flags(flags);
        const unsigned zeros = flags[BLOCK_KEYS] & 0xffff;
        at.x = (flags[at.x] >> 16 * one.x & 0xffff) + (one.x ? zeros : 0);
        at.y = (flags[at.y] >> 16 * one.y & 0xffff) + (one.y ? zeros : 0);
        at.z = (flags[at.z] >> 16 * one.z & 0xffff) + (one.z ? zeros : 0);
        at.w = (flags[at.w] >> 16 * one.w & 0xffff) + (one.w ? zeros : 0);
        __syncthreads();
    }

    if (first < n) {
        unsigned *to = keys + blockIdx.x * BLOCK_KEYS;
        to[at.x] = key.x;
        to[at.y] = key.y;
        to[at.z] = key.z;
        to[at.w] = key.w;
        to = values + blockIdx.x * BLOCK_KEYS;
        to[at.x] = value.x;
        to[at.y] = value.y;
        to[at.z] = value.z;
        to[at.w] = value.w;
    }
    if (me < DIGITS) histo[gridDim.x * me + blockIdx.x] = counts[me];
}

/* Moves the keys of each block to where the scanned counts say: a thread finds the place of its first key
 * among those of the same digit by walking back to the first of them. */
KERNEL splitRearrange(int n, int pass, const unsigned *keys_in, unsigned *keys_out, const unsigned *values_in,
                      unsigned *values_out, const unsigned *histo)
{
    __shared__ unsigned begin[DIGITS];
    __shared__ __attribute__((aligned(16))) unsigned digits[BLOCK_KEYS];
    const unsigned me = threadIdx.x;
    const int first = blockIdx.x * BLOCK_KEYS + 4 * me;
    if (me < DIGITS) begin[me] = histo[gridDim.x * me + blockIdx.x];
    uint4 key = make_uint4(NO_KEY, NO_KEY, NO_KEY, NO_KEY), value = make_uint4(0, 0, 0, 0);
    if (first < n) {
        key = *(const uint4 *)(keys_in + first);
        value = *(const uint4 *)(values_in + first);
    }
    const int shift = BITS * pass;
    const uint4 digit =
        make_uint4(DIGIT(key.x, shift), DIGIT(key.y, shift), DIGIT(key.z, shift), DIGIT(key.w, shift));
    ((uint4 *)digits)[me] = digit;
    __syncthreads();

    uint4 at = make_uint4(begin[digit.x], begin[digit.y], begin[digit.z], begin[digit.w]);
    for (int i = 4 * (int)me - 1; i >= 0 && digits[i] == digit.x; i--) at.x++;
    if (digit.y == digit.x) at.y = at.x + 1;
    if (digit.z == digit.y) at.z = at.y + 1;
    if (digit.w == digit.z) at.w = at.z + 1;

    if (first < n) {
        keys_out[at.x] = key.x;
        values_out[at.x] = value.x;
        keys_out[at.y] = key.y;
        values_out[at.y] = value.y;
        keys_out[at.z] = key.z;
        values_out[at.z] = value.z;
        keys_out[at.w] = key.w;
        values_out[at.w] = value.w;
    }
}
