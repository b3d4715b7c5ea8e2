/* hybridsort: sorts floats, as Rodinia's hybridsort: a histogram of 1024 bins gives pivots, a bucket sort
 * spreads the list over 1024 buckets of about the same size, and each bucket is merge-sorted in units of
 * float4, a thread a pair of runs. The longer the runs, the further apart the lanes read. */
#include "kit/device.h"

#define LOG_DIVISIONS 10
#define DIVISIONS     (1 << LOG_DIVISIONS)
#define BINS          1024
#define HISTO_WARPS   3
#define COUNT_MASK    0x07FFFFFFu /* the upper five bits of a counter say which lane wrote it last */

/* Counts up without atomics, as the SDK's histogram of its time: every lane of the warp writes its own
 * version, one of those that hit the same counter wins, the others try again. Right as long as the lanes
 * of a warp go in step. */
KIT_INLINE unsigned count_up(volatile unsigned *counter, unsigned tag)
{
    unsigned count;
    do {
        count = *counter & COUNT_MASK;
        count = tag | (count + 1);
        *counter = count;
    } while (*counter != count);
    return (count & COUNT_MASK) - 1;
}

KERNEL histogram1024Kernel(unsigned *result, const float *data, float minimum, float maximum, int n)
{
    __shared__ volatile unsigned histogram[HISTO_WARPS * BINS]; /* one for each warp */
    const unsigned tag = threadIdx.x << 27;
    volatile unsigned *mine = histogram + (threadIdx.x >> 5) * BINS;
    for (int i = threadIdx.x; i < HISTO_WARPS * BINS; i += blockDim.x) histogram[i] = 0;
    __syncthreads();

#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned bin = (unsigned)((data[i] - minimum) / (maximum - minimum) * BINS);
        count_up(mine + (bin & (BINS - 1)), tag);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < BINS; i += blockDim.x) {
        unsigned sum = 0;
        for (int warp = 0; warp < HISTO_WARPS; warp++) sum += histogram[warp * BINS + i] & COUNT_MASK;
        atomicAdd(result + i, sum);
    }
}

/* Finds each element's bucket by bisection of the pivots, and its place among those of the bucket in this
 * CTA (one warp). */
KERNEL bucketcount(const float *input, int *index, unsigned *prefix, int n, const float *pivots)
{
    __shared__ volatile unsigned counters[DIVISIONS];
    const unsigned tag = threadIdx.x << 27;
    for (int i = threadIdx.x; i < DIVISIONS; i += blockDim.x) counters[i] = 0;
    __syncthreads();

#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float element = input[i];
        int bucket = DIVISIONS / 2 - 1;
        float pivot = pivots[bucket];
        for (int jump = DIVISIONS / 4; jump >= 1; jump /= 2) {
            bucket = element < pivot ? bucket - jump : bucket + jump;
            pivot = pivots[bucket];
        }
        if (element >= pivot) bucket++;
        index[i] = (count_up(counters + bucket, tag) << LOG_DIVISIONS) + bucket;
    }
    __syncthreads();

    for (int i = threadIdx.x; i < DIVISIONS; i += blockDim.x)
        prefix[blockIdx.x * DIVISIONS + i] = counters[i] & COUNT_MASK;
}

/* A thread a bucket: sums over the CTAs of bucketcount, which stay behind as the place where each CTA
 * begins. */
KERNEL bucketprefixoffset(unsigned *prefix, unsigned *sizes, int blocks)
{
    int bucket = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (int i = bucket; i < blocks * DIVISIONS; i += DIVISIONS) {
        unsigned count = prefix[i];
        prefix[i] = sum;
        sum += count;
    }
    sizes[bucket] = sum;
}

KERNEL bucketsort(const float *input, const int *index, float *output, int n, const unsigned *prefix,
                  const unsigned *starts)
{
    __shared__ volatile unsigned begin[DIVISIONS];
    for (int i = threadIdx.x; i < DIVISIONS; i += blockDim.x)
        begin[i] = starts[i] + prefix[blockIdx.x * DIVISIONS + i];
    __syncthreads();

#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float element = input[i];
        int id = index[i];
        output[begin[id & (DIVISIONS - 1)] + (id >> LOG_DIVISIONS)] = element;
    }
}

/* In float4s: where each bucket begins; in floats: where it begins in the final list, and how many zeros
 * fill it up. */
__constant__ int constStartAddr[DIVISIONS + 1];
__constant__ int finalStartAddr[DIVISIONS + 1];
__constant__ int nullElems[DIVISIONS];

#define LOWER(a, b)  ((a) > (b) ? (b) : (a))
#define HIGHER(a, b) ((a) > (b) ? (a) : (b))

/* A sorting network of five comparisons. */
KIT_INLINE float4 sort4(float4 r)
{
    float4 s;
    s.x = LOWER(r.x, r.y), s.y = HIGHER(r.x, r.y);
    s.z = LOWER(r.z, r.w), s.w = HIGHER(r.z, r.w);
    r.x = LOWER(s.x, s.z), r.z = HIGHER(s.x, s.z);
    r.y = LOWER(s.y, s.w), r.w = HIGHER(s.y, s.w);
    s.x = r.x, s.y = LOWER(r.y, r.z);
    s.z = HIGHER(r.y, r.z), s.w = r.w;
    return s;
}

KERNEL mergeSortFirst(float4 *result, int n, const float4 *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) result[i] = sort4(from[i]);
}

/* Each thread merges two runs of `length` / 2 float4s: of the eight floats at hand the lower four go out,
 * sorted, and the run whose next float4 begins lower is read on. */
KERNEL mergeSortPass(float4 *result, int length, int threads_per_division, const float4 *from)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int division = thread / threads_per_division;
    if (division >= DIVISIONS) return;
    int a_start = constStartAddr[division] + (thread - division * threads_per_division) * length;
    int b_start = a_start + length / 2, end = constStartAddr[division + 1];
    float4 *out = result + a_start;
    if (a_start >= end) return;
    if (b_start >= end) { /* a run without a partner */
#pragma unroll 1
        for (int i = 0; i < end - a_start; i++) out[i] = from[a_start + i];
        return;
    }

    int ia = 0, ib = 0, written = 0;
    float4 a = from[a_start], b = from[b_start];
    for (;;) {
        float4 next_a = from[a_start + ia + 1], next_b = from[b_start + ib + 1];
        float4 low, high;
        low.x = LOWER(a.x, b.w), high.w = HIGHER(a.x, b.w);
        low.y = LOWER(a.y, b.z), high.z = HIGHER(a.y, b.z);
        low.z = LOWER(a.z, b.y), high.y = HIGHER(a.z, b.y);
        low.w = LOWER(a.w, b.x), high.x = HIGHER(a.w, b.x);
        out[written++] = sort4(low);
        b = sort4(high);

        bool left_a = ia + 1 < length / 2;
        bool left_b = ib + 1 < length / 2 && b_start + ib + 1 < end;
        if (!left_a && !left_b) break;
        if (left_a && (!left_b || next_a.x < next_b.x)) {
            ia++;
            a = next_a;
        } else {
            ib++;
            a = next_b;
        }
    }
    out[written] = b;
}

/* Drops the zeros that filled up the buckets: being the lowest, they lie in front. */
KERNEL mergepack(const float *from, float *result)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, division = blockIdx.y;
    if (finalStartAddr[division] + i >= finalStartAddr[division + 1]) return;
    result[finalStartAddr[division] + i] = from[constStartAddr[division] * 4 + nullElems[division] + i];
}
