/* hybridsort: host side. */
#include "kit/kit.h"

#define DIVISIONS    1024
#define BINS         1024
#define HISTO_BLOCKS 64
#define HISTO_BLOCK  96
#define BUCKET_BLOCK 32
#define BUCKET_BAND  128 /* elements a thread of the bucket sort */
#define MERGE_BLOCK  208

/* What the host works out between the bucket sort and the merge sort. */
struct buckets {
    /* floats in each */
    int count[DIVISIONS];
    /* zeros that fill it up to whole float4s */
    int nulls[DIVISIONS];
    /* in float4s, filled up */
    int start4[DIVISIONS + 1];
    /* in floats, not filled up */
    int final[DIVISIONS + 1];
    /* floats of the largest, filled up */
    int largest;
};

static int round_up(int n, int d) { return (n + d - 1) / d; }

/* Pivots that cut the list into equal shares, if the floats of a bin are spread evenly over it. */
static void find_pivots(const unsigned *histogram, int n, float low, float high, float *pivots)
{
    double width = ((double)high - low) / BINS, seen = 0, share = (double)n / DIVISIONS;
    int bin = 0;
    for (int k = 0; k < DIVISIONS; k++) {
        double wanted = share * (k + 1);
        while (bin < BINS - 1 && seen + histogram[bin] < wanted) seen += histogram[bin++];
        double inside = histogram[bin] ? fmin((wanted - seen) / histogram[bin], 1) : 1;
        pivots[k] = (float)(low + width * (bin + inside));
    }
}

static void find_buckets(struct buckets *b)
{
    for (int i = 0; i < DIVISIONS; i++) {
        b->nulls[i] = -b->count[i] & 3;
        int filled = b->count[i] + b->nulls[i];
        b->start4[i + 1] = b->start4[i] + filled / 4;
        b->final[i + 1] = b->final[i] + b->count[i];
        if (filled > b->largest) b->largest = filled;
    }
}

static void bucket_sort(CUdeviceptr input, CUdeviceptr output, int n, float low, float high,
                        struct buckets *b)
{
    unsigned histogram[BINS], starts[DIVISIONS];
    float pivots[DIVISIONS];
    CUdeviceptr dhistogram = kit_zeros(sizeof histogram), dsizes = kit_zeros(sizeof b->count);
    KIT_LAUNCH("histogram1024Kernel", KIT_DIM(HISTO_BLOCKS), KIT_DIM(HISTO_BLOCK), 0, dhistogram, input, low,
               high, n);
    kit_download(histogram, dhistogram, sizeof histogram);
    find_pivots(histogram, n, low, high, pivots);

    int blocks = round_up(n, BUCKET_BLOCK * BUCKET_BAND);
    struct kit_dim grid = KIT_DIM(blocks), block = KIT_DIM(BUCKET_BLOCK);
    CUdeviceptr dpivots = kit_upload(pivots, sizeof pivots), index = kit_alloc(n * sizeof(int));
    CUdeviceptr prefix = kit_alloc((size_t)blocks * DIVISIONS * sizeof(int));
    KIT_LAUNCH("bucketcount", grid, block, 0, input, index, prefix, n, dpivots);
    KIT_LAUNCH("bucketprefixoffset", KIT_DIM(DIVISIONS / 128), KIT_DIM(128), 0, prefix, dsizes, blocks);
    kit_download(b->count, dsizes, sizeof b->count);
    find_buckets(b);

    for (int i = 0; i < DIVISIONS; i++) starts[i] = (unsigned)b->start4[i] * 4;
    CUdeviceptr dstarts = kit_upload(starts, sizeof starts);
    kit_set32(output, 0, n + 4 * DIVISIONS);
    KIT_LAUNCH("bucketsort", grid, block, 0, input, index, output, n, prefix, dstarts);
}

/* Runs double in length until the longest bucket is one run. Returns where the sorted list lies. */
static CUdeviceptr merge_sort(CUdeviceptr from, CUdeviceptr to, const struct buckets *b)
{
    int n = b->start4[DIVISIONS] * 4, length = 2, per_division;
    KIT_LAUNCH("mergeSortFirst", KIT_DIM(round_up(n / 4, 256)), KIT_DIM(256), 0, to, n, from);
    kit_set_symbol("constStartAddr", b->start4, sizeof b->start4);
    kit_set_symbol("finalStartAddr", b->final, sizeof b->final);
    kit_set_symbol("nullElems", b->nulls, sizeof b->nulls);
    do {
        per_division = round_up(b->largest, length * 4);
        int threads = per_division * DIVISIONS, blocks = round_up(threads, MERGE_BLOCK), block = MERGE_BLOCK;
        if (blocks < 8) blocks = 8, block = round_up(threads, 8);
        CUdeviceptr swap = from;
        from = to, to = swap;
        KIT_LAUNCH("mergeSortPass", KIT_DIM(blocks), KIT_DIM(block), 0, to, length, per_division, from);
        length *= 2;
    } while (per_division > 1);
    KIT_LAUNCH("mergepack", KIT_DIM(round_up(b->largest, 256), DIVISIONS), KIT_DIM(256), 0, to, from);
    return from;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static const struct size {
    const char *name;
    int floats;
} sizes[] = {{"tiny", 1 << 13}, {"small", 1 << 19}, {"paper", 1 << 22}};

int main(int argc, char **argv)
{
    kit_open("hybridsort", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->floats;
    size_t bytes = n * sizeof(float), padded = bytes + 4 * DIVISIONS * sizeof(float);
    float *list = kit_floats(n, 0, 1), *sorted = kit_host(bytes), low = list[0], high = list[0];
    for (int i = 1; i < n; i++) low = fminf(low, list[i]), high = fmaxf(high, list[i]);

    CUdeviceptr input = kit_alloc(padded), output = kit_alloc(padded);
    struct buckets *buckets = kit_host(sizeof *buckets);
    kit_put(input, list, bytes);
    bucket_sort(input, output, n, low, high, buckets);
    kit_download(sorted, merge_sort(output, input, buckets), bytes);

    if (kit_checking()) {
        qsort(list, n, sizeof *list, compare);
        kit_check_floats("list", sorted, list, n, 0, 0);
    }
    return kit_close();
}
