/* kept.h: a run in a journal (base/journal.h): what its kernels counted is written there as they end, so
 * that the run can be shown when the process that made it is gone. */
#ifndef HEDDLE_KEPT_H
#define HEDDLE_KEPT_H

#include "base/arena.h"
#include "base/journal.h"
#include "core/timed.h"

/* In a GPU that shows a run of another process; elsewhere all 0. */
struct kept_run {
    struct arena memory;
    double host_seconds;
    /* statistics of each L1 and each slice; NULL: the components are read */
    void **l1s, **l2s;
};
void kept_run_free(struct kept_run *k);

/* How much of a run is in the journal. */
struct kept;

/* Begins the journal with the run as it is. with_parts: the caches one by one too. */
struct kept *kept_create(struct timed_gpu *g, struct journal *j, bool with_parts);
void kept_destroy(struct kept *k);
/* Adds what has ended since the last call, and the totals. The machine must have settled: at the end of a
 * kernel (timed_options.kernel_ended) and between calls of timed_sync. False with errno. */
bool kept_update(struct kept *k);

/* Puts the run of a journal into a GPU of the same machine and options that has not run anything: it can
 * then be printed, and nothing else. partial: it was ended before its end. */
void kept_restore(struct timed_gpu *g, struct journal_view *v, bool partial);

#endif
