/* experiment.h: experiments/NAME.yaml: which runs, which numbers of them, which figures (docs/experiments.md has the format). */
#ifndef HEDDLE_EXPERIMENT_H
#define HEDDLE_EXPERIMENT_H

#include "lab/job.h"

struct expr; /* expr.h */

/* A configuration: what differs from the experiment's machine. */
struct lab_column {
    const char *name;
    const char *machine;                                       /* its own, or the experiment's */
    const char *const *sets, *const *mechs, *const *mech_sets; /* NULL ends them */
    double x;                                                  /* of a numeric axis; NAN = none */
    /* an oracle: the best of these columns for each workload; count 0 = a column of its own */
    const uint32_t *choices;
    uint32_t choice_count;
    const struct expr *best; /* the largest value of it wins */
};

struct lab_measure {
    const char *name, *title, *unit; /* "" */
    const struct expr *value;
};

enum figure_kind { FIGURE_BARS, FIGURE_STACKED, FIGURE_LINES, FIGURE_HEATMAP, FIGURE_SCATTER, FIGURE_TABLE };
enum mean_kind { MEAN_NONE, MEAN_ARITHMETIC, MEAN_GEOMETRIC, MEAN_HARMONIC };

struct lab_claim {
    const char *id;       /* of experiments/claims.tsv */
    const char *workload; /* NULL: the mean over workloads */
    uint32_t column, measure;
    double neutral; /* the value that says "no change": 0 of a gain, 1 of a speedup; NAN = it has no sign */
};

struct lab_figure {
    const char *id, *title, *where; /* "fig3.10", ..., "thesis, Figure 3.10" */
    enum figure_kind kind;
    enum mean_kind mean;
    const uint32_t *columns, *measures; /* indices; stacked: measures are the parts */
    uint32_t column_count, measure_count;
    const char *x_title, *y_title;
    bool percent;
    const struct lab_claim *claims;
    uint32_t claim_count;
    const char *note;
};

struct experiment {
    const char *name, *title, *about, *paper, *machine, *size;
    uint64_t seed, sample;
    const struct workload **workloads; /* in the order of the file */
    uint32_t workload_count, column_count, measure_count, figure_count, baseline;
    struct lab_column *columns; /* hidden ones (an oracle's choices) included */
    struct lab_measure *measures;
    struct lab_figure *figures;
    const char *path;
    /* a study: names of other experiments, and nothing of its own */
    const char *const *study;
    struct arena arena;
    struct yaml_tree file;
};

/* `name` is one of DATA/experiments or a path. False with diagnostics. */
bool experiment_load(struct experiment *e, const char *name, const struct workload_set *workloads,
                     struct diag_list *diags);
void experiment_free(struct experiment *e);
/* Fewer workloads (names), another size: for a quick look. False with diagnostics. */
bool experiment_narrow(struct experiment *e, const char *const *workloads, uint32_t count, const char *size,
                       struct diag_list *diags);

/* The runs that it needs: each once, though several columns may share one. */
struct plan {
    const struct experiment *experiment;
    struct lab_job *jobs;
    uint32_t job_count;
    uint32_t *cell; /* [workload * column_count + column] -> job; of an oracle: UINT32_MAX */
};
bool plan_make(struct plan *p, const struct experiment *e, struct diag_list *diags);
void plan_free(struct plan *p);

#endif
