/* profile_runs.h: the runs of a profile: which ones, as the texts of experiments (docs/experiments.md), and
 * what the store has of them.
 *
 * A run is a workload at one tuple. Its kernels are profiled together: each from its own rows of the run's
 * summary. A kernel with fewer warps than the tuple's N runs as at its own largest tuple. */
#ifndef HEDDLE_PROFILE_RUNS_H
#define HEDDLE_PROFILE_RUNS_H

#include "lab/plan.h"
#include "lab/profile.h"
#include "lab/store.h"

/* What is profiled, and how. Lists of settings are "key=value". */
struct profile_ask {
    const char *machine;
    const char *const *sets;
    uint32_t set_count;
    /* The distance of values of N, and of p; 0: so that there are PROFILE_VALUES of them at most. */
    uint32_t step;
    /* Launches with fewer cycles are left out, and their warps do not count. */
    uint64_t cycles_min;
    /* Only this kernel; NULL: all. */
    const char *kernel;
};

/* The first stage: each workload with all warps. */
struct profile_workload {
    const char *name, *size;
};
void profile_write_baseline(const struct profile_ask *ask, const struct profile_workload *workloads,
                            uint32_t count, struct strbuf *out);
/* The second: one workload at all tuples up to `most`, the baseline first. A column PROFILE_POISE with Poise
 * comes last where poise_sets is not NULL (its settings; NULL ends them). */
void profile_write_grid(const struct profile_ask *ask, const struct profile_workload *w, uint32_t most,
                        const char *const *poise_sets, struct strbuf *out);
enum { PROFILE_VALUES = 9 };
#define PROFILE_ALL   "all"
#define PROFILE_POISE "poise"

/* The most warps that a scheduler has in a launch that counts: the largest N of the second stage, by the
 * baseline run. 0: there is no such launch, or no such run. */
uint32_t profile_bound(struct store *s, const struct lab_job *baseline, const struct profile_ask *ask,
                       struct diag_list *diags);
/* Adds the launches of a workload, from a plan of the second stage. Tuples whose run the store does not have
 * are left out, and counted in *missing; a launch without the baseline or (1, 1) is left out. */
bool profile_gather(struct profile *p, struct store *s, const struct plan *grid,
                    const struct profile_ask *ask, uint32_t *missing, struct diag_list *diags);

#endif
