/* nn: host side. */
#include "kit/kit.h"

#define BLOCK   256
#define GRID_X  65535 /* widest grid of Fermi: the original folds what is over into y */
#define RESULTS 10

struct place {
    float lat, lng;
};

/* Hurricane positions with one digit after the point, as in the data base's text: storms that wander from a
 * start. */
static struct place *places_generate(int n)
{
    struct place *places = kit_host(n * sizeof *places);
    double lat = 0, lng = 0;
    for (int i = 0; i < n; i++) {
        bool ashore = i % 32 == 0 || lat < 7 || lat > 70 || lng < 0 || lng > 359;
        lat = ashore ? kit_uniform(7, 35) : lat + kit_uniform(-0.4, 1.2);
        lng = ashore ? kit_uniform(20, 340) : lng + kit_uniform(-1.5, 1.5);
        places[i] = (struct place){(float)(floor(lat * 10) / 10), (float)(floor(lng * 10) / 10)};
    }
    return places;
}

/* The nearest first, by a scan for each, as the original does on the host. */
static void nearest_select(float *distances, int n, int results)
{
    for (int r = 0; r < results; r++) {
        int least = r;
        for (int i = r; i < n; i++)
            if (distances[i] < distances[least]) least = i;
        float swap = distances[r];
        distances[r] = distances[least];
        distances[least] = swap;
    }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static const struct size {
    const char *name;
    int records;
} sizes[] = {{"tiny", 42764}, {"small", 640 << 10}, {"paper", 1 << 24}, {"stream", 1 << 22}};

int main(int argc, char **argv)
{
    kit_open("nn", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->records;
    float lat = 30, lng = 90; /* of the original's run script */
    struct place *places = places_generate(n);
    float *distances = kit_host(n * sizeof(float)), *want = kit_host(n * sizeof(float));

    int blocks = (n + BLOCK - 1) / BLOCK, y = (blocks + GRID_X - 1) / GRID_X, x = (blocks + y - 1) / y;
    CUdeviceptr dplaces = kit_upload(places, n * sizeof *places), ddistances = kit_alloc(n * sizeof(float));
    KIT_LAUNCH("euclid", KIT_DIM(x, y), KIT_DIM(BLOCK), 0, dplaces, ddistances, n, lat, lng);
    kit_download(distances, ddistances, n * sizeof(float));

    if (kit_checking()) {
        for (int i = 0; i < n; i++)
            want[i] = (float)hypot((double)lat - places[i].lat, (double)lng - places[i].lng);
        kit_check_floats("distances", distances, want, n, 1e-6, 1e-6);
        nearest_select(distances, n, RESULTS);
        qsort(want, n, sizeof *want, by_value);
        kit_check_floats("nearest", distances, want, RESULTS, 1e-6, 1e-6);
    } else {
        nearest_select(distances, n, RESULTS);
    }
    kit_note("%d records, nearest at %.3f", n, distances[0]);
    return kit_close();
}
