/* kernel_timed.h: one kernel on the timed GPU, for heddle kernel. */
#ifndef HEDDLE_KERNEL_TIMED_H
#define HEDDLE_KERNEL_TIMED_H

#include "core/run_options.h"
#include "cuda/progress_line.h"

struct kernel_timed {
    struct timed_gpu *gpu;
    struct gpu_progress progress;
};

bool kernel_timed_open(struct kernel_timed *k, const struct machine *m, struct emu_device *d,
                       const struct run_options *run);
enum emu_fault_kind kernel_timed_run(struct kernel_timed *k, const struct emu_launch *l,
                                     struct emu_stats *stats, struct emu_fault *fault);
/* The statistics, where they were asked for. */
bool kernel_timed_write(const struct kernel_timed *k, const struct run_options *run);
void kernel_timed_close(struct kernel_timed *k);

#endif
