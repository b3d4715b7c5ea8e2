/* query_run.h: everything of one run. */
#ifndef HEDDLE_QUERY_RUN_H
#define HEDDLE_QUERY_RUN_H

#include "cli/query_filter.h"

/* The whole key of the only run whose key begins with this. False: an error was printed. */
bool query_find_run(struct store *s, const struct query_place *at, const char *prefix,
                    char key[JOB_KEY_CHARS + 1]);
/* What it is, how it ended, statistics, kernels, loads, what it printed, and what its key is the hash of. */
bool query_print_run(struct store *s, const char *key, uint32_t width);

#endif
