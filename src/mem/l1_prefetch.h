/* l1_prefetch.h: prefetches in the L1, for callers that offer them and for the laws. l1_prefetch.c has the
 * rules. */
#ifndef HEDDLE_L1_PREFETCH_H
#define HEDDLE_L1_PREFETCH_H

#include "mem/l1.h"

/* Would the L1 take this line as a prefetch now, as far as it knows without asking mechanisms? Changes
 * nothing. */
bool l1_prefetch_fits(struct l1 *c, tick now, uint64_t addr);
/* Has the L1 taken an access in this cycle? */
bool l1_has_taken(const struct l1 *c, tick now);
/* Prefetches that were offered and have not ended. */
uint64_t l1_prefetches_open(const struct l1 *c);
/* The kernel's last load has come. l1_flush implies this. */
void l1_kernel_end(struct l1 *c);

#endif
