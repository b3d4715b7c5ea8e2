/* gain.c: one trial of a new centre: the kernel's launch, the check of what it wrote, and what the host makes
 * of it. */
#include "cluster.h"

#define BLOCK 512

static void put_coordinates(struct clustering *c)
{
    float *by_dimension = kit_host((size_t)c->points * c->dimensions * sizeof *by_dimension);
    for (int d = 0; d < c->dimensions; d++)
        for (int i = 0; i < c->points; i++) by_dimension[(size_t)d * c->points + i] = c->p[i].coordinates[d];
    c->coordinates = kit_upload(by_dimension, (size_t)c->points * c->dimensions * sizeof *by_dimension);
}

void gain_begin(struct clustering *c)
{
    put_coordinates(c);
    c->dp = kit_alloc(c->points * sizeof *c->p);
    c->table = kit_alloc(c->points * sizeof(int));
    c->switches = kit_alloc((c->points + 3) / 4 * 4);
}

static double distance_in_double(const struct clustering *c, long a, long b)
{
    double sum = 0;
    for (int d = 0; d < c->dimensions; d++) {
        double difference = (double)c->p[a].coordinates[d] - c->p[b].coordinates[d];
        sum += difference * difference;
    }
    return sum;
}

/* Where old and new cost are the same but for rounding (x may be the point's own centre) either side is
 * right. */
static void check_trial(const struct clustering *c, long x, const int *table, const float *work,
                        const bool *switches)
{
    int stride = (int)c->centres + 1;
    float *want = calloc((size_t)c->points * stride, sizeof *want);
    double slack = 1e-5 * c->dimensions;
    for (int i = 0; i < c->points; i++) {
        double saving = c->p[i].cost - distance_in_double(c, i, x) * c->p[i].weight;
        if (saving > 0)
            want[(size_t)i * stride + c->centres] = (float)-saving;
        else
            want[(size_t)i * stride + table[c->p[i].assigned]] = (float)saving;
        if (fabs(saving) > slack)
            kit_check(switches[i] == (saving > 0),
                      "point %d would save %g by moving to %ld, but its flag is %d", i, saving, x,
                      switches[i]);
    }
    kit_check_floats("work", work, want, (size_t)c->points * stride, 1e-4, slack);
    free(want);
}

/* The kernel's answer, in fresh memory as in the original. */
static void launch_trial(struct clustering *c, long x, const int *table, float *work, bool *switches)
{
    int centres = (int)c->centres, stride = centres + 1;
    size_t words = (size_t)stride * (c->points + 1);
    CUdeviceptr dwork = kit_zeros(words * sizeof(float));
    kit_put(c->table, table, c->points * sizeof(int));
    kit_put(c->dp, c->p, c->points * sizeof *c->p);
    kit_set32(c->switches, 0, (c->points + 3) / 4);
    KIT_LAUNCH("kernel_compute_cost", KIT_DIM((c->points + BLOCK - 1) / BLOCK), KIT_DIM(BLOCK), 0, c->points,
               c->dimensions, x, c->dp, centres, c->coordinates, dwork, c->table, c->switches);
    kit_download(work, dwork, words * sizeof(float));
    kit_download(switches, c->switches, c->points * sizeof *switches);
    kit_free(dwork);
}

/* What closing each centre would cost: less than nothing for those with `lower` above 0. Returns how many
 * these are, and the change of the total cost. */
static int weigh_closings(const struct clustering *c, const int *table, const float *work, double *lower,
                          double *change)
{
    int stride = (int)c->centres + 1, closing = 0;
    *change = c->facility_cost;
    for (int k = 0; k < c->centres; k++) lower[k] = c->facility_cost;
    for (int i = 0; i < c->points; i++) {
        const float *row = work + (size_t)i * stride;
        for (int k = 0; k < c->centres; k++) lower[k] += row[k];
        *change += row[c->centres];
    }
    for (int i = 0; i < c->points; i++)
        if (c->is_centre[i] && lower[table[i]] > 0) {
            closing++;
            *change -= lower[table[i]];
        }
    return closing;
}

static void move_points(struct clustering *c, long x, const int *table, const bool *switches,
                        const double *lower)
{
    for (int i = 0; i < c->points; i++)
        if (switches[i] || lower[table[c->p[i].assigned]] > 0) {
            c->p[i].cost = point_distance(c, i, x) * c->p[i].weight;
            c->p[i].assigned = x;
        }
    for (int i = 0; i < c->points; i++)
        if (c->is_centre[i] && lower[table[i]] > 0) c->is_centre[i] = false;
    c->is_centre[x] = true;
}

double gain_try(struct clustering *c, long x)
{
    int *table = calloc(c->points, sizeof *table), number = 0;
    float *work = malloc((size_t)(c->centres + 1) * (c->points + 1) * sizeof *work);
    bool *switches = malloc(c->points * sizeof *switches);
    double *lower = malloc(c->centres * sizeof *lower), change;
    for (int i = 0; i < c->points; i++)
        if (c->is_centre[i]) table[i] = number++;
    launch_trial(c, x, table, work, switches);
    if (kit_checking()) check_trial(c, x, table, work, switches);
    int closing = weigh_closings(c, table, work, lower, &change);
    if (change < 0) {
        move_points(c, x, table, switches, lower);
        c->centres += 1 - closing;
    }
    free(table), free(work), free(switches), free(lower);
    return change < 0 ? -change : 0;
}
