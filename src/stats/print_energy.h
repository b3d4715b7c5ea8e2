/* print_energy.h: what a kernel or a run cost, as text. */
#ifndef HEDDLE_STATS_PRINT_ENERGY_H
#define HEDDLE_STATS_PRINT_ENERGY_H

#include "stats/view.h"

/* stats: one struct for each group. v->energy is there. */
void energy_print_table(const struct stats_view *v, void *const *stats, struct strbuf *out);
void energy_print_json(const struct stats_view *v, void *const *stats, struct strbuf *out);

#endif
