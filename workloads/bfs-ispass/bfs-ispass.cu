/* bfs-ispass: the breadth-first search of the ISPASS-2009 set (after Harish and Narayanan), one thread a
 * node and a single kernel a level. A node that a thread puts into the frontier may be met by its own
 * thread in the same launch already; the original has this race, and so have we. */
#include "kit/device.h"

#define BLOCK 256

struct node {
    int starting, no_of_edges;
};

KERNEL Kernel(const node *nodes, const int *edges, bool *mask, bool *visited, int *cost, bool *over, int n)
{
    int tid = blockIdx.x * BLOCK + threadIdx.x;
    if (tid >= n || !mask[tid]) return;
    mask[tid] = false;
    visited[tid] = true;
    /* The bound is read anew each time round, since the stores might alias it. */
    for (int i = nodes[tid].starting; i < nodes[tid].no_of_edges + nodes[tid].starting; i++) {
        int id = edges[i];
        if (visited[id]) continue;
        cost[id] = cost[tid] + 1;
        mask[id] = true;
        *over = true;
    }
}
