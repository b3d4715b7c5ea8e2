/* pagerank: host side. */
#include "kit/kit.h"

#define BLOCK      256
#define DEGREE_MAX 336 /* of coAuthorsDBLP */

/* A graph like coAuthorsDBLP, which the original is run on: degrees by a power law, 6 to 7 on average, and
 * half of the ties within a neighbourhood of node numbers. Every node has stubs, one a tie; stubs are paired
 * at random, the first half of them within windows, the others over the whole graph. */
static struct kit_graph coauthors(int n)
{
    /* ROOM: stubs a node in each half, ten times the mean */
    enum { WINDOW = 512, ROOM = 32 };
    int *shared[2] = {malloc((size_t)n * ROOM * sizeof(int)), malloc((size_t)n * ROOM * sizeof(int))},
        stubs[2] = {0};
    for (int v = 0; v < n; v++) {
        double degree = fmin(2.8 * pow(kit_uniform(1e-9, 1), -1 / 1.7), DEGREE_MAX);
        if (stubs[0] + DEGREE_MAX > n * ROOM) kit_fail("more ties than planned");
        for (int i = 0; i < (int)degree; i++) shared[i & 1][stubs[i & 1]++] = v;
    }
    for (int at = 0; at < stubs[0]; at += WINDOW)
        kit_shuffle(shared[0] + at, stubs[0] - at < WINDOW ? stubs[0] - at : WINDOW);
    kit_shuffle(shared[1], stubs[1]);

    struct kit_graph g = {.nodes = n, .row = kit_host((n + 1) * sizeof(int))};
    int *next = calloc(n, sizeof *next);
    for (int pass = 0; pass < 2; pass++) { /* counts first, then enters each tie at both ends */
        for (int half = 0; half < 2; half++)
            for (int i = 0; i + 1 < stubs[half]; i += 2) {
                int a = shared[half][i], b = shared[half][i + 1];
                if (a == b) continue;
                if (pass == 0) {
                    g.row[a + 1]++, g.row[b + 1]++;
                } else {
                    g.column[next[a]++] = b, g.column[next[b]++] = a;
                }
            }
        if (pass == 1) break;
        for (int v = 0; v < n; v++) g.row[v + 1] += g.row[v], next[v] = g.row[v];
        g.edges = g.row[n];
        g.column = kit_host(g.edges * sizeof(int));
    }
    free(shared[0]), free(shared[1]), free(next);
    return g;
}

/* Pulls, in double: the graph is symmetric, so the tails of the edges to v are the heads of v's own. */
static void pagerank_cpu(const struct kit_graph *g, int rounds, float *result)
{
    int n = g->nodes;
    double *rank = malloc(n * sizeof *rank), *next = malloc(n * sizeof *next);
    for (int v = 0; v < n; v++) rank[v] = 1.0 / n;
    for (int r = 0; r < rounds; r++) {
        for (int v = 0; v < n; v++) {
            double sum = 0;
            for (int e = g->row[v]; e < g->row[v + 1]; e++) {
                int from = g->column[e];
                sum += rank[from] / (g->row[from + 1] - g->row[from]);
            }
            next[v] = 0.15 / n + 0.85 * sum;
        }
        double *swap = rank;
        rank = next, next = swap;
    }
    for (int v = 0; v < n; v++) result[v] = (float)rank[v];
    free(rank), free(next);
}

static const struct size {
    const char *name;
    int nodes, rounds;
} sizes[] = {{"tiny", 2048, 2}, {"small", 131072, 2}, {"paper", 299067, 20}, {"llc", 450000, 3}};

int main(int argc, char **argv)
{
    kit_open("pagerank", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->nodes, rounds = size->rounds;
    struct kit_graph g = coauthors(n);
    float *rank = kit_host(n * sizeof *rank), *want = kit_host(n * sizeof *want);

    CUdeviceptr drow = kit_upload(g.row, n * sizeof *g.row);
    CUdeviceptr dcolumn = kit_upload(g.column, g.edges * sizeof *g.column);
    CUdeviceptr drank = kit_alloc(n * sizeof *rank), dsum = kit_alloc(n * sizeof *rank);
    struct kit_dim grid = KIT_DIM((n + BLOCK - 1) / BLOCK), block = KIT_DIM(BLOCK);
    KIT_LAUNCH("inibuffer", grid, block, 0, drank, dsum, n);
    for (int r = 0; r < rounds; r++) {
        KIT_LAUNCH("pagerank1", grid, block, 0, drow, dcolumn, drank, dsum, n, g.edges);
        KIT_LAUNCH("pagerank2", grid, block, 0, drank, dsum, n);
    }
    kit_download(rank, drank, n * sizeof *rank);
    kit_note("%d nodes, %d edges, %d rounds", n, g.edges, rounds);

    if (kit_checking()) {
        pagerank_cpu(&g, rounds, want);
        kit_check_floats("rank", rank, want, n, 1e-4, 0);
    }
    return kit_close();
}
