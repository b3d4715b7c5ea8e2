/* gpu_keep.h: keeps the statistics of a program, however it ends. `heddle run` holds a journal
 * (base/journal.h); the program's GPU writes into it what its kernels counted; when the program has ended
 * without writing its summary, `heddle run` writes it from the journal.
 *
 * Without `heddle run` there is no journal, and all of these do nothing. */
#ifndef HEDDLE_GPU_KEEP_H
#define HEDDLE_GPU_KEEP_H

#include "base/journal.h"
#include "core/run_options.h"
#include "emu/emu.h"

/* The variable that says where the journal is. */
#define GPU_KEEP_VARIABLE "HEDDLE_JOURNAL"

struct gpu;

/* ---- in the program ---- */

/* Joins the journal of `heddle run`, and ends this process when that is killed. */
void gpu_keep_open(struct gpu *g);
/* The GPU's run begins again: nothing is in the journal. */
void gpu_keep_begin(struct gpu *g);
/* A kernel of a functional run has ended. */
void gpu_keep_launch(struct gpu *g, const char *kernel, const struct emu_stats *run, uint64_t wall_ns,
                     uint64_t sim_ns);
/* Work was queued. */
void gpu_keep_pending(struct gpu *g);
/* Between two calls of the timed GPU, or after a copy of a functional run. */
void gpu_keep_update(struct gpu *g);
/* For timed_options.kernel_ended: as above, but not for every one of many short kernels. */
void gpu_keep_kernel_ended(void *gpu);
/* The program has written its summary. */
void gpu_keep_done(struct gpu *g);

/* ---- in `heddle run` ---- */

/* The program has ended, and its summary is missing. */
bool gpu_keep_has_rest(struct journal *j);
/* Writes the summary from the journal, as the options say. partial: the program did not end by itself.
 * False: an error was printed. */
bool gpu_keep_write_rest(struct journal *j, const struct run_options *o, bool partial);

#endif
