/* bfs-sdk: host side. */
#include "kit/kit.h"

#define BLOCK 256

/* Relaxes the list of edges until nothing changes: no queue and no order of levels. */
static void levels_cpu(const struct kit_graph *g, int source, int *level)
{
    for (int v = 0; v < g->nodes; v++) level[v] = -1;
    level[source] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int v = 0; v < g->nodes; v++) {
            if (level[v] < 0) continue;
            for (int e = g->row[v]; e < g->row[v + 1]; e++) {
                int *to = &level[g->column[e]];
                if (*to >= 0 && *to <= level[v] + 1) continue;
                *to = level[v] + 1;
                changed = true;
            }
        }
    }
}

int main(int argc, char **argv)
{
    kit_open("bfs-sdk", argc, argv);
    int n = (const int[]){4096, 1 << 17, 1 << 20}[kit_size()], source = 0;
    struct kit_graph g = kit_graph_uniform(n, 8);
    int *level = kit_host(n * sizeof *level), *want = kit_host(n * sizeof *want);
    for (int v = 0; v < n; v++) level[v] = v == source ? 0 : -1;

    CUdeviceptr drow = kit_upload(g.row, (n + 1) * sizeof *g.row);
    CUdeviceptr dcolumn = kit_upload(g.column, g.edges * sizeof *g.column);
    CUdeviceptr dlevel = kit_upload(level, n * sizeof *level), dagain = kit_alloc(sizeof(int));
    int again = 1, depth;
    for (depth = 0; again; depth++) {
        again = 0;
        kit_put(dagain, &again, sizeof again);
        KIT_LAUNCH("bfs_level", KIT_DIM((n + BLOCK - 1) / BLOCK), KIT_DIM(BLOCK), 0, drow, dcolumn, dlevel,
                   dagain, depth, n);
        kit_download(&again, dagain, sizeof again);
    }
    kit_download(level, dlevel, n * sizeof *level);
    kit_note("%d nodes, %d edges, %d levels", n, g.edges, depth);

    if (kit_checking()) {
        levels_cpu(&g, source, want);
        kit_check_ints("level", level, want, n);
    }
    return kit_close();
}
