/* timed.h: the timed GPU: what the CUDA layer and the command line drive. Launches and copies are queued
 * on streams; running them advances the clock. */
#ifndef HEDDLE_TIMED_H
#define HEDDLE_TIMED_H

#include "base/diag.h"
#include "core/machine.h"
#include "emu/emu.h"
#include "stats/run.h"

#include <signal.h>

struct timed_gpu;
struct energy_table;

struct timed_progress {
    const char *kernel;
    uint64_t kernel_id, ctas, ctas_done, cycles, warp_insts;
    uint32_t kernels_running, kernels_queued;
};

struct timed_options {
    /* names of mechanisms, or ./file.so */
    const char *const *mechs;
    uint32_t mech_count;
    /* as "swl.warps=4" */
    const char *const *mech_settings;
    uint32_t mech_setting_count;
    /* tick every component in every cycle */
    bool no_skip;
    /* interval of the time series; 0 = none */
    uint64_t sample_cycles;
    /* threads that run the machine; 0 and 1: the caller alone. The result does not depend on it. */
    uint32_t threads;
    /* for tests: use the threads even where one thread is quicker */
    bool threads_always;
    /* print what the run cost, by the machine's table of energies */
    bool energy;
    /* keep CTAs and copies for timed_cta_at and timed_transfer_at */
    bool timeline;
    /* set by a signal handler: the run ends with what it has so far; may be NULL */
    const volatile sig_atomic_t *stop;
    /* lowers the PTX of a mechanism's helper kernel; NULL: mechanisms that have one cannot be attached */
    struct isa_module *(*compile)(const struct machine *m, const char *name, const char *ptx,
                                  uint32_t registers_max, struct diag_list *diags);
    /* called from time to time during a run; may be NULL */
    void (*progress)(void *ctx, const struct timed_progress *p);
    void *progress_ctx;
    /* called when a kernel has ended and its record is written, with the machine settled; may be NULL */
    void (*kernel_ended)(void *ctx);
    void *kernel_ended_ctx;
};

/* NULL with diagnostics: the machine, its mechanisms or the number of threads is not possible. */
struct timed_gpu *timed_create(const struct machine *m, struct emu_device *d, const struct timed_options *o,
                               struct diag_list *diags);
void timed_destroy(struct timed_gpu *g);
/* The device is about to be reset: nothing of it is used afterwards. Nothing may be queued. */
void timed_leave_device(struct timed_gpu *g);
/* The device was reset. Nothing may be queued. */
void timed_set_device(struct timed_gpu *g, struct emu_device *d);

/* What its events cost; NULL: options.energy does not ask for it. */
const struct energy_table *timed_energy(const struct timed_gpu *g);
/* The rows of its mechanisms; *count: how many. */
struct energy_row;
uint32_t timed_energy_rows(const struct timed_gpu *g, const struct energy_row *const **rows);

/* Queues a launch on a stream (0 = default). The emu_launch and its parameters are copied. */
void timed_launch(struct timed_gpu *g, const struct emu_launch *l, uint64_t stream);
/* Runs until everything queued (on this stream; UINT64_MAX = on all) is done. EMU_OK or the fault. */
enum emu_fault_kind timed_sync(struct timed_gpu *g, uint64_t stream, struct emu_fault *fault);
/* Is anything queued or running? */
bool timed_pending(const struct timed_gpu *g);

/* Stream 0 waits for earlier work of other streams, and they wait for its earlier work, except non-blocking
 * streams. */
void timed_stream_nonblocking(struct timed_gpu *g, uint64_t stream);
/* The stream gets no more work; what it has still runs. */
void timed_stream_end(struct timed_gpu *g, uint64_t stream);

struct timed_copy {
    enum timed_copy_kind kind;
    uint64_t bytes;
    /* moves the data, when the copy ends */
    void (*perform)(void *ctx);
    /* called once: after `perform`, or when the copy is dropped; may be NULL */
    void (*release)(void *ctx);
    void *ctx;
};
void timed_copy(struct timed_gpu *g, const struct timed_copy *c, uint64_t stream);
/* A host-to-device copy has written these bytes: they are put into L2 where the machine says so. */
void timed_host_copy(struct timed_gpu *g, uint64_t address, uint64_t bytes);
/* A fill (cudaMemset) has written these bytes. */
void timed_host_fill(struct timed_gpu *g, uint64_t address, uint64_t bytes);

/* A mark is reached when all work before it on its stream has ended; a stream can wait for one. Numbered
 * from 1. */
uint64_t timed_mark(struct timed_gpu *g, uint64_t stream);
void timed_wait_mark(struct timed_gpu *g, uint64_t stream, uint64_t mark);
bool timed_mark_reached(const struct timed_gpu *g, uint64_t mark, uint64_t *ns);
enum emu_fault_kind timed_sync_mark(struct timed_gpu *g, uint64_t mark, struct emu_fault *fault);

/* Core cycles so far. */
uint64_t timed_cycles(const struct timed_gpu *g);
uint64_t timed_now_ns(const struct timed_gpu *g);

uint32_t timed_kernel_count(const struct timed_gpu *g);
const struct timed_kernel *timed_kernel_at(const struct timed_gpu *g, uint32_t i);
/* What the kernel executed; zeros if it is partial. */
const struct emu_stats *timed_kernel_emu(const struct timed_gpu *g, uint32_t i);
uint32_t timed_groups(const struct timed_gpu *g, const struct timed_group **out);
/* Does this row count a kernel's own events, also while other kernels run (timed_kernel.overlapped)? */
bool timed_is_own(const struct timed_group *group, const struct stat_row *row);
/* Statistics of the run so far, one struct for each group; free them with timed_free_stats. */
void **timed_totals(const struct timed_gpu *g);
void timed_free_stats(const struct timed_gpu *g, void **stats);
/* Hash of all cycle counts and statistics. */
uint64_t timed_hash(const struct timed_gpu *g);
const struct machine *timed_machine(const struct timed_gpu *g);
/* Processor time of the process that made the run. */
double timed_host_seconds(const struct timed_gpu *g);
/* Was the run ended by a fault, a stop or a stuck machine? */
bool timed_partial(const struct timed_gpu *g);
/* Why the run ended before its work was done, in several lines; "" = it did not. */
const char *timed_report(const struct timed_gpu *g);

/* Is there a time series (timed_options.sample_cycles)? */
bool timed_has_samples(const struct timed_gpu *g);
/* The time series: what happened in each interval of sample_cycles core cycles (the last may be shorter). */
uint32_t timed_sample_count(const struct timed_gpu *g);
const struct timed_sample *timed_sample_at(const struct timed_gpu *g, uint32_t i);

/* When each CTA ran, in the order of their ends (timed_options.timeline). */
uint32_t timed_cta_count(const struct timed_gpu *g);
const struct timed_cta *timed_cta_at(const struct timed_gpu *g, uint32_t i);

/* Copies that took time, in the order of their ends (timed_options.timeline). */
uint32_t timed_transfer_count(const struct timed_gpu *g);
const struct timed_transfer *timed_transfer_at(const struct timed_gpu *g, uint32_t i);

/* What mechanisms have written down, by cycle and SM, and how many notes were dropped; free it. */
struct timed_note *timed_notes(const struct timed_gpu *g, uint32_t *count, uint64_t *dropped);

/* Gathers all of this and gives it to a printer (stats/print.h, trace/timeline.h). */
struct stats_view;
void timed_print(struct timed_gpu *g, void (*print)(const struct stats_view *, struct strbuf *),
                 struct strbuf *out);

/* SMs that run the program: all but those in cache mode, which are the last ones. */
uint32_t timed_compute_sms(const struct timed_gpu *g);

/* SMs and L2 slices one by one, for statistics that are kept for each. */
struct sm;
uint32_t timed_sm_count(const struct timed_gpu *g);
struct sm *timed_sm_at(const struct timed_gpu *g, uint32_t i);
void *timed_l1_stats(const struct timed_gpu *g, uint32_t i);
uint32_t timed_slice_count(const struct timed_gpu *g);
void *timed_slice_stats(const struct timed_gpu *g, uint32_t i);

#endif
