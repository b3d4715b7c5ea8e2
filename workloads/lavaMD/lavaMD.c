/* lavaMD: host side. */
#include "kit/kit.h"

#define THREADS   128
#define PARTICLES 100
#define ALPHA     0.5

struct four_vector {
    double v, x, y, z;
};
struct neighbour {
    int x, y, z, number;
    long offset;
};
struct box {
    int x, y, z, number;
    long offset;
    int neighbours;
    struct neighbour neighbour[26];
};

struct lava {
    /* boxes along x, y, z */
    int size[3];
    int boxes;
};

static int box_number(const struct lava *l, int x, int y, int z)
{
    bool inside = x >= 0 && x < l->size[0] && y >= 0 && y < l->size[1] && z >= 0 && z < l->size[2];
    return inside ? (z * l->size[1] + y) * l->size[0] + x : -1;
}

static void box_fill(struct box *b, const struct lava *l, int number)
{
    int x = number % l->size[0], y = number / l->size[0] % l->size[1], z = number / l->size[0] / l->size[1];
    *b = (struct box){.x = x, .y = y, .z = z, .number = number, .offset = (long)number * PARTICLES};
    for (int k = 0; k < 27; k++) {
        int nx = x + k % 3 - 1, ny = y + k / 3 % 3 - 1, nz = z + k / 9 - 1, other = box_number(l, nx, ny, nz);
        if (other < 0 || other == number) continue;
        b->neighbour[b->neighbours++] =
            (struct neighbour){.x = nx, .y = ny, .z = nz, .number = other, .offset = (long)other * PARTICLES};
    }
}

/* Tenths from 0.1 to 1.0, as in the original. */
static double *lava_tenths(size_t n)
{
    double *values = kit_host(n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = (kit_below(10) + 1) / 10.0;
    return values;
}

/* Pair by pair over the places of the boxes: what each particle of a box feels from one other box. */
static void lava_cpu_boxes(const struct four_vector *r, const double *q, struct four_vector *f, int a, int b)
{
    for (int i = a * PARTICLES; i < (a + 1) * PARTICLES; i++)
        for (int j = b * PARTICLES; j < (b + 1) * PARTICLES; j++) {
            double dot = r[i].x * r[j].x + r[i].y * r[j].y + r[i].z * r[j].z;
            double potential = q[j] * exp(-2 * ALPHA * ALPHA * (r[i].v + r[j].v - dot));
            f[i].v += potential;
            f[i].x += 2 * potential * (r[i].x - r[j].x);
            f[i].y += 2 * potential * (r[i].y - r[j].y);
            f[i].z += 2 * potential * (r[i].z - r[j].z);
        }
}

static struct four_vector *lava_cpu(const struct lava *l, const struct four_vector *r, const double *q)
{
    struct four_vector *f = kit_host((size_t)l->boxes * PARTICLES * sizeof *f);
    for (int a = 0; a < l->boxes; a++)
        for (int b = 0; b < l->boxes; b++) {
            int dx = a % l->size[0] - b % l->size[0];
            int dy = a / l->size[0] % l->size[1] - b / l->size[0] % l->size[1];
            int dz = a / l->size[0] / l->size[1] - b / l->size[0] / l->size[1];
            if (abs(dx) <= 1 && abs(dy) <= 1 && abs(dz) <= 1) lava_cpu_boxes(r, q, f, a, b);
        }
    return f;
}

int main(int argc, char **argv)
{
    kit_open("lavaMD", argc, argv);
    struct lava l =
        (const struct lava[]){{.size = {2, 1, 1}}, {.size = {60, 1, 1}}, {.size = {7, 7, 7}}}[kit_size()];
    l.boxes = l.size[0] * l.size[1] * l.size[2];
    size_t particles = (size_t)l.boxes * PARTICLES, bytes = particles * sizeof(struct four_vector);
    struct box *boxes = kit_host(l.boxes * sizeof *boxes);
    for (int i = 0; i < l.boxes; i++) box_fill(&boxes[i], &l, i);
    struct four_vector *place = (struct four_vector *)lava_tenths(4 * particles), *force = kit_host(bytes);
    double *charge = lava_tenths(particles);

    CUdeviceptr dboxes = kit_upload(boxes, l.boxes * sizeof *boxes), dplace = kit_upload(place, bytes);
    CUdeviceptr dcharge = kit_upload(charge, particles * sizeof *charge), dforce = kit_upload(force, bytes);
    double alpha = ALPHA;
    long count = l.boxes;
    KIT_LAUNCH("kernel_gpu_cuda", KIT_DIM(l.boxes), KIT_DIM(THREADS), 0, alpha, count, dboxes, dplace,
               dcharge, dforce);
    kit_download(force, dforce, bytes);

    if (kit_checking())
        kit_check_doubles("force", &force->v, &lava_cpu(&l, place, charge)->v, 4 * particles, 1e-9, 1e-9);
    return kit_close();
}
