/* shell_mesh.c: a finite-element shell. hood.mtx has 220542 = 6 x 36757 unknowns, 43.9 neighbours each on
 * average and 76 at most: six unknowns a node, all of a node's and of its neighbours' tied. Three quarters of
 * our cells are two triangles, the others quadrilaterals, which makes 6.5 neighbours a node; a few nodes are
 * stiffened to twelve. */
#include "shell_mesh.h"

#include "kit/kit.h"

#define UNKNOWNS       6
#define NEIGHBOURS_MAX 12

struct shell {
    int width, height;
    int (*neighbour)[NEIGHBOURS_MAX];
    int *count;
};

static bool shell_tied(const struct shell *s, int a, int b)
{
    for (int i = 0; i < s->count[a]; i++)
        if (s->neighbour[a][i] == b) return true;
    return false;
}

static void shell_tie(struct shell *s, int x, int y, int ox, int oy)
{
    int a = y * s->width + x, b = oy * s->width + ox;
    if (ox < 0 || oy < 0 || ox >= s->width || oy >= s->height || shell_tied(s, a, b)) return;
    if (s->count[a] == NEIGHBOURS_MAX || s->count[b] == NEIGHBOURS_MAX) return;
    s->neighbour[a][s->count[a]++] = b;
    s->neighbour[b][s->count[b]++] = a;
}

static struct shell shell_make(int width, int height)
{
    struct shell s = {width, height, calloc((size_t)width * height, sizeof *s.neighbour),
                      calloc((size_t)width * height, sizeof *s.count)};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            shell_tie(&s, x, y, x + 1, y);
            shell_tie(&s, x, y, x, y + 1);
            if (x + 1 == width) continue;
            uint32_t cell = kit_below(8); /* 0, 1: quadrilateral; 2..7: cut along one diagonal or the other */
            if (cell < 2 || cell & 1) shell_tie(&s, x, y, x + 1, y + 1);
            if (cell < 2 || !(cell & 1)) shell_tie(&s, x + 1, y, x, y + 1);
        }
    for (int y = 3; y < height; y += 29) /* stiffeners */
        for (int x = 3; x < width; x += 31)
            for (int d = -1; d <= 1; d += 2) {
                shell_tie(&s, x, y, x + 2 * d, y), shell_tie(&s, x, y, x, y + 2 * d);
                shell_tie(&s, x, y, x + 2 * d, y + 2 * d), shell_tie(&s, x, y, x + 2 * d, y - 2 * d);
            }
    return s;
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

struct mesh mesh_make(int width, int height, int round_to)
{
    struct shell s = shell_make(width, height);
    int nodes = width * height, most = 0;
    for (int v = 0; v < nodes; v++) most = s.count[v] > most ? s.count[v] : most;
    struct mesh m = {(nodes * UNKNOWNS / round_to + 1) * round_to, (most + 1) * UNKNOWNS - 1, NULL};
    size_t entries = (size_t)m.vertices * m.max_degree;
    m.adjacency = kit_host(entries * sizeof(int));
    memset(m.adjacency, -1, entries * sizeof(int));
    for (int v = 0; v < nodes; v++) {
        int tied[NEIGHBOURS_MAX + 1], n = s.count[v];
        memcpy(tied, s.neighbour[v], n * sizeof *tied);
        tied[n++] = v;
        qsort(tied, n, sizeof *tied, compare_ints);
        for (int own = 0; own < UNKNOWNS; own++) {
            int *to = m.adjacency + (size_t)(v * UNKNOWNS + own) * m.max_degree;
            for (int i = 0; i < n; i++)
                for (int u = 0; u < UNKNOWNS; u++)
                    if (tied[i] != v || u != own) *to++ = tied[i] * UNKNOWNS + u;
        }
    }
    free(s.neighbour), free(s.count);
    return m;
}
