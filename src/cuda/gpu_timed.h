/* gpu_timed.h: the timed GPU under the CUDA APIs: queued work runs while a call of the program waits for
 * it. */
#ifndef HEDDLE_GPU_TIMED_H
#define HEDDLE_GPU_TIMED_H

#include "cuda/gpu_impl.h"

/* Makes the timed GPU of g's machine and environment; false: the reason went to stderr. */
bool gpu_timed_open(struct gpu *g);
void gpu_timed_close(struct gpu *g); /* its statistics are lost */
/* Runs what is queued until the goal is reached. A fault is printed and is sticky. Ctrl-C meanwhile writes
 * the statistics so far and ends the process. */
enum gpu_goal { GPU_ALL, GPU_STREAM, GPU_MARK };
enum gpu_status gpu_timed_run(struct gpu *g, enum gpu_goal goal, uint64_t which);
/* Writes the summary in the form that the environment asks for. */
void gpu_timed_write(const struct gpu *g, struct strbuf *out);
void gpu_timed_write_files(const struct gpu *g); /* timeline, time series */

#endif
