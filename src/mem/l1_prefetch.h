/* l1_prefetch.h: prefetches, for those who offer them and for the laws. Rules: l1_prefetch.c. */
#ifndef HEDDLE_L1_PREFETCH_H
#define HEDDLE_L1_PREFETCH_H

#include "mem/l1.h"

/* Would an offer of this line as a prefetch be taken now, as far as the L1 alone knows? Changes nothing. */
bool l1_prefetch_fits(struct l1 *c, tick now, uint64_t addr);
/* It took an access in this cycle. */
bool l1_has_taken(const struct l1 *c, tick now);
/* Prefetches that were offered and have not ended. */
uint64_t l1_prefetches_open(const struct l1 *c);
/* The kernel's last load has come; l1_flush says so too. */
void l1_kernel_end(struct l1 *c);

#endif
