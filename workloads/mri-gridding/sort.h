/* sort.h: the host's side of sort.cuh. */
#ifndef MRI_GRIDDING_SORT_H
#define MRI_GRIDDING_SORT_H

#include "kit/kit.h"

#define SORT_KEYS 1024 /* of a block: allocate a multiple of it */

/* Exclusive sums of n words, in place. */
void scan_large_array(unsigned n, CUdeviceptr data);
/* Sorts n keys (a multiple of 4) up to max_key with their values; the arrays may change places with
 * others. */
void sort_pairs(unsigned n, unsigned max_key, CUdeviceptr *keys, CUdeviceptr *values);

#endif
