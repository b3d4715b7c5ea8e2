/* experiment.h: experiments/NAME.yaml: which runs, which numbers of them, which figures
 * (docs/experiments.md has the format). */
#ifndef HEDDLE_EXPERIMENT_H
#define HEDDLE_EXPERIMENT_H

#include "core/run_options.h"
#include "lab/claims.h"
#include "lab/expr.h"
#include "lab/workload.h"
#include "mech/poise_model.h"

/* Parameters of one `over`. */
enum { OVER_MAX = 4 };
/* lab_column.sweep of a column that is not of an `over`. */
#define COLUMN_ALONE UINT32_MAX

struct machine;
struct mech_set;

/* KEY: chosen(COLUMN, PARAM): the value of a setting is that of the column which an oracle chose. */
struct lab_chosen {
    const char *key, *param;
    /* The oracle. */
    uint32_t column;
};

/* A model of Poise that was trained of a profile: experiment_models.c. */
struct lab_model {
    const char *name;
    struct poise_model weights;
    /* As a file has it. */
    const char *text;
};

/* KEY: model(NAME): the value of a setting is the file of a model. */
struct lab_trained {
    const char *key;
    const struct lab_model *model;
};

/* `per: kernel, into: KEY`: a file with a line KERNEL LAUNCH VALUE... for each launch. */
struct lab_table {
    /* A parameter that names a file. */
    const char *key;
    /* The parameters whose values a line has; NULL ends them. */
    const char *const *params;
};

/* A configuration: what differs from the experiment's machine. */
struct lab_column {
    const char *name;
    /* Its own, or the experiment's. */
    const char *machine;
    /* Each list ends with NULL. */
    const char *const *sets, *const *mechs, *const *mech_sets;
    /* The position on a numeric axis; NAN = none. */
    double x;
    /* Of `over`: the first column of it, and which value of each parameter this one has. */
    uint32_t sweep;
    uint32_t place[OVER_MAX];
    /* an oracle: the best of these columns for each workload; count 0 = a column of its own */
    const uint32_t *choices;
    uint32_t choice_count;
    /* The column with the largest value wins. */
    const struct expr *best;
    /* A choice whose run failed takes no part. */
    bool skips_failed;
    /* For an oracle that chooses for each kernel, which has a run with a table of the choices: the parameter
     * of the table; NULL = none. */
    const struct lab_table *table;
    /* Settings that other columns decide, for each workload. */
    const struct lab_chosen *chosen;
    uint32_t chosen_count;
    /* Settings that are files of trained models. */
    const struct lab_trained *trained;
    uint32_t trained_count;
    /* Conditions of `where` that need runs: it has no run of a workload for which one does not hold. */
    const struct expr **conditions;
    uint32_t condition_count;
    /* One of an oracle's choices: in a figure only where it is named. */
    bool hidden;
    /* what param() reads; NULL for an oracle without runs */
    const struct machine *resolved;
    struct mech_set *attached;
};

/* Does the column choose among other columns, without having runs itself? */
static inline bool column_is_choice(const struct lab_column *c) { return c->choice_count && !c->table; }
/* Does it need results of other runs, or a file of the sweep's folder, before its own run can be planned? */
static inline bool column_is_later(const struct lab_column *c)
{
    return c->table || c->chosen_count || c->trained_count || c->condition_count;
}

/* A class of workloads: those whose value is at least `from`, and not in a class before it. */
struct lab_class {
    /* What the paper calls it; NULL at the end. The first one names it in tables. */
    const char *const *names;
    /* -INFINITY: all that is left. */
    double from;
};

struct lab_measure {
    /* `unit` may be "". */
    const char *name, *title, *unit;
    const struct expr *value;
    /* Its value is of all workloads together. */
    bool is_over;
    /* A change of at least this size matters when our value of a workload is compared with the paper's. NAN =
     * not compared. */
    double threshold;
    /* Put a workload into one of the paper's classes; the smallest last. */
    const struct lab_class *classes;
    uint32_t class_count;
    /* Words for the values 0, 1, 2...; NULL = it is a number. */
    const char *const *words;
    uint32_t word_count;
};

enum figure_kind { FIGURE_BARS, FIGURE_STACKED, FIGURE_LINES, FIGURE_HEATMAP, FIGURE_SCATTER, FIGURE_TABLE };

/* How our value has to compare with the paper's: about equal, or beyond a bound that the paper gives. */
enum claim_relation { CLAIM_ABOUT, CLAIM_ABOVE, CLAIM_BELOW };

struct lab_claim {
    /* An id of experiments/claims.tsv. */
    const char *id;
    /* NULL: the mean over workloads. */
    const char *workload;
    /* The kind of mean, if it is not the figure's, or MEAN_NONE; the class of workloads that it is of, or
     * NULL: all. */
    enum mean_kind mean;
    const char *class_of;
    uint32_t column, measure;
    /* Its line of claims.tsv. */
    const struct claim *fact;
    /* The value that means "no change": 0 of a gain, 1 of a speedup; NAN = it has no sign. */
    double neutral;
    enum claim_relation relation;
    /* Why ours cannot be compared with it; NULL: it can. Then column, measure and workload say nothing. */
    const char *excuse;
};

struct lab_figure {
    /* "fig3.10", ..., "thesis, Figure 3.10". */
    const char *id, *title, *where;
    enum figure_kind kind;
    enum mean_kind mean;
    /* Indices; stacked: measures are the parts. */
    const uint32_t *columns, *measures;
    uint32_t column_count, measure_count;
    /* [column * measure_count + measure]: what the paper's table calls its values of a workload; NULL = it
     * has none. */
    const char **papers;
    /* The one workload that the figure shows, and the one launch; NULL and 0: all. */
    const char *workload;
    struct expr_kernel kernel;
    /* A heat map over two parameters of the columns: along x, along y; NULL: workloads over columns. */
    const char *axes[2];
    /* Classes of the paper's that have a mean of their own; NULL ends them. */
    const char *const *classes;
    uint32_t class_count;
    const char *x_title, *y_title;
    bool percent;
    /* Digits behind the point; -1 = as the value's size asks for. */
    int digits;
    const struct lab_claim *claims;
    uint32_t claim_count;
    const char *note;
};

/* What a bar counts: workloads in the paper's class; values within a quarter of the paper's; claims. */
enum bar_count { BAR_SAME_CLASS, BAR_QUARTER, BAR_REPRODUCED, BAR_NOT_REPRODUCED };
#define BAR_ALL UINT32_MAX

/* How many values or claims should agree with the paper. */
struct lab_bar {
    const char *name;
    enum bar_count count;
    /* Which of them; BAR_ALL: all. */
    uint32_t figure, column, measure;
    /* At least (is_most: at most) `aim` of them, or `aim` / `aim_of` of them where that is not 0. */
    uint32_t aim, aim_of;
    bool is_most;
    /* As the file says them. */
    const char *count_text, *aim_text;
};

static inline bool bar_counts_claims(const struct lab_bar *b)
{
    return b->count == BAR_REPRODUCED || b->count == BAR_NOT_REPRODUCED;
}

static inline bool bar_takes(const struct lab_bar *b, uint32_t column, uint32_t measure)
{
    return (b->column == BAR_ALL || b->column == column) && (b->measure == BAR_ALL || b->measure == measure);
}

struct experiment {
    const char *name, *title, *about, *paper, *machine, *size;
    /* the file names a size: it goes before those that papers' workloads name */
    bool has_size;
    uint64_t seed;
    /* What all runs have in common; the columns add machine and mechanisms. */
    struct run_options run;
    /* They stand in the order of the file. Without any, only parameters are computed with. */
    const struct workload **workloads;
    /* The size of each workload. */
    const char **sizes;
    uint32_t workload_count, column_count, measure_count, figure_count, baseline;
    /* Hidden ones (an oracle's choices) included. */
    struct lab_column *columns;
    struct lab_model *models;
    uint32_t model_count;
    struct lab_measure *measures;
    struct lab_figure *figures;
    struct lab_bar *bars;
    uint32_t bar_count;
    const char *path;
    /* what makes it again; NULL: heddle reproduce */
    const char *command;
    /* a study: names of other experiments, and of its own nothing but bars */
    const char *const *study;
    struct claim_set claims;
    struct arena arena;
    struct yaml_tree file;
};

/* `name` is one of DATA/experiments or a path. False with diagnostics. */
bool experiment_load(struct experiment *e, const char *name, const struct workload_set *workloads,
                     struct diag_list *diags);
/* The same of a text that is not in a file; `name` is the experiment's. */
bool experiment_read(struct experiment *e, const char *name, const char *text,
                     const struct workload_set *workloads, struct diag_list *diags);
void experiment_free(struct experiment *e);
/* Does the file list other experiments? Nothing else of it is read; one that cannot be read does not. */
bool experiment_is_study(const char *name);
/* The names of DATA/experiments, in order; gives how many. */
uint32_t experiment_names(struct arena *a, const char ***names);
/* Fewer workloads (names), another size: for a quick look. False with diagnostics. */
bool experiment_narrow(struct experiment *e, const char *const *workloads, uint32_t count, const char *size,
                       struct diag_list *diags);

#endif
