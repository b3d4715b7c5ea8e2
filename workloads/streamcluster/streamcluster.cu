/* streamcluster: what would it save each point to be served by a new centre x? One thread a point, as in
 * Rodinia's kernel_compute_cost. The coordinates lie dimension by dimension, so that a warp reads one line
 * of its points in each round; the word of x in the same round is one line that all warps of the machine
 * want. */
#include "kit/device.h"

struct point {
    float weight;
    const float *coordinates; /* the host's; nobody reads it here, but it makes a point 32 bytes */
    long assigned;            /* the point that is its centre */
    float cost;               /* weight times squared distance to it */
};

/* `work` has a row of one word a centre and one more (number `centres`) for each point. */
KERNEL kernel_compute_cost(int points, int dimensions, long x, const struct point *p, int centres,
                           const float *coordinates, float *work, const int *centre_table,
                           bool *switch_membership)
{
    int block = blockIdx.x + gridDim.x * blockIdx.y;
    int i = blockDim.x * block + threadIdx.x;
    if (i >= points) return;

    float cost = 0;
#pragma unroll 1
    for (int d = 0; d < dimensions; d++) {
        float difference = coordinates[d * points + i] - coordinates[d * points + x];
        cost += difference * difference;
    }
    cost = cost * p[i].weight;
    float now = p[i].cost, *lower = &work[i * (centres + 1)];
    if (cost < now) {
        switch_membership[i] = true;
        lower[centres] += cost - now;
    } else {
        lower[centre_table[p[i].assigned]] += now - cost;
    }
}
