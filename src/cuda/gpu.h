/* gpu.h: the one simulated GPU of a process, under both CUDA APIs (libcudart and libcuda share it through
 * libheddle).
 *
 * Functional: everything executes in the order of the calls, at the call, which is one of the orders that
 * streams allow. Timed: launches, copies and events are queued on their streams; the clock runs, and with it
 * all streams at once, while the program waits for something (gpu_settle, gpu_stream_sync, gpu_event_sync, a
 * copy that must be done). Functions return a gpu_status; the APIs map it to their own error codes. Safe to
 * call from several host threads. */
#ifndef HEDDLE_GPU_H
#define HEDDLE_GPU_H

#include "core/machine.h"
#include "emu/emu.h"

/* The symbols of this header are exported by libheddle.so (everything else of it is hidden). */
#pragma GCC visibility push(default)

enum gpu_status {
    GPU_OK,
    GPU_OUT_OF_MEMORY,
    GPU_INVALID_VALUE,
    GPU_INVALID_PTX,
    /* a fatbin without PTX */
    GPU_NO_BINARY,
    GPU_NOT_FOUND,
    GPU_INVALID_HANDLE,
    /* the run faulted: sticky */
    GPU_LAUNCH_FAILED,
    /* refused */
    GPU_BAD_LAUNCH,
    GPU_TOO_MANY_RESOURCES,
    /* sticky */
    GPU_ILLEGAL_ADDRESS,
    /* sticky */
    GPU_MISALIGNED,
    /* sticky */
    GPU_ASSERT,
    /* endless loop: sticky */
    GPU_TIMEOUT,
    /* sticky */
    GPU_ILLEGAL_INSTRUCTION,
    GPU_NOT_SUPPORTED,
    GPU_NOT_READY,
    GPU_NO_DEVICE
};

struct gpu;
struct gpu_module;

/* The process's GPU, made at the first call from the environment (HEDDLE_MACHINE, HEDDLE_SET, HEDDLE_STATS,
 * ...). NULL when the configuration is wrong: the reason went to stderr. */
struct gpu *gpu_get(void);
/* gpu_get for libcuda.so.1. In CUDA the runtime makes the device's primary context current for its threads,
 * and the driver API of the same program sees that: libcuda therefore asks whether the runtime used the
 * GPU. */
struct gpu *gpu_get_for_driver(void);
bool gpu_runtime_in_use(void);
struct emu_device *gpu_device(struct gpu *g);
const struct machine *gpu_machine(const struct gpu *g);
/* The fault that ended the context, or GPU_OK. */
enum gpu_status gpu_sticky(const struct gpu *g);
/* Runs all that is queued, then returns gpu_sticky. */
enum gpu_status gpu_settle(struct gpu *g);
/* cudaDeviceReset: frees all memory and textures, unloads every module, clears the fault. A gpu_module loaded
 * before stays a valid pointer but is dead (gpu_module_emu gives NULL, a launch gives GPU_INVALID_HANDLE):
 * unload it and load it again. The generation counts resets, so that an API can see that its module handles
 * are old. */
void gpu_reset(struct gpu *g);
uint64_t gpu_generation(const struct gpu *g);

/* image: PTX text (ends in zero byte), a fatbin, the wrapper that points to one (fatbin.h), or an ELF with
 * one; len 0 = unknown (zero-terminated PTX or self-describing). Errors go to stderr. */
enum gpu_status gpu_module_load(struct gpu *g, const char *name, const void *image, size_t len,
                                struct gpu_module **out);
/* Links several images together (relocatable device code). */
enum gpu_status gpu_module_link(struct gpu *g, const char *name, const void *const *images,
                                const size_t *lens, uint32_t count, struct gpu_module **out);
/* gpu_module_link with options. log (may be NULL) also receives the rendered diagnostics. regs_max 0 = no
 * limit. origin: where the program has the image that images[0] is a copy of; NULL = it is not a copy. */
struct gpu_load_options {
    uint32_t regs_max;
    struct strbuf *log;
    const void *origin;
};
enum gpu_status gpu_module_link_with(struct gpu *g, const char *name, const void *const *images,
                                     const size_t *lens, uint32_t count,
                                     const struct gpu_load_options *options, struct gpu_module **out);
void gpu_module_unload(struct gpu *g, struct gpu_module *m);
struct emu_module *gpu_module_emu(struct gpu_module *m);

struct gpu_launch {
    struct gpu_module *module;
    const struct isa_kernel *kernel;
    uint32_t grid[3], block[3], shared_dynamic_bytes;
    /* one pointer per parameter; or NULL and `packed` is used */
    void **args;
    const void *packed;
    size_t packed_bytes;
    bool cooperative;
    /* gpu_shared_wish; 0 = none */
    uint32_t shared_wish;
    /* id, see gpu_stream_new; 0 = the legacy default stream */
    uint64_t stream;
};
/* The shared memory that a program would like an SM to have during a launch: the function's carve-out in
 * percent (-1 = none), else the function's cache preference, else the device's (enum cudaFuncCache or
 * CUfunc_cache: none, shared, L1, equal). */
uint32_t gpu_shared_wish(int carveout, int function_cache, int device_cache);
enum gpu_status gpu_launch(struct gpu *g, const struct gpu_launch *l);

/* ---- streams and events ----
 * A stream is known by its id; 0 is the legacy default stream. The two APIs register their handles, so that
 * each of them understands the other's. */
uint64_t gpu_stream_new(struct gpu *g, const void *handle, bool nonblocking);
/* What is queued on it still runs. */
void gpu_stream_end(struct gpu *g, const void *handle);
bool gpu_stream_find(const struct gpu *g, const void *handle, uint64_t *id);
/* The calling thread's own default stream. */
uint64_t gpu_stream_per_thread(struct gpu *g);
enum gpu_status gpu_stream_sync(struct gpu *g, uint64_t stream);

struct gpu_event {
    bool recorded;
    /* timed: core/timed.h; valid for the GPU of this generation */
    uint64_t mark;
    /* simulated time, once it was reached */
    uint64_t time_ns;
    /* gpu_generation() when it was recorded */
    uint64_t generation;
    /* time of the copies before it, where copies are not modelled */
    uint64_t copies_ns;
};
enum gpu_status gpu_event_record(struct gpu *g, struct gpu_event *e, uint64_t stream);
/* Returns at once where the event was never recorded. */
enum gpu_status gpu_event_sync(struct gpu *g, struct gpu_event *e);
enum gpu_status gpu_stream_wait_event(struct gpu *g, uint64_t stream, const struct gpu_event *e);
/* Time between two recorded events; GPU_NOT_READY when one is not reached yet. */
enum gpu_status gpu_event_elapsed(struct gpu *g, struct gpu_event *start, struct gpu_event *end, float *ms);

/* Copies between any two of host and device memory: addresses tell which. The device side is checked against
 * the allocation map (GPU_INVALID_VALUE outside of it). The call waits as CUDA's does: a synchronous one
 * until the copy is done, unless both sides are device memory; an asynchronous one only when it writes
 * pageable memory (what it reads from pageable memory is taken at the call). */
struct gpu_order {
    uint64_t stream;
    bool async;
};
#define GPU_SYNC ((struct gpu_order){0}) /* on the default stream */
enum gpu_status gpu_copy(struct gpu *g, void *dst, const void *src, size_t bytes, struct gpu_order o);
enum gpu_status gpu_copy_2d(struct gpu *g, void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                            size_t width_bytes, size_t height, struct gpu_order o);
/* Offsets and extents in bytes, rows, slices. */
struct gpu_copy3d {
    void *dst;
    size_t dst_pitch, dst_height, dst_x, dst_y, dst_z;
    const void *src;
    size_t src_pitch, src_height, src_x, src_y, src_z;
    size_t width_bytes, height, depth;
};
enum gpu_status gpu_copy_3d(struct gpu *g, const struct gpu_copy3d *c, struct gpu_order o);
/* memset D8, D16, D32: rows of `width` patterns, pitch bytes apart. */
enum gpu_status gpu_fill(struct gpu *g, void *dst, size_t pitch, const void *pattern, size_t pattern_bytes,
                         size_t width, size_t height, struct gpu_order o);

/* Simulated time so far in nanoseconds, for events. */
uint64_t gpu_now_ns(const struct gpu *g);

/* CUDA occupancy rules: CTAs of this kernel per SM. */
uint32_t gpu_occupancy(const struct gpu *g, const struct isa_kernel *k, uint32_t block_threads,
                       size_t dynamic_shared);
/* The most threads of a CTA that this kernel can be launched with: its bounds, and the registers of one
 * SM. */
uint32_t gpu_kernel_threads_max(const struct gpu *g, const struct isa_kernel *k);

/* Prints on stderr that a function of CUDA is not supported and, where known, what to do instead. */
void gpu_say_unsupported(const char *name);

/* One lock around the device state; recursive. */
void gpu_lock(void);
void gpu_unlock(void);

#pragma GCC visibility pop

#endif
