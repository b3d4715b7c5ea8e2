/* pagerank: Pannotia's page rank, one thread a node. Each node pushes its share of rank to the heads of
 * its edges with an atomic addition; a second kernel applies the damping and clears the sums for the next
 * round. */
#include "kit/device.h"

KERNEL inibuffer(float *rank, float *sum, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) return;
    rank[tid] = 1 / (float)n;
    sum[tid] = 0.0f;
}

KERNEL pagerank1(const int *row, const int *column, const float *rank, float *sum, int n, int edges)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) return;
    int start = row[tid];
    int end = tid + 1 < n ? row[tid + 1] : edges; /* the row array has no closing entry */
    /* The rank is read and divided anew for each edge, since the additions might alias it. */
#pragma unroll 1 /* one static load each, as compilers of the time left it */
    for (int edge = start; edge < end; edge++)
        atomicAdd(&sum[column[edge]], rank[tid] / (float)(end - start));
}

KERNEL pagerank2(float *rank, float *sum, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) return;
    rank[tid] = 0.15 / (float)n + 0.85 * sum[tid]; /* in double, as the constants say */
    sum[tid] = 0.0f;
}
