/* bfs-parboil: host side. */
#include "kit/kit.h"

#define BLOCK        512
#define BLOCKS_MAX   14
#define DEGREE       6
#define ROAD_MISSING 30
#define FAR          INT32_MAX

enum colour { WHITE = 16677217, GRAY0 = 16677219, GRAY1, BLACK };

/* A node: first edge and number of edges. An edge: head and length. */
struct pair {
    int x, y;
};
/* The graph on the host. */
struct network {
    int nodes, edges;
    struct pair *node, *edge;
};
/* The graph on the device, as the kernels take it. */
struct graph {
    CUtexObject nodes, edges;
    CUdeviceptr colour, cost;
};

/* Near-regular graphs of this many nodes, or, with a side, road-like ones of side x side. */
static const struct size {
    const char *name;
    int nodes, side;
} sizes[] = {{"tiny", 16384, 0}, {"small", 0, 514}, {"paper", 8500000, 0}, {"llc", 1048576, 0}};

static struct network network_with_room(int nodes, int edges)
{
    return (struct network){nodes, edges, kit_host(nodes * sizeof(struct pair)),
                            kit_host(edges * sizeof(struct pair))};
}

/* Near-regular, as the random graphs of the DAC 2010 paper: six heads a node, drawn at random. The queues of
 * a block hold 64 x 6 nodes and a little more each, so a larger degree would not do. */
static struct network network_regular(int n)
{
    struct network g = network_with_room(n, n * DEGREE);
    for (int v = 0; v < n; v++) {
        g.node[v] = (struct pair){v * DEGREE, DEGREE};
        for (int i = 0; i < DEGREE; i++)
            g.edge[v * DEGREE + i] = (struct pair){(int)kit_below((uint32_t)n), 1};
    }
    return g;
}

/* A grid of streets, ROAD_MISSING in a hundred of which are missing: 2.8 arcs a node, as New York has. */
static struct network network_road(int side)
{
    struct kit_graph roads = kit_graph_grid(side, side, ROAD_MISSING);
    struct network g = network_with_room(roads.nodes, roads.edges);
    for (int v = 0; v < g.nodes; v++)
        g.node[v] = (struct pair){roads.row[v], roads.row[v + 1] - roads.row[v]};
    for (int e = 0; e < g.edges; e++) g.edge[e] = (struct pair){roads.column[e], 1};
    return g;
}

/* By levels, with two lists. Returns how many nodes are reached. */
static int bfs_cpu(const struct network *g, int source, int *cost)
{
    int n = g->nodes, reached = 1;
    int *now = malloc(n * sizeof *now), *next = malloc(n * sizeof *next), count = 1;
    for (int v = 0; v < n; v++) cost[v] = FAR;
    cost[source] = 0;
    now[0] = source;
    for (int level = 1; count; level++) {
        int found = 0;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < g->node[now[i]].y; k++) {
                int to = g->edge[g->node[now[i]].x + k].x;
                if (cost[to] != FAR) continue;
                cost[to] = level;
                next[found++] = to;
            }
        int *swap = now;
        now = next, next = swap, count = found;
        reached += found;
    }
    free(now), free(next);
    return reached;
}

/* The first node, from the middle on, from which most of the others can be reached: streets that are missing
 * cut a few off. `cost` holds the result of the search from there. */
static int network_source(const struct network *g, int *cost)
{
    int source = g->nodes / 2;
    while (bfs_cpu(g, source, cost) <= g->nodes / 2) source++;
    return source;
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
    const struct size *size = KIT_CHOOSE(sizes);
    struct network g = size->side ? network_road(size->side) : network_regular(size->nodes);
    size_t bytes = g.nodes * sizeof(int);
    int *cost = kit_host(bytes), *colour = kit_host(bytes), *want = kit_host(bytes);
    int source = size->side ? network_source(&g, want) : 0;
    for (int v = 0; v < g.nodes; v++) cost[v] = v == source ? 0 : FAR, colour[v] = WHITE;

    size_t node_bytes = g.nodes * sizeof *g.node, edge_bytes = g.edges * sizeof *g.edge;
    CUdeviceptr dnode = kit_upload(g.node, node_bytes), dedge = kit_upload(g.edge, edge_bytes);
    struct search s = {
        .graph = {kit_texture(dnode, node_bytes, CU_AD_FORMAT_UNSIGNED_INT32, 2),
                  kit_texture(dedge, edge_bytes, CU_AD_FORMAT_UNSIGNED_INT32, 2), kit_upload(colour, bytes),
                  kit_upload(cost, bytes)},
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
    kit_note("%d nodes, %d edges, %d launches", g.nodes, g.edges, launches);

    if (kit_checking()) {
        bfs_cpu(&g, source, want);
        kit_check_ints("cost", cost, want, g.nodes);
    }
    return kit_close();
}
