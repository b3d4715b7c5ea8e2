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

/* How many nodes other than the source have a predecessor whose cost is one less. */
static int count_explained(const struct kit_graph *g, const int *cost)
{
    bool *explained = kit_host(g->nodes * sizeof *explained);
    for (int v = 0; v < g->nodes; v++)
        for (int e = g->row[v]; cost[v] >= 0 && e < g->row[v + 1]; e++)
            if (cost[g->column[e]] == cost[v] + 1) explained[g->column[e]] = true;
    int count = 0;
    for (int v = 0; v < g->nodes; v++) count += explained[v];
    return count;
}

/* Since a node may be entered and left in one launch, a cost may come out above the distance, as the
 * original's does. What holds in spite of the race: the same nodes are reached, no cost is below the
 * distance, and a cost is one more than a predecessor's, but for the few nodes whose predecessor was given
 * another cost after it had been expanded. */
static void check_costs(const struct kit_graph *g, int source, const int *cost, const int *distance)
{
    int exact = 0, wrong_reach = 0, below = 0, reached = 0;
    for (int v = 0; v < g->nodes; v++) {
        exact += distance[v] >= 0 && cost[v] == distance[v];
        reached += distance[v] >= 0;
        wrong_reach += (cost[v] < 0) != (distance[v] < 0);
        below += cost[v] < distance[v];
    }
    int explained = count_explained(g, cost);
    kit_note("%d of %d costs are the distance, %d are a predecessor's and one", exact, reached, explained);
    kit_check(cost[source] == 0, "the source has cost %d", cost[source]);
    kit_check(!wrong_reach, "%d nodes are reached by one search only", wrong_reach);
    kit_check(!below, "%d costs are below the distance", below);
    kit_check(explained >= (reached - 1) * 0.95, "%d of %d costs have no predecessor",
              reached - 1 - explained, reached);
}

static const struct size {
    const char *name;
    int nodes;
} sizes[] = {{"tiny", 4096}, {"small", 65536}, {"paper", 65536}, {"fill", 1048576}};

int main(int argc, char **argv)
{
    kit_open("bfs-ispass", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->nodes, source = 0;
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
