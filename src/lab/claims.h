/* claims.h: experiments/claims.tsv: what the papers measured, one claim a line, fields with tabs between
 * them: id, paper, where, metric, baseline, system, value, note (may be missing). Lines that begin with #
 * are comments. */
#ifndef HEDDLE_CLAIMS_H
#define HEDDLE_CLAIMS_H

#include "base/arena.h"
#include "base/diag.h"

struct claim {
    /* A field that the line does not have is "". */
    const char *id, *paper, *where, *metric, *baseline, *system, *note;
    double value;
};

struct claim_set {
    VEC(struct claim) items;
    struct arena arena;
};

/* Adds the claims of a file. False with diagnostics, each with its line and column; a file that cannot be
 * read is an error too. */
bool claims_load(struct claim_set *set, const char *path, struct diag_list *diags);
void claims_free(struct claim_set *set);
const struct claim *claims_find(const struct claim_set *set, const char *id);
/* The nearest id, or NULL. */
const char *claims_nearest(const struct claim_set *set, const char *id);

#endif
