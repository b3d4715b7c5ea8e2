/* bfs-ispass: host side. */
#include "kit/kit.h"

#define BLOCK 256

struct node {
    int starting, no_of_edges;
};

static struct node *nodes_of(const struct kit_graph *g)
{
    struct node *nodes = kit_host(g->nodes * sizeof *nodes);
    for (int v = 0; v < g->nodes; v++) nodes[v] = (struct node){g->row[v], g->row[v + 1] - g->row[v]};
    return nodes;
}

/* With a queue, as a textbook has it. */
static void bfs_cpu(const struct kit_graph *g, int source, int *cost)
{
    int *queue = malloc(g->nodes * sizeof *queue), first = 0, last = 0;
    for (int v = 0; v < g->nodes; v++) cost[v] = -1;
    cost[source] = 0;
    queue[last++] = source;
    while (first < last) {
        int v = queue[first++];
        for (int e = g->row[v]; e < g->row[v + 1]; e++) {
            int to = g->column[e];
            if (cost[to] >= 0) continue;
            cost[to] = cost[v] + 1;
            queue[last++] = to;
        }
    }
    free(queue);
}

/* Since a node may be entered and left in one launch, a cost may come out above the distance, as the original's does.
 * What must hold in spite of the race: the same nodes are reached, no cost is below the distance, every cost is that
 * of a walk along edges, and most costs are the distance. */
static void check_costs(const struct kit_graph *g, int source, const int *cost, const int *distance)
{
    int exact = 0, wrong_reach = 0, below = 0;
    for (int v = 0; v < g->nodes; v++) {
        exact += cost[v] == distance[v];
        wrong_reach += (cost[v] < 0) != (distance[v] < 0);
        below += cost[v] < distance[v];
    }
    kit_note("%d of %d costs are the distance", exact, g->nodes);
    kit_check(cost[source] == 0, "the source has cost %d", cost[source]);
    kit_check(!wrong_reach, "%d nodes are reached by one search only", wrong_reach);
    kit_check(!below, "%d costs are below the distance", below);
    kit_check(exact >= g->nodes / 2, "only %d of %d costs are the distance", exact, g->nodes);
}

int main(int argc, char **argv)
{
    kit_open("bfs-ispass", argc, argv);
    int n = (const int[]){4096, 65536, 524288}[kit_size()], source = 0;
    struct kit_graph g = kit_graph_uniform(n, 6);
    bool *mask = kit_host(n);
    int *cost = kit_host(n * sizeof *cost), *distance = kit_host(n * sizeof *distance);
    mask[source] = true;
    for (int v = 0; v < n; v++) cost[v] = v == source ? 0 : -1;

    CUdeviceptr dnodes = kit_upload(nodes_of(&g), n * sizeof(struct node));
    CUdeviceptr dedges = kit_upload(g.column, g.edges * sizeof *g.column);
    CUdeviceptr dmask = kit_upload(mask, n), dvisited = kit_zeros(n);
    CUdeviceptr dcost = kit_upload(cost, n * sizeof *cost), dover = kit_alloc(sizeof(bool));
    struct kit_dim grid = KIT_DIM((n + BLOCK - 1) / BLOCK), block = KIT_DIM(BLOCK);
    bool over;
    int launches = 0;
    do { /* the flag goes down and comes back each level, as in the original */
        over = false;
        kit_put(dover, &over, sizeof over);
        KIT_LAUNCH("Kernel", grid, block, 0, dnodes, dedges, dmask, dvisited, dcost, dover, n);
        kit_download(&over, dover, sizeof over);
        launches++;
    } while (over);
    kit_download(cost, dcost, n * sizeof *cost);
    kit_note("%d nodes, %d edges, %d launches", n, g.edges, launches);

    if (kit_checking()) {
        bfs_cpu(&g, source, distance);
        check_costs(&g, source, cost, distance);
    }
    return kit_close();
}
