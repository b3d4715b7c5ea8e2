/* histo: a large histogram that saturates at 255, as Parboil's Fermi version makes it. A prescan guesses
 * which ranges of 24 K bins most input falls in; a second kernel splits each input into range, word and
 * byte; the main one counts a range a row of blocks in shared memory, four bins to a word, and what is
 * outside of those ranges in global memory; the last adds up. */
#include "kit/device.h"

#define KB              24
#define BINS_PER_BLOCK  (KB * 1024)
#define WORDS           (BINS_PER_BLOCK / 4)
#define PRESCAN_THREADS 512
#define UNROLL          16
#define SATURATED       255u

/* Mean and deviation of an eighth of the input: threads' own, then the mean of those, which is near
 * enough. The ranges up to ten deviations from the mean go to minmax. */
KERNEL histo_prescan_kernel(const unsigned *input, int size, unsigned *minmax)
{
    __shared__ float means[PRESCAN_THREADS], deviations[PRESCAN_THREADS];
    const int me = threadIdx.x, share = size / gridDim.x;
    const int begin = blockIdx.x * share + me, end = blockIdx.x * share + share / 8;

    float mean = 0;
    unsigned count = 0;
    for (int i = begin; i < end; i += blockDim.x, count++) mean += input[i];
    mean /= count;
    float square = 0;
    for (int i = begin; i < end; i += blockDim.x) square += (input[i] - mean) * (input[i] - mean);
    means[me] = mean;
    deviations[me] = sqrtf(square / count);

    for (int apart = PRESCAN_THREADS / 2; apart >= 1; apart /= 2) {
        __syncthreads();
        if (me < apart) {
            means[me] += means[me + apart];
            deviations[me] += deviations[me + apart];
        }
    }
    if (me == 0) {
        float centre = means[0] / PRESCAN_THREADS, reach = 10 * deviations[0] / PRESCAN_THREADS;
        atomicMin(minmax, (unsigned)fmaxf(centre - reach, 0) / BINS_PER_BLOCK);
        atomicMax(minmax + 1, (unsigned)(centre + reach) / BINS_PER_BLOCK);
    }
}

/* A bin as bytes from the lowest: its range, word / 256, word % 256, and how far its byte is shifted in
 * the word. */
KIT_INLINE unsigned bin_split(unsigned bin)
{
    unsigned shift = bin % 4 * 8, low = bin / 4 % 256, high = bin / 1024 % KB, range = bin / BINS_PER_BLOCK;
    return range & 0xff | high << 8 | low << 16 | shift << 24;
}

/* A block takes 16 lines, a thread two neighbouring inputs of each; they are stored half a line apart. */
KERNEL histo_intermediates_kernel(const uint2 *input, unsigned height, unsigned width, unsigned input_pitch,
                                  unsigned *sm_mappings)
{
    unsigned line = UNROLL * blockIdx.x, store = line * width + threadIdx.x;
    const uint2 *load = input + line * input_pitch + threadIdx.x;
    const bool alone = width % 2 && threadIdx.x == blockDim.x - 1;
#pragma unroll
    for (int i = 0; i < UNROLL; i++) {
        uint2 bins = *load;
        sm_mappings[store] = bin_split(bins.x);
        if (!alone) sm_mappings[store + blockDim.x] = bin_split(bins.y);
        load += input_pitch;
        store += width;
    }
}

/* Counts in my range's words. A byte that was full carries into the next one, and that perhaps into the
 * one after: global_overflow gets what has to be added to each byte's bin to set it right. */
KIT_INLINE void count_local(unsigned *global_overflow, unsigned (*words)[256], unsigned my_range,
                            unsigned mapping)
{
    const unsigned range = mapping & 0xff, high = mapping >> 8 & 0xff, low = mapping >> 16 & 0xff,
                   shift = mapping >> 24;
    if (range != my_range) return;
    const unsigned was = atomicAdd(&words[high][low], 1u << shift);
    if ((was >> shift & 0xff) != 0xff) return;
    const unsigned bin = range * BINS_PER_BLOCK + shift / 8 + (low << 2) + (high << 10);
    atomicAdd(&global_overflow[bin], 256u);
    bool carry = true;
    for (unsigned i = 1; carry && shift + 8 * i < 32; i++) {
        carry = (was >> (shift + 8 * i) & 0xff) == 0xff;
        atomicAdd(&global_overflow[bin + i], carry ? 255u : 0xffffffffu);
    }
}

/* Counts what no row of blocks counts: two bins of 16 bits to a word. */
KIT_INLINE void count_global(unsigned *global_histo, unsigned range_min, unsigned range_max, unsigned mapping)
{
    const unsigned range = mapping & 0xff, high = mapping >> 8 & 0xff, low = mapping >> 16 & 0xff,
                   shift = mapping >> 24;
    if (range >= range_min && range <= range_max) return;
    const unsigned bin = range * BINS_PER_BLOCK + shift / 8 + (low << 2) + (high << 10), half = bin % 2 * 16;
    if ((global_histo[bin / 2] >> half & 0xffff) < SATURATED) atomicAdd(&global_histo[bin / 2], 1u << half);
}

KERNEL histo_main_kernel(const unsigned *sm_mappings, unsigned num_elements, unsigned range_min,
                         unsigned range_max, unsigned *global_subhisto, unsigned *global_histo,
                         unsigned *global_overflow)
{
    __shared__ unsigned words[KB][256];
    unsigned *flat = &words[0][0];
    const unsigned my_range = range_min + blockIdx.y;
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) flat[i] = 0;
    __syncthreads();

    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.y == 0) { /* the first row counts the strays as well */
        for (; i < num_elements; i += blockDim.x * gridDim.x) {
            unsigned mapping = sm_mappings[i];
            count_local(global_overflow, words, my_range, mapping);
            count_global(global_histo, range_min, range_max, mapping);
        }
    } else {
        for (; i < num_elements; i += blockDim.x * gridDim.x)
            count_local(global_overflow, words, my_range, sm_mappings[i]);
    }
    __syncthreads();

    unsigned *to = global_subhisto + my_range * BINS_PER_BLOCK;
    for (i = threadIdx.x; i < WORDS; i += blockDim.x) {
        atomicAdd(to + 4 * i, flat[i] & 0xff);
        atomicAdd(to + 4 * i + 1, flat[i] >> 8 & 0xff);
        atomicAdd(to + 4 * i + 2, flat[i] >> 16 & 0xff);
        atomicAdd(to + 4 * i + 3, flat[i] >> 24);
    }
}

/* Four bins of the histogram in global memory become four bytes, and it is cleared for the next time. */
KIT_INLINE void final_outside(unsigned *global_histo, unsigned *final_histo, unsigned begin, unsigned end)
{
    for (unsigned i = begin + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += gridDim.x * blockDim.x) {
        uint2 four = ((uint2 *)global_histo)[i];
        ((uint2 *)global_histo)[i] = make_uint2(0, 0);
        final_histo[i] = min(four.x & 0xffff, SATURATED) | min(four.x >> 16, SATURATED) << 8 |
                         min(four.y & 0xffff, SATURATED) << 16 | min(four.y >> 16, SATURATED) << 24;
    }
}

KERNEL histo_final_kernel(unsigned range_min, unsigned range_max, unsigned bins,
                          const unsigned *global_subhisto, unsigned *global_histo, unsigned *global_overflow,
                          unsigned *final_histo)
{
    const unsigned low = range_min * WORDS, middle = (range_max + 1) * WORDS; /* in fours of bins */
    final_outside(global_histo, final_histo, 0, low);
    for (unsigned i = low + blockIdx.x * blockDim.x + threadIdx.x; i < middle; i += gridDim.x * blockDim.x) {
        uint4 four = ((uint4 *)global_overflow)[i];
        ((uint4 *)global_overflow)[i] = make_uint4(0, 0, 0, 0);
        four.x += global_subhisto[4 * i];
        four.y += global_subhisto[4 * i + 1];
        four.z += global_subhisto[4 * i + 2];
        four.w += global_subhisto[4 * i + 3];
        final_histo[i] = min(four.x, SATURATED) | min(four.y, SATURATED) << 8 | min(four.z, SATURATED) << 16 |
                         min(four.w, SATURATED) << 24;
    }
    final_outside(global_histo, final_histo, middle, bins / 4);
}
