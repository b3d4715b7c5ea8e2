/* l1_resize.h: the capacity of an L1, for those who change it. Rules: l1_resize.c. */
#ifndef HEDDLE_L1_RESIZE_H
#define HEDDLE_L1_RESIZE_H

#include "mem/l1.h"

/* Sets the capacity, in whole ways, one at least, l1.size and the extra lines at most; the answer is what it
 * is now. */
uint64_t l1_resize(struct l1 *c, tick now, uint64_t bytes);
/* Bytes. */
uint64_t l1_capacity(const struct l1 *c);
/* The SM has another role, and keeps local memory as these parameters say from now on. The L1 is idle: what
 * it holds is forgotten. */
void l1_change_role(struct l1 *c, tick now, const struct l1_params *p);

#endif
