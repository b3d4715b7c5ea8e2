/* graph-color: first-fit colouring of the Graph suite (Grosset et al.). Each thread colours a run of
 * vertices one after the other, all threads at once; then neighbours that got the same colour in different
 * runs are found, the greater one loses its colour, and another pass colours what is left. The adjacency
 * list has a fixed stride of the largest degree, so the lanes of a warp are kilobytes apart, and each
 * walks its own lines. */
#include "kit/device.h"

#define COLOURS 256 /* at least the largest degree and two */

/* The smallest colour from 1 that no neighbour has; 0 means none yet. */
KIT_INLINE int first_fit(const int *adjacency, const int *colours, int vertex, int max_degree)
{
    int used[COLOURS]; /* in local memory */
    for (int c = 0; c < COLOURS; c++) used[c] = 0;
#pragma unroll 1
    for (int j = 0; j < max_degree; j++) {
        int neighbour = adjacency[vertex * max_degree + j];
        if (neighbour == -1) break;
        used[colours[neighbour]] = 1;
    }
#pragma unroll 1
    for (int c = 1; c < COLOURS; c++)
        if (used[c] != 1) return c;
    return 0;
}

KERNEL colorGraph_FF(const int *adjacency, int *colours, int max_degree, const int *first, const int *end)
{
    int partition = blockIdx.x * blockDim.x + threadIdx.x, last = end[partition];
    for (int v = first[partition]; v < last; v++) colours[v] = first_fit(adjacency, colours, v, max_degree);
}

KERNEL recolorGraph_FF(const int *adjacency, int *colours, int max_degree, const int *first, const int *end)
{
    int partition = blockIdx.x * blockDim.x + threadIdx.x, last = end[partition];
    for (int v = first[partition]; v < last; v++) {
        if (colours[v] != 0) continue;
        colours[v] = first_fit(adjacency, colours, v, max_degree);
    }
}

/* One thread a vertex that has neighbours in another run. */
KERNEL conflictsDetection(const int *adjacency, const int *boundary, int *colours, int *conflict, int n,
                          int max_degree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int from = boundary[i];
#pragma unroll 1
    for (int j = 0; j < max_degree; j++) {
        int to = adjacency[from * max_degree + j];
        if (to == -1) break;
        if (from >= to && colours[from] == colours[to]) {
            conflict[i] = from;
            colours[from] = 0;
        }
    }
}
