/* mars.cuh: the map stage of Mars (He et al., PACT 2008) for device code, with the prefix sums that it
 * stands on. A record is a key and a value, strings of bytes in two buffers; an index of int4 (key offset,
 * key bytes, value offset, value bytes) says where. One thread maps one record. As no thread can allocate,
 * the map runs twice: MapperCount adds up what each thread would emit, prefix sums make that the thread's
 * own places, Mapper writes there.
 *
 * A workload defines map_count() and map(); mars_group.cuh and mars_reduce.cuh add the later stages. The
 * host side of all of them is mars.c; the structs here are those of mars.h. */
#ifndef WORKLOAD_MARS_CUH
#define WORKLOAD_MARS_CUH

#include "device.h"

struct mars_records {
    char *keys, *values;
    int4 *index; /* x: key offset, y: key bytes, z: value offset, w: value bytes */
};

/* Sums of what each thread is going to emit. */
struct mars_counts {
    int *key_bytes, *value_bytes, *records;
};

/* Where each thread writes, and how far it has come. */
struct mars_output {
    int *key_start, *value_start, *record_start; /* prefix sums of the counts */
    int2 *written;                               /* bytes of keys and of values */
    int *emitted;                                /* records */
    struct mars_records to;
};

/* The workload's: from one input record. */
KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts);
KIT_INLINE void map(char *key, char *value, struct mars_output out);

KIT_INLINE int mars_thread(void) { return blockIdx.x * blockDim.x + threadIdx.x; }

/* 20 bytes of shared memory for each thread of Mapper and Reducer, to put a small key and value together
 * in. */
extern __shared__ int mars_scratch[];
KIT_INLINE int *mars_own_scratch(void) { return mars_scratch + threadIdx.x * 5; }

KIT_INLINE void mars_emit_count(struct mars_counts counts, int key_bytes, int value_bytes)
{
    int thread = mars_thread();
    counts.key_bytes[thread] += key_bytes;
    counts.value_bytes[thread] += value_bytes;
    counts.records[thread]++;
}

KIT_INLINE void mars_copy(char *to, const char *from, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = from[i];
}

/* The thread's first record starts where its share starts (the kernel wrote that), a later one where the
 * last one ended. */
KIT_INLINE void mars_emit(struct mars_output out, const void *key, const void *value, int key_bytes,
                          int value_bytes)
{
    int thread = mars_thread();
    int2 written = out.written[thread];
    mars_copy(out.to.keys + out.key_start[thread] + written.x, (const char *)key, key_bytes);
    mars_copy(out.to.values + out.value_start[thread] + written.y, (const char *)value, value_bytes);
    written.x += key_bytes;
    written.y += value_bytes;
    out.written[thread] = written;

    int emitted = out.emitted[thread], place = out.record_start[thread] + emitted;
    int4 record = out.to.index[place];
    if (emitted != 0) {
        int4 last = out.to.index[place - 1];
        record.x = last.x + last.y;
        record.z = last.z + last.w;
    }
    record.y = key_bytes;
    record.w = value_bytes;
    out.to.index[place] = record;
    out.emitted[thread] = emitted + 1;
}

/* Marks the start of the thread's share. If it emits nothing, that is the next one's start too, and both
 * write the same. */
KIT_INLINE void mars_emit_from(struct mars_output out, int thread, int emitted_in_all)
{
    int first = out.record_start[thread];
    if (first >= emitted_in_all) return;
    out.to.index[first].x = out.key_start[thread];
    out.to.index[first].z = out.value_start[thread];
}

KERNEL MapperCount(struct mars_records in, struct mars_counts counts, int records)
{
    int thread = mars_thread();
    if (thread >= records) return;
    int4 at = in.index[thread];
    map_count(in.keys + at.x, in.values + at.z, counts);
}

KERNEL Mapper(struct mars_records in, struct mars_output out, int records, int emitted_in_all)
{
    int thread = mars_thread();
    if (thread >= records) return;
    mars_emit_from(out, thread, emitted_in_all);
    int4 at = in.index[thread];
    map(in.keys + at.x, in.values + at.z, out);
}

/* ---- exclusive prefix sums: Blelloch's tree in shared memory, two elements a thread, as in the CUDA SDK
 * of 2007. A word of padding after each 16 keeps most of the tree free of bank conflicts on the 16 banks
 * of then. ---- */
extern __shared__ int scan_shared[];

KIT_INLINE int scan_padded(int i) { return i + (i >> 4); }

KIT_INLINE unsigned scan_up(int *data)
{
    unsigned stride = 1;
    for (int width = blockDim.x; width > 0; width >>= 1, stride *= 2) {
        __syncthreads();
        if ((int)threadIdx.x >= width) continue;
        int low = 2 * stride * threadIdx.x + stride - 1;
        data[scan_padded(low + stride)] += data[scan_padded(low)];
    }
    return stride;
}

KIT_INLINE void scan_down(int *data, unsigned stride)
{
    for (int width = 1; width <= (int)blockDim.x; width *= 2) {
        stride >>= 1;
        __syncthreads();
        if ((int)threadIdx.x >= width) continue;
        int low = scan_padded(2 * stride * threadIdx.x + stride - 1);
        int high = scan_padded(2 * stride * threadIdx.x + 2 * stride - 1);
        int sum = data[low];
        data[low] = data[high];
        data[high] += sum;
    }
}

/* n elements from `first` on, or for first = 0 the block's own 2 * blockDim.x. Of a `ragged` block the
 * second half may be short. The block's total goes to sums[sum_at]. */
template <bool store_sum, bool ragged>
KIT_INLINE void scan_block(int *out, const int *in, int *sums, int n, int sum_at, int first)
{
    int a = threadIdx.x, b = threadIdx.x + blockDim.x;
    if (first == 0) first = blockIdx.x * (blockDim.x << 1);
    scan_shared[scan_padded(a)] = in[first + a];
    scan_shared[scan_padded(b)] = !ragged || b < n ? in[first + b] : 0;

    unsigned stride = scan_up(scan_shared);
    if (threadIdx.x == 0) {
        int last = scan_padded((blockDim.x << 1) - 1);
        if (store_sum) sums[sum_at == 0 ? blockIdx.x : sum_at] = scan_shared[last];
        scan_shared[last] = 0;
    }
    scan_down(scan_shared, stride);
    __syncthreads();

    out[first + a] = scan_shared[scan_padded(a)];
    if (!ragged || b < n) out[first + b] = scan_shared[scan_padded(b)];
}

KERNEL prescan(int *out, const int *in, int *sums, int n, int sum_at, int first)
{
    scan_block<false, false>(out, in, sums, n, sum_at, first);
}
KERNEL prescan_ragged(int *out, const int *in, int *sums, int n, int sum_at, int first)
{
    scan_block<false, true>(out, in, sums, n, sum_at, first);
}
KERNEL prescan_sums(int *out, const int *in, int *sums, int n, int sum_at, int first)
{
    scan_block<true, false>(out, in, sums, n, sum_at, first);
}
KERNEL prescan_sums_ragged(int *out, const int *in, int *sums, int n, int sum_at, int first)
{
    scan_block<true, true>(out, in, sums, n, sum_at, first);
}

KERNEL uniformAdd(int *data, const int *sums, int n, int sum_at, int first)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = sums[blockIdx.x + sum_at];
    int at = blockIdx.x * (blockDim.x << 1) + first + threadIdx.x;
    __syncthreads();
    data[at] += sum;
    if ((int)(threadIdx.x + blockDim.x) < n) data[at + blockDim.x] += sum;
}

#endif
