/* store_writer.c: store_writer STORE STATS.json FIRST LAST [WORKLOAD [fail | leave]]: takes and puts the runs
 * with seeds FIRST to LAST, all with these statistics. `fail`: as failed ones; STATS is their log. `leave`:
 * takes them and goes. Prints how many were its own. For the tests with several processes, and those that
 * kill one. */
#include "lab_kit.h"

enum { LEASE_SECONDS = 600 };

static bool write_run(struct store *s, struct lab_job *job, const char *stats, const char *how)
{
    bool fails = !strcmp(how, "fail");
    if (!kit_seal(job)) exit(2);
    if (!store_take(s, job, NULL, LEASE_SECONDS)) return false;
    if (!strcmp(how, "leave")) return true;
    char *error = NULL;
    struct store_outcome o = {.status = fails ? 2 : 0,
                              .stats = fails ? NULL : stats,
                              .log = fails ? stats : NULL,
                              .seconds = 1.5,
                              .peak_bytes = 1 << 20,
                              .host = "here"};
    if (store_put(s, job, &o, &error)) return true;
    fprintf(stderr, "store_writer: %s\n", error);
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    char *error = NULL;
    struct store *s = store_open(argv[1], true, &error);
    if (!s) {
        fprintf(stderr, "store_writer: %s\n", error);
        return 2;
    }
    struct workload w = kit_workload(argc > 5 ? argv[5] : "synthetic", argv[0]);
    uint64_t made = 0;
    for (uint64_t seed = strtoull(argv[3], NULL, 10); seed <= strtoull(argv[4], NULL, 10); seed++) {
        struct lab_job job = kit_job(&w, seed);
        const char *const sets[] = {"l1.mshrs=128", NULL}, *const mechs[] = {"lrr", NULL};
        if (seed % 2) job.run.sets = sets;
        if (seed % 3 == 0) job.run.mechs = mechs;
        made += write_run(s, &job, argv[2], argc > 6 ? argv[6] : "");
    }
    printf("%llu\n", (unsigned long long)made);
    store_close(s);
    return 0;
}
