/* compare.h: mechanisms side by side: an experiment that is made of names on a command line. */
#ifndef HEDDLE_COMPARE_H
#define HEDDLE_COMPARE_H

#include "lab/figure.h"

/* A column of mechanisms that are attached together. */
struct compare_column {
    /* "ccws+str", or COMPARE_NONE */
    const char *name;
    const char **mechs;
    uint32_t mech_count;
    /* The names of their main statistics. */
    const char **stats;
    uint32_t stat_count;
    /* one of them is a ratio; the others count */
    bool has_ratio;
};
/* The machine as it is. */
#define COMPARE_NONE "none"

/* The first column is the baseline. Lists of settings are "key=value"; those of mechanisms hold where their
 * mechanism is. */
struct comparison {
    /* `size` may be NULL: small. */
    const char *machine, *size;
    const char *const *workloads, *const *sets, *const *mech_sets;
    /* further statistics to show */
    const char *const *shown;
    uint32_t workload_count, set_count, mech_set_count, shown_count;
    struct compare_column *columns;
    uint32_t column_count;
    /* energy as well, by the machine's table; and its parts, which make a wide table */
    bool has_energy, has_parts;
};

/* Attaches the mechanisms of a column and finds their main statistics: the first numbers of each one's table.
 * `named` holds names with '+' between them. False with diagnostics. */
bool compare_column_read(struct compare_column *c, const char *named, struct arena *arena,
                         struct diag_list *diags);
/* Is it a setting of one of the column's mechanisms? */
bool compare_takes(const struct compare_column *c, const char *setting);
/* The experiment, as the text of a file (docs/experiments.md). */
void compare_write(const struct comparison *c, struct strbuf *out);
/* The results of the runs from the experiment's figures, as a text: docs/compare.md. */
void compare_json(const struct comparison *c, const struct figure_set *set, struct strbuf *out);

#endif
