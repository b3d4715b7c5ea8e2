/* plan_impl.h: what the files that make plans share. */
#ifndef HEDDLE_PLAN_IMPL_H
#define HEDDLE_PLAN_IMPL_H

#include "base/map.h"
#include "lab/figure_impl.h"
#include "lab/plan.h"

/* The run of a cell, with the settings that the file names; not sealed. */
struct lab_job plan_job_of(const struct plan *p, uint32_t workload, uint32_t column);
/* The job's index in the plan: a new one, or that of its twin. */
uint32_t plan_add_job(struct plan *p, struct map *by_key, const struct lab_job *job);

/* plan_table.c: a text that a run reads, as a file of `folder` named after its content: NAME-HASH.txt. NULL
 * with diagnostics: it cannot be written. */
const char *plan_keep(const char *name, const struct strbuf *text, const char *folder, struct arena *a,
                      struct diag_list *diags);
/* plan_table.c: the table of what a column with `per: kernel` chose for each launch of a workload, as a file
 * of `folder`. NULL: results are missing (v->open), or with diagnostics: it cannot be written. */
const char *plan_table(struct figure_values *v, uint32_t workload, uint32_t column, const char *folder,
                       struct arena *a, struct diag_list *diags);

#endif
