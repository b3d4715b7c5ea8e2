/* mech_cost.h: the storage of mechanisms, computed from their parameters and the machine: the only call of
 * the hook `cost`, and the sums of its rows. */
#ifndef HEDDLE_CORE_MECH_COST_H
#define HEDDLE_CORE_MECH_COST_H

#include "core/mech/mech_set.h"

struct machine;
/* Returns what mechanisms are told of a machine. */
struct mech_machine mech_machine_of(const struct machine *m);

/* Gets the rows of a mechanism of the set; none where it does not fill the hook. False with diagnostics: its
 * parameters do not fit the machine, or its rows are wrong. */
bool mech_cost_of(const struct mech_set *set, uint32_t i, const struct mech_machine *machine,
                  struct mech_cost *out, struct diag_list *diags);

/* Returns "of an SM", "of a slice of the L2" or "of the GPU". */
const char *mech_scope_text(enum mech_scope scope);
/* Returns how many parts of a scope a machine has. */
uint32_t mech_scope_count(enum mech_scope scope, const struct mech_machine *machine);
static inline double mech_storage_bytes(const struct mech_storage *r)
{
    return (double)(r->entries * r->bits) / 8;
}
/* Returns the bytes of all rows on the whole machine. */
double mech_cost_bytes(const struct mech_cost *c, const struct mech_machine *machine);

#endif
