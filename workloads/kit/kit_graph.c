/* kit_graph.c: generated graphs in compressed rows. */
#include "kit.h"

struct edge_list {
    int *from, *to;
    size_t n, room;
};

static void edge_add(struct edge_list *e, int from, int to)
{
    if (e->n == e->room) kit_fail("graph generator: more edges than planned");
    e->from[e->n] = from;
    e->to[e->n++] = to;
}

static struct edge_list edges_with_room(size_t room)
{
    return (struct edge_list){malloc(room * sizeof(int)), malloc(room * sizeof(int)), 0, room};
}

/* Counting sort by source; the order of a node's neighbours is that of their making. */
static struct kit_graph graph_of_edges(int nodes, struct edge_list *e)
{
    struct kit_graph g = {nodes, (int)e->n, kit_host((nodes + 1) * sizeof(int)),
                          kit_host(e->n * sizeof(int))};
    for (size_t i = 0; i < e->n; i++) g.row[e->from[i] + 1]++;
    for (int v = 0; v < nodes; v++) g.row[v + 1] += g.row[v];
    int *next = malloc(nodes * sizeof *next);
    memcpy(next, g.row, nodes * sizeof *next);
    for (size_t i = 0; i < e->n; i++) g.column[next[e->from[i]]++] = e->to[i];
    free(next);
    free(e->from);
    free(e->to);
    return g;
}

struct kit_graph kit_graph_uniform(int nodes, int degree)
{
    int spread = degree / 2;
    struct edge_list e = edges_with_room((size_t)nodes * (degree + spread));
    for (int v = 0; v < nodes; v++) {
        int n = degree - spread + (int)kit_below((uint32_t)(2 * spread + 1));
        for (int i = 0; i < n; i++) edge_add(&e, v, (int)kit_below((uint32_t)nodes));
    }
    return graph_of_edges(nodes, &e);
}

static void rmat_edge(int log2_nodes, int *from, int *to)
{
    *from = *to = 0;
    for (int level = 0; level < log2_nodes; level++) {
        double r = kit_uniform(0, 1);
        *from = *from << 1 | (r >= 0.76);
        *to = *to << 1 | ((r >= 0.57 && r < 0.76) || r >= 0.95);
    }
}

struct kit_graph kit_graph_rmat(int log2_nodes, int degree, bool symmetric)
{
    int nodes = 1 << log2_nodes;
    size_t wanted = (size_t)nodes * degree / (symmetric ? 2 : 1);
    struct edge_list e = edges_with_room(symmetric ? 2 * wanted : wanted);
    int *name =
        malloc(nodes * sizeof *name); /* shuffled, so that the node's number does not tell its degree */
    for (int v = 0; v < nodes; v++) name[v] = v;
    kit_shuffle(name, nodes);
    for (size_t i = 0; i < wanted; i++) {
        int from, to;
        do rmat_edge(log2_nodes, &from, &to);
        while (from == to);
        edge_add(&e, name[from], name[to]);
        if (symmetric) edge_add(&e, name[to], name[from]);
    }
    free(name);
    return graph_of_edges(nodes, &e);
}

struct kit_graph kit_graph_grid(int width, int height, int percent_missing)
{
    struct edge_list e = edges_with_room((size_t)width * height * 4);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int v = y * width + x;
            bool right = x + 1 < width && kit_below(100) >= (uint32_t)percent_missing;
            bool down = y + 1 < height && kit_below(100) >= (uint32_t)percent_missing;
            if (right) edge_add(&e, v, v + 1), edge_add(&e, v + 1, v);
            if (down) edge_add(&e, v, v + width), edge_add(&e, v + width, v);
        }
    return graph_of_edges(width * height, &e);
}
