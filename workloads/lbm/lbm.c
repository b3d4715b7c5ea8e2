/* lbm: host side: a lid-driven cavity with obstacles. */
#include "kit/kit.h"

#define SIZE_X   120
#define PADDED_X 128
#define MARGIN_Z 2 /* planes before and behind the cavity */
#define ENTRIES  20
#define FLAGS    19
#define OBSTACLE 1u
#define ACCEL    2u
#define OMEGA    1.95

struct cavity {
    const char *size;
    int ny, nz, steps;
};

static const struct cavity cavities[] = {
    {"tiny", 8, 8, 2}, {"small", 120, 12, 1}, {"paper", 120, 150, 100}, {"llc", 120, 16, 2}};

/* Where each distribution goes, in the order of a cell's entries; its weight follows from how many components
 * it has. */
static const int direction[19][3] = {{0, 0, 0},   {0, 1, 0},  {0, -1, 0}, {1, 0, 0},  {-1, 0, 0},
                                     {0, 0, 1},   {0, 0, -1}, {1, 1, 0},  {-1, 1, 0}, {1, -1, 0},
                                     {-1, -1, 0}, {0, 1, 1},  {0, 1, -1}, {0, -1, 1}, {0, -1, -1},
                                     {1, 0, 1},   {1, 0, -1}, {-1, 0, 1}, {-1, 0, -1}};

static double weight(int e)
{
    int length = abs(direction[e][0]) + abs(direction[e][1]) + abs(direction[e][2]);
    return length == 0 ? 1.0 / 3 : length == 1 ? 1.0 / 18 : 1.0 / 36;
}

static int opposite(int e)
{
    for (int o = 0; o < 19; o++)
        if (direction[o][0] == -direction[e][0] && direction[o][1] == -direction[e][1] &&
            direction[o][2] == -direction[e][2])
            return o;
    return -1;
}

static size_t cell_of(const struct cavity *v, int x, int y, int z)
{
    return ((size_t)z * v->ny + y) * SIZE_X + x;
}

/* Walls all around, a driven layer below the lid and above the floor, and balls in the fluid. */
static unsigned char *cavity_flags(const struct cavity *v)
{
    unsigned char *flags = kit_host(cell_of(v, 0, 0, v->nz));
    double ball[24][4];
    for (int i = 0; i < 24; i++) {
        ball[i][0] = kit_uniform(0, SIZE_X), ball[i][1] = kit_uniform(0, v->ny);
        ball[i][2] = kit_uniform(0, v->nz), ball[i][3] = kit_uniform(1, 7);
    }
    for (int z = 0; z < v->nz; z++)
        for (int y = 0; y < v->ny; y++)
            for (int x = 0; x < SIZE_X; x++) {
                unsigned char f = 0;
                for (int i = 0; i < 24; i++)
                    if (hypot(hypot(x - ball[i][0], y - ball[i][1]), z - ball[i][2]) < ball[i][3])
                        f = OBSTACLE;
                if (!x || x == SIZE_X - 1 || !y || y == v->ny - 1 || !z || z == v->nz - 1)
                    f = OBSTACLE;
                else if ((z == 1 || z == v->nz - 2) && x > 1 && x < SIZE_X - 2 && y > 1 && y < v->ny - 2)
                    f |= ACCEL;
                flags[cell_of(v, x, y, z)] = f;
            }
    return flags;
}

static size_t padded_of(const struct cavity *v, int x, int y, int z)
{
    return ((size_t)(z + MARGIN_Z) * v->ny + y) * PADDED_X + x;
}

/* The grid as the device has it: the entries of a cell together, with two planes to spare at either end for
 * what the first and last plane scatter beyond. */
static float *cavity_grid(const struct cavity *v, const unsigned char *flags)
{
    size_t cells = padded_of(v, 0, 0, v->nz + MARGIN_Z);
    float *grid = kit_host(ENTRIES * cells * sizeof *grid);
    for (size_t i = 0; i < cells; i++)
        for (int e = 0; e < FLAGS; e++) grid[i * ENTRIES + e] = (float)weight(e);
    for (int z = 0; z < v->nz; z++)
        for (int y = 0; y < v->ny; y++)
            for (int x = 0; x < SIZE_X; x++) {
                uint32_t f = flags[cell_of(v, x, y, z)];
                memcpy(&grid[padded_of(v, x, y, z) * ENTRIES + FLAGS], &f, sizeof f);
            }
    return grid;
}

/* ---- the reference: in double, from the definition ---- */

static void collide_cpu(double f[19], unsigned flags)
{
    double g[19], rho = 0, u[3] = {0};
    if (flags & OBSTACLE) {
        for (int e = 0; e < 19; e++) g[e] = f[opposite(e)];
        memcpy(f, g, sizeof g);
        return;
    }
    for (int e = 0; e < 19; e++) {
        rho += f[e];
        for (int k = 0; k < 3; k++) u[k] += direction[e][k] * f[e];
    }
    for (int k = 0; k < 3; k++) u[k] /= rho;
    if (flags & ACCEL) u[0] = 0.005f, u[1] = 0.002f, u[2] = 0;
    double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    for (int e = 0; e < 19; e++) {
        double cu = direction[e][0] * u[0] + direction[e][1] * u[1] + direction[e][2] * u[2];
        double equilibrium = weight(e) * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
        f[e] += OMEGA * (equilibrium - f[e]);
    }
}

/* A wall hands back only what came from within, so that what it gets from beyond may be anything: `to` keeps
 * what it has there. */
static void step_cpu(const struct cavity *v, const double *from, double *to, const unsigned char *flags)
{
    for (int z = 0; z < v->nz; z++)
        for (int y = 0; y < v->ny; y++)
            for (int x = 0; x < SIZE_X; x++) {
                double f[19];
                memcpy(f, from + 19 * cell_of(v, x, y, z), sizeof f);
                collide_cpu(f, flags[cell_of(v, x, y, z)]);
                for (int e = 0; e < 19; e++) {
                    int tx = x + direction[e][0], ty = y + direction[e][1], tz = z + direction[e][2];
                    bool inside = tx >= 0 && tx < SIZE_X && ty >= 0 && ty < v->ny && tz >= 0 && tz < v->nz;
                    if (inside) to[19 * cell_of(v, tx, ty, tz) + e] = f[e];
                }
            }
}

/* Compares the cells within the walls. */
static void cavity_check(const struct cavity *v, const float *grid, const unsigned char *flags)
{
    size_t n = cell_of(v, 0, 0, v->nz);
    double *from = kit_host(19 * n * sizeof *from), *to = kit_host(19 * n * sizeof *to);
    for (size_t i = 0; i < n; i++)
        for (int e = 0; e < 19; e++) from[19 * i + e] = to[19 * i + e] = weight(e);
    for (int s = 0; s < v->steps; s++) {
        step_cpu(v, from, to, flags);
        double *swap = from;
        from = to;
        to = swap;
    }
    for (int z = 1; z < v->nz - 1; z++)
        for (int y = 1; y < v->ny - 1; y++)
            for (int x = 1; x < SIZE_X - 1; x++)
                for (int e = 0; e < 19; e++) {
                    float got = grid[padded_of(v, x, y, z) * ENTRIES + e];
                    double want = from[19 * cell_of(v, x, y, z) + e];
                    if (fabs(got - want) <= (2e-6 + 1e-6 * v->steps) * want) continue;
                    kit_check(false, "distribution %d at (%d, %d, %d) is %.9g, the CPU says %.9g", e, x, y, z,
                              got, want);
                    return;
                }
}

int main(int argc, char **argv)
{
    kit_open("lbm", argc, argv);
    const struct cavity *v = KIT_CHOOSE(cavities);
    unsigned char *flags = cavity_flags(v);
    float *grid = cavity_grid(v, flags);
    size_t bytes = ENTRIES * padded_of(v, 0, 0, v->nz + MARGIN_Z) * sizeof *grid;
    int plane = PADDED_X * v->ny;

    CUdeviceptr now = kit_upload(grid, bytes), next = kit_upload(grid, bytes);
    CUdeviceptr origin = padded_of(v, 0, 0, 0) * ENTRIES * sizeof *grid; /* of cell (0, 0, 0) in both */
    for (int s = 0; s < v->steps; s++) {
        CUdeviceptr src = now + origin, dst = next + origin;
        KIT_LAUNCH("performStreamCollide_kernel", KIT_DIM(v->ny, v->nz), KIT_DIM(SIZE_X), 0, src, dst, plane);
        next = now;
        now = dst - origin;
    }
    kit_download(grid, now, bytes);

    if (kit_checking()) cavity_check(v, grid, flags);
    return kit_close();
}
