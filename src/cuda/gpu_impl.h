/* gpu_impl.h: the inside of struct gpu, for the gpu*.c files alone. */
#ifndef HEDDLE_GPU_IMPL_H
#define HEDDLE_GPU_IMPL_H

#include "base/map.h"
#include "core/run_options.h"
#include "cuda/gpu.h"
#include "cuda/gpu_keep.h"
#include "cuda/progress_line.h"

/* Totals of all launches under one kernel name. */
struct kernel_stats {
    const char *name;
    uint64_t launches;
    struct emu_stats emu;
};

struct gpu_stats {
    struct map by_name; /* -> struct kernel_stats, in the order of first launch */
    uint64_t launches;
    struct emu_stats total;
    uint64_t copied_bytes;
    uint64_t wall_ns; /* spent in the emulator */
    uint64_t sim_ns;  /* simulated time, see gpu_time.c */
};

struct gpu_stream_name {
    const void *handle;
    uint64_t id;
};

struct gpu {
    struct run_options options;
    struct arena option_texts;
    struct machine machine;
    struct emu_device *device;
    enum gpu_status sticky;
    uint64_t generation;
    VEC(struct gpu_module *) modules;
    struct gpu_stats stats;
    struct timed_gpu *timed; /* NULL in a functional run */
    VEC(struct gpu_stream_name) streams;
    uint64_t stream_ids; /* ids given out so far */
    struct gpu_progress progress;
    struct gpu_keep *keep; /* NULL: nobody keeps the statistics of a program that ends suddenly */
    bool is_cut;           /* made from what such a program left */
};

struct gpu_module {
    struct emu_module *emu; /* NULL once the device was reset */
    char *name;
};

void gpu_stats_add(struct gpu *g, const char *kernel, const struct emu_stats *run, uint64_t wall_ns,
                   uint64_t sim_ns);
enum gpu_status gpu_status_of_fault(enum emu_fault_kind kind);
/* Time that a kernel takes in a functional run. */
uint64_t gpu_functional_ns(const struct machine *m, const struct emu_stats *s);
/* Time that all copies so far have taken; 0 where the machine models them. */
uint64_t gpu_copies_ns(const struct gpu *g);
void gpu_stats_free(struct gpu *g);
/* Writes the summary, and the other files that were asked for, to where the options say. False: an error
 * was printed. */
bool gpu_stats_write(const struct gpu *g);
/* False: an error was printed. */
bool gpu_write_file(const char *path, const struct strbuf *text);
/* Writes a line "heddle: ..." to stderr. */
void gpu_complain(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
