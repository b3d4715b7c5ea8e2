/* mars_group.cuh: the group stage of Mars for device code. A bitonic sort orders the index by the keys it
 * points to (the keys stay where they are and are compared there, byte by byte where they are strings),
 * then keys and values are copied into that order, then the places where the key changes are gathered as
 * ranges.
 *
 * A workload defines compare(): below, at or above 0 as qsort's; bitonicKernel needs exactly -1, 0 or 1. */
#ifndef WORKLOAD_MARS_GROUP_CUH
#define WORKLOAD_MARS_GROUP_CUH

#include "mars.cuh"

#define MARS_SORT_BLOCK 256 /* index records that one block sorts in shared memory */

KIT_INLINE int compare(const char *a, int a_bytes, const char *b, int b_bytes);

/* Padding, to a power of two of records, has the offset -1 and comes first. */
KIT_INLINE int mars_order(const char *keys, int4 a, int4 b)
{
    if (a.x == -1 || b.x == -1) return a.x == b.x ? 0 : a.x == -1 ? -1 : 1;
    return compare(keys + a.x, a.y, keys + b.x, b.y);
}

KIT_INLINE void mars_exchange(const char *keys, int4 *at, int distance, bool falling)
{
    int own = threadIdx.x, other = own ^ distance;
    if (other > own) {
        int4 a = at[own], b = at[other];
        int order = mars_order(keys, a, b);
        if (falling ? order < 0 : order > 0) {
            at[own] = b;
            at[other] = a;
        }
    }
    __syncthreads();
}

/* Sorts the block's 256 records; `falling` blocks come out in falling order. */
KIT_INLINE void mars_sort_block(const char *keys, int4 *at, bool falling)
{
    for (int run = 2; run <= MARS_SORT_BLOCK; run <<= 1)
        for (int distance = run >> 1; distance > 0; distance >>= 1)
            mars_exchange(keys, at, distance, ((threadIdx.x & run) != 0) != falling);
}

/* Up to 256 records: one block. */
KERNEL bitonicSortSingleBlock_kernel(const char *keys, const int4 *in, int n, int4 *out)
{
    __shared__ int4 at[MARS_SORT_BLOCK];
    int own = threadIdx.x;
    if (own < n)
        at[own] = in[own];
    else
        at[own].x = -1;
    __syncthreads();
    mars_sort_block(keys, at, false);
    int padding = MARS_SORT_BLOCK - n;
    if (own >= padding) out[own - padding] = at[own];
}

/* One step of the network over the whole index, in global memory: the index's and the keys' bytes. */
KERNEL bitonicKernel(const char *keys, int4 *index, int run, int distance)
{
    int own = mars_thread(), other = own ^ distance;
    if (other <= own) return;
    int4 a = index[own], b = index[other];
    if (mars_order(keys, a, b) == ((own & run) == 0 ? 1 : -1)) {
        index[own] = b;
        index[other] = a;
    }
}

/* Large indices: the steps with distances below 256 are done in shared memory, by chunks of 256 blocks. */
KERNEL unitBitonicSortKernel(const char *keys, int4 *index, int chunk)
{
    __shared__ int4 at[MARS_SORT_BLOCK];
    int block = chunk * 256 + blockIdx.x, own = threadIdx.x;
    at[own] = index[block * MARS_SORT_BLOCK + own];
    __syncthreads();
    mars_sort_block(keys, at, block & 1);
    index[block * MARS_SORT_BLOCK + own] = at[own];
}

/* `unit`: blocks in a run of the network. */
KERNEL partBitonicSortKernel(const char *keys, int4 *index, int chunk, int unit)
{
    __shared__ int4 at[MARS_SORT_BLOCK];
    int block = chunk * 256 + blockIdx.x, own = threadIdx.x;
    bool falling = block / unit & 1;
    at[own] = index[block * MARS_SORT_BLOCK + own];
    __syncthreads();
    for (int distance = MARS_SORT_BLOCK >> 1; distance > 0; distance >>= 1)
        mars_exchange(keys, at, distance, falling);
    index[block * MARS_SORT_BLOCK + own] = at[own];
}

KERNEL initialize_kernel(int4 *index, int first, int n)
{
    int at = first + mars_thread();
    if (at < n) index[at] = make_int4(-1, -1, -1, -1);
}

/* ---- keys or values into the order of the sorted index ---- */
KERNEL getXYArray_kernel(const int4 *index, int first, int n, int2 *part)
{
    int at = first + mars_thread();
    if (at >= n) return;
    int4 record = index[at];
    part[at] = make_int2(record.x, record.y);
}

KERNEL getZWArray_kernel(const int4 *index, int first, int n, int2 *part)
{
    int at = first + mars_thread();
    if (at >= n) return;
    int4 record = index[at];
    part[at] = make_int2(record.z, record.w);
}

KERNEL setXYArray_kernel(int4 *index, int first, int n, const int2 *part)
{
    int at = first + mars_thread();
    if (at >= n) return;
    int4 record = index[at];
    record.x = part[at].x;
    record.y = part[at].y;
    index[at] = record;
}

KERNEL setZWArray_kernel(int4 *index, int first, int n, const int2 *part)
{
    int at = first + mars_thread();
    if (at >= n) return;
    int4 record = index[at];
    record.z = part[at].x;
    record.w = part[at].y;
    index[at] = record;
}

KERNEL getIntYArray_kernel(const int2 *part, int first, int n, int *bytes)
{
    int at = first + mars_thread();
    if (at < n) bytes[at] = part[at].y;
}

/* A thread copies a whole key or value, byte by byte, from its old place to its new one. */
KERNEL copyChunks_kernel(const char *from, int first, int2 *part, int n, const int *start, char *to)
{
    int at = first + mars_thread();
    if (at >= n) return;
    int2 record = part[at];
    mars_copy(to + start[at], from + record.x, record.y);
    record.x = start[at];
    part[at] = record;
}

/* ---- where the key changes ---- */
KERNEL getChunkBoundary_kernel(const char *keys, int first, const int4 *index, int n, int *starts)
{
    int at = first + mars_thread();
    if (at >= n) return;
    int is_start = 1;
    if (at > 0) is_start = mars_order(keys, index[at], index[at - 1]) != 0;
    starts[at] = is_start;
}

KERNEL writeBoundary_kernel(int first, int n, const int *starts, const int *group, int *boundary)
{
    int at = first + mars_thread();
    if (at < n && starts[at] == 1) boundary[group[at]] = at;
}

/* Groups as (first record, one past the last). */
KERNEL setBoundaryInt2_kernel(const int *boundary, int first, int groups, int n, int2 *ranges)
{
    int at = first + mars_thread();
    if (at >= groups) return;
    ranges[at] = make_int2(boundary[at], at + 1 != groups ? boundary[at + 1] : n);
}

#endif
