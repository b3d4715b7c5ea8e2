/* workloads.h: workloads as the command line names them. */
#ifndef HEDDLE_CLI_WORKLOADS_H
#define HEDDLE_CLI_WORKLOADS_H

#include "cli/cli.h"
#include "lab/workload.h"

#define CLI_DEFAULT_SIZE "small"

/* All that there are: of the data folder and of HEDDLE_WORKLOADS. False: errors were printed. */
bool cli_load_workloads(struct workload_set *set);
/* argv[arg] is a workload's name or a path to a description. NULL: an error was printed, with the nearest
 * name. */
const struct workload *cli_find_workload(struct workload_set *set, int argc, char **argv, int arg);
/* NULL: an error was printed with the sizes that there are. */
const struct workload_size *cli_find_size(const struct workload *w, const char *size);
/* The program must have been built. */
bool cli_check_program(const struct workload *w);

#endif
