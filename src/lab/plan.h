/* plan.h: the runs that an experiment needs. */
#ifndef HEDDLE_PLAN_H
#define HEDDLE_PLAN_H

#include "lab/experiment.h"
#include "lab/job.h"

/* Instead of a job: the column is an oracle, which has no run of its own. */
#define PLAN_NO_JOB UINT32_MAX

/* Each run once, though several columns may share one. */
struct plan {
    const struct experiment *experiment;
    struct lab_job *jobs;
    uint32_t job_count;
    /* [workload * column_count + column] -> job, or PLAN_NO_JOB: plan_job() */
    uint32_t *cell;
};

/* False with diagnostics: the experiment is a study, or a job cannot be sealed. */
bool plan_make(struct plan *p, const struct experiment *e, struct diag_list *diags);
void plan_free(struct plan *p);
/* The index of the job of a cell, or PLAN_NO_JOB. */
uint32_t plan_job(const struct plan *p, uint32_t workload, uint32_t column);
/* How many runs these experiments need together, without sealing them (the programs need not be there). */
uint32_t plan_count(const struct experiment *const *experiments, uint32_t count);

#endif
