/* nn: Rodinia's nearest neighbour: the distance of each record to one place. A stream: two loads of the
 * halves of a pair (8 bytes a lane, so two lines a warp, the second load hits what the first brought) and
 * a store. */
#include "kit/device.h"

struct place {
    float lat, lng;
};

KERNEL euclid(const place *locations, float *distances, int records, float lat, float lng)
{
    int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (i >= records) return;
    const place *at = locations + i;
    distances[i] = sqrtf((lat - at->lat) * (lat - at->lat) + (lng - at->lng) * (lng - at->lng));
}
