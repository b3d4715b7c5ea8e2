/* mars.h: host side of the MapReduce framework of the mr- workloads, after Mars (He et al., PACT 2008); the
 * device side and what a record is: mars.cuh. A workload adds its input records, then runs the stages that it
 * has:
 *
 *     struct mars m = {0};
 *     for (...) mars_add(&m, &key, sizeof key, &value, sizeof value);
 *     mars_map(&m);      MapperCount, prefix sums, Mapper
 *     mars_group(&m);    sort by key, copy into that order, find the groups
 *     mars_reduce(&m);   ReducerCount, prefix sums, Reducer
 *     struct mars_result r = mars_result(&m);
 *     mars_close(&m); */
#ifndef WORKLOAD_MARS_H
#define WORKLOAD_MARS_H

#include "kit.h"

#define MARS_BLOCK 256 /* threads in a block of the map and reduce kernels (the original's default) */

struct mars_index {
    int key_at, key_bytes, value_at, value_bytes;
};
struct mars_range {
    int first, end;
};
/* As mars.cuh's struct of the same name. */
struct mars_records {
    CUdeviceptr keys, values, index;
};

struct mars {
    /* input records, on the host */
    struct {
        char *keys, *values;
        struct mars_index *index;
        size_t key_bytes, value_bytes, key_room, value_room, n, room;
    } in;
    /* what the last stage left on the device */
    struct mars_records out;
    int n, n_groups;
    size_t key_bytes, value_bytes;
    /* of mars_group(), or 0 */
    CUdeviceptr ranges;
    /* Indices longer than this are sorted by blocks in shared memory first; 0 = the original's 262144. */
    int chunked_sort_above;
};

void mars_add(struct mars *m, const void *key, size_t key_bytes, const void *value, size_t value_bytes);
void mars_map(struct mars *m);
void mars_group(struct mars *m);
void mars_reduce(struct mars *m);
/* Frees what the stages left on the device and keeps the input: for the next round of a program that
 * iterates. */
void mars_next_round(struct mars *m);
void mars_close(struct mars *m);

/* Copies on the host, which live until kit_close(). */
struct mars_result {
    char *keys, *values;
    struct mars_index *index;
    /* NULL without mars_group() */
    struct mars_range *ranges;
    int n, n_groups;
};
struct mars_result mars_result(const struct mars *m);

#endif
