/* profiling.h: warp tuples from the command line: the runs that `heddle profile` and `heddle map` need, in
 * two sweeps. The first gives the warps that fit, the second all tuples up to these. */
#ifndef HEDDLE_CLI_PROFILING_H
#define HEDDLE_CLI_PROFILING_H

#include "cli/lab.h"
#include "cli/run_flags.h"
#include "lab/profile_runs.h"

struct cli_profiling {
    struct cli_sweep sweep;
    /* the machine and its settings; settings of mechanisms, where a command takes them */
    struct cli_run run;
    const char *kernel;
    uint64_t step, cycles_min;
    /* Settings of Poise, which runs too; NULL: it does not. */
    const char *const *poise_sets;
};
/* The options of both commands, with a command's own and the run options that it picks; free() it. */
struct cli_option *cli_profiling_options(struct cli_profiling *p, const struct cli_option *own,
                                         const struct cli_run_pick *picks);
void cli_profiling_free(struct cli_profiling *p);

/* A plan for each workload that has a launch that counts, and what its runs gave. */
struct cli_profiled {
    struct cli_lab lab;
    struct store *store;
    struct profile profile;
    /* Runs that the store does not have. */
    uint32_t missing;
};
/* An exit status. With --dry-run the profile is empty; so it is where `store` is NULL. */
int cli_profile_runs(const struct cli_profiling *p, const struct profile_workload *workloads, uint32_t count,
                     struct cli_profiled *out);
/* Is there something to show, with this exit status of the runs? */
bool cli_profiled_has_some(const struct cli_profiled *out, int status);
void cli_profiled_free(struct cli_profiled *out);

/* Writes a text to a file, or to standard output (NULL). An exit status; errors are printed. */
int cli_write_text(const char *path, const struct strbuf *text);

#endif
