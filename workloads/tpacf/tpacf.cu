/* tpacf: histograms of the angles between points on the sky, as Parboil's CUDA version makes them: a block
 * a pair of sets, and for each 256 points of one set in shared memory a thread a point of the other. A dot
 * product is put in its bin by binary search over boundaries in constant memory, and counted in one of 128
 * histograms in shared memory, each of which two threads share. */
#include "kit/device.h"

#define BINS        20
#define BLOCK       256
#define HISTS       128 /* in a block: 16 for each warp */
#define HIST_SHARED (BLOCK / HISTS)

struct point {
    float x, y, z;
};
__constant__ float dev_binb[BINS + 1]; /* cosines of the boundaries, from the smallest angle on */

/* Halves until one bin is left; which of the ends are outside of all bins is for the caller to see. */
KIT_INLINE void bin_find(float dot, unsigned *low, unsigned *high)
{
    unsigned from = 0, to = BINS;
    while (to > from + 1) {
        unsigned middle = (from + to) / 2;
        if (dot >= dev_binb[middle])
            to = middle;
        else
            from = middle;
    }
    *low = from;
    *high = to;
}

/* Block b up to `sets` counts pairs within set b (set 0 is the data, the others random), the others pairs
 * of the data with random set b - sets. */
KERNEL gen_hists(unsigned long long *histograms, const float *all_x, const float *all_y, const float *all_z,
                 int sets, int points)
{
    __shared__ struct point tile[BLOCK];
    __shared__ unsigned hists[BINS][HISTS];
    const unsigned n = points, me = threadIdx.x, block = blockIdx.x;
    const bool within = block < (unsigned)sets + 1;
    const unsigned second = n * (within ? block : block - sets), first = within ? second : 0;

    for (unsigned i = me; i < BINS * HISTS; i += BLOCK) hists[i / HISTS][i % HISTS] = 0;

    for (unsigned i = 0; i < n; i += BLOCK) {
        if (me + i < n) {
            tile[me].x = all_x[first + me + i];
            tile[me].y = all_y[first + me + i];
            tile[me].z = all_z[first + me + i];
        }
        __syncthreads();
        for (unsigned j = within ? i + 1 : 0; j < n; j += BLOCK) {
            float x = 0, y = 0, z = 0;
            if (me + j < n) {
                x = all_x[second + me + j];
                y = all_y[second + me + j];
                z = all_z[second + me + j];
            }
            for (unsigned k = 0; k < BLOCK && k + i < n; k++) {
                float dot = tile[k].x * x + tile[k].y * y + tile[k].z * z;
                unsigned low, high;
                bin_find(dot, &low, &high);
                if (dot < dev_binb[low] && dot >= dev_binb[high] && (!within || me + j > i + k) && me + j < n)
                    atomicAdd(&hists[high - 1][me / HIST_SHARED], 1u);
            }
        }
        __syncthreads();
    }

    /* Halve the number of histograms until one is left: 64 threads for each of 4 bins at a time. */
    const unsigned hist = me % (HISTS / 2), bin = me / (HISTS / 2);
    for (unsigned apart = HISTS / 2; apart > 0; apart /= 2)
        for (unsigned base = 0; base < BINS; base += BLOCK / (HISTS / 2)) {
            __syncthreads();
            if (hist < apart && base + bin < BINS) hists[base + bin][hist] += hists[base + bin][hist + apart];
        }
    __syncthreads();
    if (me < BINS) histograms[BINS * block + me] = hists[me][0];
}
