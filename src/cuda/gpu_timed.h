/* gpu_timed.h: the timed GPU under the CUDA APIs. Launches are queued; whatever else a program calls first runs what is
 * queued (gpu_settle in gpu.h), so that only kernels launched one after another on different streams overlap. */
#ifndef HEDDLE_GPU_TIMED_H
#define HEDDLE_GPU_TIMED_H

#include "cuda/gpu_impl.h"

/* Makes the timed GPU of g's machine and environment; false: the reason went to stderr. */
bool gpu_timed_open(struct gpu *g);
void gpu_timed_close(struct gpu *g); /* its statistics are lost */
void gpu_timed_launch(struct gpu *g, const struct emu_launch *l, uint64_t stream);
/* Runs everything queued. A fault is printed. Ctrl-C meanwhile: writes the statistics so far and ends the process. */
enum emu_fault_kind gpu_timed_run(struct gpu *g);
void gpu_timed_write(const struct gpu *g,
                     struct strbuf *out);        /* the summary in the form that was asked for */
void gpu_timed_write_files(const struct gpu *g); /* timeline, time series */

#endif
