/* train.h: from a profile to a model of Poise (mech/poise_model.h): thesis 5.5.3, 5.5.4 and 5.7.2.
 *
 * The target of a kernel is its tuple with the highest score (profile_score.h), scaled from the kernel's
 * warps to the slots of a scheduler. Two regressions (negbin.h) learn N and p from the features of Table 5.3,
 * which are computed as the machine computes them. Kernels with little information are left out (Table
 * 5.5). */
#ifndef HEDDLE_TRAIN_H
#define HEDDLE_TRAIN_H

#include "lab/negbin.h"
#include "lab/profile.h"
#include "lab/workload.h"

struct train_options {
    /* What a kernel must gain at its target, and the cycles that it must have with all warps. */
    double gain_min;
    uint64_t cycles_min;
    /* Dispersion of the regression; negative: the likeliest one. */
    double dispersion;
    /* Names of workloads that are left out. */
    const char *const *excluded;
    uint32_t excluded_count;
    /* Features that the models do without, a bit each: their weights are 0. */
    uint32_t without;
};
/* Table 5.5; the dispersion is that of the thesis's tool where it is not given. */
extern const struct train_options train_defaults;

/* The number of a feature by its name: "x1" is 0; POISE_FEATURES: there is no such feature. */
uint32_t train_feature(const char *name);

/* Why a kernel is in the training set, or not. */
enum train_use { TRAIN_KEPT, TRAIN_EXCLUDED, TRAIN_SHORT, TRAIN_NO_GAIN, TRAIN_NO_HITS, TRAIN_USES };
/* "excluded", "fewer than 10000 cycles" and so on. */
void train_use_text(enum train_use use, const struct train_options *o, char out[64]);

struct train_row {
    const struct profile_kernel *kernel;
    const struct profile_point *target;
    enum train_use use;
    int64_t features[POISE_FEATURES];
};

/* A row for each kernel of the profile, which must outlive it. */
struct train_set {
    const struct profile *profile;
    VEC(struct train_row) rows;
    uint32_t counts[TRAIN_USES];
};
void train_select(struct train_set *t, const struct profile *p, const struct train_options *o);
void train_free(struct train_set *t);

struct train_result {
    struct poise_model model;
    struct negbin_fit n, p;
};
/* False with diagnostics that say how many kernels were left out, and why. */
bool train_fit(const struct train_set *t, const struct train_options *o, struct train_result *out,
               struct diag_list *diags);

/* Mean errors of predictions over the kernels that are kept: |predicted - target| / target in %, and
 * |predicted - target| in warps. */
struct train_errors {
    uint32_t count;
    double n_percent, p_percent, n_warps, p_warps;
};
struct train_errors train_measure(const struct train_set *t, const struct poise_model *m);
/* Each kernel, with all its launches, is predicted by a model of the others. `failed`: kernels without which
 * there is no model; they are not in the means. */
struct train_errors train_leave_one_out(const struct train_set *t, const struct train_options *o,
                                        uint32_t *failed);

/* ---- what a model may be trained and measured on (train_sets.c) ---- */

/* No workload of the set may be one that the thesis evaluates Poise on: its description has no
 * `training: true`. Workloads of the user's own may be trained on. False with diagnostics. */
bool train_check_evaluation(const struct train_set *t, const struct workload_set *workloads,
                            struct diag_list *diags);
/* No workload may be in both. False with diagnostics. */
bool train_check_overlap(const struct train_set *trained, const struct train_set *measured,
                         struct diag_list *diags);

/* ---- the model's file (train_text.c) ---- */

struct train_report {
    const struct train_set *set;
    const struct train_options *options;
    const struct train_result *result;
    struct train_errors training, left_out;
    /* `left_out` was asked for, and kernels that it does not count. */
    bool has_left_out;
    uint32_t left_out_failed;
};
/* As poise_model_read() takes it; where it comes from and how well it does are lines for the reader. */
void train_write(const struct train_report *r, struct strbuf *out);
/* The same for a terminal, the published weights beside ours. */
void train_print(const struct train_report *r, struct strbuf *out);

#endif
