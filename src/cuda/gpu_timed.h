/* gpu_timed.h: the timed GPU under the CUDA APIs: what is queued runs while a call of the program waits
 * for it. */
#ifndef HEDDLE_GPU_TIMED_H
#define HEDDLE_GPU_TIMED_H

#include "cuda/gpu_impl.h"

/* Makes the timed GPU of g's machine and environment; false: the reason went to stderr. */
bool gpu_timed_open(struct gpu *g);
/* Its statistics are lost. */
void gpu_timed_close(struct gpu *g);
/* Runs what is queued until the goal is reached. A fault is printed and sticks. SIGINT (Ctrl-C), SIGTERM or
 * SIGHUP meanwhile: writes the statistics so far and ends the process by the signal. A mechanism that fails:
 * writes them and ends the process. */
enum gpu_goal { GPU_ALL, GPU_STREAM, GPU_MARK };
enum gpu_status gpu_timed_run(struct gpu *g, enum gpu_goal goal, uint64_t which);
/* The summary in the form that was asked for. */
void gpu_timed_write(const struct gpu *g, struct strbuf *out);
/* The timeline. False: an error was printed. */
bool gpu_timed_write_files(const struct gpu *g);

#endif
