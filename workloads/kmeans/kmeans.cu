/* kmeans: Rodinia's two kernels. invert_mapping turns the points from point-major to feature-major: a lane
 * reads its own point, so a load touches a line a lane, each line serves the next 31 features of its
 * point, and a warp starts 4352 bytes (34 features of 32 points) after the one before. kmeansPoint then
 * reads the turned array through the texture path, each fetch one line a warp, with the centres in
 * constant memory. */
#include "kit/device.h"

#define CLUSTERS_MAX 32
#define FEATURES_MAX 34

__constant__ float c_clusters[CLUSTERS_MAX * FEATURES_MAX];

/* The loops stay rolled: one static load is all of APRES's Table I, so the papers' compilers did not
 * unroll it. */
KERNEL invert_mapping(const float *input, float *output, int npoints, int nfeatures)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= npoints) return;
#pragma unroll 1
    for (int f = 0; f < nfeatures; f++) output[point + npoints * f] = input[point * nfeatures + f];
}

KERNEL kmeansPoint(unsigned long long t_features, int nfeatures, int npoints, int nclusters, int *membership)
{
    int block = gridDim.x * blockIdx.y + blockIdx.x;
    int point = block * blockDim.x * blockDim.y + threadIdx.x;
    if (point >= npoints) return;
    float nearest = 3.402823466e+38f;
    int best = -1;
#pragma unroll 1
    for (int c = 0; c < nclusters; c++) {
        float distance = 0;
#pragma unroll 1
        for (int f = 0; f < nfeatures; f++) {
            float diff = kit_tex1d_float(t_features, point + f * npoints) - c_clusters[c * nfeatures + f];
            distance += diff * diff;
        }
        if (distance < nearest) {
            nearest = distance;
            best = c;
        }
    }
    membership[point] = best;
}
