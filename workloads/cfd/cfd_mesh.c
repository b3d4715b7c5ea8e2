/* cfd_mesh.c: generates what Rodinia reads from fvcorr.domn.*: tetrahedra with their volumes, faces and
 * neighbours.
 *
 * Each cube of a grid is split into six tetrahedra, one for each order (a, b, c) of the axes: 0, a, a+b,
 * a+b+c are its corners. The inner grid points are moved at random, so no two elements have the same shape.
 * Elements are numbered by an advancing front that starts at the body, as such meshes are made: the next
 * element is any of the 32 that have waited longest. So neighbours are near each other in number, but the
 * lanes of a warp find theirs in many places. */
#include "cfd_mesh.h"

#include "kit/kit.h"

/* How freely the front advances. 1 gives a mesh that is all but structured, 1024 one without locality;
 * between 32 and 64 the gathers cost what the thesis measured on Rodinia's mesh (Table 3.2: speedup 3.08 with
 * an infinitely fast memory). */
#define FRONT 32

static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

struct grid {
    const struct cfd_tunnel *tunnel;
    int cubes;
    double (*points)[3];
};

static int order_index(int a, int b)
{
    for (int k = 0; k < 6; k++)
        if (orders[k][0] == a && orders[k][1] == b) return k;
    return -1;
}

static bool in_hole(const struct cfd_tunnel *t, const int at[3])
{
    for (int d = 0; d < 3; d++) {
        int first = (t->size[d] - t->hole[d]) / 2;
        if (at[d] < first || at[d] >= first + t->hole[d]) return false;
    }
    return true;
}

/* The cube's number, or CFD_FAR outside the tunnel, or CFD_WING in the body. */
static int cube_number(const struct cfd_tunnel *t, const int at[3])
{
    for (int d = 0; d < 3; d++)
        if (at[d] < 0 || at[d] >= t->size[d]) return CFD_FAR;
    if (in_hole(t, at)) return CFD_WING;
    return (at[2] * t->size[1] + at[1]) * t->size[0] + at[0];
}

static void cube_place(const struct cfd_tunnel *t, int cube, int at[3])
{
    at[0] = cube % t->size[0];
    at[1] = cube / t->size[0] % t->size[1];
    at[2] = cube / t->size[0] / t->size[1];
}

/* What lies behind the face opposite to corner `face` of tetrahedron `tet` = 6 * cube + order. */
static int tet_behind(const struct cfd_tunnel *t, int tet, int face)
{
    const int *o = orders[tet % 6];
    int at[3], next;
    cube_place(t, tet / 6, at);
    switch (face) {
    case 0: at[o[0]]++, next = order_index(o[1], o[2]); break;
    case 1: next = order_index(o[1], o[0]); break;
    case 2: next = order_index(o[0], o[2]); break;
    default: at[o[2]]--, next = order_index(o[2], o[0]); break;
    }
    int cube = cube_number(t, at);
    return cube < 0 ? cube : 6 * cube + next;
}

static size_t point_number(const struct cfd_tunnel *t, const int at[3])
{
    return ((size_t)at[2] * (t->size[1] + 1) + at[1]) * (t->size[0] + 1) + at[0];
}

static void grid_points(struct grid *g)
{
    const struct cfd_tunnel *t = g->tunnel;
    size_t count = (size_t)(t->size[0] + 1) * (t->size[1] + 1) * (t->size[2] + 1);
    g->points = kit_host(count * sizeof *g->points);
    int at[3];
    for (at[2] = 0; at[2] <= t->size[2]; at[2]++)
        for (at[1] = 0; at[1] <= t->size[1]; at[1]++)
            for (at[0] = 0; at[0] <= t->size[0]; at[0]++)
                for (int d = 0; d < 3; d++) {
                    bool inner = at[d] > 0 && at[d] < t->size[d];
                    g->points[point_number(t, at)][d] = at[d] + (inner ? kit_uniform(-0.15, 0.15) : 0);
                }
}

/* New numbers for the tetrahedra, front by front from the body outwards; -1 for those of the body. */
static int *grid_number(const struct grid *g, int *queue, int *count)
{
    const struct cfd_tunnel *t = g->tunnel;
    int *number = kit_host(6 * (size_t)g->cubes * sizeof *number), head = 0, tail = 0;
    for (int i = 0; i < 6 * g->cubes; i++) number[i] = -1;
    for (int tet = 0; tet < 6 * g->cubes; tet++) { /* the first front: what touches the body */
        int at[3];
        cube_place(t, tet / 6, at);
        if (in_hole(t, at)) continue;
        for (int f = 0; f < CFD_FACES && number[tet] < 0; f++)
            if (tet_behind(t, tet, f) == CFD_WING) number[tet] = tail, queue[tail++] = tet;
    }
    while (head < tail) {
        int choice = tail - head < FRONT ? tail - head : FRONT;
        int pick = head + (int)kit_below(choice), tet = queue[pick];
        queue[pick] = queue[head], queue[head] = tet;
        number[tet] = head++;
        int start = (int)kit_below(CFD_FACES);
        for (int k = 0; k < CFD_FACES; k++) {
            int next = tet_behind(t, tet, (start + k) % CFD_FACES);
            if (next >= 0 && number[next] < 0)
                number[next] = tail, queue[tail++] = next; /* for now: it may be swapped */
        }
    }
    *count = tail;
    return number;
}

static void subtract(double r[3], const double a[3], const double b[3])
{
    for (int d = 0; d < 3; d++) r[d] = a[d] - b[d];
}

static void cross(double r[3], const double a[3], const double b[3])
{
    for (int d = 0; d < 3; d++) r[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void tet_corners(const struct grid *g, int tet, double corner[4][3])
{
    int at[3];
    cube_place(g->tunnel, tet / 6, at);
    for (int k = 0; k < 4; k++) {
        memcpy(corner[k], g->points[point_number(g->tunnel, at)], sizeof corner[k]);
        if (k < 3) at[orders[tet % 6][k]]++;
    }
}

static void mesh_element(struct cfd_mesh *m, const struct grid *g, const int *number, int element, int tet)
{
    double corner[4][3];
    tet_corners(g, tet, corner);
    for (int f = 0; f < CFD_FACES; f++) {
        const double *origin = corner[(f + 1) % 4];
        double u[3], v[3], inwards[3], normal[3];
        subtract(u, corner[(f + 2) % 4], origin);
        subtract(v, corner[(f + 3) % 4], origin);
        subtract(inwards, corner[f], origin);
        cross(normal, u, v);
        double side = dot(normal, inwards);
        for (int d = 0; d < 3; d++)
            m->normals[(size_t)(f + d * CFD_FACES) * m->padded + element] =
                (float)(side < 0 ? -normal[d] / 2 : normal[d] / 2);
        m->areas[element] = (float)(fabs(side) / 6);
        int behind = tet_behind(g->tunnel, tet, f);
        m->around[(size_t)f * m->padded + element] = behind < 0 ? behind : number[behind];
    }
}

struct cfd_mesh cfd_mesh_make(const struct cfd_tunnel *tunnel, int block)
{
    struct grid g = {.tunnel = tunnel, .cubes = tunnel->size[0] * tunnel->size[1] * tunnel->size[2]};
    struct cfd_mesh m;
    int *queue = kit_host(6 * (size_t)g.cubes * sizeof *queue);
    int *number = grid_number(&g, queue, &m.elements);
    grid_points(&g);

    m.padded = (m.elements + block - 1) / block * block;
    m.areas = kit_host(m.padded * sizeof *m.areas);
    m.around = kit_host((size_t)m.padded * CFD_FACES * sizeof *m.around);
    m.normals = kit_host((size_t)m.padded * CFD_FACES * 3 * sizeof *m.normals);
    for (int i = 0; i < m.padded; i++)
        mesh_element(&m, &g, number, i, queue[i < m.elements ? i : m.elements - 1]);
    return m;
}
