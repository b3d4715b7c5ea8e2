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
    /* -> struct kernel_stats, in the order of first launch */
    struct map by_name;
    uint64_t launches;
    struct emu_stats total;
    uint64_t copied_bytes;
    /* spent in the emulator */
    uint64_t wall_ns;
    /* simulated time, see gpu_time.c */
    uint64_t sim_ns;
};

struct gpu_stream_name {
    const void *handle;
    uint64_t id;
};

struct gpu {
    struct run_options options;
    struct arena option_texts;
    struct machine machine;
    /* SMs beside those of `machine`, which programs do not see */
    uint32_t cache_sms;
    struct emu_device *device;
    enum gpu_status sticky;
    uint64_t generation;
    VEC(struct gpu_module *) modules;
    struct gpu_stats stats;
    /* NULL in a functional run */
    struct timed_gpu *timed;
    VEC(struct gpu_stream_name) streams;
    /* ids given out so far */
    uint64_t stream_ids;
    /* those without PTX that the user was told of */
    VEC(char *) libraries_named;
    /* of the process, in the linker's order */
    uint32_t objects_seen;
    struct gpu_progress progress;
    /* NULL: nobody keeps the statistics of a program that ends suddenly */
    struct gpu_keep *keep;
    /* made from what such a program left */
    bool is_cut;
    /* found on the devices before the last reset */
    uint64_t races;
};

struct gpu_text {
    char *data;
    size_t len;
};

/* A kernel that was lowered again with at most `regs` registers. */
struct gpu_variant {
    /* kernel: NULL where that failed */
    const struct isa_kernel *of, *kernel;
    uint32_t regs;
};

struct gpu_module {
    /* NULL once the device was reset */
    struct emu_module *emu;
    char *name;
    /* its PTX */
    VEC(struct gpu_text) texts;
    /* registers of a thread that the program or the user allows; 0 = no limit */
    uint32_t regs_max;
    VEC(struct gpu_variant) variants;
};

/* gpu_module.c: lowers one kernel of a module once more, with at most this many registers. NULL: it cannot
 * be. */
struct isa_module *gpu_module_lower_again(struct gpu *g, const struct gpu_module *m, const char *kernel,
                                          uint32_t regs_max);
/* gpu_variant.c: the kernel for a launch of this many threads: itself where its registers fit an SM, or where
 * nothing else may be run; otherwise a variant with fewer registers. */
const struct isa_kernel *gpu_variant_for(struct gpu *g, struct gpu_module *m, const struct isa_kernel *k,
                                         uint64_t threads);
/* The most registers a thread with which this many threads fit an SM; 0 = they never do. */
uint32_t gpu_variant_registers(const struct machine *m, uint64_t threads);
/* gpu_occupancy.c: threads of a CTA that the kernel was compiled for (.reqntid, .maxntid); UINT64_MAX =
 * any. */
uint64_t gpu_kernel_bound(const struct isa_kernel *k);
/* gpu_origin.c: names the libraries of the process whose machine code has no PTX, each once. */
void gpu_note_libraries(struct gpu *g);
/* Says why an image without PTX cannot be run: which library or program it is in, or that it was made at run
 * time. origin: the address under which the program gave it. */
void gpu_explain_no_ptx(struct gpu *g, const char *name, bool has_machine_code, const void *origin,
                        struct diag_list *diags);
/* gpu_capability.c: sets the compute capability that programs see. */
void gpu_capability_set(struct machine *m);

void gpu_stats_add(struct gpu *g, const char *kernel, const struct emu_stats *run, uint64_t wall_ns,
                   uint64_t sim_ns);
enum gpu_status gpu_status_of_fault(enum emu_fault_kind kind);
/* Time that a kernel takes in a functional run. */
uint64_t gpu_functional_ns(const struct machine *m, const struct emu_stats *s);
/* Time that all copies so far have taken; 0 where the machine models them. */
uint64_t gpu_copies_ns(const struct gpu *g);
/* Writes diagnostics to stderr, and to log where it is not NULL. */
void gpu_report(const struct diag_list *diags, struct strbuf *log);
void gpu_stats_free(struct gpu *g);
/* Writes the summary, and the other files that were asked for, to where the options say. False: an error
 * was printed. */
bool gpu_stats_write(const struct gpu *g);
/* False: an error was printed. */
bool gpu_write_file(const char *path, const struct strbuf *text);
/* Writes a line "heddle: ..." to stderr. */
void gpu_complain(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
