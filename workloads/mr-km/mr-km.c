/* mr-km: host side. */
#include "kit/mars.h"

#define DIMENSIONS 3
#define CLUSTERS   24

struct km_key {
    int point, dimensions, clusters;
    CUdeviceptr cluster_of;
};
struct km_value {
    CUdeviceptr points, centres, changed;
};

static int square(const int *a, const int *b)
{
    int sum = 0;
    for (int j = 0; j < DIMENSIONS; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* One round; a point leaves its cluster only for a nearer one, of equally near ones for the first. */
static bool assign(const int *points, const int *centres, int *cluster_of, int n)
{
    bool changed = false;
    for (int i = 0; i < n; i++) {
        int first = 0;
        for (int c = 1; c < CLUSTERS; c++)
            if (square(points + i * DIMENSIONS, centres + c * DIMENSIONS) <
                square(points + i * DIMENSIONS, centres + first * DIMENSIONS))
                first = c;
        int own = square(points + i * DIMENSIONS, centres + cluster_of[i] * DIMENSIONS);
        if (own == square(points + i * DIMENSIONS, centres + first * DIMENSIONS)) continue;
        cluster_of[i] = first;
        changed = true;
    }
    return changed;
}

/* Means in whole numbers; a cluster without points keeps its centre. */
static void recentre(const int *points, int *centres, const int *cluster_of, int n)
{
    long sums[CLUSTERS][DIMENSIONS] = {0}, counts[CLUSTERS] = {0};
    for (int i = 0; i < n; i++) {
        counts[cluster_of[i]]++;
        for (int j = 0; j < DIMENSIONS; j++) sums[cluster_of[i]][j] += points[i * DIMENSIONS + j];
    }
    for (int c = 0; c < CLUSTERS; c++)
        for (int j = 0; j < DIMENSIONS && counts[c]; j++)
            centres[c * DIMENSIONS + j] = (int)(sums[c][j] / counts[c]);
}

static void check(const int *points, int n, int rounds, const struct km_key *key,
                  const struct km_value *value)
{
    int centres[CLUSTERS * DIMENSIONS], got_centres[CLUSTERS * DIMENSIONS];
    int *cluster_of = kit_host(n * sizeof(int)), *got_cluster_of = kit_host(n * sizeof(int));
    memcpy(centres, points, sizeof centres);
    for (int round = 0; round < rounds; round++) {
        assign(points, centres, cluster_of, n);
        recentre(points, centres, cluster_of, n);
    }
    kit_download(got_centres, value->centres, sizeof got_centres);
    kit_download(got_cluster_of, key->cluster_of, n * sizeof(int));
    kit_check_ints("cluster_of", got_cluster_of, cluster_of, n);
    kit_check_ints("centres", got_centres, centres, CLUSTERS * DIMENSIONS);
}

int main(int argc, char **argv)
{
    kit_open("mr-km", argc, argv);
    int n = (const int[]){500, 10000, 10000}[kit_size()], rounds_max = (const int[]){2, 2, 1000}[kit_size()];
    int *points = kit_ints((size_t)n * DIMENSIONS, 0, 99), changed, rounds = 0;

    struct km_value value = {
        kit_upload(points, n * DIMENSIONS * sizeof(int)),
        kit_upload(points, CLUSTERS * DIMENSIONS * sizeof(int)), /* the first points are the centres */
        kit_zeros(sizeof(int))};
    struct km_key key = {
        .dimensions = DIMENSIONS, .clusters = CLUSTERS, .cluster_of = kit_zeros(n * sizeof(int))};
    struct mars m = {0};
    for (key.point = 0; key.point < n; key.point++) mars_add(&m, &key, sizeof key, &value, sizeof value);
    do {
        if (rounds) mars_next_round(&m);
        kit_set32(value.changed, 0, 1);
        mars_map(&m);
        mars_group(&m);
        mars_reduce(&m);
        kit_download(&changed, value.changed, sizeof changed);
        rounds++;
    } while (changed && rounds < rounds_max);
    kit_note("%d rounds%s", rounds, changed ? ", not settled" : "");

    if (kit_checking()) check(points, n, rounds, &key, &value);
    mars_close(&m);
    return kit_close();
}
