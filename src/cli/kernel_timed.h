/* kernel_timed.h: one kernel on the timed GPU, for heddle kernel. */
#ifndef HEDDLE_KERNEL_TIMED_H
#define HEDDLE_KERNEL_TIMED_H

#include "cli/timed_options.h"
#include "cuda/progress_line.h"

struct kernel_timed {
    struct timed_gpu *gpu;
    struct cli_timed_texts texts;
    struct gpu_progress progress;
};

bool kernel_timed_open(struct kernel_timed *k, const struct machine *m, struct emu_device *d,
                       const struct cli_timed *t);
enum emu_fault_kind kernel_timed_run(struct kernel_timed *k, const struct emu_launch *l,
                                     struct emu_stats *stats, struct emu_fault *fault);
bool kernel_timed_write(const struct kernel_timed *k,
                        const struct cli_timed *t); /* the statistics, where they were asked for */
void kernel_timed_close(struct kernel_timed *k);

#endif
