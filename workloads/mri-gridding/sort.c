/* sort.c: the launches of the scan and of the radix sort, in the original's order. */
#include "sort.h"

#define SCAN_BLOCK 1024 /* words */
#define BITS       4    /* of a pass */
#define SORT_BLOCK 256

/* The sums of `blocks` blocks are scanned by trees of `width` leaves, with `leaves` of them in all. The width
 * is what wastes least. */
static unsigned scan_width(unsigned blocks, unsigned *leaves)
{
    unsigned best = SCAN_BLOCK;
    *leaves = blocks * SCAN_BLOCK;
    for (unsigned width = 128; width <= SCAN_BLOCK; width *= 2) {
        unsigned all = width;
        while (all < blocks) all *= width;
        if (all <= *leaves) {
            *leaves = all;
            best = width;
        }
    }
    return best;
}

void scan_large_array(unsigned n, CUdeviceptr data)
{
    unsigned blocks = (n + SCAN_BLOCK - 1) / SCAN_BLOCK, leaves, width = scan_width(blocks, &leaves);
    CUdeviceptr inter = kit_zeros(leaves * sizeof n);
    struct kit_dim block = KIT_DIM(SCAN_BLOCK / 2), tree = KIT_DIM(width / 2);
    unsigned shared = (width + width / 16 + width / 256) * sizeof n, step = 1;

    KIT_LAUNCH("scan_L1_kernel", KIT_DIM(blocks), block, 0, n, data, inter);
    for (unsigned d = leaves; d > 1; d /= width) {
        KIT_LAUNCH("scan_inter1_kernel", KIT_DIM(d / width), tree, shared, inter, step);
        step *= width;
    }
    kit_set32(inter + (leaves - 1) * sizeof n, 0, 1);
    for (unsigned d = width; d <= leaves; d *= width) {
        step /= width;
        KIT_LAUNCH("scan_inter2_kernel", KIT_DIM(d / width), tree, shared, inter, step);
    }
    KIT_LAUNCH("uniformAdd", KIT_DIM(blocks), block, 0, n, data, inter);
    kit_free(inter);
}

static void swap(CUdeviceptr *a, CUdeviceptr *b)
{
    CUdeviceptr was = *a;
    *a = *b;
    *b = was;
}

void sort_pairs(unsigned n, unsigned max_key, CUdeviceptr *keys, CUdeviceptr *values)
{
    unsigned blocks = (n + SORT_KEYS - 1) / SORT_KEYS;
    size_t bytes = (size_t)blocks * SORT_KEYS * sizeof n;
    CUdeviceptr histo = kit_alloc((blocks << BITS) * sizeof n), keys_out = kit_alloc(bytes),
                values_out = kit_alloc(bytes);
    int count = (int)n;
    for (int pass = 0; max_key >> BITS * pass; pass++) {
        KIT_LAUNCH("splitSort", KIT_DIM(blocks), KIT_DIM(SORT_BLOCK), 0, count, pass, *keys, *values, histo);
        scan_large_array(blocks << BITS, histo);
        KIT_LAUNCH("splitRearrange", KIT_DIM(blocks), KIT_DIM(SORT_BLOCK), 0, count, pass, *keys, keys_out,
                   *values, values_out, histo);
        swap(keys, &keys_out);
        swap(values, &values_out);
    }
    kit_free(keys_out);
    kit_free(values_out);
    kit_free(histo);
}
