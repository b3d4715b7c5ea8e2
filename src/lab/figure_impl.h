/* figure_impl.h: what the files that make a figure's numbers share. */
#ifndef HEDDLE_FIGURE_IMPL_H
#define HEDDLE_FIGURE_IMPL_H

#include "lab/figure.h"

#define FIGURE_MEAN      UINT32_MAX       /* instead of a workload */
#define FIGURE_NO_CHOICE (UINT32_MAX - 1) /* instead of a column */

/* The values of an experiment's measures, from the runs in the store. */
struct energy_table;

struct figure_values {
    const struct plan *plan;
    struct store *store;
    /* The launch that is asked for; launch 0: whole runs. */
    struct expr_kernel kernel;
    /* The state of each cell without a job, then of each job: enum job_known of figure_values.c. */
    uint8_t *state;
    /* [workload * column_count + column]: what oracles chose. */
    uint32_t *chosen;
    /* Jobs that are needed and not in the store. */
    uint32_t missing;
    /* The first error of the store; NULL = none. */
    char *error;
    /* The newest value needs a run that is not in the store. */
    bool open;
    /* Tables of energies that were read. */
    VEC(struct energy_table *) tables;
};

void figure_values_open(struct figure_values *v, const struct plan *p, struct store *s);
void figure_values_close(struct figure_values *v);
/* The value of one workload. NAN: a run is missing (v->open), or the measure has no value here (0 / 0).
 * `chosen` may be NULL. */
double figure_value(struct figure_values *v, uint32_t workload, uint32_t column, uint32_t measure,
                    uint32_t *chosen);
/* The column whose run counts: itself, or the one that it chooses. FIGURE_NO_CHOICE: that is not known yet
 * (v->open), or there is none. */
uint32_t figure_choice(struct figure_values *v, uint32_t workload, uint32_t column);
/* An expression for a workload and a column that has a run; of one launch of it. v->open is only ever set. */
double figure_expr(struct figure_values *v, uint32_t workload, uint32_t column, const struct expr *e);
double figure_kernel_expr(struct figure_values *v, uint32_t workload, uint32_t column,
                          struct expr_kernel kernel, const struct expr *e);
/* Is the run of a cell that has one in the store? Else v->open is set. */
bool figure_has_run(struct figure_values *v, uint32_t workload, uint32_t column);
/* Over all workloads, or those of a class of the paper's. A workload for which the measure has no value is
 * left out; when a run is missing the mean is NAN and open. */
double figure_mean(struct figure_values *v, enum mean_kind kind, const char *class_of, uint32_t column,
                   uint32_t measure);

/* A row of a figure: a workload, or a mean. */
struct figure_row {
    /* FIGURE_MEAN: of the class, or of all (NULL). */
    uint32_t workload;
    const char *class_of;
};
uint32_t figure_row_count(const struct experiment *e, const struct lab_figure *f);
struct figure_row figure_row(const struct experiment *e, const struct lab_figure *f, uint32_t i);

/* Sign, order and value of each claim of a figure, once `paper` and `ours` are filled in. */
void claims_judge(const struct lab_figure *f, struct figure_claim *claims, uint32_t count);

/* Is our value within a quarter of the paper's? Not where one of them is NAN. */
bool value_is_near(double ours, double paper);
/* Class and agreement of a cell that is not a mean, once `value` and `paper` are filled in. */
void cell_judge(struct figure_cell *c, const struct experiment *e);

#endif
