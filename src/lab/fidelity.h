/* fidelity.h: the suite beside the papers: what they measured of a workload, and what Heddle measures on their machine. */
#ifndef HEDDLE_FIDELITY_H
#define HEDDLE_FIDELITY_H

#include "lab/runner.h"
#include "lab/workload.h"

/* Runs whatever the papers' figures of these workloads need, and writes the tables as Markdown. False: a run failed; the
 * tables say which. */
bool fidelity(const struct lab_runner *runner, const struct workload *const *workloads, uint32_t count,
              const char *size, struct strbuf *out);
/* How many runs that will be. */
uint32_t fidelity_runs(const struct workload *const *workloads, uint32_t count);

#endif
