/* graph-color: host side. */
#include "shell_mesh.h"

#include "kit/kit.h"

#define COLOURS        256
#define BLOCK          128 /* of the colouring kernels */
#define CONFLICT_BLOCK 256
#define CONFLICTS_STOP 200 /* so few are left to the host */
#define PASSES_MAX     50

/* Runs of equal length, one a thread. */
static void make_runs(int vertices, int threads, int *first, int *end)
{
    int length = vertices / threads;
    for (int i = 0; i < threads; i++) first[i] = i * length, end[i] = first[i] + length;
}

/* The vertices with a neighbour outside of their own run. */
static int find_boundary(const struct mesh *m, int run_length, int *boundary)
{
    int n = 0;
    for (int v = 0; v < m->vertices; v++) {
        const int *to = m->adjacency + (size_t)v * m->max_degree;
        for (int j = 0; j < m->max_degree && to[j] >= 0; j++)
            if (to[j] / run_length != v / run_length) {
                boundary[n++] = v;
                break;
            }
    }
    return n;
}

static int count_conflicts(const int *conflict, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += conflict[i] != -1;
    return count;
}

/* What the device leaves uncoloured, the host colours, as in the original. */
static void solve_rest(const struct mesh *m, const int *conflict, int n, int *colour)
{
    for (int i = 0; i < n; i++) {
        if (conflict[i] == -1) continue;
        bool used[COLOURS] = {false};
        const int *to = m->adjacency + (size_t)conflict[i] * m->max_degree;
        for (int j = 0; j < m->max_degree && to[j] >= 0; j++) used[colour[to[j]]] = true;
        int c = 1;
        while (used[c]) c++;
        colour[conflict[i]] = c;
    }
}

/* Has v a neighbour of every smaller colour? First fit says so, until a neighbour is coloured again. */
static bool fits_first(const struct mesh *m, const int *colour, int v)
{
    bool used[COLOURS] = {false};
    const int *to = m->adjacency + (size_t)v * m->max_degree;
    for (int j = 0; j < m->max_degree && to[j] >= 0; j++) used[colour[to[j]]] = true;
    for (int c = 1; c < colour[v]; c++)
        if (!used[c]) return false;
    return true;
}

/* No two neighbours share a colour, no vertex has a greater one than its degree allows, and most fit
 * first. */
static void check_colours(const struct mesh *m, const int *colour)
{
    int clashes = 0, too_great = 0, first = 0;
    for (int v = 0; v < m->vertices; v++) {
        const int *to = m->adjacency + (size_t)v * m->max_degree;
        int degree = 0;
        for (; degree < m->max_degree && to[degree] >= 0; degree++)
            clashes += colour[to[degree]] == colour[v];
        too_great += colour[v] < 1 || colour[v] > degree + 1;
        first += fits_first(m, colour, v);
    }
    kit_check(!clashes, "%d times neighbours have one colour", clashes);
    kit_check(!too_great, "%d vertices have no colour or a greater one than their degree allows", too_great);
    kit_check(first >= m->vertices * 0.9, "only %d of %d vertices fit first", first, m->vertices);
}

int main(int argc, char **argv)
{
    kit_open("graph-color", argc, argv);
    int width = (const int[]){10, 44, 211}[kit_size()], height = (const int[]){10, 40, 174}[kit_size()];
    int blocks = (const int[]){1, 14, 14}[kit_size()], threads = blocks * BLOCK;
    struct mesh m = mesh_make(width, height, threads);
    int n = m.vertices, *colour = kit_host(n * sizeof *colour);
    int *first = kit_host(threads * sizeof *first), *end = kit_host(threads * sizeof *end);
    make_runs(n, threads, first, end);
    int *boundary = kit_host(n * sizeof *boundary), bounds = find_boundary(&m, n / threads, boundary);
    int *conflict = kit_host(bounds * sizeof *conflict);

    CUdeviceptr dadjacency = kit_upload(m.adjacency, (size_t)n * m.max_degree * sizeof *m.adjacency);
    CUdeviceptr dboundary = kit_upload(boundary, bounds * sizeof *boundary),
                dcolour = kit_zeros(n * sizeof *colour);
    CUdeviceptr dfirst = kit_upload(first, threads * sizeof *first),
                dend = kit_upload(end, threads * sizeof *end);
    CUdeviceptr dconflict = kit_alloc(bounds * sizeof *conflict);
    struct kit_dim grid = KIT_DIM((bounds + CONFLICT_BLOCK - 1) / CONFLICT_BLOCK);
    int passes = 0, conflicts;
    do {
        KIT_LAUNCH(passes++ ? "recolorGraph_FF" : "colorGraph_FF", KIT_DIM(blocks), KIT_DIM(BLOCK), 0,
                   dadjacency, dcolour, m.max_degree, dfirst, dend);
        kit_set32(dconflict, 0xffffffffu, bounds);
        KIT_LAUNCH("conflictsDetection", grid, KIT_DIM(CONFLICT_BLOCK), 0, dadjacency, dboundary, dcolour,
                   dconflict, bounds, m.max_degree);
        kit_download(conflict, dconflict, bounds * sizeof *conflict);
        conflicts = count_conflicts(conflict, bounds);
    } while (conflicts > CONFLICTS_STOP && passes < PASSES_MAX);
    kit_download(colour, dcolour, n * sizeof *colour);
    solve_rest(&m, conflict, bounds, colour);

    int colours = 0;
    for (int v = 0; v < n; v++) colours = colour[v] > colours ? colour[v] : colours;
    kit_note("%d vertices of degree up to %d, %d on a boundary, %d passes, %d conflicts left, %d colours", n,
             m.max_degree, bounds, passes, conflicts, colours);
    kit_check(conflicts <= CONFLICTS_STOP, "%d conflicts after %d passes", conflicts, passes);
    if (kit_checking()) check_colours(&m, colour);
    return kit_close();
}
