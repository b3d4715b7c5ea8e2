/* crew.h: threads that work together in short rounds.
 *
 * In a round every worker that is called does its share of the work; the round is over when all of them
 * are done. The caller is worker 0. A round is as short as one cycle of a machine, so workers spin for a
 * while before they sleep. Where there are more workers than cores, they yield at once.
 *
 * Moving a cache line from core to core takes as long as hundreds of instructions. So the caller's data lies
 * on the line of the number of the round, and a worker's report lies on the line of its `done`: one line
 * moves in each direction. */
#ifndef HEDDLE_CREW_H
#define HEDDLE_CREW_H

#include "base/base.h"

struct crew;

enum {
    /* bytes that cores exchange at a time: two lines, since the host prefetches the neighbour */
    CREW_LINE = 128,
    /* bits of the mask of workers that are called: bit i stands for workers i, i + 32, ... */
    CREW_BITS = 32
};

/* workers >= 1, with the caller; call_bytes and report_bytes: what the caller tells, and what each worker
 * reports. NULL: the host refuses the threads. */
struct crew *crew_create(uint32_t workers, size_t call_bytes, size_t report_bytes,
                         void (*work)(void *ctx, uint32_t worker), void *ctx);
void crew_destroy(struct crew *c);

/* What the caller tells the workers: written between rounds, read in them. Begins 8 bytes after a multiple
 * of CREW_LINE, as reports do. */
void *crew_call(struct crew *c);
/* What a worker reports: written in a round, read by the caller afterwards. */
void *crew_report(struct crew *c, uint32_t worker);
/* One round for the workers in the mask. work is called once for each, on its own thread or, if that
 * thread is late, on another. All of them see what the caller wrote before the round, and the caller sees
 * what they wrote. */
void crew_round(struct crew *c, uint32_t called);
static inline bool crew_is_called(uint32_t called, uint32_t worker)
{
    return called >> worker % CREW_BITS & 1;
}

#endif
