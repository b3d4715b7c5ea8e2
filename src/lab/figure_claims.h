/* figure_claims.h: the paper's claims beside our values, as texts in columns. */
#ifndef HEDDLE_FIGURE_CLAIMS_H
#define HEDDLE_FIGURE_CLAIMS_H

#include "lab/figure_table.h"

enum { CLAIM_ID, CLAIM_METRIC, CLAIM_PAPER, CLAIM_OURS, CLAIM_VERDICT, CLAIM_COLUMNS };

/* A row for each claim of the figure. */
void figure_claims_table(const struct figure_data *d, struct text_table *t);
/* A line for each claim that is not comparable: why. */
void figure_claims_excuses(const struct figure_data *d, struct strbuf *out);

/* The same of one claim: its verdict in words, and why it is not comparable, if it is not. */
void figure_claim_verdict(const struct figure_claim *c, char out[TABLE_TEXT_BYTES]);
void figure_claim_excuse(const struct figure_claim *c, struct strbuf *out);

#endif
