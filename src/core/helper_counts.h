/* helper_counts.h: the statistics group "helper": what SMs in cache mode do. They count in no other group of
 * SMs. */
#ifndef HEDDLE_HELPER_COUNTS_H
#define HEDDLE_HELPER_COUNTS_H

#include "core/wiring.h"

struct helper_counts {
    /* cycles of the machine */
    uint64_t elapsed;
    /* how often SMs changed their roles, and how long that took */
    uint64_t changes, change_cycles;
#define HELPER_COUNT(field, unit, help, value) uint64_t field;
#include "core/helper_counts.def"
#undef HELPER_COUNT
};
extern const struct stat_row helper_stat_rows[];

/* Adds what the SMs in cache mode have counted. */
void helper_counts_add(const struct wiring *w, struct helper_counts *out);

#endif
