/* train_sets.c: what a model may be trained and measured on: see train.h. */
#include "lab/train.h"

/* The chapter whose workloads are split into two sets (Table 5.4). */
#define SETS_PAPER "thesis-ch5"

/* The kept row of a workload, the first one; NULL: none. */
static const struct train_row *first_of(const struct train_set *t, const char *workload)
{
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (t->rows.data[i].use != TRAIN_EXCLUDED && !strcmp(t->rows.data[i].kernel->workload, workload))
            return &t->rows.data[i];
    return NULL;
}

/* Is this the row that stands for its workload? */
static bool is_first(const struct train_set *t, const struct train_row *row)
{
    return first_of(t, row->kernel->workload) == row;
}

static bool is_evaluated(const struct workload_set *workloads, const char *name)
{
    const struct workload *w = workload_find(workloads, name);
    const struct workload_paper *paper = w ? workload_paper(w, SETS_PAPER) : NULL;
    return paper && !paper->is_training;
}

bool train_check_evaluation(const struct train_set *t, const struct workload_set *workloads,
                            struct diag_list *diags)
{
    const uint32_t errors = diags->errors;
    for (uint32_t i = 0; i < t->rows.len; i++) {
        const char *name = t->rows.data[i].kernel->workload;
        char hint[160];
        if (!is_first(t, &t->rows.data[i]) || !is_evaluated(workloads, name)) continue;
        snprintf(hint, sizeof hint, "--exclude %.40s leaves it out; --evaluate measures a model on it", name);
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, hint,
                 "%s is in the evaluation set of " SETS_PAPER ": a model must not be trained on it", name);
    }
    return diags->errors == errors;
}

bool train_check_overlap(const struct train_set *trained, const struct train_set *measured,
                         struct diag_list *diags)
{
    const uint32_t errors = diags->errors;
    for (uint32_t i = 0; i < measured->rows.len; i++) {
        const char *name = measured->rows.data[i].kernel->workload;
        if (!is_first(measured, &measured->rows.data[i]) || !first_of(trained, name)) continue;
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "errors of kernels that a model has seen say little",
                 "%s is in the training set: the model must not be evaluated on it", name);
    }
    return diags->errors == errors;
}
