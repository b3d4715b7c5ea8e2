/* column_energy.h: what a run of a column cost: energy(total), energy(l1), energy(linebacker.vtt).
 *
 *     total, without_leakage, events     all parts; without leakage; without what is always on, too
 *     seconds                            the time of the run, for powers
 *     front, registers, ... leakage      a part (energy_part_words)
 *     MECHANISM, MECHANISM.ROW           rows that mechanisms declare, which the parts contain
 *
 * In joules. The table is that of the column's machine; statistics, clock and sizes come from the run, since
 * another column may have decided its machine (lab_chosen). */
#ifndef HEDDLE_COLUMN_ENERGY_H
#define HEDDLE_COLUMN_ENERGY_H

#include "energy/energy.h"
#include "lab/experiment.h"

/* A run of a column. */
struct column_run {
    const struct lab_column *column;
    const struct machine *machine;
    /* A statistic of the run, or NAN. */
    double (*value)(void *context, const char *name);
    void *context;
};

/* Is it a name of the list above, for any column? A row is one of the column's mechanisms. */
bool column_energy_knows(const struct lab_column *c, const char *name);
/* Names that every column has, for hints; NULL: there are no more. */
const char *column_energy_name(uint32_t i);

/* The table that the column's machine names; "" = none, or the column has no machine of its own. */
const char *column_energy_table(const struct lab_column *c);
/* Reads it. False with diagnostics. */
bool column_energy_load(const struct lab_column *c, struct energy_table *t, struct diag_list *diags);

/* All parts at once. False: the run has no cycles. */
bool column_energy_sum(const struct column_run *r, const struct energy_table *t, struct energy_sum *out);
/* NAN: the run has no cycles, or the column's mechanisms have no such row. */
double column_energy(const struct column_run *r, const struct energy_table *t, const char *name);

#endif
