/* mr-ss: host side. */
#include "kit/mars.h"

struct ss_key {
    CUdeviceptr features;
};
struct ss_value {
    int first, second, dimensions;
    float score;
};

/* Of all pairs (first < second) those whose first is one of the first `firsts` documents. */
static const struct size {
    const char *name;
    int documents, dimensions, firsts;
} sizes[] = {{"tiny", 33, 64, 33}, {"small", 1024, 256, 32}, {"paper", 1024, 256, 1024}};

static int pairs_of(const struct size *s)
{
    return s->firsts * s->documents - s->firsts * (s->firsts + 1) / 2;
}

/* Vectors of length one, in double: a score is then the plain product of two. */
static double *unit_vectors(const float *features, int documents, int dimensions)
{
    double *units = kit_host((size_t)documents * dimensions * sizeof *units);
    for (int i = 0; i < documents; i++) {
        const float *from = features + (size_t)i * dimensions;
        double square = 0;
        for (int j = 0; j < dimensions; j++) square += (double)from[j] * from[j];
        for (int j = 0; j < dimensions; j++) units[(size_t)i * dimensions + j] = from[j] / sqrt(square);
    }
    return units;
}

static double score_of(const double *units, int first, int second, int dimensions)
{
    const double *a = units + (size_t)first * dimensions, *b = units + (size_t)second * dimensions;
    double sum = 0;
    for (int j = 0; j < dimensions; j++) sum += a[j] * b[j];
    return sum;
}

/* Every pair once, with its score, in falling order. Scores nearer than 1e-7 compare equal, which is not a
 * transitive relation: each of the sort's steps may leave two records so much out of order. */
static void check_scores(const struct mars_result *r, const float *features, int documents, int dimensions)
{
    const double slack = 2e-5;
    double *units = unit_vectors(features, documents, dimensions);
    char *seen = kit_host((size_t)documents * documents);
    float last = 2;
    for (int i = 0; i < r->n; i++) {
        float score;
        int pair[2];
        memcpy(&score, r->keys + r->index[i].key_at, sizeof score);
        memcpy(pair, r->values + r->index[i].value_at, sizeof pair);
        bool valid =
            pair[0] >= 0 && pair[0] < pair[1] && pair[1] < documents && !seen[pair[0] * documents + pair[1]];
        kit_check(valid, "record %d is of the pair (%d, %d): wrong or seen before", i, pair[0], pair[1]);
        if (!valid) return;
        seen[pair[0] * documents + pair[1]] = 1;
        double want = score_of(units, pair[0], pair[1], dimensions);
        bool near = fabs(score - want) <= 1e-5 && score <= last + slack;
        kit_check(near, "record %d has %.9g after %.9g, the CPU says %.9g", i, score, last, want);
        if (!near) return;
        last = score;
    }
}

static void check_groups(const struct mars_result *r)
{
    int at = 0;
    for (int i = 0; i < r->n_groups; i++) {
        bool follows = r->ranges[i].first == at && r->ranges[i].end > at;
        kit_check(follows, "group %d is [%d, %d) after %d", i, r->ranges[i].first, r->ranges[i].end, at);
        if (!follows) return;
        at = r->ranges[i].end;
    }
    kit_check(at == r->n, "the groups end at %d of %d", at, r->n);
}

int main(int argc, char **argv)
{
    kit_open("mr-ss", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int documents = size->documents, dimensions = size->dimensions;
    size_t n = (size_t)documents * dimensions;
    float *features = kit_host(n * sizeof *features);
    for (size_t i = 0; i < n; i++) features[i] = (float)kit_below(100);

    /* The paper's data set is sorted by the chunked kernels; so are the smaller ones. */
    struct mars m = {.chunked_sort_above = 256};
    struct ss_key key = {kit_upload(features, n * sizeof *features)};
    struct ss_value pair = {.dimensions = dimensions};
    for (pair.first = 0; pair.first < size->firsts; pair.first++)
        for (pair.second = pair.first + 1; pair.second < documents; pair.second++)
            mars_add(&m, &key, sizeof key, &pair, sizeof pair);
    mars_map(&m);
    mars_group(&m);

    if (kit_checking()) {
        struct mars_result r = mars_result(&m);
        kit_check(r.n == pairs_of(size), "%d pairs, not %d", r.n, pairs_of(size));
        check_scores(&r, features, documents, dimensions);
        check_groups(&r);
    }
    mars_close(&m);
    return kit_close();
}
