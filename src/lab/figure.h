/* figure.h: the numbers of an experiment's figures, from the runs in the store, and the paper's beside
 * them. They are computed once; tables, Markdown and the report page's JSON are printed from them. */
#ifndef HEDDLE_FIGURE_H
#define HEDDLE_FIGURE_H

#include "lab/plan.h"
#include "lab/store.h"

enum verdict {
    /* Runs are missing or failed. */
    VERDICT_OPEN,
    /* Sign and order hold, and the value is within a quarter. */
    VERDICT_REPRODUCED,
    /* Sign and order hold. */
    VERDICT_TREND,
    VERDICT_NOT,
    /* The experiment says why not (lab_claim.excuse), or the measure has no value in runs that are there. */
    VERDICT_INCOMPARABLE,
    VERDICTS
};

struct figure_claim {
    const struct lab_claim *claim;
    /* Fields of claims.tsv. */
    const char *metric, *where, *note;
    double paper, ours;
    /* All runs are there, and the measure has no value (0 / 0). */
    bool has_none;
    /* Do they hold? */
    bool sign, order;
    enum verdict verdict;
};

/* How our value of one workload compares with the paper's (docs/experiments.md). */
enum agreement {
    /* A run is missing, the paper says nothing, or the measure has neither threshold nor classes. */
    AGREEMENT_NONE,
    AGREEMENT_SAME_CLASS,
    AGREEMENT_QUARTER,
    AGREEMENT_SIDE,
    AGREEMENT_NOT,
    AGREEMENTS
};

struct figure_cell {
    /* Indices of the experiment; workload = UINT32_MAX: the mean. */
    uint32_t workload, column, measure;
    /* For a mean, the class of its workloads; NULL: all. */
    const char *class_mean;
    /* NAN = open. */
    double value;
    /* The column that an oracle chose; else the column. */
    uint32_t chosen;
    /* NAN = the paper has no such number. */
    double paper;
    /* Where the measure has classes: ours and the paper's; NULL = none. */
    const char *class_of, *paper_class;
    enum agreement agreement;
};

struct figure_data {
    const struct lab_figure *figure;
    struct figure_cell *cells;
    uint32_t cell_count;
    /* Runs that are not there, or failed. */
    uint32_t missing;
    struct figure_claim *claims;
    uint32_t claim_count;
};

/* False with diagnostics, and nothing to free: the store cannot be read. */
bool figure_make(struct figure_data *d, const struct plan *p, const struct lab_figure *f, struct store *s,
                 struct diag_list *diags);
void figure_free(struct figure_data *d);

/* All figures of an experiment. */
struct figure_set {
    const struct plan *plan;
    struct figure_data *figures;
    uint32_t count;
};
/* False with diagnostics, and nothing to free. */
bool figures_make(struct figure_set *set, const struct plan *p, struct store *s, struct diag_list *diags);
void figures_free(struct figure_set *set);

/* "reproduced", "trend only", "not reproduced", "open" */
const char *verdict_text(enum verdict v);
/* "same", "within a quarter", "same side", "differs"; "" of AGREEMENT_NONE. */
const char *agreement_text(enum agreement a);

/* The values, and the claims, as tables for a terminal of `width` columns. */
void figure_print_table(const struct plan *p, const struct figure_data *d, uint32_t width,
                        struct strbuf *out);
void figure_print_claims(const struct figure_data *d, uint32_t width, struct strbuf *out);
/* A section with title, note, settings of the columns and the values as a table. */
void figure_print_markdown(const struct plan *p, const struct figure_data *d, struct strbuf *out);
/* An experiment with all of its figures as the JSON object that the report page reads (docs/report.md). */
void experiment_json(const struct figure_set *set, struct strbuf *out);

#endif
