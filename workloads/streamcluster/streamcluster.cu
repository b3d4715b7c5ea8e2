/* streamcluster: what would it save each point to be served by a new centre x? One thread a point, as in Rodinia.
 * The coordinates lie dimension by dimension, so that a warp reads one line of its points and one word, the same
 * for all, of x. */
#include "kit/device.h"

struct point {
    float weight;
    const float *coordinates; /* the host's; nobody reads it here, but it makes a point 32 bytes */
    long assigned;            /* the point that is its centre */
    float cost;               /* weight times squared distance to it */
};

KIT_INLINE float distance_squared(int a, int b, int points, int dimensions, const float *coordinates)
{
    float sum = 0;
#pragma unroll 1 /* as the compilers of the original's day left it */
    for (int i = 0; i < dimensions; i++) {
        float difference = coordinates[i * points + a] - coordinates[i * points + b];
        sum += difference * difference;
    }
    return sum;
}

/* `work` has a row of one word a centre and one more (number `centres`) for each point. */
KERNEL kernel_compute_cost(int points, int dimensions, long x, const struct point *p, int centres, int stride,
                           const float *coordinates, float *work, const int *centre_table,
                           bool *switch_membership)
{
    int block = blockIdx.x + gridDim.x * blockIdx.y;
    int i = blockDim.x * block + threadIdx.x;
    if (i >= points) return;
    float *lower = &work[i * stride];
    float cost = distance_squared(i, (int)x, points, dimensions, coordinates) * p[i].weight;
    if (cost < p[i].cost) {
        switch_membership[i] = true;
        lower[centres] += cost - p[i].cost;
    } else {
        lower[centre_table[p[i].assigned]] += p[i].cost - cost;
    }
}
