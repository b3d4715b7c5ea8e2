/* mars.c: host side of the MapReduce framework: the kernels of mars*.cuh in the order of the original. */
#include "mars.h"

#define SCAN_BLOCK   256 /* threads; each scans two elements */
#define SORT_BLOCK   256
#define CHUNK_BLOCKS 256 /* blocks in one launch of the sort's shared-memory kernels */
#define LIST_BLOCK                                                                                           \
    512 /* threads of the kernels that run over the index, at most LIST_BLOCKS blocks a launch */
#define LIST_BLOCKS 512
#define COPY_BLOCK  128

/* As mars.cuh's structs of the same names. */
struct mars_counts {
    CUdeviceptr key_bytes, value_bytes, records;
};
struct mars_output {
    CUdeviceptr key_start, value_start, record_start, written, emitted;
    struct mars_records to;
};

static int ceil_div(int a, int b) { return (a + b - 1) / b; }
static int floor_power_of_two(int n)
{
    int power = 1;
    while (power <= n / 2) power *= 2;
    return power;
}

/* ---- input ---- */
static char *grown(char *data, size_t used, size_t more, size_t *room)
{
    if (used + more <= *room) return data;
    *room = 2 * *room + more + 4096;
    data = realloc(data, *room);
    if (!data) kit_fail("no memory for %zu bytes", *room);
    return data;
}

void mars_add(struct mars *m, const void *key, size_t key_bytes, const void *value, size_t value_bytes)
{
    m->in.keys = grown(m->in.keys, m->in.key_bytes, key_bytes, &m->in.key_room);
    m->in.values = grown(m->in.values, m->in.value_bytes, value_bytes, &m->in.value_room);
    m->in.index =
        (void *)grown((char *)m->in.index, m->in.n * sizeof *m->in.index, sizeof *m->in.index, &m->in.room);
    memcpy(m->in.keys + m->in.key_bytes, key, key_bytes);
    memcpy(m->in.values + m->in.value_bytes, value, value_bytes);
    m->in.index[m->in.n++] =
        (struct mars_index){(int)m->in.key_bytes, (int)key_bytes, (int)m->in.value_bytes, (int)value_bytes};
    m->in.key_bytes += key_bytes;
    m->in.value_bytes += value_bytes;
}

/* ---- prefix sums ---- */
static unsigned scan_shared(int threads)
{
    return (unsigned)sizeof(int) * (2 * threads + 2 * threads / 16 + 1);
}

/* Blocks of 512 elements, then their sums by the same way, then the sums added back. A last block that is not
 * full is a launch of its own, with no more threads than it needs. */
static void scan(CUdeviceptr out, CUdeviceptr in, int n)
{
    CUdeviceptr sums = 0;
    int block = 2 * SCAN_BLOCK, blocks = ceil_div(n, block), zero = 0;
    if (blocks <= 1) {
        bool ragged = n == 1 || floor_power_of_two(n) != n;
        int threads = ragged ? floor_power_of_two(n) : n / 2;
        KIT_LAUNCH(ragged ? "prescan_ragged" : "prescan", KIT_DIM(1), KIT_DIM(threads), scan_shared(threads),
                   out, in, sums, n, zero, zero);
        return;
    }
    int rest = n % block, full = rest ? blocks - 1 : blocks, first = n - rest;
    int rest_threads = rest ? floor_power_of_two(rest) : 0;
    if (rest > 1 && rest_threads == rest) rest_threads /= 2;
    sums = kit_alloc(blocks * sizeof(int));
    KIT_LAUNCH("prescan_sums", KIT_DIM(full), KIT_DIM(SCAN_BLOCK), scan_shared(SCAN_BLOCK), out, in, sums,
               block, zero, zero);
    if (rest)
        KIT_LAUNCH("prescan_sums_ragged", KIT_DIM(1), KIT_DIM(rest_threads), scan_shared(rest_threads), out,
                   in, sums, rest, full, first);
    scan(sums, sums, blocks);
    KIT_LAUNCH("uniformAdd", KIT_DIM(full), KIT_DIM(SCAN_BLOCK), 0, out, sums, block, zero, zero);
    if (rest) KIT_LAUNCH("uniformAdd", KIT_DIM(1), KIT_DIM(rest_threads), 0, out, sums, rest, full, first);
    kit_free(sums);
}

/* Of n ints at `in`: the prefix sums and the total. */
static CUdeviceptr scanned(CUdeviceptr in, int n, int *total)
{
    CUdeviceptr out = kit_alloc(n * sizeof(int));
    scan(out, in, n);
    int last_start, last;
    kit_download(&last_start, out + (n - 1) * sizeof(int), sizeof last_start);
    kit_download(&last, in + (n - 1) * sizeof(int), sizeof last);
    *total = last_start + last;
    return out;
}

/* ---- map and reduce: what is common to both ---- */
static struct mars_counts counts_new(int threads)
{
    size_t bytes = threads * sizeof(int);
    return (struct mars_counts){kit_zeros(bytes), kit_zeros(bytes), kit_zeros(bytes)};
}

/* Turns the counts into places, and makes room for what will be emitted. */
static struct mars_output output_new(struct mars *m, const struct mars_counts *counts, int threads)
{
    int key_bytes, value_bytes;
    struct mars_output out = {.key_start = scanned(counts->key_bytes, threads, &key_bytes),
                              .value_start = scanned(counts->value_bytes, threads, &value_bytes),
                              .record_start = scanned(counts->records, threads, &m->n)};
    m->key_bytes = key_bytes;
    m->value_bytes = value_bytes;
    out.to = (struct mars_records){kit_zeros(m->key_bytes), kit_zeros(m->value_bytes),
                                   kit_zeros(m->n * sizeof(struct mars_index))};
    out.written = kit_zeros(2 * threads * sizeof(int));
    out.emitted = kit_zeros(threads * sizeof(int));
    return out;
}

static void output_close(struct mars_output *out, struct mars_counts *counts)
{
    CUdeviceptr done[] = {counts->key_bytes, counts->value_bytes, counts->records, out->key_start,
                          out->value_start,  out->record_start,   out->written,    out->emitted};
    for (unsigned i = 0; i < sizeof done / sizeof *done; i++) kit_free(done[i]);
}

static void records_free(struct mars_records *records)
{
    kit_free(records->keys);
    kit_free(records->values);
    kit_free(records->index);
}

void mars_map(struct mars *m)
{
    int records = (int)m->in.n, blocks = ceil_div(records, MARS_BLOCK), threads = blocks * MARS_BLOCK;
    struct kit_dim grid = KIT_DIM(blocks), block = KIT_DIM(MARS_BLOCK);
    struct mars_records in = {kit_upload(m->in.keys, m->in.key_bytes),
                              kit_upload(m->in.values, m->in.value_bytes),
                              kit_upload(m->in.index, records * sizeof *m->in.index)};
    struct mars_counts counts = counts_new(threads);
    KIT_LAUNCH("MapperCount", grid, block, 0, in, counts, records);
    struct mars_output out = output_new(m, &counts, threads);
    if (m->n == 0) kit_fail("the map emits nothing");
    KIT_LAUNCH("Mapper", grid, block, MARS_BLOCK * 5 * sizeof(int), in, out, records, m->n);
    m->out = out.to;
    m->n_groups = m->n;
    output_close(&out, &counts);
    records_free(&in);
}

void mars_reduce(struct mars *m)
{
    int blocks = ceil_div(m->n_groups, MARS_BLOCK), threads = blocks * MARS_BLOCK;
    struct kit_dim grid = KIT_DIM(blocks), block = KIT_DIM(MARS_BLOCK);
    struct mars_records in = m->out;
    struct mars_counts counts = counts_new(threads);
    KIT_LAUNCH("ReducerCount", grid, block, 0, in, m->ranges, counts, m->n_groups);
    struct mars_output out = output_new(m, &counts, threads);
    KIT_LAUNCH("Reducer", grid, block, MARS_BLOCK * 5 * sizeof(int), in, m->ranges, out, m->n_groups, m->n);
    m->out = out.to;
    output_close(&out, &counts);
    records_free(&in);
}

/* ---- group ---- */
/* A loop over n records in launches of at most LIST_BLOCKS blocks of `block` threads: each goes from record
 * `first` on with `lists_blocks` blocks. The original launches all LIST_BLOCKS always; those past the end
 * would leave at once. */
#define FOR_LISTS(n, block)                                                                                  \
    for (int first = 0, lists_blocks; first < (n) && (lists_blocks = list_blocks((n)-first, block));         \
         first += LIST_BLOCKS * (block))
static int list_blocks(int rest, int block)
{
    int blocks = ceil_div(rest, block);
    return blocks < LIST_BLOCKS ? blocks : LIST_BLOCKS;
}
#define LIST_LAUNCH(kernel, n, ...)                                                                          \
    FOR_LISTS(n, LIST_BLOCK) KIT_LAUNCH(kernel, KIT_DIM(lists_blocks), KIT_DIM(LIST_BLOCK), 0, __VA_ARGS__)

static void sort_whole(CUdeviceptr keys, CUdeviceptr index, int n)
{
    for (int run = 2; run <= n; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2)
            KIT_LAUNCH("bitonicKernel", KIT_DIM(n / SORT_BLOCK), KIT_DIM(SORT_BLOCK), 0, keys, index, run,
                       distance);
}

static void sort_chunked(CUdeviceptr keys, CUdeviceptr index, int n)
{
    int blocks = n / SORT_BLOCK, chunks = ceil_div(blocks, CHUNK_BLOCKS);
    struct kit_dim chunk_grid = KIT_DIM(blocks < CHUNK_BLOCKS ? blocks : CHUNK_BLOCKS),
                   block = KIT_DIM(SORT_BLOCK);
    for (int chunk = 0; chunk < chunks; chunk++)
        KIT_LAUNCH("unitBitonicSortKernel", chunk_grid, block, 0, keys, index, chunk);
    for (int run = 2 * SORT_BLOCK; run <= n; run *= 2) {
        for (int distance = run / 2; distance > SORT_BLOCK / 2; distance /= 2)
            KIT_LAUNCH("bitonicKernel", KIT_DIM(blocks), block, 0, keys, index, run, distance);
        int unit = run / SORT_BLOCK;
        for (int chunk = 0; chunk < chunks; chunk++)
            KIT_LAUNCH("partBitonicSortKernel", chunk_grid, block, 0, keys, index, chunk, unit);
    }
}

/* A sorted copy of the index. */
static CUdeviceptr sorted_index(const struct mars *m)
{
    const size_t record = sizeof(struct mars_index);
    CUdeviceptr keys = m->out.keys, from = m->out.index, sorted = kit_alloc(m->n * record);
    int n = m->n;
    if (n <= SORT_BLOCK) {
        KIT_LAUNCH("bitonicSortSingleBlock_kernel", KIT_DIM(1), KIT_DIM(SORT_BLOCK), 0, keys, from, n,
                   sorted);
        return sorted;
    }
    int padded = floor_power_of_two(n);
    if (padded < n) padded *= 2;
    CUdeviceptr index = kit_alloc(padded * record);
    LIST_LAUNCH("initialize_kernel", padded, index, first, padded);
    kit_copy(index, from, n * record);
    if (n > (m->chunked_sort_above ? m->chunked_sort_above : 256 * 1024))
        sort_chunked(keys, index, padded);
    else
        sort_whole(keys, index, padded);
    kit_copy(sorted, index + (padded - n) * record, n * record);
    kit_free(index);
    return sorted;
}

/* Copies the keys or the values, of which `part` says offset and size, one after the other; `part` gets the
 * new offsets. */
static CUdeviceptr copied_in_order(CUdeviceptr from, size_t bytes, CUdeviceptr part, int n)
{
    CUdeviceptr to = kit_alloc(bytes), sizes = kit_alloc(n * sizeof(int)),
                starts = kit_alloc(n * sizeof(int));
    LIST_LAUNCH("getIntYArray_kernel", n, part, first, n, sizes);
    scan(starts, sizes, n);
    FOR_LISTS(n, COPY_BLOCK)
    KIT_LAUNCH("copyChunks_kernel", KIT_DIM(lists_blocks), KIT_DIM(COPY_BLOCK), 0, from, first, part, n,
               starts, to);
    kit_free(sizes);
    kit_free(starts);
    return to;
}

static void find_groups(struct mars *m)
{
    int n = m->n;
    CUdeviceptr keys = m->out.keys, index = m->out.index, starts = kit_alloc(n * sizeof(int));
    LIST_LAUNCH("getChunkBoundary_kernel", n, keys, first, index, n, starts);
    CUdeviceptr group = scanned(starts, n, &m->n_groups), boundary = kit_alloc(m->n_groups * sizeof(int));
    LIST_LAUNCH("writeBoundary_kernel", n, first, n, starts, group, boundary);
    m->ranges = kit_alloc(m->n_groups * sizeof(struct mars_range));
    LIST_LAUNCH("setBoundaryInt2_kernel", m->n_groups, boundary, first, m->n_groups, n, m->ranges);
    kit_free(starts);
    kit_free(group);
    kit_free(boundary);
}

void mars_group(struct mars *m)
{
    int n = m->n;
    struct mars_records grouped = {.index = sorted_index(m)};
    CUdeviceptr part = kit_alloc(2 * n * sizeof(int));
    LIST_LAUNCH("getZWArray_kernel", n, grouped.index, first, n, part);
    grouped.values = copied_in_order(m->out.values, m->value_bytes, part, n);
    LIST_LAUNCH("setZWArray_kernel", n, grouped.index, first, n, part);
    LIST_LAUNCH("getXYArray_kernel", n, grouped.index, first, n, part);
    grouped.keys = copied_in_order(m->out.keys, m->key_bytes, part, n);
    LIST_LAUNCH("setXYArray_kernel", n, grouped.index, first, n, part);
    kit_free(part);
    records_free(&m->out);
    m->out = grouped;
    find_groups(m);
}

/* ---- results ---- */
struct mars_result mars_result(const struct mars *m)
{
    struct mars_result r = {.keys = kit_host(m->key_bytes),
                            .values = kit_host(m->value_bytes),
                            .n = m->n,
                            .n_groups = m->n_groups};
    r.index = kit_host(m->n * sizeof *r.index);
    kit_download(r.keys, m->out.keys, m->key_bytes);
    kit_download(r.values, m->out.values, m->value_bytes);
    kit_download(r.index, m->out.index, m->n * sizeof *r.index);
    if (m->ranges) {
        r.ranges = kit_host(m->n_groups * sizeof *r.ranges);
        kit_download(r.ranges, m->ranges, m->n_groups * sizeof *r.ranges);
    }
    return r;
}

void mars_next_round(struct mars *m)
{
    records_free(&m->out);
    if (m->ranges) kit_free(m->ranges);
    m->ranges = 0;
}

void mars_close(struct mars *m)
{
    mars_next_round(m);
    free(m->in.keys);
    free(m->in.values);
    free(m->in.index);
}
