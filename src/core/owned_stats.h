/* owned_stats.h: events that have an owner: instructions, L1 accesses and CTAs belong to one kernel, also
 * while several kernels run. All other statistics of a kernel are those of the machine between the
 * kernel's start and end. */
#ifndef HEDDLE_OWNED_STATS_H
#define HEDDLE_OWNED_STATS_H

#include "core/gpu_kernel.h"
#include "core/wiring.h"

/* The owned events of a kernel and its per-PC load table, which the caller frees: sums over the SMs. Call it
 * before the SMs reset them. */
struct kernel_owned owned_sum(const struct wiring *w, const struct gpu_kernel *k);
/* Replaces the machine's counts by the kernel's own, in a difference of two snapshots. */
void owned_replace(void **stats, const struct sm_own *own);
/* Writes the rows in which the two differ, one a line. */
void owned_compare(void *const *stats, const struct sm_own *own, struct strbuf *out);

#endif
