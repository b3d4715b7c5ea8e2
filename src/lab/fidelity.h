/* fidelity.h: the suite beside the papers: what they measured of a workload, and what Heddle measures on their machine. */
#ifndef HEDDLE_FIDELITY_H
#define HEDDLE_FIDELITY_H

#include "lab/runner.h"
#include "lab/workload.h"

struct fidelity_options {
    const char *size;  /* of the workloads */
    const char *paper; /* its figures alone, such as "thesis-ch3"; NULL = all papers' */
};
/* Runs whatever the papers' figures of these workloads need, and writes the tables as Markdown. False: a run failed; the
 * tables say which. */
bool fidelity(const struct lab_runner *runner, const struct workload *const *workloads, uint32_t count,
              const struct fidelity_options *options, struct strbuf *out);
/* Does any table show this paper? */
bool fidelity_knows(const char *paper);

#endif
