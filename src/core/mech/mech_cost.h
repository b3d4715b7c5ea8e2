/* mech_cost.h: the storage of mechanisms, from their parameters and the machine: the one call of the hook
 * `cost`, and the sums of its rows. */
#ifndef HEDDLE_CORE_MECH_COST_H
#define HEDDLE_CORE_MECH_COST_H

#include "core/mech/mech_set.h"

struct machine;
/* What mechanisms are told of a machine. */
struct mech_machine mech_machine_of(const struct machine *m);

/* The rows of a mechanism of the set; none where it does not fill the hook. False with diagnostics: its
 * parameters do not fit the machine, or its rows cannot be relied on. */
bool mech_cost_of(const struct mech_set *set, uint32_t i, const struct mech_machine *machine,
                  struct mech_cost *out, struct diag_list *diags);

/* "of an SM", "of a slice of the L2", "of the GPU". */
const char *mech_scope_text(enum mech_scope scope);
/* How many of a scope a machine has. */
uint32_t mech_scope_count(enum mech_scope scope, const struct mech_machine *machine);
static inline double mech_storage_bytes(const struct mech_storage *r)
{
    return (double)(r->entries * r->bits) / 8;
}
/* Bytes of all rows on the whole machine. */
double mech_cost_bytes(const struct mech_cost *c, const struct mech_machine *machine);

#endif
