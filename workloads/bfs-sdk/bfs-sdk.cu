/* bfs-sdk: the plain breadth-first search over compressed rows. The only state of a node is its level, an
 * int that is -1 until the node is found; one thread a node, one kernel a level. A thread whose node is of
 * the current level reads the levels of all heads of its edges: gathers from an array of four bytes a
 * node. */
#include "kit/device.h"

KERNEL bfs_level(const int *row, const int *column, int *level, int *again, int depth, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth) return;
    int end = row[v + 1];
#pragma unroll 1 /* one static load each, as compilers of the time left it */
    for (int e = row[v]; e < end; e++) {
        int to = column[e];
        if (level[to] >= 0) continue;
        level[to] = depth + 1; /* many may write it, all the same */
        *again = 1;
    }
}
