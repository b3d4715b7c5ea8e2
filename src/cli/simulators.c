/* simulators.c: --simulator HASH: the runs of another version of the simulator. */
#include "cli/lab.h"

bool cli_find_simulator(struct simulator *v, struct store *s, const char *path, const char *digits)
{
    char *error = NULL;
    *v = (struct simulator){0};
    if (!digits || simulator_find(v, s, digits, &error)) return true;
    fprintf(stderr, "heddle: error: --simulator %s: %s: %s\n", digits, path, error);
    free(error);
    return false;
}

bool cli_open_simulator(struct simulator *v, const char *path, const char *digits)
{
    *v = (struct simulator){0};
    if (!digits) return true;
    struct store *s = cli_open_store(path ? path : CLI_DEFAULT_STORE);
    if (!s) return false;
    const bool ok = cli_find_simulator(v, s, path ? path : CLI_DEFAULT_STORE, digits);
    store_close(s);
    return ok;
}

const char *cli_lab_simulator(const struct cli_lab *lab)
{
    return lab->simulator ? lab->simulator->name : job_simulator();
}
