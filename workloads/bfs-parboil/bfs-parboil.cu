/* bfs-parboil: Parboil's breadth-first search with queues (Luo, Wong and Hwu, DAC 2010). The frontier is a
 * queue of nodes; a thread takes one, walks its edges, and puts the nodes it was first to reach into one
 * of eight queues of its block in shared memory, which are then appended to the queue of the grid. Nodes
 * and edges are read as textures. */
#include "kit/device.h"

#define BLOCK      512
#define BLOCKS_MAX 14 /* of the kernel with a barrier over the grid: they must all be resident */
#define QUEUES     8
#define QUEUE_ROOM 400

enum colour { GRAY0 = 16677219, GRAY1, BLACK };

struct block_queues {
    int tail[QUEUES];
    int sharers[QUEUES]; /* threads that use the queue */
    int before[QUEUES];  /* elements in the queues ahead of it */
    int nodes[QUEUES][QUEUE_ROOM];
};

struct graph {
    unsigned long long nodes, edges; /* textures: (first edge, number of edges), (head, length) */
    int *colour, *cost;
};

__device__ volatile int barrier_count, frontier_now, stay;

KIT_INLINE void queues_reset(block_queues *q)
{
    int i = threadIdx.x;
    if (i >= QUEUES) return;
    q->tail[i] = 0;
    q->sharers[i] = blockDim.x / QUEUES + (i < blockDim.x % QUEUES);
}

KIT_INLINE void queues_append(block_queues *q, int node, int *overflow)
{
    int i = threadIdx.x % QUEUES;
    int at = atomicAdd(&q->tail[i], 1);
    if (at < QUEUE_ROOM)
        q->nodes[i][at] = node;
    else
        *overflow = 1;
}

/* By one thread; returns the number of elements. */
KIT_INLINE int queues_scan(block_queues *q)
{
    int sum = 0;
    for (int i = 0; i < QUEUES; i++) {
        q->before[i] = sum;
        sum += q->tail[i];
    }
    return sum;
}

/* By all threads. */
KIT_INLINE void queues_copy(const block_queues *q, int *to)
{
    int i = threadIdx.x % QUEUES;
#pragma unroll 1
    for (int at = threadIdx.x / QUEUES; at < q->tail[i]; at += q->sharers[i])
        to[q->before[i] + at] = q->nodes[i][at];
}

KIT_INLINE void visit_node(const graph &g, int node, int own_cost, int shade, block_queues *q, int *overflow)
{
    g.colour[node] = BLACK;
    uint4 row = kit_tex1d_uint4(g.nodes, node);
#pragma unroll 1
    for (unsigned i = row.x; i < row.x + row.y; i++) {
        uint4 edge = kit_tex1d_uint4(g.edges, i);
        int to = edge.x, cost = (int)edge.y + own_cost;
        if (atomicMin(&g.cost[to], cost) <= cost) continue;
        if (atomicExch(&g.colour[to], shade) != shade) queues_append(q, to, overflow);
    }
}

/* One block, as many levels as its threads suffice for; the frontier stays in shared memory. */
KERNEL BFS_in_GPU_kernel(const int *q1, int *q2, graph g, int n, int *tail, int shade, int *overflow)
{
    __shared__ block_queues q;
    __shared__ int next[BLOCK], found;
    if (threadIdx.x == 0) found = 0;
    for (;;) {
        queues_reset(&q);
        __syncthreads();
        int tid = threadIdx.x;
        if (tid < n) {
            int node = found == 0 ? q1[tid] : next[tid];
            visit_node(g, node, g.cost[node], shade, &q, overflow);
        }
        __syncthreads();
        if (tid == 0) *tail = found = queues_scan(&q);
        __syncthreads();
        if (found == 0) return;
        if (found > BLOCK) break;
        queues_copy(&q, next);
        __syncthreads();
        n = found;
        shade = shade == GRAY0 ? GRAY1 : GRAY0;
    }
    queues_copy(&q, q2);
}

/* All blocks wait until `rounds` times the grid has come by. */
KIT_INLINE void grid_barrier(int rounds)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd((int *)&barrier_count, 1);
        while (barrier_count < BLOCKS_MAX * rounds) {}
        __threadfence();
    }
    __syncthreads();
}

/* Fourteen blocks, as many levels as the frontier fits them and is too large for one. What another block
 * wrote in the same launch is read by atomic operations, since the L1 may hold an older copy. */
KERNEL BFS_kernel_multi_blk_inGPU(int *q1, int *q2, graph g, int *frontier, int *tail, int shade,
                                  int *switch_k, int *barriers, int *overflow)
{
    __shared__ block_queues q;
    __shared__ int shift;
    int done = atomicOr(barriers, 0), n = *frontier;
    bool odd = true;
    for (;;) {
        queues_reset(&q);
        __syncthreads();
        int tid = blockIdx.x * BLOCK + threadIdx.x;
        if (tid < n) {
            int node = atomicOr(odd ? &q1[tid] : &q2[tid], 0);
            visit_node(g, node, atomicOr(&g.cost[node], 0), shade, &q, overflow);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int found = queues_scan(&q);
            shift = atomicAdd(tail, found);
        }
        __syncthreads();
        queues_copy(&q, (odd ? q2 : q1) + shift);
        odd = !odd;
        shade = shade == GRAY0 ? GRAY1 : GRAY0;

        grid_barrier(done + 1);
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            int found = atomicOr(tail, 0);
            stay = found < BLOCKS_MAX * BLOCK && found > BLOCK;
            if (stay) {
                frontier_now = found;
                *tail = 0;
            }
        }
        grid_barrier(done + 2);
        done += 2;
        if (!stay) break;
        n = frontier_now;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *barriers = done;
        *switch_k = !odd;
    }
}

/* A frontier of any size, one level. */
KERNEL BFS_kernel(const int *q1, int *q2, graph g, int n, int *tail, int shade, int *overflow)
{
    __shared__ block_queues q;
    __shared__ int shift;
    queues_reset(&q);
    __syncthreads();
    int tid = blockIdx.x * BLOCK + threadIdx.x;
    if (tid < n) {
        int node = q1[tid];
        visit_node(g, node, g.cost[node], shade, &q, overflow);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int found = queues_scan(&q);
        shift = atomicAdd(tail, found);
    }
    __syncthreads();
    queues_copy(&q, q2 + shift);
}
