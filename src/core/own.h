/* own.h: events that have an owner: instructions, L1 accesses and CTAs belong to one kernel, also while several run. All other
 * statistics of a kernel are the machine's over the kernel's span. */
#ifndef HEDDLE_OWN_H
#define HEDDLE_OWN_H

#include "core/sm/sm.h"

struct timed_gpu;
struct gpu_kernel;

/* What a kernel did, summed over SMs. */
void own_sum(const struct timed_gpu *g, const struct gpu_kernel *k, struct sm_own *out);
/* Puts a kernel's own events in the place of the machine's, in a difference of two snapshots. */
void own_replace(void **stats, const struct sm_own *own);
/* Rows in which the two differ, one a line. */
void own_compare(void *const *stats, const struct sm_own *own, struct strbuf *out);

#endif
