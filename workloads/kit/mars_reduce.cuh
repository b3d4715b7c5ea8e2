/* mars_reduce.cuh: the reduce stage of Mars for device code: one thread a group, counted first and then
 * run, as the map. A workload defines reduce_count() and reduce(). */
#ifndef WORKLOAD_MARS_REDUCE_CUH
#define WORKLOAD_MARS_REDUCE_CUH

#include "mars_group.cuh"

/* A group of equal keys: keys and values lie one after the other from those of record `first` on. */
struct mars_group {
    char *keys, *values;
    int first, n;
    const int4 *index;
};

KIT_INLINE void reduce_count(struct mars_group group, struct mars_counts counts);
KIT_INLINE void reduce(struct mars_group group, struct mars_output out);

/* Keys of one group are of one size, which each call reads anew: the compiler cannot know that no store
 * changes it. */
KIT_INLINE char *mars_group_key(struct mars_group group, int i)
{
    return group.keys + i * group.index[group.first].y;
}

KIT_INLINE struct mars_group mars_group_at(struct mars_records in, const int2 *ranges, int i)
{
    int first = ranges[i].x, end = ranges[i].y;
    struct mars_group group = {in.keys + in.index[first].x, in.values + in.index[first].z, first, end - first,
                               in.index};
    return group;
}

KERNEL ReducerCount(struct mars_records in, const int2 *ranges, struct mars_counts counts, int groups)
{
    int thread = mars_thread();
    if (thread < groups) reduce_count(mars_group_at(in, ranges, thread), counts);
}

KERNEL Reducer(struct mars_records in, const int2 *ranges, struct mars_output out, int groups,
               int emitted_in_all)
{
    int thread = mars_thread();
    if (thread >= groups) return;
    mars_emit_from(out, thread, emitted_in_all);
    reduce(mars_group_at(in, ranges, thread), out);
}

#endif
