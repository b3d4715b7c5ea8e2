/* simulator.h: the versions of the simulator of which a store has runs. A run's key names its version, so the
 * runs of an earlier one are still in the store after the sources changed, and figures can be made of them;
 * only that version can make more. */
#ifndef HEDDLE_SIMULATOR_H
#define HEDDLE_SIMULATOR_H

#include "base/map.h"

struct store;

/* Another version than this one; name NULL: this one. */
struct simulator {
    /* Version and hash of its sources, as the identities of its runs have them. */
    char *name;
    /* The names of the lines of these identities: the parameters and options that it had. */
    struct map lines;
};

/* Finds the version whose hash begins with these digits. False with an error in words in *error, to be freed:
 * no version or several have such a hash (the error lists all that the store has), or the store cannot be
 * read. */
bool simulator_find(struct simulator *v, struct store *s, const char *digits, char **error);
void simulator_free(struct simulator *v);

/* A question about a store (store_query): a row for each version, the newest first: simulator (the hash),
 * version, runs, done, failed, newest (when its last run ended). */
extern const char simulator_versions_sql[];

#endif
