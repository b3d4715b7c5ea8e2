/* mr-km: k-means on Mars. Each round maps every point to its nearest centre, groups the points by cluster,
 * and reduces each group to its new centre. Keys and values are structs of pointers into the data: the map
 * copies them byte by byte (48 bytes a point), the sort finds a key's cluster through two more loads, and
 * the reduce has one thread a cluster. */
#include "kit/mars_reduce.cuh"

struct km_key {
    int point, dimensions, clusters;
    int *cluster_of;
};
struct km_value {
    int *points, *centres, *changed;
};

KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts)
{
    mars_emit_count(counts, sizeof(struct km_key), sizeof(struct km_value));
}

KIT_INLINE int distance_square(const int *a, const int *b, int dimensions)
{
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < dimensions; i++) {
        int delta = a[i] - b[i];
        sum += delta * delta;
    }
    return sum;
}

KIT_INLINE void map(char *key, char *value, struct mars_output out)
{
    const struct km_key *own = (const struct km_key *)key;
    const struct km_value *data = (const struct km_value *)value;
    int dimensions = own->dimensions, clusters = own->clusters, id = own->point;
    int before = own->cluster_of[id], nearest = before;
    const int *point = data->points + id * dimensions, *centres = data->centres;
    int *changed = data->changed;
    int least = distance_square(point, centres + before * dimensions, dimensions);
#pragma unroll 1
    for (int i = 0; i < clusters; i++) {
        int square = distance_square(point, centres + i * dimensions, dimensions);
        if (square < least) {
            nearest = i;
            least = square;
        }
    }
    if (nearest != before) {
        *changed = 1;
        own->cluster_of[id] = nearest;
    }
    __syncthreads();
    mars_emit(out, key, value, sizeof(struct km_key), sizeof(struct km_value));
}

KIT_INLINE int compare(const char *a, int a_bytes, const char *b, int b_bytes)
{
    const struct km_key *x = (const struct km_key *)a, *y = (const struct km_key *)b;
    int x_cluster = x->cluster_of[x->point], y_cluster = y->cluster_of[y->point];
    return x_cluster > y_cluster ? 1 : x_cluster < y_cluster ? -1 : 0;
}

KIT_INLINE void reduce_count(struct mars_group group, struct mars_counts counts)
{
    mars_emit_count(counts, sizeof(struct km_key), sizeof(struct km_value));
}

/* The new centre goes straight to its place, nothing is emitted; the sums are kept in memory, not in
 * registers. */
KIT_INLINE void reduce(struct mars_group group, struct mars_output out)
{
    const struct km_key *key = (const struct km_key *)group.keys;
    const struct km_value *value = (const struct km_value *)group.values;
    int dimensions = key->dimensions;
    int *centre = value->centres + key->cluster_of[key->point] * dimensions;
    const int *points = value->points;
    for (int j = 0; j < dimensions; j++) centre[j] = 0;
#pragma unroll 1
    for (int i = 0; i < group.n; i++) {
        const int *point = points + ((const struct km_key *)mars_group_key(group, i))->point * dimensions;
#pragma unroll 1
        for (int j = 0; j < dimensions; j++) centre[j] += point[j];
    }
    for (int j = 0; j < dimensions; j++) centre[j] /= group.n;
}
