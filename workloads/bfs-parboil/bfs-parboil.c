/* bfs-parboil: host side. */
#include "kit/kit.h"

#define BLOCK      512
#define BLOCKS_MAX 14
#define DEGREE     6
#define FAR        INT32_MAX

enum colour { WHITE = 16677217, GRAY0 = 16677219, GRAY1, BLACK };

struct pair { /* of a node: first edge and number of edges; of an edge: head and length */
    int x, y;
};
struct graph { /* as the kernels take it */
    CUtexObject nodes, edges;
    CUdeviceptr colour, cost;
};

/* Near-regular, as the random graphs of the DAC 2010 paper: six heads a node, drawn at random. The queues of
 * a block hold 64 x 6 nodes and a little more each, so a larger degree would not do. */
static void make_graph(int n, struct pair *nodes, struct pair *edges)
{
    for (int v = 0; v < n; v++) {
        nodes[v] = (struct pair){v * DEGREE, DEGREE};
        for (int i = 0; i < DEGREE; i++)
            edges[v * DEGREE + i] = (struct pair){(int)kit_below((uint32_t)n), 1};
    }
}

/* By levels, with two lists. */
static void bfs_cpu(int n, const struct pair *nodes, const struct pair *edges, int source, int *cost)
{
    int *now = malloc(n * sizeof *now), *next = malloc(n * sizeof *next), count = 1;
    for (int v = 0; v < n; v++) cost[v] = FAR;
    cost[source] = 0;
    now[0] = source;
    for (int level = 1; count; level++) {
        int found = 0;
        for (int i = 0; i < count; i++)
            for (int e = nodes[now[i]].x; e < nodes[now[i]].x + nodes[now[i]].y; e++) {
                int to = edges[e].x;
                if (cost[to] != FAR) continue;
                cost[to] = level;
                next[found++] = to;
            }
        int *swap = now;
        now = next, next = swap, count = found;
    }
    free(now), free(next);
}

/* The variables that the kernels keep between launches. */
struct search {
    struct graph graph;
    CUdeviceptr queue[2], tail, frontier, switch_k, barriers, overflow;
};

static void search_put(CUdeviceptr at, int value) { kit_put(at, &value, sizeof value); }
static int search_get(CUdeviceptr at)
{
    int value;
    kit_download(&value, at, sizeof value);
    return value;
}

/* One launch for a frontier of n nodes, which is in queue[k % 2]; returns whether it is in the other queue
 * after. */
static bool search_step(struct search *s, int n, int k)
{
    CUdeviceptr from = s->queue[k & 1], to = s->queue[~k & 1];
    int shade = k & 1 ? GRAY1 : GRAY0;
    unsigned blocks = (n + BLOCK - 1) / BLOCK;
    if (blocks == 1) {
        KIT_LAUNCH("BFS_in_GPU_kernel", KIT_DIM(1), KIT_DIM(BLOCK), 0, from, to, s->graph, n, s->tail, shade,
                   s->overflow);
        return true;
    }
    if (blocks > BLOCKS_MAX) {
        KIT_LAUNCH("BFS_kernel", KIT_DIM(blocks), KIT_DIM(BLOCK), 0, from, to, s->graph, n, s->tail, shade,
                   s->overflow);
        return true;
    }
    search_put(s->frontier, n);
    KIT_LAUNCH("BFS_kernel_multi_blk_inGPU", KIT_DIM(BLOCKS_MAX), KIT_DIM(BLOCK), 0, from, to, s->graph,
               s->frontier, s->tail, shade, s->switch_k, s->barriers, s->overflow);
    return search_get(s->switch_k);
}

static int search_run(struct search *s)
{
    int launches = 0;
    for (int k = 0;; launches++) {
        int n = search_get(s->tail);
        search_put(s->tail, 0);
        if (n == 0) return launches;
        if (search_step(s, n, k)) k++;
        if (search_get(s->overflow)) kit_fail("a queue of a block is full");
    }
}

int main(int argc, char **argv)
{
    kit_open("bfs-parboil", argc, argv);
    int n = (const int[]){16384, 65536, 8500000}[kit_size()], source = 0;
    size_t edges = (size_t)n * DEGREE, bytes = n * sizeof(int);
    struct pair *node = kit_host(n * sizeof *node), *edge = kit_host(edges * sizeof *edge);
    make_graph(n, node, edge);
    int *cost = kit_host(bytes), *colour = kit_host(bytes), *want = kit_host(bytes);
    for (int v = 0; v < n; v++) cost[v] = v == source ? 0 : FAR, colour[v] = WHITE;

    CUdeviceptr dnode = kit_upload(node, n * sizeof *node), dedge = kit_upload(edge, edges * sizeof *edge);
    struct search s = {
        .graph = {kit_texture(dnode, n * sizeof *node, CU_AD_FORMAT_UNSIGNED_INT32, 2),
                  kit_texture(dedge, edges * sizeof *edge, CU_AD_FORMAT_UNSIGNED_INT32, 2),
                  kit_upload(colour, bytes), kit_upload(cost, bytes)},
        .queue = {kit_alloc(bytes), kit_alloc(bytes)},
        .tail = kit_alloc(sizeof(int)),
        .frontier = kit_alloc(sizeof(int)),
        .switch_k = kit_alloc(sizeof(int)),
        .barriers = kit_zeros(sizeof(int)),
        .overflow = kit_zeros(sizeof(int)),
    };
    search_put(s.tail, 1);
    search_put(s.queue[0], source);
    int launches = search_run(&s);
    kit_download(cost, s.graph.cost, bytes);
    kit_note("%d nodes, %zu edges, %d launches", n, edges, launches);

    if (kit_checking()) {
        bfs_cpu(n, node, edge, source, want);
        kit_check_ints("cost", cost, want, n);
    }
    return kit_close();
}
