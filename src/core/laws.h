/* laws.h: what must hold at the end of every kernel. A breach is an error of the simulator: the run ends and
 * says which law, where and by how much, rather than give a number. All components have settled.
 *
 * For the kernel, whatever else runs:
 *  (1) All of its CTAs were started and have ended; none is left on an SM.
 *  (2) All of its requests were answered.
 *  (3) The registers, shared memory, warp and CTA slots in use on each SM are those of the CTAs still there.
 *      No row of the register file has two owners (registers.h), and a mechanism keeps none for CTAs that
 *      have left.
 *  (4) For each SM: the causes of its issue slots sum to schedulers * cycles.
 *  (5) If it ran alone, its owned events (owned_stats.h) are all that the machine counted.
 *  (12) For each SM: every prefetch that a mechanism asked for has ended in exactly one way (refused, merged,
 *       dropped, redundant, useful, late, early, useless: docs/mechanisms.md), or is open.
 * For the machine, when it is empty:
 *  (6) Every request that was made was answered: the pool is empty.
 *  (7) No SM, crossbar, slice or channel holds anything.
 *  (8) All links are empty.
 *  (9) No CTA slot and no register is taken.
 *  (10) Sectors that the SMs' caches asked for = sectors that reads asked of the L2 = sectors that came to
 *       the SMs; bytes that the SMs sent = bytes that the L2 took.
 *  (11) Sectors that the L2 fetched = sectors that DRAM read, and those written back = those written.
 *  (13) Where L1s are emptied at the end of a kernel, no prefetch is open.
 *  (14) Every message that an SM put into the SMs' ring was taken out of it.
 *  (15) For each SM: rows of registers that left for memory = rows that were asked back; and the L2 took a
 *       request for each of them.
 * A helper kernel (helper.h) stays: laws 7 and 9 are not those of its SMs, and law 6 leaves one load for each
 * of its warps, which waits for work. */
#ifndef HEDDLE_LAWS_H
#define HEDDLE_LAWS_H

#include "core/gpu_kernel.h"
#include "core/run_end.h"
#include "core/wiring.h"

/* Laws 1 to 4 and 12: the last CTA of the kernel has left. */
void laws_check_kernel(const struct wiring *w, const struct gpu_kernel *k, uint64_t cycle,
                       struct run_end *end);
/* Law 5; stats: the difference of the machine's snapshots at its end and start. */
void laws_check_alone(const struct gpu_kernel *k, void *const *stats, uint64_t cycle, struct run_end *end);
/* Laws 6 to 11 and 13 to 15. */
void laws_check_empty(const struct wiring *w, uint64_t cycle, struct run_end *end);

#endif
