/* figure.h: the numbers of an experiment's figures, from the runs in the store, and the paper's beside them. */
#ifndef HEDDLE_FIGURE_H
#define HEDDLE_FIGURE_H

#include "lab/plan.h"
#include "lab/store.h"

enum verdict {
    VERDICT_OPEN,       /* runs are missing or failed */
    VERDICT_REPRODUCED, /* sign and order hold, and the value is within a quarter */
    VERDICT_TREND,      /* sign and order hold */
    VERDICT_NOT
};

struct figure_claim {
    const struct lab_claim *claim;
    const char *metric, *where, *note; /* of claims.tsv */
    double paper, ours;
    bool sign, order; /* hold */
    enum verdict verdict;
};

struct figure_cell {
    uint32_t workload, column, measure; /* indices of the experiment; workload = UINT32_MAX: the mean */
    double value;                       /* NAN = open */
    uint32_t chosen;                    /* the column that an oracle chose; else the column */
};

struct figure_data {
    const struct lab_figure *figure;
    struct figure_cell *cells;
    uint32_t cell_count, missing; /* runs that are not there, or failed */
    struct figure_claim *claims;
    uint32_t claim_count;
};

/* False with diagnostics, and nothing to free: the store cannot be read. */
bool figure_make(struct figure_data *d, const struct plan *p, const struct lab_figure *f, struct store *s,
                 struct diag_list *diags);
void figure_free(struct figure_data *d);

const char *verdict_text(enum verdict v); /* "reproduced", "trend only", "not reproduced", "open" */
/* Claims as a table for a terminal of `width` columns; the values as one. */
void figure_print_claims(const struct figure_data *d, uint32_t width, struct strbuf *out);
void figure_print_table(const struct plan *p, const struct figure_data *d, uint32_t width,
                        struct strbuf *out);
/* An experiment with all of its figures as the JSON object that the report page reads (docs/report.md). */
bool experiment_json(const struct plan *p, struct store *s, struct strbuf *out, struct diag_list *diags);

#endif
