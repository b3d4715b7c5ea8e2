/* cluster.h: the state of the clustering that streamcluster.c moves along and gain.c has the device look
 * at. */
#ifndef STREAMCLUSTER_CLUSTER_H
#define STREAMCLUSTER_CLUSTER_H

#include "kit/kit.h"

/* As the device sees it, pointer and all. */
struct point {
    float weight;
    const float *coordinates;
    long assigned;
    float cost;
};

struct clustering {
    int points, dimensions;
    struct point *p;
    bool *is_centre;
    long centres;
    /* of one more centre */
    double facility_cost;
    /* calls of the kernel that this size still allows */
    int gains_left;
    /* on the device */
    CUdeviceptr coordinates, dp, table, switches;
};

/* squared */
float point_distance(const struct clustering *c, long a, long b);
void gain_begin(struct clustering *c);
/* Opens a centre at x if that lowers the cost, and closes those that it makes superfluous; how much lower the
 * cost is then. */
double gain_try(struct clustering *c, long x);

#endif
