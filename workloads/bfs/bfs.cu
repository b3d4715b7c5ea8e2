/* bfs: Rodinia's breadth-first search, one thread a node and two kernels a level. The frontier is a mask
 * of bytes; a thread in it walks its edges, whose heads are scattered over the masks and costs of the
 * whole graph. */
#include "kit/device.h"

#define BLOCK 512

struct node {
    int starting, no_of_edges;
};

KERNEL Kernel(const node *nodes, const int *edges, bool *mask, bool *updating, const bool *visited, int *cost,
              int n)
{
    int tid = blockIdx.x * BLOCK + threadIdx.x;
    if (tid >= n || !mask[tid]) return;
    mask[tid] = false;
    /* The bound is read anew each time round, since the stores might alias it. */
    for (int i = nodes[tid].starting; i < nodes[tid].no_of_edges + nodes[tid].starting; i++) {
        int id = edges[i];
        if (visited[id]) continue;
        cost[id] = cost[tid] + 1;
        updating[id] = true;
    }
}

KERNEL Kernel2(bool *mask, bool *updating, bool *visited, bool *over, int n)
{
    int tid = blockIdx.x * BLOCK + threadIdx.x;
    if (tid >= n || !updating[tid]) return;
    mask[tid] = true;
    visited[tid] = true;
    *over = true;
    updating[tid] = false;
}
