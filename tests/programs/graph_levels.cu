/* graph_levels: level-synchronous breadth-first search, a thread a node, the host loops until nothing
 * changed. */
#include "test_program.h"
#define KERNELS(K, V) K(bfs_step)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void bfs_step(const int *row, const int *col, int *level, int depth, int *changed,
                                    int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth) return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int w = col[e];
        if (level[w] < 0) {
            level[w] = depth + 1;
            *changed = 1;
        }
    }
}
#endif

int main(void)
{
    int n = 4000, edges = 0;
    int *row = (int *)malloc((n + 1) * 4), *col = (int *)malloc(n * 12 * 4), *want = (int *)malloc(n * 4),
        *queue = (int *)malloc(n * 4);
    for (int v = 0; v < n; v++) {
        row[v] = edges;
        for (unsigned d = program_hash(v) % 6; d > 0; d--)
            col[edges++] = (int)(program_hash(v * 31 + d) % (unsigned)n);
        want[v] = -1;
    }
    row[n] = edges;
    int head = 0, tail = 0;
    want[1] = 0;
    for (queue[tail++] = 1; head < tail; head++)
        for (int e = row[queue[head]]; e < row[queue[head] + 1]; e++)
            if (want[col[e]] < 0) {
                want[col[e]] = want[queue[head]] + 1;
                queue[tail++] = col[e];
            }
    int *level = (int *)malloc(n * 4);
    memset(level, 0xff, n * 4);
    level[1] = 0;
    int *drow = (int *)program_device(row, (n + 1) * 4), *dcol = (int *)program_device(col, edges * 4),
        *dlevel = (int *)program_device(level, n * 4), *dchanged = (int *)program_device(NULL, 4),
        changed = 1;
    for (int depth = 0; changed; depth++) {
        changed = 0;
        CHECK_CUDA(cudaMemcpy(dchanged, &changed, 4, cudaMemcpyHostToDevice));
        LAUNCH(bfs_step, (n + 127) / 128, 128, 0, drow, dcol, dlevel, depth, dchanged, n);
        CHECK_CUDA(cudaMemcpy(&changed, dchanged, 4, cudaMemcpyDeviceToHost));
    }
    return program_end("graph_levels", program_same("level", program_fetch(dlevel, n * 4), want, n));
}
