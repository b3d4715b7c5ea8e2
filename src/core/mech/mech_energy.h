/* mech_energy.h: the energy of the events of a run's mechanisms: their rows of energy, and tables that may
 * override them. */
#ifndef HEDDLE_MECH_ENERGY_H
#define HEDDLE_MECH_ENERGY_H

#include "core/mech/mech_set.h"
#include "energy/energy.h"

/* The rows of all mechanisms of a set, in the form of energy_source. The set must live longer. */
struct mech_energy {
    const struct energy_row **rows;
    uint32_t count;
};
void mech_energy_gather(struct mech_energy *e, const struct mech_set *set);
void mech_energy_free(struct mech_energy *e);

struct machine;
/* Returns the parameters of the machine that energies depend on, and the rows; the caller fills in the
 * statistics. */
struct energy_source mech_energy_source(const struct machine *m, const struct mech_energy *rows);

/* Reads a table of energies; it may override rows of built-in mechanisms and of those of the set. */
bool mech_energy_load(struct energy_table *t, const char *name, const struct mech_set *set,
                      struct diag_list *diags);

#endif
