/* kmeans: host side. The device assigns points to centres; new centres are summed on the host, as Rodinia
 * does. */
#include "kit/kit.h"

#define BLOCK    256
#define FEATURES 34
#define CLUSTERS 5 /* Rodinia's default */

/* Means of the members; a centre without members stays. Returns how many points changed their cluster. */
static int centres_update(const float *points, const int *now, int *before, int n,
                          float centres[CLUSTERS][FEATURES])
{
    double sum[CLUSTERS][FEATURES] = {0};
    int members[CLUSTERS] = {0}, changed = 0;
    for (int i = 0; i < n; i++) {
        if (now[i] < 0 || now[i] >= CLUSTERS) kit_fail("point %d: no such cluster: %d", i, now[i]);
        members[now[i]]++;
        changed += now[i] != before[i];
        before[i] = now[i];
        for (int f = 0; f < FEATURES; f++) sum[now[i]][f] += points[(size_t)i * FEATURES + f];
    }
    for (int c = 0; c < CLUSTERS; c++)
        for (int f = 0; f < FEATURES && members[c]; f++) centres[c][f] = (float)(sum[c][f] / members[c]);
    return changed;
}

static double squared_distance(const float *point, const float *centre)
{
    double sum = 0;
    for (int f = 0; f < FEATURES; f++) sum += ((double)point[f] - centre[f]) * ((double)point[f] - centre[f]);
    return sum;
}

/* Every point must have a nearest centre; between centres equally near but for rounding either will do. */
static void membership_check(const float *points, const int *membership, int n,
                             float centres[CLUSTERS][FEATURES])
{
    for (int i = 0; i < n; i++) {
        const float *point = points + (size_t)i * FEATURES;
        double least = INFINITY;
        for (int c = 0; c < CLUSTERS; c++) least = fmin(least, squared_distance(point, centres[c]));
        bool in_range = membership[i] >= 0 && membership[i] < CLUSTERS;
        double chosen = in_range ? squared_distance(point, centres[membership[i]]) : INFINITY;
        if (chosen <= least * (1 + 1e-5)) continue;
        kit_check(false, "point %d: cluster %d at %g, nearest centre at %g", i, membership[i], chosen, least);
        return;
    }
}

static void turned_check(const float *points, CUdeviceptr turned, int n)
{
    size_t bytes = (size_t)n * FEATURES * sizeof(float);
    float *got = kit_host(bytes), *want = kit_host(bytes);
    kit_download(got, turned, bytes);
    for (size_t k = 0; k < (size_t)n * FEATURES; k++) want[k] = points[k % n * FEATURES + k / n];
    kit_check_floats("feature-major points", got, want, (size_t)n * FEATURES, 0, 0);
}

static const struct size {
    const char *name;
    int points, rounds_max;
} sizes[] = {
    {"tiny", 1000, 2},  {"small", 49152, 2}, {"paper", 204800, 12},
    {"fill", 98304, 2}, {"llc", 204800, 2},  {"rounds", 24576, 12},
};

int main(int argc, char **argv)
{
    kit_open("kmeans", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->points, rounds_max = size->rounds_max;
    size_t bytes = (size_t)n * FEATURES * sizeof(float);
    float *points = kit_host(bytes), centres[CLUSTERS][FEATURES];
    for (size_t i = 0; i < (size_t)n * FEATURES; i++)
        points[i] = (float)kit_below(256);   /* as Rodinia's datagen */
    memcpy(centres, points, sizeof centres); /* the first points are the first centres */
    int *membership = kit_host(n * sizeof(int)), *before = kit_host(n * sizeof(int));
    for (int i = 0; i < n; i++) before[i] = -1;

    /* A square grid, as the original makes it: the last blocks have no points. */
    int side = 1, features = FEATURES, clusters = CLUSTERS;
    while (side * side * BLOCK < n) side++;
    CUdeviceptr dpoints = kit_upload(points, bytes), dturned = kit_alloc(bytes),
                dmembership = kit_upload(before, n * sizeof(int));
    KIT_LAUNCH("invert_mapping", KIT_DIM(side * side), KIT_DIM(BLOCK), 0, dpoints, dturned, n, features);
    if (kit_checking()) turned_check(points, dturned, n);

    CUtexObject texture = kit_texture(dturned, bytes, CU_AD_FORMAT_FLOAT, 1);
    int rounds = 0, changed = 1;
    for (; rounds < rounds_max && changed; rounds++) {
        kit_set_symbol("c_clusters", centres, sizeof centres);
        KIT_LAUNCH("kmeansPoint", KIT_DIM(side, side), KIT_DIM(BLOCK), 0, texture, features, n, clusters,
                   dmembership);
        kit_download(membership, dmembership, n * sizeof(int));
        if (kit_checking()) membership_check(points, membership, n, centres);
        changed = centres_update(points, membership, before, n, centres);
    }
    kit_note("%d points, %d rounds, %d changed in the last", n, rounds, changed);
    return kit_close();
}
