/* plan.h: the runs that an experiment needs. */
#ifndef HEDDLE_PLAN_H
#define HEDDLE_PLAN_H

#include "lab/experiment.h"
#include "lab/job.h"

/* Instead of a job: the column is an oracle, which has no run of its own; or its conditions do not hold for
 * the workload. */
#define PLAN_NO_JOB UINT32_MAX
/* Instead of a job: it follows from results that are not there yet (plan_advance). */
#define PLAN_LATER (UINT32_MAX - 1)

struct store;

/* Each run once, though several columns may share one. */
struct plan {
    const struct experiment *experiment;
    /* The version of the simulator whose runs these are; NULL: this one. */
    const struct simulator *simulator;
    struct lab_job *jobs;
    uint32_t job_count;
    /* [workload * column_count + column] -> job, PLAN_NO_JOB or PLAN_LATER: plan_job() */
    uint32_t *cell;
    /* Memory of the jobs that plan_advance() adds. */
    struct arena texts;
};

/* The runs that need no results of others; `v` is the version of the simulator that makes or made them, NULL
 * for this one. False with diagnostics: the experiment is a study, or a job cannot be sealed. */
bool plan_make(struct plan *p, const struct experiment *e, const struct simulator *v,
               struct diag_list *diags);
void plan_free(struct plan *p);
/* Adds the runs that follow from what the store has: conditions that hold, settings and tables that other
 * columns chose (plan_stages.c). Tables are written into `folder`. False with diagnostics. */
bool plan_advance(struct plan *p, struct store *s, const char *folder, struct diag_list *diags);
/* Cells whose runs are not known yet. */
uint32_t plan_later(const struct plan *p);
/* The index of the job of a cell, PLAN_NO_JOB or PLAN_LATER. */
uint32_t plan_job(const struct plan *p, uint32_t workload, uint32_t column);
/* How many runs these cells stand for, at most: each once, though several plans may share one. */
uint32_t plan_count_later(const struct plan *plans, uint32_t count);
/* How many runs these experiments need together, without sealing them (the programs need not be there). */
uint32_t plan_count(const struct experiment *const *experiments, uint32_t count);

#endif
