/* streamcluster: host side: the k-median search of PARSEC's streamcluster over one chunk of points. */
#include "cluster.h"

#define K_MIN  10
#define K_MAX  20
#define ROUNDS 3 /* the number of trials is ROUNDS k log k */

float point_distance(const struct clustering *c, long a, long b)
{
    float sum = 0;
    for (int d = 0; d < c->dimensions; d++) {
        float difference = c->p[a].coordinates[d] - c->p[b].coordinates[d];
        sum += difference * difference;
    }
    return sum;
}

static void make_points(struct clustering *c)
{
    float *block = kit_floats((size_t)c->points * c->dimensions, 0, 1);
    c->p = kit_host(c->points * sizeof *c->p);
    c->is_centre = kit_host(c->points * sizeof *c->is_centre);
    for (int i = 0; i < c->points; i++)
        c->p[i] = (struct point){.weight = 1, .coordinates = block + (size_t)i * c->dimensions};
}

static void shuffle_points(struct clustering *c)
{
    for (int i = 0; i < c->points - 1; i++) {
        int j = i + (int)kit_below(c->points - i);
        struct point other = c->p[i];
        c->p[i] = c->p[j];
        c->p[j] = other;
    }
}

static void serve_from(struct clustering *c, long centre, bool first)
{
    for (int i = 0; i < c->points; i++) {
        float cost = point_distance(c, centre, i) * c->p[i].weight;
        if (!first && cost >= c->p[i].cost) continue;
        c->p[i].cost = cost;
        c->p[i].assigned = centre;
    }
    c->centres = first ? 1 : c->centres + 1;
}

/* A first set of centres: each point becomes one with the chance of its cost over that of a centre. */
static double open_speedily(struct clustering *c)
{
    double cost = 0;
    serve_from(c, 0, true);
    for (int i = 1; i < c->points; i++)
        if (kit_uniform(0, 1) < c->p[i].cost / c->facility_cost) serve_from(c, i, false);
    for (int i = 0; i < c->points; i++) cost += c->p[i].cost;
    return cost + c->facility_cost * c->centres;
}

/* Tries centres of `candidates` round after round until a round saves no more than the share `enough` of the
 * cost. */
static double search_locally(struct clustering *c, int *candidates, int n, double cost, double enough)
{
    double saved = cost;
    int trials = (int)(ROUNDS * K_MAX * log(K_MAX));
    while (saved / cost > enough && c->gains_left > 0) {
        saved = 0;
        kit_shuffle(candidates, n);
        for (int i = 0; i < trials && c->gains_left-- > 0; i++) saved += gain_try(c, candidates[i % n]);
        cost -= saved;
    }
    return cost;
}

/* At first a centre costs half of what one centre for all would; too few centres make it cheaper. */
static double first_centres(struct clustering *c, double *high)
{
    double cost;
    *high = 0;
    for (int i = 0; i < c->points; i++) *high += point_distance(c, i, 0) * c->p[i].weight;
    c->facility_cost = *high / 2;
    shuffle_points(c);
    cost = open_speedily(c);
    if (c->centres < K_MIN) cost = open_speedily(c);
    while (c->centres < K_MIN) {
        *high = c->facility_cost;
        c->facility_cost = *high / 2;
        shuffle_points(c);
        cost = open_speedily(c);
    }
    for (int i = 0; i < c->points; i++) c->is_centre[c->p[i].assigned] = true;
    return cost;
}

/* Halves the interval of the cost of a centre until K_MIN to K_MAX centres are worth it. */
static double find_medians(struct clustering *c)
{
    double low = 0, high, cost = first_centres(c, &high);
    int n = (int)(ROUNDS * K_MIN * log(K_MIN));
    int *candidates = kit_ints(n, 0, c->points - 1); /* all weigh the same */
    gain_begin(c);
    for (;;) {
        cost = search_locally(c, candidates, n, cost, 0.1);
        if ((c->centres <= 1.1 * K_MAX && c->centres >= 0.9 * K_MIN) ||
            (c->centres <= K_MAX + 2 && c->centres >= K_MIN - 2))
            cost = search_locally(c, candidates, n, cost, 0.001);
        if ((c->centres <= K_MAX && c->centres >= K_MIN) || low >= 0.999 * high || c->gains_left <= 0)
            return cost;
        double before = c->facility_cost;
        if (c->centres > K_MAX) low = before;
        if (c->centres < K_MIN) high = before;
        c->facility_cost = (high + low) / 2;
        cost += (c->facility_cost - before) * c->centres;
    }
}

/* The cost that was kept along the way must be that of the clustering it led to. */
static void check_clustering(const struct clustering *c, double cost)
{
    double sum = 0;
    long centres = 0;
    for (int i = 0; i < c->points; i++) {
        sum += point_distance(c, i, c->p[i].assigned) * c->p[i].weight;
        centres += c->is_centre[i];
        kit_check(c->is_centre[c->p[i].assigned], "point %d belongs to %ld, which is not a centre", i,
                  c->p[i].assigned);
    }
    sum += centres * c->facility_cost;
    kit_check(centres == c->centres, "there are %ld centres, not %ld", centres, c->centres);
    kit_check(fabs(sum - cost) < 1e-4 * sum, "the cost was said to be %g, and is %g", cost, sum);
}

static const struct size {
    const char *name;
    int points, dimensions, trials;
} sizes[] = {{"tiny", 2000, 32, 4}, {"small", 16384, 256, 3}, {"paper", 16384, 256, 1 << 30}};

int main(int argc, char **argv)
{
    kit_open("streamcluster", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    struct clustering c = {
        .points = size->points, .dimensions = size->dimensions, .gains_left = size->trials};
    make_points(&c);
    double cost = find_medians(&c);
    kit_note("%ld centres, cost %.1f", c.centres, cost);
    if (kit_checking()) check_clustering(&c, cost);
    return kit_close();
}
