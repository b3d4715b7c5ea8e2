/* bfs: host side. */
#include "kit/kit.h"

#define BLOCK 512

struct node {
    int starting, no_of_edges;
};
struct graph {
    int n, edges;
    struct node *nodes;
    int *heads;
};

/* Rodinia's graph generator: every node draws two to four others at random and each edge is entered at both
 * ends, so that the degree is 6 on average, at least 2, with a Poisson's tail. */
static struct graph graph_generate(int n)
{
    struct graph g = {.n = n, .nodes = kit_host(n * sizeof(struct node))};
    int *drawn = malloc((size_t)n * 4 * sizeof *drawn);
    for (int i = 0; i < n * 4; i++) drawn[i] = -1;
    for (int v = 0; v < n; v++) {
        int count = 2 + (int)kit_below(3);
        for (int i = 0; i < count; i++) {
            int other = drawn[v * 4 + i] = (int)kit_below((uint32_t)n);
            g.nodes[v].no_of_edges++;
            g.nodes[other].no_of_edges++;
        }
    }
    for (int v = 0; v < n; v++) {
        g.nodes[v].starting = g.edges;
        g.edges += g.nodes[v].no_of_edges;
        g.nodes[v].no_of_edges = 0;
    }
    g.heads = kit_host(g.edges * sizeof(int));
    for (int i = 0; i < n * 4; i++) {
        if (drawn[i] < 0) continue;
        struct node *a = &g.nodes[i / 4], *b = &g.nodes[drawn[i]];
        g.heads[a->starting + a->no_of_edges++] = drawn[i];
        g.heads[b->starting + b->no_of_edges++] = i / 4;
    }
    free(drawn);
    return g;
}

/* With a queue, as a textbook has it. */
static void bfs_cpu(const struct graph *g, int source, int *cost)
{
    int *queue = malloc(g->n * sizeof *queue), first = 0, last = 0;
    for (int v = 0; v < g->n; v++) cost[v] = -1;
    cost[source] = 0;
    queue[last++] = source;
    while (first < last) {
        int v = queue[first++];
        for (int e = 0; e < g->nodes[v].no_of_edges; e++) {
            int to = g->heads[g->nodes[v].starting + e];
            if (cost[to] >= 0) continue;
            cost[to] = cost[v] + 1;
            queue[last++] = to;
        }
    }
    free(queue);
}

static const struct size {
    const char *name;
    int nodes;
} sizes[] = {{"tiny", 4096}, {"small", 160 * 1024}, {"paper", 1000000}, {"llc", 768 * 1024}};

int main(int argc, char **argv)
{
    kit_open("bfs", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->nodes, source = 0;
    struct graph g = graph_generate(n);
    bool *mask = kit_host(n);
    int *cost = kit_host(n * sizeof *cost), *want = kit_host(n * sizeof *want);
    mask[source] = true;
    for (int v = 0; v < n; v++) cost[v] = v == source ? 0 : -1;

    CUdeviceptr dnodes = kit_upload(g.nodes, n * sizeof *g.nodes),
                dedges = kit_upload(g.heads, g.edges * sizeof *g.heads);
    CUdeviceptr dmask = kit_upload(mask, n), dupdating = kit_zeros(n), dvisited = kit_upload(mask, n);
    CUdeviceptr dcost = kit_upload(cost, n * sizeof *cost), dover = kit_alloc(sizeof(bool));
    struct kit_dim grid = KIT_DIM((n + BLOCK - 1) / BLOCK), block = KIT_DIM(BLOCK);
    bool over;
    int levels = 0;
    do { /* the flag goes down and comes back each level, as in the original */
        over = false;
        kit_put(dover, &over, sizeof over);
        KIT_LAUNCH("Kernel", grid, block, 0, dnodes, dedges, dmask, dupdating, dvisited, dcost, n);
        KIT_LAUNCH("Kernel2", grid, block, 0, dmask, dupdating, dvisited, dover, n);
        kit_download(&over, dover, sizeof over);
        levels++;
    } while (over);
    kit_download(cost, dcost, n * sizeof *cost);
    kit_note("%d nodes, %d edges, %d levels", n, g.edges, levels);

    if (kit_checking()) {
        bfs_cpu(&g, source, want);
        kit_check_ints("cost", cost, want, n);
    }
    return kit_close();
}
